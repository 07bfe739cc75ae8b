#!/bin/sh
# The pictures of docs/reference/solvers/layers.md: the figures of the paper of layers with our characters.
# Usage: scripts/layers_pictures.sh [FOLDER of the built program] [OUTPUT FOLDER]
set -e
cd "$(dirname "$0")/.."
build=${1:-build/release}
out=${2:-docs/images}
mkdir -p "$out"
render() { "$build/bin/cutis" render "$@" -q --style samples:2; }

# Figure 1: the four layers of the arm
render arm layers --clip flex --frame 0s --cut z --view 0,15 --size 640x230 -o "$out/layers_model.png"
# Figure 3: the arm's sub-volumes
render arm layers --clip flex --frame 1.3s --color piece --style no-legend,no-floor --view 20,20 --size 420x330 \
    -o "$out/layers_pieces.png"
# Figure 4: the bent arm, whole and cut open
render arm lbs layers --clip flex --frame 1.3s --view 20,20 --style no-floor --size 840x420 -o "$out/layers_flex.png"
render arm lbs layers --clip flex --frame 1.3s --cut z --view front --style no-floor --size 840x460 -o "$out/layers_cut.png"
# Figure 5: the creases of a closing hand
render hand lbs layers --clip fist --frame 1.4s --view=-40,-50 --style no-floor --size 840x440 -o "$out/layers_hand.png"
# Figure 6: a step, whole and cut open
render man lbs layers --clip walk --frame 0.3s --size 760x560 -o "$out/layers_walk.png"
render man lbs layers --clip walk --frame 0.3s --cut x=-0.1 --view side --zoom 2.2@hips --style no-floor \
    --size 840x460 -o "$out/layers_groin.png"
# The arm twisted by half a turn
render arm lbs dqs layers --clip twist --frame 1.3s --style wire --size 1050x280 -o "$out/layers_twist.png"
# A captured jump that drives the arms into the body
heavy=../shared/models/makehuman-cmu-heavy/mh_heavy.glb
if [ -f "$heavy" ]; then
    render "$heavy" lbs layers --clip high_jump --frame 1.9s --view 60,10 --style no-floor --size 840x620 \
        -o "$out/layers_jump.png"
else
    echo "skipped: layers_jump.png, $heavy is not there"
fi
