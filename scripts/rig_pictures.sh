#!/bin/sh
# The pictures of docs/notes/rigging.md and docs/reference/solvers/curves.md: the figures of Bian et al. 2018 with our characters.
# Usage: scripts/rig_pictures.sh [FOLDER of the built program] [OUTPUT FOLDER] [FOLDER of fetched models]
# Figures of fetched models are made when their folder is there, and stay out of the repository.
set -e
cd "$(dirname "$0")/.."
build=${1:-build/release}
out=${2:-docs/images}
models=${3:-../shared/models}
cutis=$build/bin/cutis
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
render() { "$cutis" render "$@" -q --style samples:2; }

# A built-in character with nothing but its mesh, and poses of it under another solver, as if sculpted
"$cutis" make cat --quiet -o "$work/cat.obj"
"$cutis" make dancer --quiet -o "$work/dancer.obj"
"$cutis" make hand --quiet -o "$work/hand.obj"
"$cutis" make man --quiet -o "$work/man.obj"
"$cutis" make man --quiet --resolution 3.8 -o "$work/man_fine.obj"
"$cutis" bake cat --solver dqs --clip walk --fps 4 -q -o "$work/cat_poses.obj"
"$cutis" bake dancer --solver dqs --clip spin --fps 2 -q -o "$work/dancer_poses.obj" 2> /dev/null ||
    "$cutis" bake dancer --solver dqs --fps 2 -q -o "$work/dancer_poses.obj"

# curves MESH OUT.npy: of each vertex the closed curve that it is on, from 1; 0 off the curves.
curves() {
    PYTHONPATH=$(dirname "$cutis")/../python python3 -c 'import sys, cutis, numpy
numpy.save(sys.argv[2], cutis.rig(cutis.Character.load(sys.argv[1])).curves.astype("float32") + 1)' "$1" "$2"
}

# Figures 2 and 3: curves on the cat, by number from the far ends inwards, its leg from near, and on the dancer
for name in cat dancer; do
    curves "$work/$name.obj" "$work/$name.npy"
done
render "$work/cat.obj" rest --color "$work/cat.npy" --style wire,no-legend --view 70,10 --zoom 4@-0.05,0.09,0.12 \
    --size 420x320 -o "$out/rig_curves_leg.png"
render "$work/cat.obj" rest --color "$work/cat.npy" --style wire,no-legend --view 70,10 --size 560x390 -o "$out/rig_curves_cat.png"
render "$work/dancer.obj" rest --color "$work/dancer.npy" --style wire,no-legend --view 20,5 --size 330x430 \
    -o "$out/rig_curves_dancer.png"



# Figures 4 and 9: skeletons from one pose
for name in cat dancer hand man; do
    "$cutis" rig "$work/$name.obj" -q -o "$work/$name.glb"
done
render "$work/man.glb" rest --style skeleton --view front,side --size 560x330 -o "$out/rig_man.png"
render "$work/cat.glb" rest --style skeleton --view 70,10 --size 400x310 -o "$out/rig_cat.png"
render "$work/hand.glb" rest --style skeleton --view top --size 260x340 -o "$out/rig_hand.png"
# Figure 8: the skeleton of 32,660 vertices
"$cutis" rig "$work/man_fine.obj" -q -o "$work/man_fine.glb"
render "$work/man_fine.glb" rest --style skeleton,wire --view front --size 320x400 -o "$out/rig_man_fine.png"

# Figure 5: two poses of the dancer and what lies between; figure 6: three of the cat
dancer_end=$(ls -d "$work"/dancer_poses.obj/* | sed -n 2p)
"$cutis" bake "$work/dancer.obj" --solver curves --example "$dancer_end" --fps 4 -q -o "$work/dancer.pc2"
render "$work/dancer.obj" "$work/dancer.pc2" --sheet --frame 0:4:1 --style columns:5 --view 20,5 --size 900x310 \
    -o "$out/curves_dancer.png"
"$cutis" bake "$work/cat.obj" --solver curves --example "$work/cat_poses.obj/frame_0001.obj" \
    --example "$work/cat_poses.obj/frame_0003.obj" --fps 4 -q -o "$work/cat.pc2"
render "$work/cat.obj" "$work/cat.pc2" --sheet --frame 0:8:1 --style columns:5 --view 70,10 --size 900x380 \
    -o "$out/curves_cat.png"

# Figure 10: the arm half-way between two examples, beside linear blending and dual quaternions
render arm curves "linear blend=lbs" "dual quaternions=dqs" --clip flex --frame 0.5s --set examples=2 --view 20,20 --zoom 1.6 --color volume \
    --size 840x300 -o "$out/curves_arm.png"

# The same for fetched models, beside this repository
[ -d "$models" ] || exit 0
fetched=${4:-$out/fetched}
mkdir -p "$fetched"
for file in khronos-CesiumMan/CesiumMan.glb khronos-Fox/Fox.glb mesh2motion-horse/horse.glb mesh2motion-kaiju/kaiju.glb \
    webxr-generic-hand/left.glb makehuman-cmu-average/mh_average-body-quads.obj \
    makehuman-cmu-heavy/mh_heavy-body-quads.obj; do
    [ -f "$models/$file" ] || continue
    name=$(basename "$file" | sed 's/[.].*//')
    "$cutis" rig "$models/$file" -q -o "$work/$name.glb"
    curves "$models/$file" "$work/$name.npy"
    render "$work/$name.glb" rest --style skeleton --view front,side --size 800x460 -o "$fetched/rig_$name.png"
    render "$models/$file" rest --color "$work/$name.npy" --style wire,no-legend --view 20,5 --size 620x760 \
        -o "$fetched/rig_curves_$name.png"
done
