#!/bin/sh
# layers_models.sh [PROGRAM [MODELS [NAME...]]]: bakes the characters of MODELS (../shared/models) by lbs and by layers,
# without a word of tuning, and prints the table of docs/reference/solvers/layers.md, with the bones that the motion drives into
# other flesh. NAME: only these rows. The two long clips of mh_heavy take most of the time.
set -eu
program=${1:-build/release/bin/cutis}
models=${2:-../shared/models}
[ $# -gt 2 ] && shift 2 || set --
names=${*:-"ces fox horse kick kaiju roar tail average highjump lambada left right"}
[ -d "$models" ] || { echo "skipped: $models is not there" && exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
key() { sed -n "s/^ *\"$2\": *\([-0-9.e]*\),*$/\1/p" "$1" | head -n 1; }
echo "| scene | frames | lbs: volume error, pairs | layers: volume error, pairs (at rest) | seconds | bones in other flesh |"
echo "|---|---|---|---|---|---|"
row() {
    case " $names " in *" $1 "*) ;; *) return 0 ;; esac
    for solver in lbs layers; do
        start=$(date +%s)
        if [ -n "${3:-}" ]; then
            "$program" bake "$models/$2" --clip "$3" -s $solver -q -o "$work/$solver.pc2" --report "$work/$solver.r"
        else
            "$program" bake "$models/$2" -s $solver -q -o "$work/$solver.pc2" --report "$work/$solver.r"
        fi
        seconds=$(($(date +%s) - start))
        "$program" measure "$models/$2" "$work/$solver.pc2" --json >"$work/$solver.json"
    done
    bones=$(tr -d '\n' <"$work/layers.r" | sed -n 's/.*"bones_in_flesh": \[\([^]]*\)\].*/\1/p' |
        tr '}' '\n' | sed -n 's/.*"joint": "\([^"]*\)", *"into": "\([^"]*\)".*/\1 in \2/p' | paste -sd ';' -)
    percent() { echo "$1" | awk '{ printf "%.3g %%", 100 * $1 }'; }
    echo "| $1 ${3:-} | $(key "$work/lbs.json" frames) | $(percent "$(key "$work/lbs.json" volume_error_max)")," \
        "$(key "$work/lbs.json" self_intersections_max) | $(percent "$(key "$work/layers.json" volume_error_max)")," \
        "$(key "$work/layers.json" self_intersections_max) ($(key "$work/layers.json" self_intersections_rest))" \
        "| $seconds | ${bones:-none} |"
}
row ces khronos-CesiumMan/CesiumMan.glb
row fox khronos-Fox/Fox.glb Run
row horse mesh2motion-horse/horse.glb Run
row kick mesh2motion-horse/horse.glb Kick
row kaiju mesh2motion-kaiju/kaiju.glb Walk
row roar mesh2motion-kaiju/kaiju.glb Roar
row tail mesh2motion-kaiju/kaiju.glb "Tail Attack"
row left webxr-generic-hand/left.glb
row right webxr-generic-hand/right.glb
row average makehuman-cmu-average/mh_average.glb run
row highjump makehuman-cmu-heavy/mh_heavy.glb high_jump
row lambada makehuman-cmu-heavy/mh_heavy.glb lambada
