#!/bin/sh
# springs_pictures.sh PROGRAM: the pictures of docs/reference/solvers/springs.md, after Figures 2 and 4 (diagrams), 5 (a thumb on a
# table), 6 (a body against a rigid thing) and 7 (a grasped cube) of the paper.
set -eu
program=${1:-build/release/bin/cutis}
out=docs/images
python3 "$(dirname "$0")/springs_diagrams.py" $out
"$program" render hand "linear blending=lbs" springs --clip grasp --prop table@-0.0145,-0.104,0.0588 --frame 1.0s --view=-60,6 \
    --zoom 6@-0.0295,-0.095,0.0375 --size 900x420 -q -o $out/springs_table.png
"$program" render man "linear blending=lbs" springs --clip walk --frame 0.3s --prop table@0,0.72,0.47,0.3 --view 60,30 --zoom 4@0.1,0.72,0.15 \
    --size 800x380 -q -o $out/springs_body.png
"$program" render hand springs --clip grasp --prop cube --set friction=0.8 --frame 3.4s --color touch --view=-100,-40 --size 560x480 -q \
    -o $out/springs_grasp.png
sh "$(dirname "$0")/shrink_pictures.sh" $out/springs_table.png $out/springs_body.png $out/springs_grasp.png
