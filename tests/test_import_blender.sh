#!/bin/sh
# test_import_blender.sh PROGRAM: Blender plays a baked .glb, and the .pc2 of the same bake, as its positions say. Skipped
# without Blender. (--exact: Blender 3.4 cuts animated shape keys to 0..1, and only the weights of that profile lie there.)
set -u
if ! command -v blender >/dev/null; then
    echo "skipped: blender is not installed"
    exit 77
fi
program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$program" make arm --resolution 0.3 -o "$folder/in.glb" > "$folder/out" || exit 1
for ending in glb npy pc2; do
    "$program" bake "$folder/in.glb" --solver lattice --clip flex --fps 12 --threads 1 -q $([ $ending = glb ] && echo --exact) -o "$folder/arm.$ending" || exit 1
done
blender -b --factory-startup -noaudio -P scripts/blender_check.py -- \
    "$folder/arm.glb" "$folder/arm.pc2" "$folder/arm.npy" flex 12 0.0012 > "$folder/log" 2>&1
grep "^blender" "$folder/log"
grep -q "^as baked" "$folder/log" || { tail -n 25 "$folder/log"; exit 1; }
