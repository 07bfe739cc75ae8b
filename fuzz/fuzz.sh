#!/bin/sh
# fuzz.sh [SECONDS [NAME...]]: run the libFuzzer drivers (gltf, fbx, obj, ply, stl, off, bvh, cache; all unless named) for some seconds each.
# Needs clang. What is found stays in build/fuzz/NAME-corpus; a crash leaves its input beside it and ends with an error.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-60}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- gltf fbx obj ply stl off bvh cache
clang=$(command -v clang || command -v clang-14)
mkdir -p build/fuzz
for name in "$@"; do
    "$clang" -std=c17 -O1 -g -D_POSIX_C_SOURCE=200809L -ffp-contract=off -march=x86-64-v3 -Iinclude -Isrc \
        -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
        "fuzz/fuzz_$name.c" src/base/*.c src/math/*.c src/mesh/*.c src/character/*.c src/io/*.c \
        -o "build/fuzz/fuzz_$name" -ljansson -lpthread -lm
    mkdir -p "build/fuzz/$name-corpus" "build/fuzz/$name-seeds"
    case $name in
    gltf) cp ../shared/models/khronos-SimpleSkin/*.gltf ../shared/models/khronos-RiggedSimple/*.glb build/fuzz/gltf-seeds/ 2>/dev/null || true ;;
    obj) printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 1\nf 1/1 2/1 3/1\n' >build/fuzz/obj-seeds/triangle.obj ;;
    ply | stl | off) cp ../shared/models/formats/bare-assimp/*."$name" "build/fuzz/$name-seeds/" 2>/dev/null || true ;;
    bvh) sed 's/^Frames:.*/Frames: 2/' ../shared/models/cmu-mocap/02_01.bvh 2>/dev/null | head -189 >build/fuzz/bvh-seeds/walk.bvh || true ;;
    esac
    echo "== fuzz_$name, $seconds s"
    (cd build/fuzz && "./fuzz_$name" -max_total_time="$seconds" -max_len=20000 -timeout=20 -rss_limit_mb=2048 -print_final_stats=1 \
        -verbosity=0 "$name-corpus" "$name-seeds")
done
