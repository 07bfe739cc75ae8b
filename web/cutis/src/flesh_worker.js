/*
 * flesh_worker.js: the worker of a Flesh with `worker: true`. It loads the library, builds, and answers each step with a frame.
 */
import { FleshSimulation } from "./flesh_simulation.js";
import { load } from "./load.js";

let simulation = null;

const handlers = {
  async build({ given, threads, wasm }) {
    const cutis = await load({ threads, live: threads <= 1, wasm });
    simulation = new FleshSimulation(cutis, given);
    postMessage({ kind: "built", info: simulation.info });
  },
  step({ dt, joints, morphs, drags, reset, buffers }) {
    if (reset) simulation.reset(joints);
    const input = { joints, drags };
    if (morphs) input.morphs = morphs;
    simulation.step(reset ? 0 : dt, input);
    const [positions, normals] = buffers.map((buffer) => new Float32Array(buffer));
    simulation.read(positions, normals);
    postMessage({ kind: "frame", positions, normals, props: simulation.propPlaces() }, buffers);
  },
};

onmessage = async ({ data }) => {
  try {
    await handlers[data.kind](data);
  } catch (error) {
    postMessage({ kind: "error", text: error.message ?? String(error), code: error.code });
  }
};
