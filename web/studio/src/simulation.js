/*
 * simulation.js: the worker that holds the library. It opens characters, builds models, runs states and answers the page.
 *
 * Time is counted in frames of 1/60 s. Undisturbed, frame n is the state that a bake has at n/60 s of the clip: the lead-in,
 * then the clip in the pieces of a bake. Snapshots, one a second, lead back to any frame, to the bit. What a hand does
 * (pulls, blows, a turned joint) disturbs: from there on nothing is kept until the clip starts again.
 */
import { AuthoredNormals, Character, Judge, Model, Rig, State, load, unpackDraco, usesDraco } from "cutis";

import { Fields } from "./fields.js";
import { fileNormals, readGlb, scenePrimitives, writeGlb } from "./glb.js";
import { smoothNormals } from "./preview.js";

const RATE = 60;
const AT_ONCE = 8; // substeps of the lead-in between two looks
const JUDGED = 2; // every second frame: those of a bake with 30 a second
let cutis;
let source = null; // { bytes, name } or { zoo }: what was opened
let authored = null; // the file's normals, where it has some
let original = null; // character as opened or rigged
let character = null; // original with props and painted maps
let model = null;
let state = null;
let baseline = null; // { model, state } of plain skinning, for ghost and split view
let setup = null; // of the last build
let snapshots = new Map(); // frame -> State
let frame = 0;
let disturbed = false;
let live = false; // frames are stepped by poses: after a change of parameters in the middle of the clip
let playing = false;
let timer = 0;
let speed = 1;
let looping = true;
let clock = 0; // seconds of playing that are due
let last = 0;
let acknowledged = true;
let spare = []; // buffers that come back from the page
const view = { ghost: false, color: "material", elements: false, amount: 1 };
const hand = { drags: [], impulses: [], joint: null };
let trial = null; // { judge, sums, at, next, count, verdict }: the clip's first undisturbed round is judged, at the frames of a bake
let fields = null; // what colours of the character need, made when they are first shown

// ---- answers ----

