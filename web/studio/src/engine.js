/*
 * engine.js: the page's end of the workers. One worker plays. A second one builds, so that the page plays on while flesh is
 * built, and a build can be cancelled. When the build is done the two change places.
 */
const QUIET = ["play", "speed", "looping", "view", "hand"]; // what a worker must know that takes over

/** The build was cancelled. */
export class Cancelled extends Error {}

/** A worker: questions with answers. */
class Simulation {
  constructor(onmessage, onerror) {
    this.worker = new Worker(new URL("./simulation.js", import.meta.url), { type: "module" });
    this.waiting = new Map();
    this.next = 1;
    this.opened = 0; // number of the character that it has open
    this.worker.onmessage = ({ data }) => {
      if (data.id === undefined) return onmessage(this, data);
      const { resolve, reject } = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      if (data.error !== undefined) reject(new Error(data.error));
      else resolve(data.result);
    };
    this.worker.onerror = (event) => onerror(event.message ?? "the worker ended");
  }
  ask(kind, given = {}, transfer = []) {
    return new Promise((resolve, reject) => {
      const id = this.next++;
      this.waiting.set(id, { resolve, reject });
      this.worker.postMessage({ id, kind, ...given }, transfer);
    });
  }
  /** End it now, whatever it does. */
  end() {
    this.worker.terminate();
    for (const { reject } of this.waiting.values()) reject(new Cancelled("cancelled"));
    this.waiting.clear();
  }
}

export class Engine {
  constructor() {
    for (const name of ["onframe", "onended", "onverdict", "onstage", "onerror", "onswap"]) this[name] = () => {};
    this.options = {};
    this.kept = {}; // the last of each of QUIET
    this.source = null; // the opened file: { bytes, name, original }
    this.opened = 0;
    this.live = this.spawn();
    this.spare = null;
    this.restored = null;
    this.builder = null; // the one that builds now
  }
  spawn() {
    return new Simulation((from, data) => this.heard(from, data), (text) => this.onerror(text));
  }
  heard(from, data) {
    if (data.kind === "stage") return this.onstage(data);
    if (from !== this.live) return null; // frames of a worker that only builds
    return { frame: this.onframe, ended: this.onended, verdict: this.onverdict }[data.kind](data);
  }

  /** Ask the worker that plays. A build may end in another one. */
  async ask(kind, given = {}, transfer = []) {
    await this.restored; // a worker in place of one that was ended
    if (kind === "build") return this.build(given);
    if (kind === "start") this.options = given;
    if (QUIET.includes(kind)) this.kept[kind] = { ...this.kept[kind], ...given, impulses: [] }; // a blow hits once
    const { live } = this;
    const answer = await live.ask(kind, given, transfer);
    if (answer?.source) {
      this.source = answer.source;
      live.opened = ++this.opened;
      live.built = null;
    }
    return answer;
  }
  /** The frame is drawn: its buffers go back. */
  drawn(buffers) {
    this.live.worker.postMessage({ kind: "drawn", buffers }, buffers);
  }

  /**
   * Build a model. `hold`: do not play it yet, take() does. A model that only gets another clip stays where it is; so does
   * the first one of a character, because nothing plays yet.
   */
  async build({ hold = false, ...given }) {
    const { live } = this;
    const key = modelKey(given);
    if (!hold && (!live.built || live.built === key)) {
      const made = await this.run(live, given);
      live.built = key;
      return made;
    }
    this.spare ??= this.spawn();
    const { spare } = this;
    this.builder = spare;
    try {
      await this.prepare(spare);
      const made = await this.run(spare, { ...given, hold: true });
      spare.built = key;
      if (!hold) await this.take(given);
      return made;
    } finally {
      if (this.builder === spare) this.builder = null;
    }
  }
  async run(worker, given) {
    this.builder = worker;
    try {
      return await worker.ask("build", given);
    } finally {
      if (this.builder === worker) this.builder = null;
    }
  }
  /** The library and the open character in a worker. */
  async prepare(worker) {
    worker.started ??= worker.ask("start", this.options);
    await worker.started;
    if (worker.opened === this.opened) return;
    const { opened, source } = this;
    await worker.ask("reopen", { source });
    worker.opened = opened;
    worker.built = null;
  }
  /** Play what the spare worker has built, from the frame that is shown. restart: from the clip's beginning. */
  async take({ restart = false }) {
    const { live, spare } = this;
    const at = await live.ask("play", { on: false, given: "frame" });
    await spare.ask("enter", { ...this.kept, frame: restart ? 0 : at.frame, playing: at.playing });
    this.live = spare;
    this.spare = live;
    this.onswap({ playing: at.playing });
    await spare.ask("show");
    if (at.playing) await spare.ask("play", { on: true });
    live.built = null;
    live.ask("rest").catch(() => {}); // it may be ended before it answers
  }

  /** End the build that runs now; what plays goes on. */
  async cancel() {
    const { builder } = this;
    if (!builder) return false;
    this.builder = null;
    builder.end();
    if (builder === this.spare) {
      this.spare = null;
      return true;
    }
    // the first build of a character: the worker has to open it again
    this.live = this.spawn();
    this.restored = this.restore(this.live);
    await this.restored;
    return true;
  }
  async restore(live) {
    await this.prepare(live);
    for (const kind of ["speed", "looping", "view"]) if (this.kept[kind]) await live.ask(kind, this.kept[kind]);
  }
  /** Give up what the spare worker holds. */
  discard() {
    if (this.builder && this.builder === this.spare) return this.cancel();
    if (this.spare?.built) {
      this.spare.built = null;
      this.spare.ask("rest").catch(() => {});
    }
    return Promise.resolve(false);
  }
}

/** What a model depends on. Props depend on the clip: they are placed where it reaches. */
function modelKey({ solver, settings, detail, props = [], maps = {}, clip }) {
  if (Object.keys(maps).length) return Symbol("painted");
  return JSON.stringify([solver, settings, detail, props, props.length ? clip : null]);
}
