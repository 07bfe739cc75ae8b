#!/bin/sh
# test_blender_addon.sh PROGRAM: the Blender add-on, installed from its .zip, without a window: tests/blender_addon.py.
# Skipped without Blender.
# ctest: slow
set -u
if ! command -v blender >/dev/null; then
    echo "skipped: blender is not installed"
    exit 77
fi
program=$1
case $program in /*) ;; *) program=$PWD/$program ;; esac
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
library=$(dirname "$(dirname "$program")")/libcutis.so
python3 scripts/blender_zip.py "$library" "$folder/cutis.zip" > "$folder/out" || { cat "$folder/out"; exit 1; }
mkdir -p "$folder/config" "$folder/scripts/addons"
BLENDER_USER_SCRIPTS=$folder/scripts BLENDER_USER_CONFIG=$folder/config \
    timeout 900 blender -b --factory-startup -noaudio -P tests/blender_addon.py -- \
    "$folder/cutis.zip" "$program" "$folder" "$PWD/../shared/models" > "$folder/log" 2>&1
status=$?
grep -E "^(ok|==|skipped:)" "$folder/log"
grep -q "^== test_blender_addon" "$folder/log" || { tail -n 60 "$folder/log"; exit 1; }
[ $status -eq 0 ] || { echo "Blender ended with status $status"; exit 1; }
