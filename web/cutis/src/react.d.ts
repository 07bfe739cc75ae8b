import type { Object3D } from "three";
import type { Flesh, FleshOptions } from "cutis/three";

/**
 * Flesh for an object with SkinnedMeshes, in react-three-fiber: call it after the hook that moves the bones. null until it is
 * built. Without `cutis` it works in a worker.
 */
export function useFlesh(object: Object3D | null | undefined, options?: FleshOptions): Flesh | null;
