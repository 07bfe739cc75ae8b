#!/bin/sh
# check_golden.sh PROGRAM THREADS: the hashes that the golden program prints are those of tests/golden.txt.
# After a change that is meant to change results: make golden, and say why in the commit.
set -u
output=$(mktemp)
trap 'rm -f "$output" "$output.raw" "$output.diff"' EXIT
"$1" "$2" >"$output.raw" || exit 1
tr -d '\r' <"$output.raw" >"$output" # Windows ends lines in its own way
if ! diff tests/golden.txt "$output" >"$output.diff"; then
    head -n 12 "$output.diff"
    echo "hashes differ from tests/golden.txt (< expected, > found)"
    exit 1
fi
echo "$(wc -l <"$output") hashes are equal with $2 threads"
