#!/bin/sh
# test.sh: run ctest in a build folder and count what ran. Usage: scripts/test.sh BUILD [ctest options]
set -u
build=$1
shift
ctest --test-dir "$build" --output-on-failure "$@"
code=$?

# A ctest test of label `unit` is a program of many cmocka tests: add those up from the log.
log=$build/Testing/Temporary/LastTest.log
sed -n 's/^\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$log" |
    awk '{ n += $1 } END { printf "%d cmocka tests passed in %d programs\n", n, NR }'
grep -h '^== ' "$log" | sed 's/^== //' # one line of summary from each script that has one
grep -h '^skipped: ' "$log" | sort -u
exit $code
