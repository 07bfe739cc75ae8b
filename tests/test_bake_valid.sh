#!/bin/sh
# test_bake_valid.sh PROGRAM: the Khronos validator finds no error in the characters that the program makes, nor
# in a bake of any character, in any profile.
set -u
if [ ! -e build/node/node_modules/gltf-validator/package.json ] || ! command -v node >/dev/null; then
    echo "skipped: the glTF validator is not installed (scripts/validator.sh)"
    exit 77
fi
program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
names=$("$program" models --json | python3 -c 'import json, sys
for model in json.load(sys.stdin)["models"]: print(model["name"])') || exit 1
[ -n "$names" ] || exit 1
for name in $names; do "$program" make "$name" -o "$folder/$name.made.glb" >/dev/null || exit 1; done
for name in $names $(find ../shared/models/ -name '*.glb' -o -name '*.gltf'); do
    base=$(basename "$name")
    "$program" bake "$name" --solver dqs --fps 8 -q -o "$folder/${base%.*}.glb" || exit 1
done
for profile in safe exact; do
    "$program" bake arm --solver dqs --fps 8 -q --targets $profile -o "$folder/arm-$profile.glb" || exit 1
done
for name in torus hand; do
    "$program" bake "$name" --solver slide --fps 8 --end 0.5 -q -o "$folder/$name-slid.glb" || exit 1
done
"$program" bake arm --solver layers+slide --clip flex --fps 8 --end 0.5 -q --targets exact -o "$folder/arm-slid.glb" || exit 1
"$program" bake "$folder/arm.glb" --solver dqs --clip twist --fps 8 -q -o "$folder/arm_twice.glb" || exit 1
"$program" bake "$folder/arm.glb" --solver dqs --clip flex --fps 8 --prop cube --prop ball --prop table -q \
    -o "$folder/arm_props.glb" || exit 1

# Errors that a source has itself, such as a wrong skin.skeleton, are its own: a bake keeps what it does not touch.
node scripts/validate.js "$folder"/*.glb >"$folder/log"
code=0
for output in $(sed -n 's/^\(.*\): [1-9][0-9]* errors, .*/\1/p' "$folder/log"); do
    source=$(find ../shared/models/ -name "$(basename "$output")" | head -n 1)
    errors() { node scripts/validate.js "$1" | sed -n 's/^  error \([A-Z_]*\) .*/\1/p' | sort -u; }
    if [ -z "$source" ] || [ "$(errors "$output")" != "$(errors "$source")" ]; then
        node scripts/validate.js "$output" | grep -v warning
        code=1
    fi
done
[ $code -eq 0 ] || exit 1
echo "== test_bake_valid: $(grep -c ' 0 errors' "$folder/log") files valid, $(grep -c ' [1-9][0-9]* errors' "$folder/log") as their sources"
