/*
 * model.js: a character prepared for a solver, and all that changes in its simulation.
 */
import { CutisError, Owned, constants, structs } from "./memory.js";
import { numbers } from "./character.js";

export const DOMAINS = ["vertex", "corner", "element"];
export const OUTPUT_ROLES = ["plain", "texcoords", "sliding", "touch", "tissue", "elements", "element_layer", "element_edge",
  "texcoords_steady"];
export const PALETTES = ["sequential", "touch", "category"];

/** A character prepared for a solver; immutable. Slow to make. */
export class Model extends Owned {
  constructor(character, { solver = "lbs", settings = {}, substep = 0, detail = 0 } = {}) {
    const { cutis } = character;
    const { memory } = cutis;
    const pointer = memory.scoped((scope) => memory.make("cutis_model_build", scope.struct("cutis_model_def", {
      character: character.pointer, solver, substep, detail, jobs: cutis.jobs, ...scope.settings(settings) })));
    super(cutis, pointer, "cutis_model_destroy");
    this.character = character;
    this.info = memory.scoped((scope) => {
      const at = scope.room(memory.size("cutis_model_info"));
      memory.run("cutis_model_get_info", at, pointer);
      const info = memory.read("cutis_model_info", at);
      return { solver: info.solver, substep: info.substep, elementCount: info.element_count, bodyPoints: info.body_points,
        bodyIsDrawn: info.body_is_drawn, fleshPieces: info.flesh_pieces, rigidPieces: info.rigid_pieces,
        carriedPieces: info.carried_pieces, modelBytes: info.model_bytes, stateBytes: info.state_bytes,
        warnings: memory.texts(info.warnings, info.warning_count), notes: memory.texts(info.notes, info.note_count) };
    });
  }
  get solver() { return this.info.solver; }
  get substep() { return this.info.substep; }
  get warnings() { return this.info.warnings; }
  get notes() { return this.info.notes; }
  /** The value in force of a parameter; NaN if there is none of that name. */
  parameter(name) {
    return this.cutis.memory.scoped((scope) => this.cutis.memory.run("cutis_model_parameter", this.pointer, scope.text(name)));
  }
  /** Seconds that a bake takes by default from rest to a clip's first pose, when that pose is not at rest. */
  get leadIn() {
    return this.cutis.memory.run("cutis_bake_lead_in", this.pointer);
  }
  /** The same for a clip: 0 where flesh is at rest in its first pose already. Then reset the state to that pose. */
  clipLeadIn(clip = null) {
    const index = this.character.clipIndex(clip), start = index >= 0 ? this.character.clips[index].start : 0;
    return this.cutis.memory.run("cutis_bake_clip_lead_in", this.pointer, this.character.pointer, index, start);
  }
}

/** All that changes in a simulation, in one block; copy() is a snapshot. */
export class State extends Owned {
  constructor(model) {
    const { cutis } = model;
    const { memory } = cutis;
    super(cutis, memory.make("cutis_state_create", model.pointer, 0), "cutis_state_destroy");
    this.model = model;

    // what every step needs, once: no allocation while it runs
    const { character } = model;
    this.vertexCount = character.vertexCount;
    this.jointCount = character.jointCount;
    this.morphCount = character.morphCount;
    const room = { input: memory.size("cutis_step_input"), joints: 48 * this.jointCount, morphs: 4 * this.morphCount,
      normals: 12 * this.vertexCount, clip: memory.size("cutis_clip_motion"), output: memory.size("cutis_output"),
      prop: memory.size("cutis_prop_state"), transform: 48, amount: 4, drags: 16 * memory.size("cutis_drag"), impulses: 16 * memory.size("cutis_impulse") };
    let size = 0;
    const places = {};
    for (const [name, bytes] of Object.entries(room)) {
      places[name] = size;
      size += (bytes + 15) & ~15;
    }
    const block = memory.allocate(size);
    this.at = Object.fromEntries(Object.entries(places).map(([name, offset]) => [name, block + offset]));
    this.box.blocks.push(block);
    memory.write("cutis_step_input", this.at.input, { jobs: cutis.jobs });
  }

