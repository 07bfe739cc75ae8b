#!/bin/sh
# test_import_blender.sh PROGRAM: Blender plays a baked .glb, with few targets, with one for each frame, quantized, and packed by
# meshopt and unpacked again by convert (Blender 3.4 does not read that extension), and the .pc2 of the same bake, as its positions
# say. Skipped without Blender. (Blender cuts weights of targets to 0..1.)
# ctest: slow
set -u
if ! command -v blender >/dev/null; then
    echo "skipped: blender is not installed"
    exit 77
fi
program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$program" make arm --resolution 0.3 -o "$folder/in.glb" > "$folder/out" || exit 1
bake() { "$program" bake "$folder/in.glb" --solver lattice --clip flex --fps 12 --threads 1 -q "$@" || exit 1; }
bake -o "$folder/arm.npy"
bake -o "$folder/arm.pc2"
bake -o "$folder/few.glb"
bake --targets exact -o "$folder/exact.glb"
bake --compress quantize -o "$folder/quantized.glb"
bake --compress meshopt -o "$folder/packed.glb"
"$program" convert "$folder/packed.glb" "$folder/unpacked.glb" -q || exit 1
for kind in few exact quantized unpacked; do
    blender -b --factory-startup -noaudio -P scripts/blender_check.py -- \
        "$folder/$kind.glb" "$folder/arm.pc2" "$folder/arm.npy" flex 12 0.0012 > "$folder/log" 2>&1
    grep "^blender" "$folder/log"
    grep -q "^as baked" "$folder/log" || { tail -n 25 "$folder/log"; exit 1; }
done
