#!/bin/sh
# check_headers.sh: every public header compiles alone, as C17 and C++17, with gcc and clang.
set -u
warnings="-Wall -Wextra -Wshadow -Wpedantic -Werror"
count=0
for header in include/cutis/*.h; do
    for compiler in "gcc -x c -std=c17 -Wstrict-prototypes" "clang -x c -std=c17 -Wstrict-prototypes" \
        "g++ -x c++ -std=c++17 -Wold-style-cast" "clang++ -x c++ -std=c++17 -Wold-style-cast"; do
        command -v "${compiler%% *}" >/dev/null || continue
        # Included twice, so that the guard is tested too.
        name=cutis/$(basename "$header")
        printf '#include "%s"\n#include "%s"\n' "$name" "$name" |
            $compiler $warnings -Iinclude -fsyntax-only - || { echo "$header fails with $compiler" && exit 1; }
        count=$((count + 1))
    done
done
[ "$count" -gt 0 ] || { echo "no compiler" && exit 1; }
echo "== check_headers: $count compilations of single headers"