  /** Time 0, at rest in this pose (joints x 12; null: the rest pose). */
  reset(joints = null) {
    const { memory } = this.cutis;
    if (joints) memory.floats(this.at.joints, 12 * this.jointCount).set(numbers(joints, 12 * this.jointCount, "joints"));
    memory.run("cutis_state_reset", this.model.pointer, this.pointer, joints ? this.at.joints : 0);
  }
  /** A snapshot. */
  copy() {
    const made = new State(this.model);
    made.restore(this);
    return made;
  }
  /** Become equal to a snapshot of the same model. */
  restore(snapshot) {
    if (snapshot.model !== this.model) throw new CutisError("a snapshot of the same model is needed");
    this.cutis.memory.run("cutis_state_copy", this.model.pointer, this.pointer, snapshot.pointer);
  }
  /** Move all by a rigid transform (3 x 4), without exciting the simulation. */
  teleport(transform) {
    const { memory } = this.cutis;
    memory.floats(this.at.transform, 12).set(numbers(transform, 12, "transform"));
    memory.run("cutis_state_teleport", this.model.pointer, this.pointer, this.at.transform);
  }
  /** Of everything that influences the future, as 16 hexadecimal digits. */
  get hash() {
    return hex(this.cutis.memory.run("cutis_state_hash", this.model.pointer, this.pointer));
  }
  /** Seconds since reset. */
  get time() {
    return this.cutis.memory.run("cutis_state_time", this.pointer);
  }

  /**
   * Advance by dt seconds. Either joints: the pose at the end (joints x 12), or clip (and leadIn): sampled at every substep,
   * so that the frame rate does not matter.
   */
  step(dt, options = {}) {
    if (!(dt >= 0)) throw new CutisError("dt must be 0 or more seconds");
    this.advance(this.time + dt, options);
    this.show(options.amount);
  }
  /** Compute positions and outputs of the instant, with an amount (0 to 2) of the deviation from skinning. */
  show(amount = 1) {
    const { memory } = this.cutis;
    if (!(amount >= 0 && amount <= 2)) throw new CutisError("amount must be from 0 to 2");
    memory.floats(this.at.amount, 1)[0] = amount;
    memory.write("cutis_step_input", this.at.input, { amount: this.at.amount });
    memory.run("cutis_state_show", this.model.pointer, this.pointer, this.at.input);
  }
  /** Simulate up to a time (seconds since reset) without showing it. */
  advance(time, { joints, clip, leadIn = 0, morphs, drags = [], impulses = [], acceleration = [0, 0, 0], wind = [0, 0, 0] } = {}) {
    const { memory } = this.cutis;
    const input = { joints: 0, motion: { context: 0, sample: 0 }, morphs: 0, amount: 0, drags: 0, drag_count: 0, impulses: 0, impulse_count: 0, acceleration, wind };

    // the pose
    if (joints) {
      memory.floats(this.at.joints, 12 * this.jointCount).set(numbers(joints, 12 * this.jointCount, "joints"));
      input.joints = this.at.joints;
    } else {
      memory.write("cutis_clip_motion", this.at.clip, { character: this.model.character.pointer, clip: this.clip(clip), lead_in: leadIn });
      input.motion = { context: this.at.clip, sample: this.cutis.clipSampler };
      if (!morphs && this.morphCount) {
        memory.run("cutis_clip_motion_morphs", this.at.clip, time, this.at.morphs);
        input.morphs = this.at.morphs;
      }
    }
    if (morphs) {
      memory.floats(this.at.morphs, this.morphCount).set(numbers(morphs, this.morphCount, "morphs"));
      input.morphs = this.at.morphs;
    }

    // what pulls and hits; at most 16 of each
    drags = drags.slice(0, 16);
    impulses = impulses.slice(0, 16);
    drags.forEach((drag, i) => {
      if (!(drag.vertex >= 0 && drag.vertex < this.vertexCount)) throw new CutisError(`there is no vertex ${drag.vertex} to drag`);
      memory.write("cutis_drag", this.at.drags + i * structs.cutis_drag.size, { vertex: drag.vertex, target: drag.target, strength: drag.strength ?? 1 });
    });
    impulses.forEach((blow, i) => memory.write("cutis_impulse", this.at.impulses + i * structs.cutis_impulse.size, blow));
    if (drags.length) Object.assign(input, { drags: this.at.drags, drag_count: drags.length });
    if (impulses.length) Object.assign(input, { impulses: this.at.impulses, impulse_count: impulses.length });
    memory.write("cutis_step_input", this.at.input, input);
    memory.run("cutis_state_advance", this.model.pointer, this.pointer, this.at.input, time, 0, 0);
  }
  /**
   * Step along a clip to a time in the state's seconds, as a bake does: the same bits. Gives
   * { substeps, unconverged, repairs }, as a Judge takes them.
   */
  runTo(time, { clip, leadIn = 0, ...rest } = {}) {
    this.advance(time, { clip, leadIn, ...rest });
    this.show(rest.amount);
    const { substeps, unconverged, repairs } = this.stats;
    return { substeps, unconverged, repairs };
  }
  clip(clip) {
    if (clip === this.lastClip?.name) return this.lastClip.index;
    this.lastClip = { name: clip, index: this.model.character.clipIndex(clip ?? null) };
    return this.lastClip.index;
  }