const handlers = {
  async start({ threads }) {
    cutis = await load({ threads });
    return { version: cutis.version, solvers: cutis.solvers, zoo: cutis.zoo, props: cutis.zooProps, templates: cutis.templates, threads: cutis.threads };
  },

  async open({ bytes, name, zoo }) {
    let data = bytes ? new Uint8Array(bytes) : null;
    if (data && usesDraco(data)) data = unpackDraco(data, await dracoDecoder());
    let opened = zoo ? Character.make(cutis, zoo) : Character.load(cutis, data, name);
    let from = { bytes: data, name };

    // what is no glTF is a .glb from here on, as `cutis convert` writes it: painted values and a rig have a place there
    if (zoo || !/\.(glb|gltf|vrm)$/i.test(name)) {
      from = { bytes: opened.save(), name: `${(zoo ?? name).replace(/\.\w+$/, "")}.glb` };
      opened.dispose();
      opened = Character.load(cutis, from.bytes, from.name);
    }
    forget();
    original?.dispose();
    source = from;
    opens(opened);
    return { ...describe(original), bytes: data ? source.bytes.slice() : null, source: kept() };
  },

  /** What another worker has open. */
  reopen({ source: given }) {
    forget();
    original?.dispose();
    original = null;
    source = given;
    opens(Character.load(cutis, source.bytes, source.name));
  },

  /** A skeleton and weights for what was opened; landmarks: joints that the user moved. */
  makeRig({ skeleton, landmarks }) {
    const raw = source.original ?? { bytes: source.bytes, name: source.name };
    const bare = Character.load(cutis, raw.bytes, raw.name);
    const made = new Rig(cutis, bare, { skeleton, landmarks });
    const { sentences, score, skeleton: kind } = made;
    let bytes;
    try {
      bytes = /\.(glb|gltf|vrm)$/i.test(raw.name) ? made.character.save(".glb", raw.bytes) : made.character.save();
    } catch {
      bytes = made.character.save(); // a file that cannot be edited: written anew
    }
    made.dispose();
    bare.dispose();
    changed(bytes, raw);
    return { ...describe(original), sentences, score, skeleton: kind, file: bytes.slice(), source: kept() };
  },

  /** A motion for a character that has a skeleton. */
  addMotion({ bytes, name }) {
    const made = original.withMotion(new Uint8Array(bytes), name);
    const saved = made.save();
    made.dispose();
    changed(saved, source.original);
    return { ...describe(original), source: kept() };
  },

  /** A motion of the page, as BVH text; without it the clip of that name of the built-in man. */
  addBuiltIn({ name, text }) {
    let bytes;
    if (text) {
      bytes = new TextEncoder().encode(text);
    } else {
      const man = Character.make(cutis, "man");
      bytes = man.save();
      man.dispose();
    }
    return handlers.addMotion({ bytes, name: text ? `${name}.bvh` : "man.glb" });
  },

  /** The poses of a clip, 60 a second (frames x joints x 12), at most 20 s of it; without a clip the idle pose. */
  poses({ clip }) {
    const found = original.clips.find(({ name }) => name === clip);
    const frames = found ? Math.min(20 * RATE, Math.max(1, Math.round((found.end - found.start) * RATE))) : 1;
    const stride = 12 * original.jointCount;
    const values = new Float32Array(frames * stride);
    for (let i = 0; i < frames; i++) values.set(original.pose(found ? clip : null, found ? found.start + i / RATE : 0), i * stride);
    return values;
  },

  /** Prepare a solver. Keeps the frame; flesh settles for half a second before it is shown. */
  async build(given) {
    const resume = playing;
    playing = false;
    try {
      return await makeModel(given);
    } finally {
      if (resume) run();
    }
  },

  play({ on }) {
    const before = playing;
    playing = false;
    if (on) run();
    return { frame, playing: before };
  },
  speed({ value }) { speed = value; },
  looping({ on }) { looping = on; },
  seek({ to }) {
    playing = false;
    goTo(Math.max(0, setup?.frames ? Math.min(setup.frames, to) : to));
    show(true);
    return { frame, hash: state.hash };
  },
  /** Go on from this frame with flesh at rest in its pose: that is plain skinning, so the picture does not jump. */
  join({ to }) {
    join(to);
    show(true);
    return { frame };
  },
  /** Play in place of another worker, from its frame on. What does not play has settled when it is shown. */
  enter({ view: looks, hand: holds, speed: rate, looping: loops, frame: to, playing: plays }) {
    Object.assign(view, looks);
    Object.assign(hand, holds);
    if (rate) speed = rate.value;
    if (loops) looping = loops.on;
    if (plays || to === 0) join(to);
    else settle(Math.min(to, setup.frames || to));
  },
  show() {
    show(true);
  },
  /** Wait with nothing but the character. */
  rest() {
    playing = false;
    drop();
    if (character !== original) character?.dispose();
    character = null;
    setup = null;
  },
  hash: () => ({ frame, hash: state.hash, disturbed }),
  view(given) {
    Object.assign(view, given);
    if (state) show(true);
  },
  hand(given) {
    Object.assign(hand, given);
    if (hand.drags.length || hand.impulses.length || hand.joint) disturbed = true;
  },
  /** Where things may be put: the middle of a built-in prop. */
  propPlace({ name, clip }) {
    const made = original.withBuiltInProps([name], clip ?? null);
    const index = made.props.length - 1;
    const joint = made.joints[made.props[index].joint];
    const place = joint.rest.translation;
    made.dispose();
    return place;
  },
  source: () => ({ name: source.name, bytes: bakeBytes() }),
  memory: () => ({ bytes: cutis.memoryBytes }),
  fast({ seconds }) {
    // many rounds of the clip as fast as they go, for tests of memory
    const frames = Math.round(seconds * RATE);
    for (let i = 0; i < frames; i++) advance();
    return { bytes: cutis.memoryBytes, frame };
  },
};

let queue = Promise.resolve();
onmessage = ({ data }) => {
  if (data.kind === "drawn") {
    acknowledged = true;
    spare.push(...data.buffers);
    return;
  }
  // one after the other: a build lets messages in while it shows the lead-in
  queue = queue.then(async () => {
    try {
      const result = await handlers[data.kind](data);
      postMessage({ id: data.id, result });
    } catch (error) {
      postMessage({ id: data.id, error: error.message ?? String(error) });
    }
  });
};

