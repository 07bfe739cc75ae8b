import type { Matrix4, Mesh, SkinnedMesh, Vector2 } from "three";
import type { Character, Cutis, Drag, Model, PropDescription, Settings, State } from "cutis";

/** A matrix of three as 12 numbers, row by row. */
export function rows(matrix: Matrix4, into?: Float32Array, at?: number): Float32Array;

/** A mesh that the flesh touches, with the fields of a prop. */
export type MeshProp = Mesh | ({ mesh: Mesh } & Partial<Omit<PropDescription, "positions" | "triangles" | "place" | "shape">>);

export interface CharacterFromOptions {
  props?: MeshProp[];
  settings?: Settings;
  maps?: Record<string, ArrayLike<number>>;
}

/** A SkinnedMesh as a character; order: the bone of each joint. */
export function characterFrom(cutis: Cutis, skinned: SkinnedMesh, options?: CharacterFromOptions): { character: Character; order: number[] };

export interface FleshOptions {
  /** of load() */
  cutis: Cutis;
  /** default: the library's preferred one */
  solver?: string | null;
  settings?: Settings;
  detail?: number;
  substep?: number;
  props?: MeshProp[];
  /** painted maps by name, one number a vertex, 0 to 1 */
  maps?: Record<string, ArrayLike<number>>;
}

/** Flesh for a SkinnedMesh: call update(dt) after the mixer. */
export class Flesh {
  constructor(skinned: SkinnedMesh, options: FleshOptions);
  readonly skinned: SkinnedMesh;
  /** what is drawn instead of the skinned mesh */
  readonly mesh: Mesh;
  readonly character: Character;
  readonly model: Model;
  readonly state: State;
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
