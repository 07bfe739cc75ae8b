/*
 * bake.js: a character through a clip in one call, and rigging.
 */
import { Character, asBytes, propRequest } from "./character.js";
import { CutisError, Owned, camel, snake } from "./memory.js";
import { hex } from "./model.js";

const STAGES = ["load", "build", "lead_in", "loop", "frames", "measure", "write"];
export const LEVELS = ["good", "look", "bad"];
// options that go to the field of their name as they are
const PLAIN = ["clip", "exampleSeconds", "fps", "start", "end", "leadIn", "loop", "solver", "substep", "detail", "format", "outputs",
  "tolerance", "targets", "positionsOnly", "exact", "keepFrames", "measure", "checks", "noVerdict", "partial", "acceleration", "wind"];
const OTHERS = ["amount", "motion", "map", "examples", "surface", "props", "blows", "settings", "progress", "message", "signal", "name", "threads"];

/**
 * Bake. source: a Character, or the bytes of a file with options.name. The call returns when all is done: in a page run it
 * in a worker, or by bake() of the package, which does.
 */
export function bakeNow(cutis, source, options = {}) {
  const { memory } = cutis;
  const unknown = Object.keys(options).find((key) => !PLAIN.includes(key) && !OTHERS.includes(key));
  if (unknown) throw new CutisError(`bake has no option '${unknown}'; there are ${[...PLAIN, ...OTHERS].join(", ")}`);
  const number = memory.nextCall++;
  const listener = { ...options, failure: null };
  return memory.scoped((scope) => {
    const def = scope.room(memory.size("cutis_bake_def"));
    memory.run("cutis_bake_def_default", def);
    const file = (bytes, name) => ({ name, data: scope.array(asBytes(bytes), Uint8Array), size: bytes.byteLength });
    const values = { jobs: cutis.jobs, threads: 1, context: number };

    // the character and its motion
    if (source instanceof Character) values.character = source.pointer;
    if (!(source instanceof Character)) values.source = file(source, options.name);
    else if (options.name && cutis.sources.get(source)) values.source = file(cutis.sources.get(source), options.name);
    if (options.motion) values.motion = file(options.motion.bytes, options.motion.name);
    if (options.surface) values.surface = file(options.surface.bytes, options.surface.name);
    const pairs = Object.entries(options.map ?? {}).map(([from, to]) => ({ from, to }));
    Object.assign(values, { map: scope.structs("cutis_name_pair", pairs), map_count: pairs.length });
    const examples = (options.examples ?? []).map((example) => file(example.bytes, example.name));
    Object.assign(values, { examples: scope.structs("cutis_file", examples), example_count: examples.length });
    const props = (options.props ?? []).map(propRequest);
    Object.assign(values, { props: scope.structs("cutis_prop_request", props), prop_count: props.length });

    const blows = (options.blows ?? []).map(({ time, ...impulse }) => ({ time, impulse }));
    Object.assign(values, { blows: scope.structs("cutis_bake_blow", blows), blow_count: blows.length });

    // a number, or [time, amount] over the clip
    const keys = Array.isArray(options.amount) ? options.amount : options.amount == null ? [] : [[0, options.amount]];
    Object.assign(values, { keys: scope.structs("cutis_bake_key", keys.map(([time, value]) => ({ name: "amount", time, value }))), key_count: keys.length });

    // the simulation, the output, the host
    Object.assign(values, scope.settings(options.settings));
    for (const key of PLAIN) if (options[key] !== undefined && options[key] !== null) values[snake(key)] = options[key];
    values.progress = memory.run("cutis_web_progress");
    values.message = memory.run("cutis_web_message");
    memory.write("cutis_bake_def", def, values, scope);

    memory.calls.set(number, listener);
    try {
      return new BakeResult(cutis, memory.make("cutis_bake", def));
    } catch (error) {
      throw listener.failure ?? (error.code === "interrupted" && options.signal?.aborted ? options.signal.reason ?? error : error);
    } finally {
      memory.calls.delete(number);
    }
  });
}

/** What C calls while it works: it must not throw through C. */
export function hostOf(memory) {
  const guarded = (number, body) => {
    const listener = memory.calls.get(number);
    if (!listener) return true;
    try {
      return body(listener) !== false && !listener.signal?.aborted && !listener.failure;
    } catch (failure) {
      listener.failure ??= failure;
      return false;
    }
  };
  return {
    progress: (number, stage, done, total) => guarded(number, (listener) => listener.progress?.(STAGES[stage], done, total)),
    message: (number, kind, text) => guarded(number, (listener) => listener.message?.(kind === 0 ? "note" : "warning", memory.text(text))),
  };
}