async function dracoDecoder() {
  const [{ default: create }, { default: url }] = await Promise.all([import("draco3d/draco_decoder_nodejs.js"), import("draco3d/draco_decoder.wasm?url")]);
  const wasmBinary = await (await fetch(url)).arrayBuffer();
  return create({ wasmBinary });
}

// ---- characters ----

/** What was opened, for the page, which gives it to other workers. */
function kept() {
  return { bytes: source.bytes, name: source.name, original: source.original };
}

/** The character is another one from here on; first: the file that it was made of, for rigging again. */
function changed(bytes, first) {
  forget();
  original.dispose();
  source = { bytes, name: source.name.replace(/\.\w+$/, "") + ".glb", original: first };
  opens(Character.load(cutis, source.bytes, source.name));
}

/** What is open now, with the normals of its file. */
function opens(given) {
  original = given;
  const raw = fileNormals(source.bytes, given.parts);
  const { triangles, vertexPoints: points, vertexCount } = given;
  const fits = raw && raw.positions.length === 3 * vertexCount;
  authored = fits ? new AuthoredNormals({ ...raw, triangles: triangles.slice(), points: points.slice() }) : null;
}

/** Normals of the drawn surface (vertices x 3). */
function normalsOf(positions) {
  if (!authored) return smoothNormals({ positions, triangles: character.triangles, points: character.vertexPoints });
  const made = new Float32Array(positions.length);
  authored.apply(positions, made);
  return made;
}

/** 1 where a file looks along +z, as glTF has it; -1 for VRM 0, which looks along -z. */
function facingOf(given) {
  const { bytes } = given.original ?? given;
  return readGlb(bytes)?.json.extensions?.VRM ? -1 : 1;
}

function describe(given) {
  const weights = given.weights;
  const main = new Int32Array(given.vertexCount).fill(-1);
  if (weights) {
    for (let v = 0; v < main.length; v++) {
      let best = 0;
      for (let k = weights.first[v]; k < weights.first[v + 1]; k++) {
        if (weights.values[k] > best) {
          best = weights.values[k];
          main[v] = weights.joints[k];
        }
      }
    }
  }
  const normals = authored && new Float32Array(3 * given.vertexCount);
  authored?.apply(given.positions, normals);
  return { name: given.name, normals, facing: facingOf(source), vertexCount: given.vertexCount, positions: given.positions.slice(), triangles: given.triangles.slice(),
    triangleFaces: given.triangleFaces.slice(), uv: vertexUv(given), parts: given.parts, joints: given.joints, clips: given.clips,
    rest: given.restPose(), size: given.size, bounds: given.bounds, skinned: Boolean(weights), mainJoint: main,
    weights: weights && { first: weights.first.slice(), joints: weights.joints.slice(), values: weights.values.slice() }, points: given.vertexPoints.slice(),
    maps: Object.fromEntries(Object.entries(given.maps).map(([name, map]) => [name, map.slice()])), warnings: given.warnings, settings: given.settings };
}

/** Texture coordinates by vertex; null where a vertex has several or none. */
function vertexUv(given) {
  const texcoords = given.texcoords;
  if (!texcoords) return null;
  const corners = given.corners;
  const uv = new Float32Array(2 * given.vertexCount).fill(NaN);
  for (let c = 0; c < corners.length; c++) {
    const v = corners[c];
    if (!Number.isNaN(uv[2 * v]) && (uv[2 * v] !== texcoords[2 * c] || uv[2 * v + 1] !== texcoords[2 * c + 1])) return null;
    uv[2 * v] = texcoords[2 * c];
    uv[2 * v + 1] = texcoords[2 * c + 1];
  }
  return uv.map((value) => (Number.isNaN(value) ? 0 : value));
}

/** The character with painted maps and props. */
function prepare({ maps = {}, props = [], clip }) {
  let made = original;
  if (Object.keys(maps).length) made = painted(made, maps);
  if (props.length) {
    const bare = made;
    made = bare.withBuiltInProps(props, clip ?? null);
    if (bare !== original) bare.dispose();
  }
  return made;
}

