#!/bin/sh
# The pictures of docs/reference/solvers/slide.md: the figures of the paper with our characters, plain texture beside slide.
# Usage: scripts/slide_pictures.sh [FOLDER of the built program] [OUTPUT FOLDER] [FOLDER of painted characters]
# The painted characters are made by bin/test_slide_scenes FOLDER when the third argument is left out.
set -e
cd "$(dirname "$0")/.."
build=${1:-build/release}
out=${2:-docs/images}
cutis=$build/bin/cutis
work=${3:-}
if [ -z "$work" ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    "$build/bin/test_slide_scenes" "$work" > /dev/null
fi
mkdir -p "$out"
render() { "$cutis" render "$@" -q --style samples:2; }
# Figure 3: the torus squashed
render "$work/torus.glb" "plain texture=lbs" slide --clip squash --frame 1.3s --texture checker@32 --set area=30 \
    --view front --size 900x400 -o "$out/slide_torus.png"
# Figure 4: the cylinder twisted, both ends attached, then the right one loose
render "$work/cylinder_fixed.glb" "plain texture=lbs" slide --clip twist --frame 1.7s --texture checker@32 \
    --view 20,15 --size 900x360 -o "$out/slide_cylinder_fixed.png"
render "$work/cylinder_loose.glb" "plain texture=lbs" slide --clip twist --frame 1.7s --texture checker@32 --set zeta=0 \
    --set damping=0 --view 20,15 --size 900x360 -o "$out/slide_cylinder_loose.png"
# Figures 1 and 5: looking up, swallowing, with a tattoo
for scene in "look_up 1.6" "swallow 0.7"; do
    set -- $scene
    render "$work/neck_skin.glb" "plain texture=lbs" slide --clip "$1" --frame "$2s" --texture tattoo@30 \
        --set bones.head.attach=1 --view 60,0 --zoom 2.2@neck --size 900x520 -o "$out/slide_neck_$1.png"
done
# Figures 1 and 6: veins on the back of a hand, painted through all islands of the texture, with a texture for the frame
"$cutis" texture "$work/hand.glb" veins@24 --size 1024 -q -o "$work/veins.png"
"$cutis" bake "$work/hand.glb" --solver slide --clip fist --fps 10 --set bones.forearm.attach=1 --outputs sliding -q \
    -o "$work/hand.npy"
"$cutis" texture "$work/hand.glb" "$work/veins.png" --sliding "$work/hand.npy.sliding.npy" -q -o "$work/veins.png"
for panel in "plain texture=veins.png" "slide=veins_0009.png"; do
    "$cutis" render "$work/hand.glb" "${panel%=*}=lbs" --clip fist --frame 0.9s --texture "$work/${panel#*=}" \
        --view 40,55 --size 450x520 -q --style samples:2 -o "$work/hand_${panel%%[ =]*}.png"
done
ffmpeg -loglevel error -y -i "$work/hand_plain.png" -i "$work/hand_slide.png" -filter_complex hstack=inputs=2 \
    "$out/slide_hand.png"
# Figure 7: a tight shirt
render "$work/man_shirt.glb" "plain texture=lbs" slide --clip jump --frame 1.0s --texture checker@48 \
    --view front --zoom 1.6@chest --size 900x520 -o "$out/slide_shirt.png"
# Figure 8: the torus shaken, how far the skin slides
for zeta in 0 0.5 1; do
    "$cutis" render "$work/torus.glb" "zeta $zeta=slide" --clip shake --frame 0.9s --color sliding@0,0.03 --set zeta=$zeta \
        --view front --size 420x360 -q --style samples:2 -o "$work/zeta_$zeta.png"
done
ffmpeg -loglevel error -y -i "$work/zeta_0.png" -i "$work/zeta_0.5.png" -i "$work/zeta_1.png" \
    -filter_complex hstack=inputs=3 "$out/slide_shake.png"
# Figure 1: animal skin
kaiju=../shared/models/mesh2motion-kaiju/kaiju.glb
if [ -f $kaiju ]; then
    render $kaiju "plain texture=lbs" slide --clip Walk --frame 0.9s --texture checker@48 --set zeta=0.3 \
        --view 60,10 --size 900x420 -o "$out/slide_dinosaur.png"
fi
# What the skin holds to by itself
if [ -f $kaiju ]; then
    "$cutis" render $kaiju slide --clip Walk --frame 0.1s --color attached@0,1 --view 60,10 --size 480x420 -q --style samples:2 \
        -o "$out/slide_attached.png"
fi
# In a stack: the skin of an arm that a body solver bends
"$cutis" render arm "linear blend=lbs" layers layers+slide --clip flex --frame 1.0s --texture checker@48 --view front \
    --size 1200x420 -q --style samples:2 -o "$out/slide_stack.png"
# Beyond the paper: wrinkles as a normal map that each frame shows more or less of
"$cutis" make neck --resolution 0.5 -q -o "$work/neck.glb"
"$cutis" bake "$work/neck.glb" --solver slide --clip look_up --set bones.head.attach=1 --outputs folds,texcoords -q \
    -o "$work/neck.pc2"
"$cutis" texture "$work/neck.glb" --folds "$work/neck.pc2.folds.npy" --wavelength 0.012 -q -o "$work/wrinkles.png"
"$cutis" render "$work/neck.glb" "$work/neck.pc2" --clip look_up --frame 9:39:15 --sheet --style columns:3 --view 150,15 \
    --texture "normals:$work/wrinkles.png" --zoom 2@neck --size 900x400 -q -o "$out/slide_neck_wrinkles.png"
# ... and where skin is pressed together
"$cutis" render "$work/torus.glb" slide --clip squash --frame 1.3s --color wrinkle --view front --size 480x400 -q \
    --style samples:2 -o "$out/slide_wrinkle.png"
