/*
 * index.js: load the library.
 *
 *     import { load, Character, Model, State } from "cutis";
 *     const cutis = await load();
 *     const arm = Character.make(cutis, "arm");
 *     const state = new State(new Model(arm, { solver: "lattice" }));
 *     state.step(1 / 60, { clip: "flex" });
 *     console.log(state.positions);
 */
import { bakeNow, hostOf } from "./bake.js";
import { asBytes } from "./character.js";
import { CutisError, Memory } from "./memory.js";
import { readSolvers } from "./model.js";

export { BakeResult, Judge, Rig } from "./bake.js";
export { Character } from "./character.js";
export { CutisError } from "./memory.js";
export { Model, State } from "./model.js";
export { unpackDraco, usesDraco } from "./draco.js";

const inNode = typeof process === "object" && Boolean(process.versions?.node) && process.type !== "renderer";
const threadsPossible = () => typeof SharedArrayBuffer !== "undefined" && (inNode || globalThis.crossOriginIsolated === true);

/** Where the built modules are, in a way that bundlers follow. */
const PLACES = {
  "cutis.wasm": () => new URL("../dist/cutis.wasm", import.meta.url),
  "cutis-live.wasm": () => new URL("../dist/cutis-live.wasm", import.meta.url),
  "cutis-threads.wasm": () => new URL("../dist/threads/cutis-threads.wasm", import.meta.url),
  "cutis-threads.worker.js": () => new URL("../dist/threads/cutis-threads.worker.js", import.meta.url),
  "cutis-threads.js": () => new URL("../dist/threads/cutis-threads.js", import.meta.url),
};

/** Bytes of a built file in Node, where a module cannot fetch files. */
async function nodeBytes(name) {
  const { readFile } = await import(/* @vite-ignore */ "node:fs/promises");
  return readFile(PLACES[name]());
}

/**
 * Load the library. threads: how many work (1; more where the page is cross-origin isolated, else 1 works); live: the
 * small module without files and rigging. wasm: a URL or bytes instead of the package's own .wasm.
 */
export async function load({ threads = 1, live = false, wasm = null } = {}) {
  const count = live || !threadsPossible() ? 1 : Math.max(1, Math.min(16, threads));
  const name = live ? "cutis-live" : count > 1 ? "cutis-threads" : "cutis";
  const options = { threads: count };
  options.locateFile = (file) => String(file.endsWith(".wasm") && typeof wasm === "string" ? wasm : PLACES[file]());
  if (wasm && typeof wasm !== "string") options.wasmBinary = asBytes(wasm);
  else if (inNode) options.wasmBinary = await nodeBytes(name + ".wasm");

  // the host is found by the module before the memory is known
  const host = { progress: () => true, message: () => true };
  options.host = host;
  let create;
  if (count > 1 && inNode) {
    const { createRequire } = await import(/* @vite-ignore */ "node:module");
    const { fileURLToPath } = await import(/* @vite-ignore */ "node:url");
    options.locateFile = (file) => fileURLToPath(PLACES[file]());
    options.mainScriptUrlOrBlob = fileURLToPath(PLACES["cutis-threads.js"]());
    create = createRequire(import.meta.url)("../dist/threads/cutis-threads.js");
  } else if (count > 1) {
    options.mainScriptUrlOrBlob = String(PLACES["cutis-threads.js"]());
    create = (await import("../dist/cutis-threads.mjs")).default;
  } else if (live) {
    create = (await import("../dist/cutis-live.js")).default;
  } else {
    create = (await import("../dist/cutis.js")).default;
  }
  const module = await create(options);
  const cutis = new Cutis(module, count, live);
  Object.assign(host, hostOf(cutis.memory));
  return cutis;
}