/** A file in memory with attributes _CUTIS_NAME, loaded again. */
function painted(given, maps) {
  return Character.load(cutis, withMaps(source.bytes, given, maps), source.name.replace(/\.\w+$/, ".glb"));
}

/** The bytes of the opened file with the painted maps, as a bake takes them. */
function bakeBytes() {
  const maps = setup?.maps ?? {};
  return Object.keys(maps).length ? withMaps(source.bytes, original, maps) : source.bytes.slice();
}

/** A .glb with painted maps: vertex attributes of every primitive, in the order of the character's vertices. */
function withMaps(bytes, given, maps) {
  const file = readGlb(bytes);
  if (!file?.binary.byteLength) throw new Error("painted values need a .glb: convert the file with `cutis convert` first");
  const { json, binary } = file;
  const chunks = [binary];
  let size = binary.byteLength;

  // primitives in the order of the parts; those that share vertices get the same accessor
  const primitives = scenePrimitives(json);
  const parts = given.parts;
  if (primitives.length !== parts.length) throw new Error("painted values cannot be stored in this file: its meshes stand in the scene more than once");
  const made = new Map();
  primitives.forEach((primitive, i) => {
    for (const [map, values] of Object.entries(maps)) {
      const count = json.accessors[primitive.attributes.POSITION].count;
      const key = `${map} ${parts[i].firstVertex} ${count}`;
      if (!made.has(key)) {
        const own = new Float32Array(count);
        own.set(values.subarray(parts[i].firstVertex, Math.min(values.length, parts[i].firstVertex + count)));
        json.bufferViews.push({ buffer: 0, byteOffset: size, byteLength: own.byteLength });
        json.accessors.push({ bufferView: json.bufferViews.length - 1, componentType: 5126, count, type: "SCALAR" });
        chunks.push(new Uint8Array(own.buffer));
        size += own.byteLength;
        made.set(key, json.accessors.length - 1);
      }
      primitive.attributes[`_CUTIS_${map.toUpperCase()}`] = made.get(key);
    }
  });
  json.buffers[0].byteLength = size;
  return writeGlb(json, chunks);
}

/**
 * A solver, and its state at the frame that stood or at the first. A model that only gets another clip is kept. hold: nothing
 * is shown, and the answer has the seconds that a frame of the clip takes.
 */
async function makeModel(given) {
  const begun = performance.now();
  const before = setup;
  const restart = !before || before.clip !== given.clip || given.restart;
  const keptFrame = restart ? 0 : frame;
  if (before && sameModel(before, given)) {
    dropState();
  } else {
    postMessage({ kind: "stage", text: `building ${given.solver}`, share: null });
    const next = prepare(given);
    const made = new Model(next, given);
    drop();
    if (character !== original && character !== next) character?.dispose();
    character = next;
    model = made;
  }
  setup = given;
  state = new State(model);
  const clip = clipOf();
  setup.leadIn = cutis.solver(given.solver.split("+")[0]).geometric ? 0 : model.clipLeadIn(setup.clip || null);
  setup.frames = clip ? Math.max(1, Math.round((clip.end - clip.start) * RATE)) : 0;
  await leadIn();
  begin();
  frame = Math.min(keptFrame, setup.frames || keptFrame);
  if (frame > 0) settle(frame);
  if (!given.hold) show(true);
  return { info: model.info, seconds: (performance.now() - begun) / 1000, frames: setup.frames, leadIn: setup.leadIn, frame,
    frameSeconds: given.hold ? timeFrames() : null,
    props: character.props.map((prop, i) => ({ ...prop, ...character.propSurface(i, character.size) })) };
}

/** Whether the model of one build serves another: nothing but the clip differs, and no prop stands where it reaches. */
function sameModel(a, b) {
  const key = ({ solver, settings, detail }) => JSON.stringify([solver, settings, detail]);
  const plain = ({ props = [], maps = {} }) => !props.length && !Object.keys(maps).length;
  return model && plain(a) && plain(b) && key(a) === key(b);
}

/** Seconds of processor that a frame takes: of the clip's first ones, which stay undisturbed when they are played again. */
function timeFrames() {
  const count = Math.min(6, setup.frames || 6);
  const from = performance.now();
  for (let i = 0; i < count; i++) advance();
  const passed = (performance.now() - from) / 1000;
  begin();
  return passed / count;
}

