#!/bin/sh
# loops.sh [PROGRAM [OPTIONS of bake]]: bake the loops of docs/reference/baking.md under lattice and layers and print their table.
# Takes minutes.
set -u
program=${1:-build/release/bin/cutis}
[ $# -gt 0 ] && shift
options=$*
models=../shared/models
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
failures=0

# row NAME INPUT CLIP: the seams of one clip under both solvers.
row() {
    line="| $1 \`$3\` |"
    for solver in lattice layers; do
        "$program" bake "$2" --solver $solver --clip "$3" --loop -q -o "$folder/loop.npy" --report "$folder/loop.json" \
            $options || failures=$((failures + 1))
        line="$line $(python3 -c 'import json, sys
loop = json.load(open(sys.argv[1]))["loop"]
print("%.1e | %.2f %% | %d |" % (loop["seam_position"], 100 * loop["seam_velocity"], loop["periods_run"]))' \
            "$folder/loop.json")"
    done
    echo "$line"
}

echo "| clip | lattice: seam in position, of the size | in velocity, of the RMS speed | periods | layers: in position | in velocity | periods |"
echo "|---|---|---|---|---|---|---|"
row man man walk
row dancer dancer walk
[ -e $models ] || echo "$models is not there: without horse and Fox" >&2
[ -e $models ] && row horse $models/mesh2motion-horse/horse.glb Trot
[ -e $models ] && row Fox $models/khronos-Fox/Fox.glb Run
[ $failures -eq 0 ]
