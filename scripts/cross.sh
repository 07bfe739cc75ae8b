#!/bin/sh
# cross.sh TARGET: build library, program and golden hashes for another machine (arm64, win64, wasm) into build/TARGET, with
# the libraries that scripts/cross-deps.sh makes. Uses JOBS processes at a time (default 1).
set -eu
cd "$(dirname "$0")/.."
mkdir -p build
[ "$1" = wasm ] && export NODE_PATH=/usr/share/nodejs # where Debian keeps what Emscripten runs
sh scripts/cross-deps.sh "$1"
log=build/$1.log
export CFLAGS="-ffile-prefix-map=$PWD=." # no path of the building machine in what is handed out
cmake -G Ninja -S . -B "build/$1" -DCMAKE_TOOLCHAIN_FILE="cmake/cross/$1.cmake" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_C_FLAGS_RELEASE=-O2 -DCUTIS_WERROR=ON >"$log" 2>&1 &&
    cmake --build "build/$1" -j "${JOBS:-1}" >>"$log" 2>&1 || { grep -A6 "error" "$log" || tail -n 30 "$log"; exit 1; }
