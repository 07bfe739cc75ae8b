#!/bin/sh
# springs_shape_pictures.sh PROGRAM: the pictures of docs/solvers/springs_reference.md: reference shapes beside linear blending.
# The skin is drawn with the solver's own elasticity, which at rest in a pose leaves it on the shape but for contact.
set -eu
program=${1:-build/release/bin/cutis}
out=docs/images
for shape in metaballs dffd; do
    "$program" render arm lbs springs --set reference=$shape --clip flex --time 1 --wire --focus forearm --zoom 2.2 \
        --quality 2 --threads 1 --size 800x400 --caption "linear blending" --caption "$shape" -q -o $out/springs_arm_$shape.png
    "$program" render hand lbs springs --set reference=$shape --clip fist --time 1.0 --view=-30,-30 --quality 2 --threads 1 \
        --size 800x400 --caption "linear blending" --caption "$shape" -q -o $out/springs_hand_$shape.png
done
"$program" render man lbs springs --set reference=metaballs --clip jump --time 0.6 --view 60,10 --quality 2 --threads 1 --size 800x500 \
    --caption "linear blending" --caption metaballs -q -o $out/springs_man_metaballs.png
"$program" render man lbs springs --set reference=dffd --clip jump --time 0.6 --view 60,10 --quality 2 --threads 1 --size 800x500 \
    --caption "linear blending" --caption dffd -q -o $out/springs_man_dffd.png
