#!/bin/sh
# validator.sh: put what reads our glTF files in the tests into build/node, once: the Khronos validator and three.js (npm
# packages). Without npm or network it says so and goes on; the tests that need them are then skipped.
set -u
cd "$(dirname "$0")/.." || exit 1
[ -e build/node/node_modules/gltf-validator/package.json ] && [ -e build/node/node_modules/three/package.json ] && exit 0
if ! command -v npm >/dev/null; then
    echo "no npm: the glTF validator and three.js are not installed, the tests that need them will be skipped"
    exit 0
fi
mkdir -p build/node
timeout 180 npm install --prefix build/node --no-save --no-audit --no-fund --loglevel=error \
    gltf-validator@2.0.0-dev.3.10 three@0.160.0 >build/node/install.log 2>&1 ||
    echo "npm could not fetch the glTF validator and three.js (see build/node/install.log), their tests will be skipped"
exit 0
