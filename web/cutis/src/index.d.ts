/** Values by the names of a solver's parameters: { fat_stiffness: 10, "bones.Spine.skin_stiffness": 20 }. */
export type Settings = Record<string, number | boolean | string>;
export type Bytes = ArrayBuffer | Uint8Array | ArrayBufferView;
export type ErrorCode = "argument" | "memory" | "file" | "format" | "unsupported" | "data" | "interrupted";

/** What the library says went wrong: one sentence, with what to do. */
export class CutisError extends Error {
  constructor(text: string, code?: ErrorCode);
  readonly code: ErrorCode;
}

export interface LoadOptions {
  /** that work together; more than 1 needs a cross-origin isolated page (COOP and COEP) */
  threads?: number;
  /** the small module without files and rigging */
  live?: boolean;
  /** URL or bytes of another .wasm than the package's own */
  wasm?: string | Bytes | null;
}
export function load(options?: LoadOptions): Promise<Cutis>;

export interface Parameter {
  name: string;
  type: "float" | "int" | "bool" | "choice";
  default: number;
  min: number;
  max: number;
  unit: string;
  choices: string[] | null;
  perBone: boolean;
  role: "plain" | "self_collision" | "damping" | "prop_contact";
  help: string;
}
export type OutputRole = "plain" | "texcoords" | "sliding" | "touch" | "tissue" | "elements" | "element_layer" | "element_edge" | "texcoords_steady";
export interface OutputInfo {
  name: string;
  role: OutputRole;
  domain: "vertex" | "corner" | "element";
  components: number;
  unit: string;
  palette: "sequential" | "touch" | "category";
  range: [number, number];
  help: string;
}
export interface Solver {
  name: string;
  summary: string;
  paper: string;
  element: string;
  parts: string[];
  substep: number;
  geometric: boolean;
  surface: boolean;
  selfContact: boolean;
  baseline: boolean;
  preferred: boolean;
  body: boolean;
  parameters: Parameter[];
  outputs: OutputInfo[];
}
export interface Entry {
  name: string;
  summary: string;
}

/** The loaded library. */
export interface Cutis {
  readonly version: string;
  readonly threads: number;
  readonly live: boolean;
  readonly solvers: Solver[];
  solver(name: string): Solver;
  readonly zoo: Entry[];
  readonly zooProps: Entry[];
  readonly templates: Entry[];
  /** Bake on this thread. */
  bake(source: Character | Bytes, options?: BakeOptions): BakeResult;
  readonly memoryBytes: number;
  /** End the threads. */
  dispose(): void;
}

/** An object of the library: freed by dispose(), or when it was forgotten. */
declare class Owned {
  readonly cutis: Cutis;
  dispose(): void;
}

export interface Transform {
  translation?: ArrayLike<number>;
  rotation?: ArrayLike<number>;
  scale?: ArrayLike<number>;
}
export interface JointDescription {
  name: string;
  parent?: number;
  /** local transform in the rest pose */
  rest?: Transform;
  idle?: Transform;
  /** 3 x 4, rest scene space to joint space */
  inverseBind: ArrayLike<number>;
}
export interface TrackDescription {
  target: number;
  path: "translation" | "rotation" | "scale" | "morph";
  interpolation?: "step" | "linear" | "cubic";
  times: ArrayLike<number>;
  values: ArrayLike<number>;
}
export interface ClipDescription {
  name: string;
  tracks: TrackDescription[];
}
export interface PropDescription {
  name: string;
  role?: "collider" | "rigid" | "soft";
  shape?: "mesh" | "plane" | "sphere" | "capsule" | "box";
  size?: ArrayLike<number>;
  joint?: number;
  mass?: number;
  friction?: number;
  restitution?: number;
  stiffness?: number;
  positions?: ArrayLike<number>;
  triangles?: ArrayLike<number>;
  /** 3 x 4, its own space to scene space */
  place?: ArrayLike<number>;
}
export type PropRequest = string | { name: string; position?: ArrayLike<number>; scale?: number };
export interface CharacterDescription {
  name?: string;
  /** (vertices x 3), rest pose */
  positions: ArrayLike<number>;
  triangles?: ArrayLike<number>;
  /** polygons instead of triangles: first corner of each, and the end */
  faceFirst?: ArrayLike<number>;
  corners?: ArrayLike<number>;
  texcoords?: ArrayLike<number>;
  /** as many for each vertex, or with first: sparse */
  weights?: { first?: ArrayLike<number>; joints: ArrayLike<number>; values: ArrayLike<number> };
  joints?: JointDescription[];
  clips?: ClipDescription[];
  maps?: Record<string, ArrayLike<number>>;
  morphs?: Record<string, ArrayLike<number>>;
  props?: PropDescription[];
  parts?: { name: string; material?: string; firstVertex: number; vertexCount: number; firstFace: number; faceCount: number }[];
  settings?: Settings;
}

