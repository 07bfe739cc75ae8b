/*
 * node.js: the package in Node: the condition "node" of package.json leads here. The same exports as index.js.
 */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";

import { bakeWith, loadWith } from "./core.js";

export { BakeResult, Judge, Rig } from "./bake.js";
export { Character } from "./character.js";
export { CutisError } from "./memory.js";
export { Model, State } from "./model.js";
export { AuthoredNormals } from "./normals.js";
export { unpackDraco, usesDraco } from "./draco.js";

const built = (file) => fileURLToPath(new URL(`../dist/${file}`, import.meta.url));

const platform = {
  threadsPossible: () => true,
  async create(name, options, wasm) {
    const folder = name === "cutis-threads" ? "threads/" : "";
    options.wasmBinary ??= await readFile(wasm === null ? built(`${folder}${name}.wasm`) : wasm.startsWith("file:") ? fileURLToPath(wasm) : wasm);
    if (name === "cutis-threads") {
      const script = built("threads/cutis-threads-node.js");
      options.mainScriptUrlOrBlob = script;
      options.locateFile = (file) => built(`threads/${file}`);
      return createRequire(import.meta.url)(script)(options);
    }
    return (name === "cutis" ? await import("../dist/cutis.js") : await import("../dist/cutis-live.js")).default(options);
  },
};

/** As load() of index.js; wasm: a path, a file: URL or bytes. */
export function load(options) {
  return loadWith(platform, options);
}

/** As bake() of index.js. */
export function bake(bytes, options) {
  return bakeWith(({ message, failed }) => {
    const worker = new Worker(new URL("./bake_worker_node.js", import.meta.url));
    worker.on("message", message).on("error", failed);
    return { post: (data) => worker.postMessage(data), end: () => worker.terminate() };
  }, bytes, options);
}
