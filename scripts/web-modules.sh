#!/bin/sh
# web-modules.sh: install what the page is made of and tested with (three.js, Vite, playwright-core, ...) into
# build/npm/node_modules, in the versions of web/studio/package-lock.json. Fails without npm or network.
set -eu
cd "$(dirname "$0")/.."
mkdir -p build/npm
cmp -s web/studio/package-lock.json build/npm/package-lock.json && [ -e build/npm/complete ] && exit 0
command -v npm >/dev/null || exit 1
rm -f build/npm/complete
cp web/studio/package.json web/studio/package-lock.json build/npm/
(cd build/npm && timeout 240 npm install --no-save --no-audit --no-fund --loglevel=error >install.log 2>&1) || exit 1
touch build/npm/complete
