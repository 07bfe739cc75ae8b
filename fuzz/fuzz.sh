#!/bin/sh
# fuzz.sh [SECONDS [NAME...]]: run the libFuzzer drivers (gltf, packed, fbx, dae, obj, ply, stl, off, bvh, cache; all unless named) for some CPU seconds each.
# Needs clang. What is found stays in build/fuzz/NAME-corpus; a crash leaves its input beside it and ends with an error.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-60}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- gltf packed fbx dae obj ply stl off bvh cache
clang=$(command -v clang || command -v clang-14)
cxx=$(command -v clang++ || command -v clang++-14)
mkdir -p build/fuzz
cmake -S . -B build/fuzz/tree -G Ninja -DCMAKE_C_COMPILER="$clang" -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_BUILD_TYPE=Release \
    -DCUTIS_SANITIZE=fuzzer-no-link,address,undefined -DCUTIS_CLI=OFF -DCUTIS_TESTS=OFF >build/fuzz/configure.log
cmake --build build/fuzz/tree --target cutis_private >build/fuzz/build.log || { tail -n 20 build/fuzz/build.log; exit 1; }
draco=""
grep -q "CUTIS_DRACO:BOOL=ON" build/fuzz/tree/CMakeCache.txt && draco="-ldraco"

# cpu_seconds: set `cpu` to the CPU seconds that the children of this shell have used (`times` knows them in this shell only)
cpu_seconds() {
    times >build/fuzz/times.$$
    cpu=$(sed -n '2s/[ms]/ /gp' build/fuzz/times.$$ | awk '{ print int(60 * $1 + $2 + 60 * $3 + $4) }')
}

for name in "$@"; do
    driver=$name
    [ "$name" = packed ] && driver=gltf # the same reader, from files by Draco and meshopt
    "$clang" -std=c17 -O1 -g -D_POSIX_C_SOURCE=200809L -Iinclude -Isrc -fsanitize=address,undefined -c "fuzz/fuzz_$driver.c" \
        -o "build/fuzz/fuzz_$name.o"
    "$cxx" -fsanitize=fuzzer,address,undefined "build/fuzz/fuzz_$name.o" build/fuzz/tree/libcutis_private.a \
        -o "build/fuzz/fuzz_$name" -ljansson -lz -lldl -lamd $draco -lpthread -lm
    mkdir -p "build/fuzz/$name-corpus" "build/fuzz/$name-seeds"
    case $name in
    gltf)
        cp ../shared/models/khronos-SimpleSkin/*.gltf ../shared/models/khronos-RiggedSimple/*.glb build/fuzz/gltf-seeds/ 2>/dev/null || true
        ;;
    packed) cp ../shared/models/formats/gltf-*/*.glb build/fuzz/packed-seeds/ 2>/dev/null || true ;;
    dae) cp ../shared/models/formats/dae-assimp/*.dae build/fuzz/dae-seeds/ 2>/dev/null || true ;;
    fbx)
        cp ../shared/models/formats/fbx-ufbx/m*.fbx build/fuzz/fbx-seeds/ 2>/dev/null || true
        python3 tests/odd_fbx.py build/fuzz/fbx-seeds && rm build/fuzz/fbx-seeds/*.json
        ;;
    obj) printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 1\nf 1/1 2/1 3/1\n' >build/fuzz/obj-seeds/triangle.obj ;;
    ply | stl | off) cp ../shared/models/formats/bare-assimp/*."$name" "build/fuzz/$name-seeds/" 2>/dev/null || true ;;
    bvh) sed 's/^Frames:.*/Frames: 2/' ../shared/models/cmu-mocap/02_01.bvh 2>/dev/null | head -189 >build/fuzz/bvh-seeds/walk.bvh || true ;;
    cache) # a triangle in two frames, in each of the three formats
        python3 - build/fuzz/cache-seeds <<'END'
import struct, sys
at, floats = sys.argv[1] + "/a", [0.5 * i for i in range(18)]
open(at + ".pc2", "wb").write(struct.pack("<12siiffi18f", b"POINTCACHE2\0", 1, 3, 0, 1, 2, *floats))
open(at + ".mdd", "wb").write(struct.pack(">ii2f18f", 2, 3, 0, 1, *floats))
head = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, 3), }".ljust(117) + "\n"
open(at + ".npy", "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<18f", *floats))
END
        ;;
    esac
    # the fuzzer counts wall time: start it again on a busy machine until it has had its CPU seconds
    cpu_seconds
    begin=$cpu
    used=0
    while [ "$used" -lt "$seconds" ]; do
        (cd build/fuzz && "./fuzz_$name" -max_total_time=$((seconds - used)) -max_len=${FUZZ_LENGTH:-400000} -timeout=60 \
            -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 "$name-corpus" "$name-seeds")
        cpu_seconds
        used=$((cpu - begin))
    done
    echo "== fuzz_$name: clean after $used CPU seconds"
done
