#!/bin/sh
# sanitize.sh PRESET [ctest options]: build a sanitizer preset and run a choice of its tests.
set -u
preset=$1
shift
log=build/$preset.log
mkdir -p build
cmake --preset "$preset" >"$log" 2>&1 && cmake --build --preset "$preset" >>"$log" 2>&1 || { tail -n 40 "$log" && exit 1; }
ctest --test-dir "build/$preset" --output-on-failure -j "$(nproc)" --timeout 600 "$@" >"$log" 2>&1 || { cat "$log" && exit 1; }
echo "== $preset: $(grep 'tests passed' "$log")"
