#!/bin/sh
# web.sh BUILD: the library as WebAssembly, the npm package and the page: golden hashes in Node and Chromium on one and two
# threads, sizes, the package as it is installed, its declarations, the page in a browser. Skipped without Emscripten
# (make test-web); without npm's packages or Chromium what needs them is left out, with a sentence.
set -u
build=$(cd "$1" && pwd)
if ! command -v emcc >/dev/null || ! command -v node >/dev/null; then
    echo "skipped: web, Emscripten or Node is not installed (make test-web installs them)"
    exit 77
fi
export JOBS="${JOBS:-1}"
sh scripts/web.sh || exit 1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# the golden hashes in Node
printf '#!/bin/sh\nexec node "%s/web/test/golden.cjs" "$@"\n' "$PWD" >"$folder/golden"
chmod +x "$folder/golden"
for threads in 1 2; do sh tests/check_golden.sh "$folder/golden" $threads || exit 1; done

# sizes that were promised, in bytes of gzip; contact, mesh, body and layers are compiled for speed in all of them, which is
# 17 kB of the live module and twice the speed of a heavy body
for line in "cutis 700000" "threads/cutis-threads 700000" "cutis-live 320000"; do
    set -- $line
    size=$(gzip -9c "build/npm/cutis/dist/$1.wasm" | wc -c)
    echo "$1.wasm: $size bytes of gzip"
    [ "$size" -le "$2" ] || { echo "$1.wasm is larger than $2 bytes"; exit 1; }
done

# what npm gives, from the lock file
modules=$PWD/build/npm/node_modules
if ! sh scripts/web-modules.sh; then
    node web/test/package.mjs build/npm/cutis "$build/bin/cutis" || exit 1
    echo "skipped: web, npm could not fetch three.js, Vite and playwright-core: the page was not built"
    exit 0
fi

# the package as npm packs and installs it, used from an empty project
(cd build/npm/cutis && npm pack --silent --pack-destination "$folder" >/dev/null) || exit 1
mkdir "$folder/project"
(cd "$folder/project" && echo '{ "type": "module", "private": true }' >package.json &&
    npm install --silent --offline --no-audit --no-fund --no-save --legacy-peer-deps "$folder"/cutis-*.tgz) || exit 1
CUTIS_DRACO="$modules/../package.json" CUTIS_MODELS="$PWD/../shared/models" \
    node web/test/package.mjs "$folder/project/node_modules/cutis" "$build/bin/cutis" || exit 1
node web/test/fields.mjs "$folder/project/node_modules/cutis" || exit 1

# the same on the oldest Node that the package promises
node18=build/npm/node18/node_modules/.bin/node
[ -x $node18 ] || timeout 120 npm install --prefix build/npm/node18 --silent --no-audit --no-fund node@18 >/dev/null 2>&1
if $node18 --version 2>/dev/null | grep -q '^v18'; then
    $node18 web/test/package.mjs "$folder/project/node_modules/cutis" "$build/bin/cutis" || exit 1
else
    echo "skipped: web, npm could not fetch Node 18"
fi
mkdir -p "$folder/project/node_modules/@types" "$folder/project/node_modules/@react-three"
cp web/test/types.ts "$folder/project/"
for name in three react react-dom @react-three/fiber @types/three @types/react @types/webxr; do
    ln -s "$modules/$name" "$folder/project/node_modules/$name"
done
cp web/test/three.mjs "$folder/project/"
(cd "$folder/project" && node three.mjs) || exit 1
cat >"$folder/project/tsconfig.json" <<END
{ "compilerOptions": { "noEmit": true, "strict": true, "skipLibCheck": false, "types": ["webxr"], "target": "es2022", "lib": ["es2022", "dom"],
  "module": "nodenext", "preserveSymlinks": true }, "files": ["types.ts"] }
END
node "$modules/typescript/bin/tsc" -p "$folder/project/tsconfig.json" >"$folder/types.log"
# the declarations of three.js have mistakes of their own
grep -v '^node_modules/@types/three\|^ ' "$folder/types.log" && exit 1

# the page
sh scripts/studio.sh || exit 1
if ! command -v chromium >/dev/null; then
    echo "skipped: web, Chromium is not installed: the page was built and not tried (make test-web installs it)"
    exit 0
fi
node web/test/example.mjs "$folder/project" "$build/bin/cutis" || exit 1
node web/test/page.mjs "$build/bin/cutis" || exit 1
