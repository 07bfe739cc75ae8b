#!/bin/sh
# test_fbx_blender.sh CUTIS: FBX files that Blender exports from characters give the characters back, within 1e-4 of the size.
# Skips without Blender or ../shared/models.
# ctest: slow
twins=$(dirname "$1")/test_twins
models=../shared/models
command -v blender >/dev/null && [ -d $models/rigs ] && [ -x "$twins" ] || { echo "no Blender or no ../shared/models: skipped"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
set --
for name in khronos-CesiumMan/CesiumMan rigs/quaternius-knight/KnightCharacter rigs/makehuman-child-8/mh_child_8; do
    set -- "$@" "$PWD/$models/$name.glb" "$work/$(basename $name).fbx"
done
timeout 600 blender -b --factory-startup -noaudio -P scripts/blender_fbx.py -- "$@" >"$work/log" 2>&1
code=0
while [ $# -gt 0 ]; do
    [ -e "$2" ] || { echo "Blender did not export $1"; tail -n 5 "$work/log"; exit 1; }
    "$twins" "$2" "$1" 1e-4 1e-4 2>&1 | grep -E "rest|ERROR|clip"
    "$twins" "$2" "$1" 1e-4 1e-4 >/dev/null 2>&1 || code=1
    shift 2
done
exit $code
