#!/bin/sh
# studio.sh: build the page `studio` into build/studio, from the package that scripts/web.sh staged and npm's packages, beside
# which a copy of its sources lies while it is built. Fails when npm's packages cannot be had.
set -eu
cd "$(dirname "$0")/.."
sh scripts/web-modules.sh || { echo "npm could not fetch three.js and Vite (see build/npm/install.log)" && exit 1; }
rm -rf build/npm/studio
mkdir -p build/npm/studio
cp -r web/studio/index.html web/studio/src web/studio/public web/studio/vite.config.js build/npm/studio
node build/npm/node_modules/vite/bin/vite.js build --config build/npm/studio/vite.config.js --logLevel error