// ---- time ----

function clipOf() {
  return setup.clip ? character.clips.find((clip) => clip.name === setup.clip) : null;
}

function drop() {
  dropState();
  model?.dispose();
  model = null;
  baseline?.state.dispose();
  baseline?.model.dispose();
  baseline = null;
}

function dropState() {
  trial?.judge?.dispose();
  trial = null;
  for (const snapshot of snapshots.values()) snapshot.dispose();
  snapshots.clear();
  state?.dispose();
  state = null;
}

/** All of the opened character but itself. */
function forget() {
  playing = false;
  drop();
  if (character && character !== original) character.dispose();
  character = null;
  setup = null;
  fields = null;
  hand.drags = [];
  hand.impulses = [];
  hand.joint = null;
}

/** From rest to the clip's first pose, as a bake does it; the page sees it, and hears how far it is. */
async function leadIn() {
  const total = model.substep > 0 ? Math.floor(setup.leadIn / model.substep + 0.5) : Number(setup.leadIn > 0);
  const sums = { substeps: 0, unconverged: 0, repairs: 0 };
  frame = 0;
  disturbed = true; // no frame of the clip yet
  if (total === 0 && model.substep > 0) state.reset(character.pose(setup.clip || null, clipOf()?.start ?? 0));
  for (let done = 0, told = performance.now(); done < total; ) {
    done = Math.min(done + AT_ONCE, total);
    const made = state.runTo((setup.leadIn * done) / total, { clip: setup.clip, leadIn: setup.leadIn });
    for (const key of Object.keys(sums)) sums[key] += made[key];
    if (performance.now() - told < 60 || done === total) continue;
    told = performance.now();
    postMessage({ kind: "stage", text: "from rest to the first pose", share: done / total });
    show(false);
    await new Promise((go) => setTimeout(go));
  }
  setup.leadInSums = sums;
  snapshots.set(0, state.copy());
}

/** Frame 0 of the clip. */
function begin() {
  state.restore(snapshots.get(0));
  frame = 0;
  live = false;
  disturbed = hand.drags.length > 0 || Boolean(hand.joint);
  openTrial();
}

/** Nothing is judged without a clip, nor plain skinning by itself. */
function openTrial() {
  if (trial?.verdict || !setup.clip || cutis.solver(setup.solver.split("+")[0]).baseline) return;
  trial?.judge.dispose();
  const clip = clipOf();
  const count = Math.floor(((clip.end - clip.start) * RATE) / JUDGED + 1e-3) + 1;
  trial = { judge: new Judge(character, count), sums: { ...setup.leadInSums }, at: 0, next: 0, count, verdict: null };
  judge();
}

/** The frame that stands, when it is the next one of the trial; after the last the page is told the verdict. */
function judge() {
  if (!trial || trial.verdict || disturbed || frame !== trial.next * JUDGED) return;
  const plain = reference(); // first: it may move the memory that views look at
  let inner = null;
  for (let i = 0, tissue; (tissue = state.outputRole("tissue", i)); i++) inner = tissue.values;
  trial.judge.frame(state.positions, plain.positions, inner, state.stats);
  trial.next++;
  if (trial.next < trial.count) return;
  trial.verdict = trial.judge.finish(trial.sums);
  trial.judge.dispose();
  postMessage({ kind: "verdict", verdict: trial.verdict, frames: JUDGED });
}

/** Plain skinning in the pose of this frame. */
function reference() {
  baseline ??= makeBaseline();
  baseline.state.step(0, { joints: pose(), morphs: morphs() });
  return baseline.state;
}

/** One frame further. */
function advance() {
  if (setup.frames && frame >= setup.frames) {
    begin();
    return;
  }
  frame++;
  const input = { clip: setup.clip, leadIn: setup.leadIn, drags: hand.drags, impulses: hand.impulses };
  if (hand.joint || live) state.step(1 / RATE, { joints: pose(), morphs: morphs(), drags: hand.drags, impulses: hand.impulses });
  else advanceTrial(state.runTo(setup.leadIn + frame / RATE, input));
  hand.impulses = [];
  if (!disturbed && frame % RATE === 0 && !snapshots.has(frame) && snapshots.size < 64) snapshots.set(frame, state.copy());
}