  // ---- results: views, until the next call ----

  /** (vertices x 3), scene space. */
  get positions() {
    const { memory } = this.cutis;
    return memory.floats(memory.run("cutis_state_positions", this.model.pointer, this.pointer), 3 * this.vertexCount);
  }
  /** (vertices x 3), unit normals. */
  get normals() {
    const { memory } = this.cutis;
    memory.run("cutis_state_normals", this.model.pointer, this.pointer, this.at.normals);
    return memory.floats(this.at.normals, 3 * this.vertexCount);
  }
  get stats() {
    const { memory } = this.cutis;
    return memory.plain("cutis_step_stats", memory.run("cutis_state_stats", this.model.pointer, this.pointer));
  }
  /** One of the solver's outputs by name; null when it has none of that name. */
  output(name) {
    const { memory } = this.cutis;
    return memory.scoped((scope) => this.take(memory.run("cutis_state_output", this.model.pointer, this.pointer, scope.text(name), this.at.output)));
  }
  /** The index-th output of a role ("tissue", "elements", ...); null when there is none. */
  outputRole(role, index = 0) {
    const { memory } = this.cutis;
    const number = OUTPUT_ROLES.indexOf(role);
    if (number < 0) throw new CutisError(`there is no role '${role}'; there are ${OUTPUT_ROLES.join(", ")}`);
    return this.take(memory.run("cutis_state_output_role", this.model.pointer, this.pointer, number, index, this.at.output));
  }
  take(found) {
    if (!found) return null;
    const { memory } = this.cutis;
    const output = memory.read("cutis_output", this.at.output);
    return { domain: DOMAINS[output.domain], count: output.count, components: output.components, values: memory.floats(output.values, output.count * output.components) };
  }
  /** A prop as it is now. */
  prop(index) {
    const { memory } = this.cutis;
    if (!(index >= 0 && index < this.model.character.get("prop_count"))) throw new CutisError(`there is no prop ${index}`);
    memory.run("cutis_state_prop", this.model.pointer, this.pointer, index, this.at.prop);
    const prop = memory.read("cutis_prop_state", this.at.prop);
    return { transform: prop.transform, force: prop.force, penetration: prop.penetration, dropped: prop.dropped,
      positions: prop.vertex_count ? memory.floats(prop.positions, 3 * prop.vertex_count) : null,
      triangles: prop.vertex_count ? memory.ints(prop.triangles, 3 * prop.triangle_count) : null };
  }
}

const TYPES = ["float", "int", "bool", "choice"];
const PARAMETER_ROLES = ["plain", "self_collision", "damping", "prop_contact"];

/** All solvers with their tables of parameters and outputs. */
export function readSolvers(memory) {
  return Array.from({ length: memory.run("cutis_solver_count") }, (_, i) => {
    const info = memory.read("cutis_solver_info", memory.run("cutis_solver", i));
    const list = (at, count, struct, make) => Array.from({ length: count }, (_, k) => make(memory.read(struct, at + k * memory.size(struct))));
    return {
      name: info.name,
      summary: info.summary,
      paper: info.paper,
      element: info.element,
      parts: memory.texts(info.parts, info.part_count),
      substep: info.substep,
      geometric: Boolean(info.flags & constants.CUTIS_SOLVER_GEOMETRIC),
      surface: Boolean(info.flags & constants.CUTIS_SOLVER_SURFACE),
      selfContact: Boolean(info.flags & constants.CUTIS_SOLVER_SELF_CONTACT),
      baseline: Boolean(info.flags & constants.CUTIS_SOLVER_BASELINE),
      preferred: Boolean(info.flags & constants.CUTIS_SOLVER_PREFERRED),
      body: Boolean(info.flags & constants.CUTIS_SOLVER_BODY),
      parameters: list(info.parameters, info.parameter_count, "cutis_parameter", (p) => ({ name: p.name, type: TYPES[p.type],
        default: p.default_value, min: p.min, max: p.max, unit: p.unit, choices: p.choices ? p.choices.split("|") : null,
        perBone: p.per_bone, role: PARAMETER_ROLES[p.role], help: p.help })),
      outputs: list(info.outputs, info.output_count, "cutis_output_info", (o) => ({ name: o.name, role: OUTPUT_ROLES[o.role],
        domain: DOMAINS[o.domain], components: o.components, unit: o.unit, palette: PALETTES[o.palette], range: o.range, help: o.help })),
    };
  });
}

/** 64 bits as 16 hexadecimal digits. */
export function hex(value) {
  return BigInt.asUintN(64, value).toString(16).padStart(16, "0");
}