/** A mesh, its skeleton, weights and motion; read-only. Arrays are views: copy them before the next call. */
export class Character extends Owned {
  private constructor();
  static load(cutis: Cutis, bytes: Bytes, name: string): Character;
  static make(cutis: Cutis, name: string, resolution?: number): Character;
  static from(cutis: Cutis, given: CharacterDescription): Character;
  withProps(props: PropDescription[]): Character;
  withBuiltInProps(props: PropRequest[], clip?: string | null): Character;
  withMotion(bytes: Bytes, name: string, map?: Record<string, string>): Character;
  /** The bytes of a .glb or .obj. */
  save(ending?: ".glb" | ".obj", source?: Bytes | null): Uint8Array;
  readonly name: string;
  readonly vertexCount: number;
  readonly triangleCount: number;
  readonly jointCount: number;
  readonly morphCount: number;
  readonly size: number;
  readonly bounds: { min: number[]; max: number[] };
  readonly positions: Float32Array;
  readonly triangles: Int32Array;
  readonly triangleFaces: Int32Array;
  readonly triangleCorners: Int32Array;
  readonly faceFirst: Int32Array;
  readonly corners: Int32Array;
  readonly vertexPoints: Int32Array;
  readonly texcoords: Float32Array | null;
  readonly weights: { first: Int32Array; joints: Int32Array; values: Float32Array } | null;
  readonly joints: { name: string; parent: number; rest: Transform; idle: Transform; inverseBind: number[]; deforms: boolean; role: string | null }[];
  readonly clips: { name: string; start: number; end: number }[];
  readonly parts: { name: string; material: string; firstVertex: number; vertexCount: number; firstFace: number; faceCount: number }[];
  readonly maps: Record<string, Float32Array>;
  readonly props: { name: string; role: string; shape: string; size: number[]; joint: number }[];
  readonly settings: Record<string, string>;
  readonly warnings: string[];
  clipIndex(clip: string | null): number;
  /** (joints x 12), a copy */
  pose(clip?: string | null, time?: number): Float32Array;
  restPose(): Float32Array;
  morphWeights(clip?: string | null, time?: number): Float32Array;
  topology(): Record<string, number>;
  propSurface(index: number, plane?: number): { positions: Float32Array; triangles: Int32Array };
}

export interface ModelOptions {
  solver?: string;
  settings?: Settings;
  substep?: number;
  detail?: number;
}
/** A character prepared for a solver; immutable. */
export class Model extends Owned {
  constructor(character: Character, options?: ModelOptions);
  readonly character: Character;
  readonly info: {
    solver: string; substep: number; elementCount: number; bodyPoints: number; bodyIsDrawn: boolean; fleshPieces: number;
    rigidPieces: number; carriedPieces: number; modelBytes: number; stateBytes: number; warnings: string[];
    notes: string[];
  };
  readonly solver: string;
  readonly substep: number;
  readonly warnings: string[];
  readonly notes: string[];
  readonly leadIn: number;
  clipLeadIn(clip?: string | null): number;
  parameter(name: string): number;
}

export interface Drag {
  vertex: number;
  target: ArrayLike<number>;
  /** 0 to 1, default 1 */
  strength?: number;
}
export interface Impulse {
  place: ArrayLike<number>;
  radius: number;
  velocity: ArrayLike<number>;
}
export interface StepOptions {
  /** the pose at the end of the step (joints x 12) */
  joints?: ArrayLike<number>;
  /** or a clip, sampled at every substep */
  clip?: string | null;
  leadIn?: number;
  morphs?: ArrayLike<number>;
  /** at most 16 */
  drags?: Drag[];
  /** at most 16 */
  impulses?: Impulse[];
  /** what flesh feels besides its bones, scene units/s2 */
  acceleration?: ArrayLike<number>;
  /** scene units/s */
  /** of the deviation from skinning that is shown, 0 to 2; default 1 */
  amount?: number;
  wind?: ArrayLike<number>;
}
export interface Output {
  domain: "vertex" | "corner" | "element";
  count: number;
  components: number;
  values: Float32Array;
}
export interface StepStats {
  substeps: number;
  iterations: number;
  contacts: number;
  residual: number;
  unconverged: number;
  repairs: number;
  /** points shown nearer to plain skinning than the solver has them, and a vertex of the worst (-1: none) */
  limited: number;
  limitedVertex: number;
  partMs: number[];
}
/** All that changes in a simulation; copy() is a snapshot. Results are views, until the next call. */
export class State extends Owned {
  constructor(model: Model);
  readonly model: Model;
  reset(joints?: ArrayLike<number> | null): void;
  copy(): State;
  restore(snapshot: State): void;
  teleport(transform: ArrayLike<number>): void;
  step(dt: number, options?: StepOptions): void;
  /** simulate up to a time without showing it */
  advance(time: number, options?: StepOptions): void;
  /** positions and outputs of the instant, with an amount (0 to 2; default 1) of the deviation from skinning */
  show(amount?: number): void;
  runTo(time: number, options?: StepOptions): { substeps: number; unconverged: number; repairs: number };
  readonly hash: string;
  readonly time: number;
  readonly positions: Float32Array;
  readonly normals: Float32Array;
  readonly stats: StepStats;
  output(name: string): Output | null;
  outputRole(role: OutputRole, index?: number): Output | null;
  prop(index: number): { transform: number[]; force: number[]; penetration: number; dropped: boolean; positions: Float32Array | null; triangles: Int32Array | null };
}

