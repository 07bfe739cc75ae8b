/*
 * react.js: flesh for react-three-fiber.
 *
 *     const { scene, animations } = useGLTF("hero.glb");
 *     useAnimations(animations, scene);
 *     useFlesh(scene);                      // after the hook that moves the bones
 *     return <primitive object={scene} />;
 */
import { useFrame } from "@react-three/fiber";
import { useEffect, useRef, useState } from "react";

import { Flesh } from "./three.js";

/**
 * Flesh for an object with SkinnedMeshes, in a worker unless `cutis` is given; options are those of Flesh. null until it is built,
 * while plain skinning is drawn. It is built again when the object, the solver, its settings or the detail change.
 */
export function useFlesh(object, options = {}) {
  const [built, setBuilt] = useState(null);
  const [failure, setFailure] = useState(null);
  const current = useRef(null);
  const { cutis = null, solver, settings, detail, substep, threads } = options;
  const key = JSON.stringify([solver, settings, detail, substep, threads]);
  useEffect(() => {
    if (!object) return undefined;
    const flesh = new Flesh(object, { worker: !cutis, ...options });
    current.current = flesh;
    const alive = () => current.current === flesh;
    flesh.ready.then(() => alive() && setBuilt(flesh), (error) => alive() && setFailure(error));
    return () => {
      current.current = null;
      setBuilt(null);
      flesh.dispose();
    };
  }, [object, cutis, key]);
  useFrame((_, delta) => current.current?.update(delta));
  if (failure) throw failure; // to the nearest error boundary
  return built;
}
