#!/bin/sh
# springs_shape_pictures.sh PROGRAM: the pictures of docs/reference/solvers/springs_reference.md: reference shapes beside linear blending.
# The skin is drawn with the solver's own elasticity, which at rest in a pose leaves it on the shape but for contact.
set -eu
program=${1:-build/release/bin/cutis}
out=docs/images
for shape in metaballs dffd; do
    "$program" render arm "linear blending=lbs" "$shape=springs" --set reference=$shape --clip flex --frame 1s --style wire --zoom 2.2@forearm \
        --style samples:2 --threads 1 --size 800x400 -q -o $out/springs_arm_$shape.png
    "$program" render hand "linear blending=lbs" "$shape=springs" --set reference=$shape --clip fist --frame 1.0s --view=-30,-30 --style samples:2 --threads 1 \
        --size 800x400 -q -o $out/springs_hand_$shape.png
done
"$program" render man "linear blending=lbs" "metaballs=springs" --set reference=metaballs --clip jump --frame 0.6s --view 60,10 --style samples:2 --threads 1 --size 800x500 \
    -q -o $out/springs_man_metaballs.png
"$program" render man "linear blending=lbs" "dffd=springs" --set reference=dffd --clip jump --frame 0.6s --view 60,10 --style samples:2 --threads 1 --size 800x500 \
    -q -o $out/springs_man_dffd.png
