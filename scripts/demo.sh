#!/bin/sh
# demo.sh PROGRAM: make the arm, bake its flex with every solver, compare the results in a table, render pictures.
# Everything goes to out/demo.
set -eu
cutis=$1
out=out/demo
mkdir -p "$out"

echo "the arm: $out/arm.glb"
"$cutis" make arm -o "$out/arm.glb" >/dev/null

# A solver that cannot take this character says why, and is left out.
names="" caches=""
for solver in $("$cutis" solvers --json | python3 -c 'import json, sys
for solver in json.load(sys.stdin)["solvers"]: print(solver["name"])'); do
    if "$cutis" bake "$out/arm.glb" -o "$out/arm_$solver.pc2" --solver "$solver" --clip flex --fps 30 \
        --report "$out/arm_$solver.bake.json" --quiet; then
        "$cutis" measure "$out/arm.glb" "$out/arm_$solver.pc2" --json >"$out/arm_$solver.json"
        names="$names $solver"
        caches="$caches $out/arm_$solver.pc2"
    fi
done

python3 scripts/demo_table.py "$out" $names

# The frame of the deepest bend side by side, plain and by change of volume; the motion as a sheet and as a video.
frames=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["frames"])' "$out/arm_${names##* }.json")
echo "rendering (the video is the longest part)"
picture() {
    file=$1
    shift
    "$cutis" render "$out/arm.glb" $caches -o "$out/$file" --quiet "$@" && echo "  $out/$file"
}
# The captions are the solvers' names.
for solver in $names; do set -- "$@" --caption "$solver"; done
shift
picture arm_flex.png --frame $((frames / 2)) "$@"
picture arm_flex_volume.png --frame $((frames / 2)) --color volume "$@"
picture arm_flex_sheet.png --sheet "$@"
if command -v ffmpeg >/dev/null; then picture arm_flex.mp4 --size $((($# / 2) * 400))x340 "$@"; fi
