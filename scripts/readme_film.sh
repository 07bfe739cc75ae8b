#!/bin/sh
# readme_film.sh [PROGRAM] [OUTPUT.webp]: the animated picture of the README: a heavy man does jumping jacks, linear skinning beside flesh.
# Needs ../shared/models and ffmpeg with libwebp; fails when the picture is larger than 3 MB.
set -eu

cd "$(dirname "$0")/.."
cutis=${1:-build/release/bin/cutis}
output=${2:-docs/images/dancer.webp}
character=../shared/models/makehuman-cmu-heavy/mh_heavy.glb
[ -e "$character" ] || { echo "readme_film.sh: $character is not there" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# two seconds in which the arms meet the belly and the man lands, at the frame rate of the picture
for solver in lbs tissue; do
    "$cutis" bake "$character" --clip jumping_jacks --start 1.4 --end 3.4 --fps 20 --solver $solver -q -o "$work/$solver.npy"
done
"$cutis" render "$character" "linear skinning=$work/lbs.npy" "flesh=$work/tissue.npy" --frame 0:40 --fps 20 \
    --view 230,5 --zoom 1.3 --size 760x520 --style samples:2,no-floor -q -o "$work/film.mp4"

# played for ever
ffmpeg -v error -y -i "$work/film.mp4" -c:v libwebp_anim -loop 0 -quality 88 -compression_level 6 "$work/film.webp"
size=$(wc -c <"$work/film.webp")
[ "$size" -lt 3000000 ] || { echo "readme_film.sh: the picture has $size bytes, more than 3 MB" >&2; exit 1; }
mv "$work/film.webp" "$output"
echo "$output: $size bytes"
