#!/bin/sh
# clang.sh BUILD: everything (library, program, tests) compiles with clang without a warning. Nothing is linked.
set -u
command -v clang >/dev/null || { echo "skipped: clang is not installed" && exit 77; }
build=$(dirname "$1")/clang
log=$build.log
cmake -G Ninja -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_COMPILER=clang -DCMAKE_C_FLAGS_RELEASE=-O1 \
    -DCUTIS_WERROR=ON >"$log" 2>&1 || { tail -n 40 "$log" && exit 1; }
objects=$(ninja -C "$build" -t targets all | sed -n 's/^\(.*\.o\): .*/\1/p')
ninja -C "$build" -k 0 $objects >>"$log" 2>&1 || { grep -A4 'error:' "$log" | head -n 60 && exit 1; }
echo "== clang: $(echo "$objects" | wc -w) files without a warning"
