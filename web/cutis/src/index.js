/*
 * index.js: the package in a browser; node.js is the same in Node.
 *
 *     import { load, Character, Model, State } from "cutis";
 *     const cutis = await load();
 *     const arm = Character.make(cutis, "arm");
 *     const state = new State(new Model(arm, { solver: "lattice" }));
 *     state.step(1 / 60, { clip: "flex" });
 *     console.log(state.positions);
 */
import { bakeWith } from "./core.js";

export { BakeResult, Judge, Rig } from "./bake.js";
export { Character } from "./character.js";
export { CutisError } from "./memory.js";
export { Model, State } from "./model.js";
export { AuthoredNormals } from "./normals.js";
export { unpackDraco, usesDraco } from "./draco.js";
export { load } from "./load.js";

/**
 * Bake the bytes of a file in a worker: the page lives on. options: as Cutis.bake, with name. progress(stage, done, total)
 * and message(kind, text) are told; signal (AbortSignal) ends the worker at once. Gives the result as a plain object.
 */
export function bake(bytes, options) {
  return bakeWith(({ message, failed }) => {
    const worker = new Worker(new URL("./bake_worker.js", import.meta.url), { type: "module" });
    Object.assign(worker, { onmessage: ({ data }) => message(data), onerror: failed });
    return { post: (data) => worker.postMessage(data), end: () => worker.terminate() };
  }, bytes, options);
}
