#!/bin/sh
# test_guide.sh PROGRAM: every command of docs/guide runs. Blocks of a page marked sh, python or c run in order, in one
# folder per page. Indented blocks (installation, servers) are not run. Images and the pages of the list exist.
# ctest: slow
. "$(dirname "$0")/shell.sh"

build=$(dirname "$(dirname "$program")")
mkdir bin
ln -s "$program" bin/cutis
PATH=$folder/bin:$PATH
export PATH
python=
for found in /usr/bin/python3 python3; do
    PYTHONPATH=$build/python:$PYTHONPATH $found -c 'import cutis' 2>/dev/null && python=$found && break
done
[ "$python" ] || echo "skipped: blocks of Python (NumPy or the staged package is missing)"

for page in "$root"/docs/guide/*.md; do
    name=$(basename "$page" .md)
    mkdir "$name"
    cd "$name" || exit 2
    awk '/^```(sh|python|c)$/ { kind = substr($0, 4); n++; file = sprintf("block_%02d.%s", n, kind); next }
         /^```/ { file = ""; next }
         file { print > file }' "$page"
    for block in block_*; do
        [ -e "$block" ] || continue
        checks=$((checks + 1))
        case $block in
        *.sh) sh -e "$block" ;;
        *.python) [ -z "$python" ] || PYTHONPATH=$build/python:$PYTHONPATH $python "$block" ;;
        *.c) cc -std=c17 -Wall -I"$root/include" "$block" -o block "$build/libcutis.so" -Wl,-rpath,"$build" && ./block ;;
        esac >out 2>err || { fail "$name: $block"; cat "$block"; tail -5 err; }
    done
    cd "$folder" || exit 2
    case $name in README) ;; *)
        checks=$((checks + 1))
        grep -q "($name.md)" "$root/docs/guide/README.md" || fail "docs/guide/README.md does not list $name.md" ;;
    esac
done

# the pages ran something, and wrote what they show
for file in first_bake/flesh.glb first_bake/arm.png your_character/walk.glb tuning/both.png rigging/statue.glb \
    grasping/grasp.glb sliding_skin/wrinkles.png web/arm.glb; do
    written "$file"
done

# the generated reference
checks=$((checks + 1))
python3 "$root/scripts/reference_tables.py" "$program" reference >out 2>err || { fail "reference_tables.py"; cat err; }
shows '`fat_stiffness`' reference/parameters.md
shows 'cutis_state_step' reference/api.md
finish
