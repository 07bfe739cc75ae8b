#!/bin/sh
# cross-deps.sh TARGET [CMAKE OPTION...]: build the libraries that cutis needs for another machine (arm64, win64, wasm),
# static, into build/cross/TARGET, from their Debian source packages. Nothing is done when they are there.
set -eu
cd "$(dirname "$0")/.."
target=$1
source=$PWD/build/cross/source
prefix=$PWD/build/cross/$target
log=$PWD/build/cross/$target.log
case $target in
arm64) cc=aarch64-linux-gnu-gcc ar=aarch64-linux-gnu-ar toolchain=$PWD/cmake/cross/arm64.cmake ;;
win64) cc=x86_64-w64-mingw32-gcc ar=x86_64-w64-mingw32-ar toolchain=$PWD/cmake/cross/win64.cmake
    CROSS_FLAGS=-D__USE_MINGW_ANSI_STDIO=1 ;; # numbers in JSON are rounded as elsewhere: half to even
wasm) cc=emcc ar=emar toolchain=$PWD/cmake/cross/wasm.cmake
    export NODE_PATH=/usr/share/nodejs
    CROSS_FLAGS="-matomics -mbulk-memory" ;; # for modules with threads and without
*) echo "cross-deps.sh: no target $target" >&2 && exit 1 ;;
esac
CROSS_FLAGS="${CROSS_FLAGS:-} -ffile-prefix-map=$PWD=." # no path of the building machine in what is handed out
flags="-O2 -fPIC $CROSS_FLAGS"
[ "$target" != wasm ] || flags="-Oz -fPIC $CROSS_FLAGS" # files and rigging: size counts
# built by this script as it is now?
mark=$(cksum <scripts/cross-deps.sh)
[ "$(cat "$prefix/complete" 2>/dev/null)" != "$mark" ] || exit 0
mkdir -p "$source/lists/partial" "$source/parts" "$prefix/lib/pkgconfig" "$prefix/include/suitesparse"
exec 3>&1 >"$log" 2>&1
trap 'code=$?; [ $code -eq 0 ] || { tail -n 20 "$log" >&3; echo "cross-deps.sh: failed, see $log" >&3; }' EXIT

# the sources, by a list of our own, so that the system's lists stay as they are
if [ ! -e "$source/complete" ]; then
    sed -n 's/^deb \(http[^ ]*debian\) .*/\1/p' /etc/apt/sources.list >"$source/mirror" 2>/dev/null || :
    sed -n 's/^URIs: \(http[^ ]*debian\)$/\1/p' /etc/apt/sources.list.d/*.sources >>"$source/mirror" 2>/dev/null || :
    release=$(. /etc/os-release && echo "$VERSION_CODENAME")
    echo "deb-src $(head -n 1 "$source/mirror") $release main" >"$source/parts/source.list"
    apt="-o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts=$source/parts -o Dir::State::Lists=$source/lists"
    apt-get $apt update
    (cd "$source" && apt-get $apt source --download-only jansson suitesparse libpng1.6 zlib)
    for name in jansson libpng1.6 zlib; do
        mkdir -p "$source/$name" && tar -xf "$source/$name"_*.orig.tar.* -C "$source/$name" --strip-components 1
    done
    mkdir -p "$source/suitesparse"
    tar -xf "$source"/suitesparse_*.orig.tar.* -C "$source/suitesparse" --strip-components 1 --wildcards \
        '*/SuiteSparse_config/*' '*/AMD/*' '*/LDL/*'
    touch "$source/complete"
fi

# library NAME FILES...: compile the files (flags in $extra) into libNAME.a
library() {
    name=$1
    shift
    rm -rf "$prefix/objects" && mkdir "$prefix/objects"
    for file in "$@"; do $cc $flags $extra -c "$file" -o "$prefix/objects/$(basename "$file" .c).o"; done
    rm -f "$prefix/lib/lib$name.a"
    $ar rcs "$prefix/lib/lib$name.a" "$prefix"/objects/*.o
    rm -rf "$prefix/objects"
}

# AMD and LDL in their int variants, with the configuration that both include
suite=$source/suitesparse
cp "$suite/SuiteSparse_config/SuiteSparse_config.h" "$suite"/AMD/Include/amd*.h "$suite"/LDL/Include/ldl.h \
    "$prefix/include/suitesparse"
extra="-DNTIMER -I$suite/SuiteSparse_config -I$suite/AMD/Include -I$suite/LDL/Include"
amd=""
for part in aat 1 2 dump postorder post_tree defaults order control info valid preprocess; do
    amd="$amd $suite/AMD/Source/amd_$part.c"
done
library amd $amd "$suite/SuiteSparse_config/SuiteSparse_config.c"
library ldl "$suite/LDL/Source/ldl.c"

# jansson by its own CMake files, which look at the target's headers; where each look takes a second, by the
# configuration that it has for Android, which needs none
if [ "$target" = wasm ]; then
    cp "$source/jansson/android/jansson_config.h" "$source/jansson/src/jansson.h" "$prefix/include"
    mkdir -p "$prefix/private"
    : >"$prefix/private/jansson_private_config.h"
    extra="-DHAVE_CONFIG_H -DHAVE_STDINT_H -I$prefix/include -I$prefix/private"
    library jansson "$source"/jansson/src/*.c
    cat >"$prefix/lib/pkgconfig/jansson.pc" <<END
Name: jansson
Description: JSON
Version: 2.14
Libs: -L$prefix/lib -ljansson
Cflags: -I$prefix/include
END
else
    sed -i '/^#define v*snprintf /d' "$source/jansson/src/jansson_private.h" # Windows has C99's today
    CFLAGS="-fPIC $CROSS_FLAGS" cmake -S "$source/jansson" -B "$prefix/jansson" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$toolchain" -DCMAKE_INSTALL_PREFIX="$prefix" \
        -DCMAKE_BUILD_TYPE=Release -DJANSSON_BUILD_DOCS=OFF -DJANSSON_WITHOUT_TESTS=ON -DJANSSON_EXAMPLES=OFF
    cmake --build "$prefix/jansson" --target install
    rm -rf "$prefix/jansson"
fi

# zlib
extra=""
library z "$source"/zlib/adler32.c "$source"/zlib/crc32.c "$source"/zlib/deflate.c "$source"/zlib/inf*.c \
    "$source"/zlib/trees.c "$source"/zlib/zutil.c "$source"/zlib/compress.c "$source"/zlib/uncompr.c
cp "$source/zlib/zlib.h" "$source/zlib/zconf.h" "$prefix/include"
cat >"$prefix/lib/pkgconfig/zlib.pc" <<END
Name: zlib
Description: compression
Version: 1.2.13
Libs: -L$prefix/lib -lz
Cflags: -I$prefix/include
END

# libpng, for pictures; a browser has its own
if [ "$target" != wasm ]; then
    cp "$source/libpng1.6/scripts/pnglibconf.h.prebuilt" "$prefix/include/pnglibconf.h"
    cp "$source/libpng1.6/png.h" "$source/libpng1.6/pngconf.h" "$prefix/include"
    extra="-I$prefix/include -DPNG_ARM_NEON_OPT=0 -DPNG_INTEL_SSE_OPT=0"
    pieces=$(ls "$source"/libpng1.6/png*.c | grep -v 'pngtest')
    library png $pieces
    cat >"$prefix/lib/pkgconfig/libpng.pc" <<END
Name: libpng
Description: PNG
Version: 1.6.39
Libs: -L$prefix/lib -lpng -lz
Cflags: -I$prefix/include
END
fi
echo "$mark" >"$prefix/complete"
