/*
 * bake_worker.js: the worker in which bake() of index.js runs; one bake, then it is ended.
 */
import { load } from "./index.js";

const port = typeof self === "undefined" || typeof self.postMessage !== "function" ? (await import(/* @vite-ignore */ "node:worker_threads")).parentPort : self;

async function run({ bytes, threads, options }) {
  try {
    const cutis = await load({ threads });
    let last = 0;
    const result = cutis.bake(bytes, {
      ...options,
      progress: (stage, done, total) => {
        if (done !== total && performance.now() - last < 30) return;
        last = performance.now();
        port.postMessage({ kind: "progress", stage, done, total });
      },
      message: (level, text) => port.postMessage({ kind: "message", level, text }),
    });
    const made = result.toObject();
    result.dispose();
    port.postMessage({ kind: "done", result: made });
  } catch (error) {
    port.postMessage({ kind: "error", text: error.message, code: error.code ?? "unsupported" });
  }
}

if (port === globalThis.self) self.onmessage = ({ data }) => run(data);
else port.on("message", run);
