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

# The frame of the deepest bend, side by side, then the motion as a sheet and as a video.
middle=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["frames"] // 2)' "$out/arm_${names##* }.json")
"$cutis" render "$out/arm.glb" $caches -o "$out/arm_flex.png" --frame "$middle" >/dev/null
"$cutis" render "$out/arm.glb" $caches -o "$out/arm_flex_sheet.png" --sheet >/dev/null
if command -v ffmpeg >/dev/null; then
    "$cutis" render "$out/arm.glb" $caches -o "$out/arm_flex.mp4" >/dev/null
fi
echo "pictures:"
ls "$out"/arm_flex* | sed 's/^/  /'