export type BakeStage = "load" | "build" | "lead_in" | "loop" | "frames" | "measure" | "write";
export interface FileBytes {
  name: string;
  bytes: Bytes;
}
export interface BakeOptions {
  /** name of the file; its extension selects the format */
  name?: string;
  clip?: string | null;
  motion?: FileBytes;
  map?: Record<string, string>;
  examples?: FileBytes[];
  exampleSeconds?: number;
  surface?: FileBytes;
  fps?: number;
  start?: number;
  end?: number;
  leadIn?: number;
  loop?: boolean;
  props?: PropRequest[];
  acceleration?: ArrayLike<number>;
  wind?: ArrayLike<number>;
  blows?: ({ time: number } & Impulse)[];
  /** of the deviation from skinning, 0 to 2; or [time, amount] over the clip */
  amount?: number | [number, number][];
  solver?: string | null;
  settings?: Settings;
  substep?: number;
  detail?: number;
  /** ".glb", ".npy", ".pc2", ".mdd", ".usda", ".vat", ".obj" */
  format?: string;
  outputs?: string;
  tolerance?: number;
  targets?: number;
  positionsOnly?: boolean;
  exact?: boolean;
  keepFrames?: boolean;
  measure?: boolean;
  checks?: string;
  noVerdict?: boolean;
  partial?: boolean;
  threads?: number;
  progress?: (stage: BakeStage, done: number, total: number) => boolean | void;
  message?: (kind: "note" | "warning", text: string) => void;
  signal?: AbortSignal;
}
export interface BakeFigures {
  frameCount: number;
  vertexCount: number;
  fps: number;
  start: number;
  leadIn: number;
  substep: number;
  interrupted: boolean;
  solver: string;
  clip: string | null;
  element: string;
  elementCount: number;
  size: number;
  totalSeconds: number;
  buildSeconds: number;
  volumeMin: number;
  volumeMax: number;
  /** JSON of docs/reference/report.md */
  report: Record<string, unknown>;
  warnings: string[];
  quality: Record<string, number> | null;
  loop: Record<string, number | boolean> | null;
  morphs: Record<string, number | boolean> | null;
  verdict: Verdict | null;
  checks: { name: string; relation: string; bound: number; value: number; passed: boolean }[];
  volumeRatios: Float64Array;
  stepSeries: Float64Array;
  /** of all positions: equal hashes, equal results */
  hash: string;
}
export interface BakeResult extends Owned, BakeFigures {
  readonly positions: Float32Array | null;
  readonly files: { name: string; bytes: Uint8Array }[];
  toObject(): BakeObject;
}
export const BakeResult: { prototype: BakeResult };
export interface BakeObject extends BakeFigures {
  positions: Float32Array | null;
  files: { name: string; bytes: Uint8Array }[];
}
/** Bake the bytes of a file in a worker: the page lives on. */
export function bake(bytes: Bytes, options?: BakeOptions): Promise<BakeObject>;

export interface RigOptions {
  skeleton?: string | null;
  landmarks?: Record<string, ArrayLike<number>>;
  method?: "auto" | "heat" | "voxel";
  maxInfluences?: number;
  /** new weights for the skeleton that is there */
  keepSkeleton?: boolean;
}
export type Level = "good" | "look" | "bad";
export interface Verdict {
  level: Level;
  text: string;
  findings: { text: string; level: Level; value: number; bound: number; firstFrame: number; lastFrame: number; worstFrame: number; vertex: number; joint: number }[];
}
/** Judges frames against plain skinning as they come. */
export class Judge extends Owned {
  constructor(character: Character, frameCount: number);
  /** each (vertices x 3): the result, plain skinning, the innermost tissue */
  frame(positions: Float32Array, reference: Float32Array, inner?: Float32Array | null, stats?: StepStats | null): void;
  /** sums: of State.runTo, added up */
  finish(sums?: { substeps?: number; unconverged?: number; repairs?: number }): Verdict;
}

/** A skeleton and weights; the character lives as long as the rig. */
export class Rig extends Owned {
  constructor(cutis: Cutis, character: Character, options?: RigOptions);
  readonly character: Character;
  readonly skeleton: string;
  readonly recognised: boolean;
  readonly score: number;
  readonly sentences: string[];
}

/** A .glb compressed by Draco as one that is not; draco: the decoder module of the npm package draco3d. */
export function unpackDraco(bytes: Uint8Array, draco: unknown): Uint8Array;
/** Whether a .glb uses Draco. */
export function usesDraco(bytes: Uint8Array): boolean;

/** The normals of a file, turned by a deformation: hard edges stay hard, where the library's own normals are smooth. */
export class AuthoredNormals {
  /** At rest: positions and normals (vertices x 3), triangles, and the point of each vertex (Character.vertexPoints). */
  constructor(rest: { positions: ArrayLike<number>; normals: Float32Array; triangles: ArrayLike<number>; points: ArrayLike<number> });
  /** Write the normals (vertices x 3) of the surface as it is now. */
  apply(positions: ArrayLike<number>, normals: Float32Array): void;
}
