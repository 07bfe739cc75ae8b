/*
 * single.js: the package without any file beside it, for bundlers that do not recognise `new URL(file, import.meta.url)`
 * (esbuild, rollup) and for plain scripts: the .wasm is inside, in gzip. One thread; without bake() in a worker.
 */
import create from "../dist/cutis.js";
import packed from "../dist/packed.js";
import { loadWith } from "./core.js";

export { BakeResult, Judge, Rig } from "./bake.js";
export { Character } from "./character.js";
export { CutisError } from "./memory.js";
export { Model, State } from "./model.js";
export { unpackDraco, usesDraco } from "./draco.js";

/** The bytes of the .wasm. */
async function unpack() {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

const platform = {
  threadsPossible: () => false,
  async create(name, options, wasm) {
    options.wasmBinary ??= wasm === null ? await unpack() : await (await fetch(wasm)).arrayBuffer();
    options.locateFile = (file) => file;
    return create(options);
  },
};

/** Load the library, on one thread. wasm: a URL or bytes instead of the one inside. */
export function load({ wasm = null } = {}) {
  return loadWith(platform, { wasm });
}
