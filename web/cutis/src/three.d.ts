import type { Bone, Matrix4, Mesh, Object3D, SkinnedMesh, Vector2 } from "three";
import type { Bytes, Character, Cutis, Drag, Model, PropDescription, Settings, State } from "cutis";

/** A matrix of three as 12 numbers, row by row. */
export function rows(matrix: Matrix4, into?: Float32Array, at?: number): Float32Array;

/** A mesh that the flesh touches, with the fields of a prop. */
export type MeshProp = Mesh | ({ mesh: Mesh } & Partial<Omit<PropDescription, "positions" | "triangles" | "place" | "shape">>);

export interface CharacterFromOptions {
  props?: MeshProp[];
  settings?: Settings;
  maps?: Record<string, ArrayLike<number>>;
}

/** The SkinnedMeshes below an object as one character; bones: the bone of each joint. */
export function characterFrom(cutis: Cutis, root: Object3D, options?: CharacterFromOptions): { character: Character; bones: Bone[] };

export interface FleshOptions {
  /** build and step in a worker, which loads the library itself */
  worker?: boolean;
  /** of load(): build and step on this thread */
  cutis?: Cutis | null;
  /** default: "lattice" */
  solver?: string | null;
  settings?: Settings;
  detail?: number;
  substep?: number;
  props?: MeshProp[];
  /** painted maps by name, one number per vertex, 0 to 1, in the order of `skinned` */
  maps?: Record<string, ArrayLike<number>>;
  /** of the worker; more than 1 needs a cross-origin isolated page */
  threads?: number;
  /** of the worker: URL or bytes of another .wasm than the package's own */
  wasm?: string | Bytes | null;
}

/** One body of flesh for all SkinnedMeshes below an object: call update(dt) after the mixer. */
export class Flesh {
  constructor(root: Object3D, options: FleshOptions);
  readonly root: Object3D;
  readonly skinned: SkinnedMesh[];
  /** what is drawn instead of each SkinnedMesh; empty until the flesh is built */
  readonly meshes: Mesh[];
  /** the first of them */
  readonly mesh: Mesh | null;
  readonly bones: Bone[];
  /** the flesh is drawn; rejected with a CutisError where it cannot be built */
  readonly ready: Promise<Flesh>;
  /** null with a worker */
  readonly character: Character | null;
  readonly model: Model | null;
  readonly state: State | null;
  /** pulls of the next steps */
  drags: Drag[];
  update(dt: number): void;
  reset(): void;
  dispose(): void;
}

/** Plug-in of GLTFLoader for bakes of sliding skin: `loader.register((parser) => new TexcoordMorphs(parser))`. */
export class TexcoordMorphs {
  constructor(parser: object);
  readonly name: string;
  afterRoot(gltf: object): Promise<void>;
}
/** Texture coordinates of a vertex as its mesh shows them now. */
export function texcoordOf(mesh: Mesh, vertex: number, target?: Vector2): Vector2;
