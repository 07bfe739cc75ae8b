#!/bin/sh
# test_odd_files.sh PROGRAM: glTF files as exporters in the wild write them (tests/odd_gltf.py) look in cutis as in three.js, and
# so do bakes of them.
# Skipped without node or the npm package three in build/node.
if [ ! -e build/node/node_modules/three/package.json ] || ! command -v node >/dev/null; then
    echo "skipped: three.js is not installed (npm install --prefix build/node three@0.160.0)"
    exit 77
fi
. "$(dirname "$0")/shell.sh"

python3 "$root/tests/odd_gltf.py" . || exit 1
compared=0
set --
while read -r file clip tolerance; do
    run 0 bake "$file" --solver lbs --clip "$clip" --fps 8 --threads 1 -q -o "$file.npy"
    run 0 bake "$file" --solver dqs --clip "$clip" --fps 8 --threads 1 -q -o "baked_$file.npy"
    run 0 bake "$file" --solver dqs --clip "$clip" --fps 8 --threads 1 -q --targets exact -o "baked_$file.glb"
    set -- "$@" "$folder/$file" "$folder/$file.npy" "$clip" 8 "$tolerance"
    set -- "$@" "$folder/baked_$file.glb" "$folder/baked_$file.npy" "$clip" 8 0.0005
    compared=$((compared + 2))
done <list.txt
(cd "$root/build/node" && node "$root/scripts/three_check.mjs" "$@") >three.txt 2>&1 || fail "three.js shows something else"
grep -v '^same\|^THREE' three.txt
same "$(grep -c '^same' three.txt)" "$compared" "files compared"
finish
