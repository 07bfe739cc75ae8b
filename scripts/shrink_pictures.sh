#!/bin/sh
# shrink_pictures.sh FILE.png...: pictures for the documents with 256 colours each, a third of the size. Needs ffmpeg.
set -eu
for picture; do
    small=${picture%.png}.small.png
    ffmpeg -v error -y -i "$picture" -vf "split[a][b];[a]palettegen=stats_mode=full[p];[b][p]paletteuse=dither=sierra2_4a" \
        "$small"
    if [ "$(wc -c < "$small")" -lt "$(wc -c < "$picture")" ]; then mv "$small" "$picture"; else rm "$small"; fi
done
