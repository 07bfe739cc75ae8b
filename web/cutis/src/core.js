/*
 * core.js: the loaded library, and what loading and baking have in common in browsers and in Node. index.js (browsers) and
 * node.js say where modules and workers come from; nothing here knows which of them it is.
 */
import { bakeNow, hostOf } from "./bake.js";
import { asBytes } from "./character.js";
import { CutisError, Memory } from "./memory.js";
import { readSolvers } from "./model.js";

/**
 * Load the library. platform: { threadsPossible(), create(name, options) }, where create makes the Emscripten module
 * `cutis`, `cutis-live` or `cutis-threads`. The other arguments are those of load() of the package.
 */
export async function loadWith(platform, { threads = 1, live = false, wasm = null } = {}) {
  const count = live || !platform.threadsPossible() ? 1 : Math.max(1, Math.min(16, threads));
  const name = live ? "cutis-live" : count > 1 ? "cutis-threads" : "cutis";

  // the host is found by the module before the memory is known
  const host = { progress: () => true, message: () => true };
  const options = { threads: count, host };
  if (wasm && typeof wasm !== "string") options.wasmBinary = asBytes(wasm);
  const module = await platform.create(name, options, typeof wasm === "string" ? wasm : null);
  const cutis = new Cutis(module, count, live);
  Object.assign(host, hostOf(cutis.memory));
  return cutis;
}

/**
 * Bake in a worker. start({ message, failed }) starts one that tells those two and returns { post, end }. The other
 * arguments are those of bake() of the package.
 */
export async function bakeWith(start, bytes, { signal, progress, message, threads = 1, ...options } = {}) {
  signal?.throwIfAborted();
  let worker;
  try {
    return await new Promise((resolve, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
      worker = start({
        failed: (error) => reject(new CutisError(`the worker of the bake ended: ${error.message ?? error}`, "unsupported")),
        message: (data) => {
          if (data.kind === "progress") progress?.(data.stage, data.done, data.total);
          else if (data.kind === "message") message?.(data.level, data.text);
          else if (data.kind === "done") resolve(data.result);
          else if (data.kind === "error") reject(new CutisError(data.text, data.code));
        },
      });
      worker.post({ bytes: asBytes(bytes).slice(), threads, options });
    });
  } finally {
    worker?.end();
  }
}

/** One bake in a worker: load is that of the platform, post sends to the page. */
export async function bakeHere(load, { bytes, threads, options }, post) {
  try {
    const cutis = await load({ threads });
    let last = 0;
    const result = cutis.bake(bytes, {
      ...options,
      progress: (stage, done, total) => {
        if (done !== total && performance.now() - last < 30) return;
        last = performance.now();
        post({ kind: "progress", stage, done, total });
      },
      message: (level, text) => post({ kind: "message", level, text }),
    });
    const made = result.toObject();
    result.dispose();
    post({ kind: "done", result: made });
  } catch (error) {
    post({ kind: "error", text: error.message, code: error.code ?? "unsupported" });
  }
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