/** What a bake gives: the fields of cutis_bake_result. */
export class BakeResult extends Owned {
  constructor(cutis, pointer) {
    super(cutis, pointer, "cutis_bake_destroy");
    const { memory } = cutis;
    const made = memory.read("cutis_bake_result", pointer);
    this.raw = made;
    for (const [key, value] of Object.entries(made)) {
      if (typeof value !== "object" && !["report", "warnings", "positions", "files", "step_series", "volume_ratios", "bones", "bone_names", "held", "held_names", "turned", "checks"].includes(key)) this[camel(key)] = value;
    }
    this.hash = hex(made.hash);
    this.report = JSON.parse(made.report);
    this.warnings = memory.texts(made.warnings, made.warning_count);
    this.quality = made.has_quality ? rename(made.quality) : null;
    this.loop = made.has_loop ? rename(made.loop) : null;
    this.morphs = made.has_morphs ? rename(made.morphs) : null;
    this.verdict = made.has_verdict ? verdictOf(made.verdict) : null;
    this.checks = Array.from({ length: made.check_count }, (_, i) => memory.plain("cutis_check", made.checks + i * memory.size("cutis_check")));
    this.volumeRatios = memory.doubles(made.volume_ratios, made.frame_count).slice();
    this.stepSeries = memory.doubles(made.step_series, made.frame_count).slice();
  }
  /** (frames x vertices x 3) with keepFrames; a view; else null. */
  get positions() {
    const { memory } = this.cutis;
    return this.pointer && this.raw.positions ? memory.floats(this.raw.positions, this.frameCount * this.vertexCount * 3) : null;
  }
  /** Files with format: name and bytes (copies). */
  get files() {
    const { memory } = this.cutis;
    return Array.from({ length: this.pointer ? this.raw.file_count : 0 }, (_, i) => {
      const file = memory.read("cutis_bake_file", this.raw.files + i * memory.size("cutis_bake_file"));
      return { name: file.name, bytes: memory.bytes(file.data, file.size).slice() };
    });
  }
  /** All of it as a plain object, for another thread. */
  toObject() {
    const made = {};
    for (const key of Object.keys(this)) if (!["cutis", "owner", "raw"].includes(key)) made[key] = this[key];
    return { ...made, files: this.files, positions: this.positions?.slice() ?? null };
  }
}

const rename = (object) => Object.fromEntries(Object.entries(object).map(([key, value]) => [camel(key), value]));

const verdictOf = (made) => ({ level: LEVELS[made.level], text: made.text, gained: made.gained.text,
  findings: made.findings.slice(0, made.finding_count).map((finding) => ({ ...rename(finding), level: LEVELS[finding.level] })) });

/** Judges frames against plain skinning as they come: what a bake's verdict is made by. frameCount: at most. */
export class Judge extends Owned {
  constructor(character, frameCount) {
    const { cutis } = character;
    super(cutis, cutis.memory.make("cutis_judge_create", character.pointer, frameCount, cutis.jobs, 0), "cutis_judge_destroy");
    this.vertexCount = character.vertexCount;
    this.pointCount = Math.max(1, character.get("point_count"));
  }
  /**
   * The next frame, each (vertices x 3): the result, plain skinning, and the innermost tissue where the solver tells it.
   * stats: of the state, which knows what fell back to skinning.
   */
  frame(positions, reference, inner = null, stats = null) {
    const { memory } = this.cutis;
    memory.scoped((scope) => {
      const place = (values) => (!values ? 0 : values.buffer === memory.buffer ? values.byteOffset : scope.floats(values, 3 * this.vertexCount, "positions"));
      memory.run("cutis_judge_frame", this.pointer, place(positions), place(reference), place(inner));
    });
    if (stats) memory.run("cutis_judge_fallback", this.pointer, stats.limited / this.pointCount, stats.limitedVertex);
  }
  /** The verdict. sums: of State.runTo, added up; without them nothing is known of the solver's own troubles. */
  finish({ substeps = 0, unconverged = 0, repairs = 0 } = {}) {
    const { memory } = this.cutis;
    return memory.scoped((scope) => {
      const at = scope.room(memory.size("cutis_verdict"));
      memory.run("cutis_judge_finish", this.pointer, substeps, unconverged, repairs, at);
      return verdictOf(memory.read("cutis_verdict", at));
    });
  }
}

const METHODS = ["auto", "heat", "voxel"];

/** A skeleton and weights that were made; `character` has them and lives as long as the rig. */
export class Rig extends Owned {
  constructor(cutis, character, { skeleton = null, landmarks = {}, method = "auto", maxInfluences = 4, keepSkeleton = false } = {}) {
    const { memory } = cutis;
    if (METHODS.indexOf(method) < 0) throw new CutisError(`method is one of ${METHODS.join(", ")}`);
    const pointer = memory.scoped((scope) => {
      const def = scope.room(memory.size("cutis_rig_def"));
      memory.run("cutis_rig_def_default", def);
      const marks = Object.entries(landmarks).map(([name, position]) => ({ name, position }));
      memory.write("cutis_rig_def", def, { character: character.pointer, skeleton, landmarks: scope.structs("cutis_rig_landmark", marks),
        landmark_count: marks.length, method: METHODS.indexOf(method), max_influences: maxInfluences, no_curves: true, jobs: cutis.jobs }, scope);
      return memory.make(keepSkeleton ? "cutis_rig_bind" : "cutis_rig_create", def);
    });
    super(cutis, pointer, "cutis_rig_destroy");
    const made = memory.read("cutis_rig", pointer);
    this.character = new Character(cutis, made.character, this);
    this.skeleton = made.skeleton;
    this.recognised = made.recognised;
    this.score = made.score;
    this.sentences = memory.texts(made.sentences, made.sentence_count);
  }
}
