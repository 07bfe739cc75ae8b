/** The bytes of learned flesh in a .glb, or null. */
export function findFlesh(glb: ArrayBuffer | Uint8Array): Uint8Array | null;

/** Flesh that `cutis distil` has learned. */
export class LiveFlesh {
  constructor(data: ArrayBuffer | Uint8Array);
  readonly jointCount: number;
  readonly pointCount: number;
  readonly vertexCount: number;
  readonly size: number;
  /** Offsets of the points, rest space: (pointCount x 3). */
  readonly offsets: Float32Array;
  /** The pose to show, with limbs held out of other flesh: (jointCount x 12). */
  readonly skin: Float32Array;
  /** 0: the pose is in the trained range; 1: at least one joint has faded to skinning. */
  readonly outside: number;
  /** skin: (jointCount x 12), pose x inverse bind, row by row. dt: seconds. */
  update(skin: ArrayLike<number> & Float32Array, dt: number): void;
  /** Write the offsets of all vertices: (vertexCount x 3), rest space. */
  vertices(result: Float32Array): void;
  /** Put the oscillators at rest. */
  reset(): void;
}

/** What a loaded character gets as gltf.userData.flesh. */
export interface AttachedFlesh {
  readonly flesh: LiveFlesh;
  update(seconds: number): void;
}

/** A plugin of three's GLTFLoader. THREE: the three module. */
export class LiveFleshPlugin {
  constructor(parser: unknown, THREE: unknown);
  afterRoot(gltf: unknown): Promise<void>;
}

export function attachFlesh(THREE: unknown, flesh: LiveFlesh, scene: unknown, joints: unknown[], meshes: unknown[]): AttachedFlesh;
