#!/bin/sh
# lint.sh BUILD: formatting, order of dependence, clang-tidy and cppcheck. Prints nothing but findings and a summary.
# clang-tidy reads compile_commands.json of BUILD and remembers in BUILD/tidy which files were clean.
set -u
build=$1
code=0
jobs=$(nproc 2>/dev/null || echo 2)

files=$(git ls-files '*.c' '*.h')
clang-format --dry-run -Werror $files || { echo "clang-format: run make format" && code=1; }

python3 scripts/check_layers.py || code=1

# Emscripten's clang takes 0 for what an index from the first member reaches beyond it.
if git grep -nE '\(&[^()]*(\.|->)x\)\[' -- '*.c' '*.h'; then
    echo "a vec3 as an array: take vec3_axis or vec3_store"
    code=1
fi

# A file is checked again when it, or any header, is newer than its mark.
mkdir -p "$build/tidy"
newest=$(ls -t .clang-tidy $(git ls-files '*.h') | head -n 1)
todo=""
for file in $(git ls-files 'src/*.c' 'cli/*.c'); do
    mark=$build/tidy/$(basename "$file").ok
    if [ ! "$mark" -nt "$file" ] || [ ! "$mark" -nt "$newest" ]; then todo="$todo $file"; fi
done
# gcc's options are clang's too, but for -Werror: the warnings of clang have a test of their own.
[ -z "$todo" ] || printf '%s\n' $todo | BUILD=$build xargs -P "$jobs" -n 1 sh -c '
    if clang-tidy --quiet -p "$BUILD" --extra-arg=-Wno-everything "$0" >"$BUILD/tidy/$(basename "$0").log" 2>&1; then
        touch "$BUILD/tidy/$(basename "$0").ok"
    else
        grep -E "(error|warning):" "$BUILD/tidy/$(basename "$0").log" | sed "s|^$PWD/||"
        exit 1
    fi' || code=1

# Off: what cppcheck cannot follow: a vec3 read as an array, counts that say whether an array is there.
cppcheck --quiet --std=c11 --enable=warning --inline-suppr --error-exitcode=1 -j "$jobs" \
    --suppress=missingIncludeSystem --suppress=uninitvar --suppress=objectIndex --suppress=negativeIndex \
    --suppress=nullPointer --suppress=legacyUninitvar \
    -D'json_object_foreach(object,key,value)=while(0)' -D'json_array_foreach(array,index,value)=while(0)' \
    --cppcheck-build-dir="$build/tidy" \
    -I include -I src src cli examples 2>&1 || code=1

[ $code -eq 0 ] && echo "lint: $(echo "$files" | wc -l) files clean"
exit $code