/** The loaded library. */
class Cutis {
  constructor(module, threads, live) {
    this.module = module;
    this.memory = new Memory(module);
    this.threads = threads;
    this.live = live;
    this.sources = new WeakMap(); // bytes of the file of a character, where they are to be kept in a bake
    this.version = this.memory.text(this.memory.run("cutis_version"));
    this.clipSampler = this.memory.run("cutis_web_clip_sample");
    this.solvers = readSolvers(this.memory);
    this.jobs = 0;
    if (threads > 1) {
      this.pool = this.memory.make("cutis_pool_create", threads, 0);
      this.jobs = this.memory.run("cutis_pool_jobs", this.pool);
    }
    if (!live) this.files = new Files(module.FS);
  }
  /** The solver of that name. */
  solver(name) {
    const found = this.solvers.find((solver) => solver.name === name);
    if (!found) throw new CutisError(`there is no solver '${name}'; there are ${this.solvers.map((s) => s.name).join(", ")}`);
    return found;
  }
  /** Built-in characters: [{ name, summary }]. */
  get zoo() { return this.entries("cutis_zoo", "cutis_zoo_count", "cutis_zoo_entry"); }
  /** Built-in props. */
  get zooProps() { return this.entries("cutis_zoo_prop", "cutis_zoo_prop_count", "cutis_zoo_entry"); }
  /** Skeletons that rigging can make. */
  get templates() { return this.entries("cutis_rig_template_at", "cutis_rig_template_count", "cutis_rig_template"); }
  entries(name, count, struct) {
    return this.memory.scoped((scope) => {
      const at = scope.room(this.memory.size(struct));
      return Array.from({ length: this.memory.run(count) }, (_, i) => {
        this.memory.run(name, at, i);
        return this.memory.plain(struct, at);
      });
    });
  }
  /** Bake on this thread: see bake() of the package for one that does not hold up the page. */
  bake(source, options) {
    return bakeNow(this, source, options);
  }
  /** Bytes that the module's memory has. */
  get memoryBytes() {
    return this.memory.buffer.byteLength;
  }
  /** End the threads. */
  dispose() {
    if (this.pool) this.memory.run("cutis_pool_destroy", this.pool);
    this.pool = 0;
    this.jobs = 0;
    this.module.PThread?.terminateAllThreads();
  }
}

/** Files in the module's memory, for the calls that take paths. */
class Files {
  constructor(fs) {
    this.fs = fs;
    this.number = 0;
  }
  path(name) {
    const folder = `/file${++this.number}`;
    this.fs.mkdir(folder);
    return `${folder}/${name.replace(/[/\\]/g, "_")}`;
  }
  put(bytes, name) {
    const path = this.path(name);
    this.fs.writeFile(path, asBytes(bytes));
    return path;
  }
  remove(path) {
    this.fs.unlink(path);
    this.fs.rmdir(path.slice(0, path.lastIndexOf("/")));
  }
  /** The bytes, and the file goes. */
  take(path) {
    const bytes = this.fs.readFile(path);
    this.remove(path);
    return bytes;
  }
}

/**
 * Bake the bytes of a file in a worker: the page lives on. options: as Cutis.bake, with name. progress(stage, done, total)
 * and message(kind, text) are told; signal (AbortSignal) ends the worker at once. Gives the result as a plain object.
 */
export async function bake(bytes, { signal, progress, message, threads = 1, ...options } = {}) {
  signal?.throwIfAborted();
  let worker;
  if (inNode) {
    const { Worker: NodeWorker } = await import(/* @vite-ignore */ "node:worker_threads");
    worker = new NodeWorker(new URL("./bake_worker.js", import.meta.url));
  } else {
    worker = new Worker(new URL("./bake_worker.js", import.meta.url), { type: "module" });
  }
  try {
    return await new Promise((resolve, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
      const failed = (error) => reject(new CutisError(`the worker of the bake ended: ${error.message ?? error}`, "unsupported"));
      const heard = (data) => {
        if (data.kind === "progress") progress?.(data.stage, data.done, data.total);
        else if (data.kind === "message") message?.(data.level, data.text);
        else if (data.kind === "done") resolve(data.result);
        else if (data.kind === "error") reject(new CutisError(data.text, data.code));
      };
      if (inNode) worker.on("message", heard).on("error", failed);
      else Object.assign(worker, { onmessage: ({ data }) => heard(data), onerror: failed });
      worker.postMessage({ bytes: asBytes(bytes).slice(), threads, options });
    });
  } finally {
    worker.terminate();
  }
}