/** A frame further in the trial; frames that are played again count once. */
function advanceTrial(sums) {
  if (!trial || trial.verdict || disturbed || frame !== trial.at + 1) return;
  trial.at = frame;
  for (const key of Object.keys(sums)) trial.sums[key] += sums[key];
  judge();
}

function goTo(to) {
  if (disturbed || to < frame) {
    let from = 0;
    for (const key of snapshots.keys()) if (key <= to && key > from) from = key;
    if (snapshots.has(from)) state.restore(snapshots.get(from));
    frame = from;
    disturbed = false;
    live = false;
  }
  while (frame < to) advance();
}

/** Go on from a frame with flesh at rest in its pose: that is plain skinning. */
function join(to) {
  frame = Math.max(0, Math.min(setup.frames || to, to));
  if (frame > 0) {
    live = true;
    disturbed = true;
    state.reset(pose());
  }
}

/** After a change of parameters: half a second before the frame on, so that the flesh does not jump. */
function settle(to) {
  frame = Math.max(0, to - RATE / 2);
  live = true;
  disturbed = true; // near what a bake has here, not the same bits
  state.reset(pose());
  while (frame < to) advance();
}

/** The pose of this frame, and the weights of its morphs. */
function pose() {
  return hand.joint ? turned() : character.pose(setup.clip ?? null, clipTime(frame));
}
function morphs() {
  return character.morphCount ? character.morphWeights(setup.clip ?? null, clipTime(frame)) : undefined;
}

function clipTime(at) {
  const clip = clipOf();
  return clip ? clip.start + at / RATE : 0;
}

/** The pose with one joint turned about itself, and all that hangs from it. */
function turned() {
  const pose = character.pose(setup.clip ?? null, clipTime(frame));
  const { index, quaternion: [x, y, z, w] } = hand.joint;
  const r = [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w), 2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w), 2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)];
  const pivot = [pose[12 * index + 3], pose[12 * index + 7], pose[12 * index + 11]];
  const parents = character.joints.map((joint) => joint.parent);
  const below = parents.map(() => false);
  below[index] = true;
  for (let j = index + 1; j < parents.length; j++) below[j] = parents[j] >= 0 && below[parents[j]];
  for (let j = 0; j < parents.length; j++) {
    if (!below[j]) continue;
    const m = pose.slice(12 * j, 12 * j + 12);
    for (let k = 0; k < 3; k++) m[4 * k + 3] -= pivot[k];
    for (let row = 0; row < 3; row++) {
      for (let column = 0; column < 4; column++) {
        pose[12 * j + 4 * row + column] = r[3 * row] * m[column] + r[3 * row + 1] * m[4 + column] + r[3 * row + 2] * m[8 + column] + (column === 3 ? pivot[row] : 0);
      }
    }
  }
  return pose;
}

function run() {
  clearTimeout(timer);
  playing = true;
  clock = 0;
  last = performance.now();
  loop();
}

/** Play: as many frames as are due, at most for 30 ms at a time, so that messages are heard. */
function loop() {
  if (!playing || !state) return;
  const now = performance.now();
  clock = Math.min(clock + speed * (now - last) / 1000, 0.25);
  last = now;
  const due = Math.floor(clock * RATE + 1e-9);
  let done = 0;
  while (done < due && performance.now() - now < 30) {
    if (!looping && setup.frames && frame >= setup.frames) {
      playing = false;
      postMessage({ kind: "ended" });
      break;
    }
    stepTime();
    done++;
  }
  clock -= done / RATE;
  if (done) show(false);
  timer = setTimeout(loop, done < due ? 0 : 4);
}

let log = []; // of frames that were simulated and not yet told
function stepTime() {
  const begun = performance.now();
  advance();
  log.push({ frame, ms: performance.now() - begun, contacts: state.stats.contacts, volume: volume(state.positions) });
}

// ---- what the page draws ----

function take(count) {
  const found = spare.findIndex((buffer) => buffer.byteLength === 4 * count);
  return new Float32Array(found < 0 ? new ArrayBuffer(4 * count) : spare.splice(found, 1)[0]);
}

