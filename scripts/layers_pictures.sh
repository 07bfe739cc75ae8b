#!/bin/sh
# The pictures of docs/solvers/layers.md: the figures of the paper of layers with our characters.
# Usage: scripts/layers_pictures.sh [FOLDER of the built program] [OUTPUT FOLDER]
set -e
cd "$(dirname "$0")/.."
build=${1:-build/release}
out=${2:-docs/images}
mkdir -p "$out"
render() { "$build/bin/cutis" render "$@" -q --quality 2; }

# Figure 1: the four layers of the arm
render arm layers --clip flex --time 0 --cut z --view 0,15 --size 640x230 -o "$out/layers_model.png"
# Figure 3: the arm's sub-volumes
render arm layers --clip flex --time 1.3 --color piece --no-legend --view 20,20 --no-floor --size 420x330 \
    -o "$out/layers_pieces.png"
# Figure 4: the bent arm, whole and cut open
render arm lbs layers --clip flex --time 1.3 --view 20,20 --no-floor --size 840x420 -o "$out/layers_flex.png"
render arm lbs layers --clip flex --time 1.3 --cut z --view front --no-floor --size 840x460 -o "$out/layers_cut.png"
# Figure 5: the creases of a closing hand
render hand lbs layers --clip fist --time 1.4 --view=-40,-50 --no-floor --size 840x440 -o "$out/layers_hand.png"
# Figure 6: a step, whole and cut open
render man lbs layers --clip walk --time 0.3 --size 760x560 -o "$out/layers_walk.png"
render man lbs layers --clip walk --time 0.3 --cut x=-0.1 --view side --zoom 2.2 --focus hips --no-floor \
    --size 840x460 -o "$out/layers_groin.png"
# The arm twisted by half a turn
render arm lbs dqs layers --clip twist --time 1.3 --wire --size 1050x280 -o "$out/layers_twist.png"
# A captured jump that drives the arms into the body
heavy=../shared/models/makehuman-cmu-heavy/mh_heavy.glb
if [ -f "$heavy" ]; then
    render "$heavy" lbs layers --clip high_jump --time 1.9 --view 60,10 --no-floor --size 840x620 \
        -o "$out/layers_jump.png"
else
    echo "skipped: layers_jump.png, $heavy is not there"
fi
