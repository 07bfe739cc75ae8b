#!/bin/sh
# validator.sh: put the Khronos glTF validator (npm package gltf-validator) into build/node, once. Without npm or
# network it says so and goes on; the test that needs it is then skipped.
set -u
cd "$(dirname "$0")/.." || exit 1
[ -e build/node/node_modules/gltf-validator/package.json ] && exit 0
if ! command -v npm >/dev/null; then
    echo "no npm: the glTF validator is not installed, check_gltf will be skipped"
    exit 0
fi
mkdir -p build/node
timeout 120 npm install --prefix build/node --no-save --no-audit --no-fund --loglevel=error \
    gltf-validator@2.0.0-dev.3.10 >build/node/install.log 2>&1 ||
    echo "npm could not fetch the glTF validator (see build/node/install.log), check_gltf will be skipped"
exit 0
