#!/bin/sh
# The pictures of docs/reference/solvers/lattice.md: the figures of the lattice's paper with our characters.
# Usage: scripts/lattice_pictures.sh [FOLDER of the built program] [OUTPUT FOLDER]
set -e
cd "$(dirname "$0")/.."
build=${1:-build/release}
out=${2:-docs/images}
cutis=$build/bin/cutis
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
render() { "$cutis" render "$@" -q --style samples:2; }
side_by_side() {
    name=$1
    shift
    inputs=
    count=0
    for file in "$@"; do
        inputs="$inputs -i $file"
        count=$((count + 1))
    done
    # shellcheck disable=SC2086
    ffmpeg -loglevel error -y $inputs -filter_complex "hstack=inputs=$count" "$out/$name"
}

# Figure 3: voxels of three characters
for who in bunny dancer man; do render "$who" lattice --style elements,no-legend --size 320x400 -o "$work/$who.png"; done
side_by_side lattice_voxels.png "$work/bunny.png" "$work/dancer.png" "$work/man.png"
# Figures 4 and 10: layers, cut open and one by one
render bunny lattice --style elements --cut z --view 15,8 --set resolution=40 --size 320x400 -o "$work/cut.png"
for layer in bone muscle fat skin; do
    render bunny lattice --style elements:$layer,no-legend --set resolution=40 --view 15,8 --size 240x400 \
        -o "$work/$layer.png"
done
side_by_side lattice_layers.png "$work/cut.png" "$work/bone.png" "$work/muscle.png" "$work/fat.png" "$work/skin.png"
# Figure 5: the bone layer, moved by lattice-based skinning
render man lattice --clip jump --frame 0:72:18 --fps 30 --style elements:bone,no-legend --sheet --style columns:5 \
    --size 1100x320 -o "$out/lattice_bones.png"
# Figure 9: low against normal resolution
render man "resolution 12=lattice" --clip jump --frame 1.2s --fps 60 --set resolution=12 --size 360x440 \
    -o "$work/low.png"
render man "resolution 32=lattice" --clip jump --frame 1.2s --fps 60 --size 360x440 -o "$work/normal.png"
side_by_side lattice_resolution.png "$work/low.png" "$work/normal.png"
# Figure 11: dragging
drag="$work/drag"
${CC:-cc} -O1 -Iinclude examples/drag.c "$build/libcutis_private.a" -ljansson -lz -lpthread -lm -o "$drag"
"$drag" bunny spine "$work/drag.pc2"
render bunny "$work/drag.pc2" --frame 0:100:16 --sheet --style columns:7 --view 50,8 --style no-legend --size 1120x260 -o "$out/lattice_drag.png"
# Figure 13: with and without secondary motion
render bunny lbs lattice --clip dance --frame 24:110:14 --fps 30 --sheet --size 1100x520 -o "$out/lattice_dance.png"
# Figure 14: one layer at the stiffness of muscle, the same with a higher gain, and all layers
render bunny "one soft layer=lattice" --clip dance --frame 60 --fps 30 --set fat_ratio=0 --set skin_layer=off --set inertia=1 \
    --set muscle_stiffness=2 --size 320x400 -o "$work/soft.png"
render bunny "one layer, high gain=lattice" --clip dance --frame 60 --fps 30 --set fat_ratio=0 --set skin_layer=off --set inertia=1 \
    --set gain=3.3 --size 320x400 -o "$work/high.png"
render bunny "all layers=lattice" --clip dance --frame 60 --fps 30 --set inertia=1 --size 320x400 \
    -o "$work/all.png"
side_by_side lattice_stiffness.png "$work/soft.png" "$work/high.png" "$work/all.png"
# Figure 15: without and with the skin layer
render bunny "no skin layer=lattice" --clip dance --frame 48 --fps 30 --set skin_layer=off --set inertia=1 --color area@0.5,2 \
    --size 400x400 --zoom 1.5@head -o "$work/bare.png"
render bunny "all layers=lattice" --clip dance --frame 48 --fps 30 --set inertia=1 --color area@0.5,2 \
    --size 400x400 --zoom 1.5@head -o "$work/skin.png"
side_by_side lattice_skin.png "$work/bare.png" "$work/skin.png"
