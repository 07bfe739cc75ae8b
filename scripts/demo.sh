#!/bin/sh
# demo.sh PROGRAM: make the arm, compare every solver on its flex, bake one for engines, render pictures and a video.
# Everything goes to out/demo.
set -eu
cutis=$1
out=out/demo
mkdir -p "$out"

echo "the arm: $out/arm.glb"
"$cutis" make arm -o "$out/arm.glb" >/dev/null

# The table, out/demo/compare/index.html (all in one page), the contact sheet, and a cache for each solver.
"$cutis" compare "$out/arm.glb" --clip flex -o "$out/compare" --quiet
echo "  $out/compare/index.html"

names=$(python3 -c 'import json, sys
for name in json.load(open(sys.argv[1]))["solvers"]: print(name)' "$out/compare/compare.json")
caches=""
for solver in $names; do caches="$caches $out/compare/$solver.npy"; done

# One file for engines: skeleton, skin and morph targets that add the deviation of the flesh.
best=lbs
for solver in $names; do case $solver in tissue) best=$solver ;; esac; done
"$cutis" bake "$out/arm.glb" --solver "$best" --clip flex -o "$out/arm_$best.glb"

# The frame of the deepest bend side by side, plain and by change of volume; the motion as a video.
frames=$(python3 -c 'import json, sys
print(next(iter(json.load(open(sys.argv[1]))["solvers"].values()))["frames"])' "$out/compare/compare.json")
echo "rendering (the video is the longest part)"
picture() {
    file=$1
    shift
    "$cutis" render "$out/arm.glb" $caches -o "$out/$file" --fps 30 --quiet "$@" && echo "  $out/$file"
}
picture arm_flex.png --frame $((frames / 2)) --style columns:3
picture arm_flex_volume.png --frame $((frames / 2)) --style columns:3 --color volume
picture arm_flex_sheet.png --sheet
if command -v ffmpeg >/dev/null; then
    picture arm_flex.mp4 --frame ::2 --style columns:3 --size 960x540 --style samples:1
fi
