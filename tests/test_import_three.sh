#!/bin/sh
# test_import_three.sh PROGRAM: three.js plays a baked .glb as the bake's positions say, within the error that the bake
# itself tells. Skipped without node or the npm package three in build/node.
set -u
if [ ! -e build/node/node_modules/three/package.json ] || ! command -v node >/dev/null; then
    echo "skipped: three.js is not installed (npm install --prefix build/node three@0.160.0)"
    exit 77
fi
program=$1 root=$PWD
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
try() { # NAME|FILE SOLVER CLIP TOLERANCE [OPTIONS]
    name=$(basename "$1" .glb) solver=$2 clip=$3 tolerance=$4
    case $1 in
    *.glb) cp "$1" "$folder/in.glb" || exit 1 ;;
    *) "$program" make "$name" --resolution 0.3 -o "$folder/in.glb" > "$folder/out" || exit 1 ;;
    esac
    shift 4
    "$program" bake "$folder/in.glb" --solver "$solver" --clip "$clip" --fps 12 --threads 1 -q "$@" -o "$folder/$name.glb" || exit 1
    "$program" bake "$folder/in.glb" --solver "$solver" --clip "$clip" --fps 12 --threads 1 -q -o "$folder/$name.npy" || exit 1
    (cd build/node && node "$root/scripts/three_check.mjs" "$folder/$name.glb" "$folder/$name.npy" "$clip" 12 "$tolerance") ||
        { echo "$name $solver $clip $*: three.js shows something else"; exit 1; }
}
# The default tolerance of a bake is 0.1 % of the size; a little more for keys that are rounded.
try arm lattice flex 0.0012
try arm lattice flex 0.0002 --targets exact
try man dqs walk 0.0012
# Files of others: clips that begin after 0, a mesh that lies below a turned node, no names, no indices.
models=../shared/models
if [ -e $models ]; then
    try $models/mesh2motion-horse/horse.glb lattice Trot 0.0012
    try $models/khronos-CesiumMan/CesiumMan.glb lattice clip_0 0.0012
    try $models/khronos-Fox/Fox.glb lattice Run 0.0012
else
    echo "skipped: $models is not there"
fi
# Skin that slides: morph targets of texture coordinates, which a plug-in of the loader plays.
slides() { # NAME CLIP TOLERANCE [OPTIONS]
    name=$1 clip=$2 tolerance=$3
    shift 3
    "$program" make "$name" --resolution 0.3 -o "$folder/slid.glb" > "$folder/out" || exit 1
    "$program" convert "$folder/slid.glb" "$folder/slid.obj" > "$folder/out" || exit 1
    set -- --solver slide --clip "$clip" --fps 12 --end 1 --threads 1 -q "$@"
    "$program" bake "$folder/slid.glb" --outputs texcoords_steady -o "$folder/slid.npy" "$@" || exit 1
    "$program" bake "$folder/slid.glb" -o "$folder/slid_baked.glb" "$@" || exit 1
    (cd build/node && node "$root/scripts/three_texcoords.mjs" "$folder/slid_baked.glb" "$folder/slid.obj" \
        "$folder/slid.npy.texcoords_steady.npy" "$clip" 12 "$tolerance") ||
        { echo "$name $clip: three.js shows other texture coordinates"; exit 1; }
}
slides torus squash 0.002
slides hand fist 0.004 --set bones.forearm.attach=1