function show(always) {
  if (!state || (!always && !acknowledged)) return;
  acknowledged = false;
  const n = character.vertexCount;
  const message = { kind: "frame", frame, disturbed, playing, log, judged: trial && !trial.verdict ? trial.next / trial.count : null };
  log = [];
  const buffers = [];
  const fill = (name, values) => {
    message[name] = take(values.length);
    message[name].set(values);
    buffers.push(message[name].buffer);
  };
  const plain = view.ghost || view.color === "displacement" || view.amount !== 1 ? reference() : null;
  if (plain) {
    fill("ghost", plain.positions);
    fill("ghostNormals", authored ? normalsOf(message.ghost) : plain.normals);
  }
  fill("positions", state.positions);
  const { positions, ghost } = message;
  if (view.amount !== 1) for (let i = 0; i < positions.length; i++) positions[i] = ghost[i] + view.amount * (positions[i] - ghost[i]);
  fill("normals", authored || view.amount !== 1 ? normalsOf(positions) : state.normals);
  message.joints = pose();
  const values = colorValues(message);
  if (values) fill("values", values);
  if (view.elements) {
    const places = state.outputRole("elements");
    const layers = state.outputRole("element_layer");
    if (places) fill("elements", places.values);
    if (places && layers) fill("layers", layers.values);
    message.tissue = [];
    for (let i = 0; ; i++) {
      const tissue = state.outputRole("tissue", i);
      if (!tissue) break;
      message.tissue.push(tissue.values.slice());
    }
  }
  message.props = character.props.map((_, i) => {
    const prop = state.prop(i);
    return { transform: prop.transform, positions: prop.positions?.slice() ?? null };
  });
  message.vertexCount = n;
  postMessage(message, buffers);
}

function makeBaseline() {
  const name = cutis.solvers.find((solver) => solver.baseline).name;
  const own = new Model(character, { solver: name });
  return { model: own, state: new State(own) };
}

/** One number a vertex for the colours; null for the materials. */
function colorValues(message) {
  if (view.color === "material" || view.color === "plain") return null;
  if (view.color.startsWith("map:")) return null; // the page has them
  if (view.color === "displacement") {
    const values = new Float32Array(message.positions.length / 3);
    for (let v = 0; v < values.length; v++) {
      values[v] = Math.hypot(message.positions[3 * v] - message.ghost[3 * v], message.positions[3 * v + 1] - message.ghost[3 * v + 1], message.positions[3 * v + 2] - message.ghost[3 * v + 2]) / character.size;
    }
    return values;
  }
  if (view.color === "stretch" || view.color === "volume change") {
    fields ??= new Fields({ positions: character.positions.slice(), triangles: character.triangles.slice(), points: character.vertexPoints.slice(), size: character.size });
    return view.color === "stretch" ? fields.stretch(message.positions) : fields.volume(message.positions);
  }
  const output = state.output(view.color);
  if (!output || output.domain !== "vertex") return null;
  if (output.components === 1) return output.values;
  const values = new Float32Array(output.count);
  for (let v = 0; v < output.count; v++) values[v] = Math.hypot(...output.values.subarray(v * output.components, (v + 1) * output.components));
  return values;
}

let restVolume = { of: null, value: 0 };
/** Volume over that at rest, by the divergence theorem over all triangles. */
function volume(positions) {
  const triangles = character.triangles;
  const of = (p) => {
    let sum = 0;
    for (let t = 0; t < triangles.length; t += 3) {
      const [a, b, c] = [3 * triangles[t], 3 * triangles[t + 1], 3 * triangles[t + 2]];
      sum += p[a] * (p[b + 1] * p[c + 2] - p[b + 2] * p[c + 1]) + p[a + 1] * (p[b + 2] * p[c] - p[b] * p[c + 2]) + p[a + 2] * (p[b] * p[c + 1] - p[b + 1] * p[c]);
    }
    return sum / 6;
  };
  if (restVolume.of !== character) restVolume = { of: character, value: of(character.positions) };
  return restVolume.value ? of(positions) / restVolume.value : 1;
}
