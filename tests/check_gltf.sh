#!/bin/sh
# check_gltf.sh PROGRAM: the Khronos validator finds no error in any character that the program makes.
set -u
if [ ! -e build/node/node_modules/gltf-validator/package.json ] || ! command -v node >/dev/null; then
    echo "skipped: the glTF validator is not installed (scripts/validator.sh)"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
names=$("$1" models --json | python3 -c 'import json, sys
for model in json.load(sys.stdin)["models"]: print(model["name"])') || exit 1
[ -n "$names" ] || exit 1
for name in $names; do
    "$1" make "$name" -o "$folder/$name.glb" >/dev/null || exit 1
done
node scripts/validate.js "$folder"/*.glb || exit 1
echo "== check_gltf: $(echo "$names" | wc -w) characters valid"
