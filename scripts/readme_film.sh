#!/bin/sh
# readme_film.sh [PROGRAM] [OUTPUT.webp]: the animated picture of the README: a heavy dancer, linear skinning beside flesh.
# Needs ../shared/models and ffmpeg with libwebp; fails when the picture is larger than 3 MB.
set -eu

cd "$(dirname "$0")/.."
cutis=${1:-build/release/bin/cutis}
output=${2:-docs/images/dancer.webp}
character=../shared/models/makehuman-cmu-heavy/mh_heavy.glb
[ -e "$character" ] || { echo "readme_film.sh: $character is not there" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# three seconds of the dance, at the frame rate of the picture
for solver in lbs layers; do
    "$cutis" bake "$character" --clip lambada --start 4 --end 7 --fps 15 --solver $solver -q -o "$work/$solver.npy"
done
"$cutis" render "$character" "linear skinning=$work/lbs.npy" "flesh=$work/layers.npy" --frame 0:44 --fps 15 \
    --view 60,8 --zoom 1.4 --size 720x460 --style samples:3,no-legend,no-floor -q -o "$work/film.mp4"

# played for ever
ffmpeg -v error -y -i "$work/film.mp4" -c:v libwebp_anim -loop 0 -quality 88 -compression_level 6 "$work/film.webp"
size=$(wc -c <"$work/film.webp")
[ "$size" -lt 3000000 ] || { echo "readme_film.sh: the picture has $size bytes, more than 3 MB" >&2; exit 1; }
mv "$work/film.webp" "$output"
echo "$output: $size bytes"
