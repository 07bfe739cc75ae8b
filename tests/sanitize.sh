#!/bin/sh
# sanitize.sh PRESET [ctest options]: build and run a choice of the tests under a sanitizer preset, on one core.
set -u
preset=$1
shift
log=build/$preset.log
mkdir -p build
cmake --preset "$preset" >"$log" 2>&1 || { tail -n 40 "$log" && exit 1; }
# A test has the name of its program, but for golden_N and for scripts, which try the cutis program.
targets=$(ctest --test-dir "build/$preset" -N "$@" | sed -n 's/^ *Test *#[0-9]*: //p' | while read -r name; do
    if [ -e "tests/$name.sh" ]; then echo cutis; else echo "$name" | sed 's/^golden_.*/golden/'; fi
done | sort -u)
cmake --build --preset "$preset" -j 1 --target $targets >>"$log" 2>&1 || { tail -n 40 "$log" && exit 1; }
ctest --test-dir "build/$preset" --output-on-failure --timeout 1200 "$@" >"$log" 2>&1 || { cat "$log" && exit 1; }
echo "== $preset: $(grep 'tests passed' "$log")"
