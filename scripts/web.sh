#!/bin/sh
# web.sh: build the library as WebAssembly and stage the npm package `cutis` in build/npm/cutis. Uses JOBS processes at a time.
set -eu
cd "$(dirname "$0")/.."
JOBS=${JOBS:-2} sh scripts/cross.sh wasm
package=build/npm/cutis
mkdir -p "$package"
rm -rf "$package/src" "$package/dist"
cp -r web/cutis/src web/cutis/package.json web/cutis/README.md LICENSE "$package"
mkdir -p "$package/dist/threads"
bin=build/wasm/bin
cp $bin/cutis.js $bin/cutis.wasm $bin/cutis-live.js $bin/cutis-live.wasm build/wasm/generated/structs.js "$package/dist"
cp $bin/cutis-threads.js $bin/cutis-threads.wasm $bin/cutis-threads.worker.js "$package/dist/threads"

# Node has scripts of its own for the same .wasm
cmp $bin/cutis-threads.wasm $bin/cutis-threads-node.wasm
cp $bin/cutis-threads-node.js $bin/cutis-threads-node.worker.js "$package/dist/threads"

# the module with threads is a plain script, which workers take; a page imports the same as a module
echo '{ "type": "commonjs" }' >"$package/dist/threads/package.json"
sed '/^if (typeof exports/,$d' $bin/cutis-threads.js >"$package/dist/cutis-threads.mjs"
echo 'export default createCutis;' >>"$package/dist/cutis-threads.mjs"

# the module with one thread as text, for cutis/single
{ printf 'export default "' && gzip -9nc $bin/cutis.wasm | base64 -w 0 && echo '";'; } >"$package/dist/packed.js"
