/*
 * load.js: load the library in a browser: in a page or in a worker. No module of Node is named, so bundlers need no settings.
 */
import { loadWith } from "./core.js";

/** Where the built files are, in the form that bundlers recognise. */
const PLACES = {
  "cutis.wasm": () => new URL("../dist/cutis.wasm", import.meta.url),
  "cutis-live.wasm": () => new URL("../dist/cutis-live.wasm", import.meta.url),
  "cutis-threads.wasm": () => new URL("../dist/threads/cutis-threads.wasm", import.meta.url),
  "cutis-threads.worker.js": () => new URL("../dist/threads/cutis-threads.worker.js", import.meta.url),
  "cutis-threads.js": () => new URL("../dist/threads/cutis-threads.js", import.meta.url),
};

const MODULES = {
  cutis: () => import("../dist/cutis.js"),
  "cutis-live": () => import("../dist/cutis-live.js"),
  "cutis-threads": () => import("../dist/cutis-threads.mjs"),
};

const platform = {
  threadsPossible: () => typeof SharedArrayBuffer !== "undefined" && globalThis.crossOriginIsolated === true,
  async create(name, options, wasm) {
    options.locateFile = (file) => String(wasm !== null && file.endsWith(".wasm") ? wasm : PLACES[file]());
    if (name === "cutis-threads") options.mainScriptUrlOrBlob = String(PLACES["cutis-threads.js"]());
    return (await MODULES[name]()).default(options);
  },
};

/**
 * Load the library. threads: how many work (1; more where the page is cross-origin isolated, else 1 works); live: the
 * small module without files and rigging. wasm: a URL or bytes instead of the package's own .wasm.
 */
export function load(options) {
  return loadWith(platform, options);
}
