export { BakeResult, Character, type Cutis, CutisError, Judge, Model, Rig, State, unpackDraco, usesDraco } from "./index.js";
import type { Bytes, Cutis } from "./index.js";

/** Load the library from this file alone, on one thread; wasm: a URL or bytes instead of the .wasm inside. */
export function load(options?: { wasm?: string | Bytes | null }): Promise<Cutis>;
