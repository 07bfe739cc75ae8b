/* types.ts: the declarations of the package as a program uses them; compiled by tsc, not run. */
import { type BakeObject, Character, type Cutis, CutisError, Model, Rig, State, bake, load } from "cutis";
import { Flesh } from "cutis/three";
import { useFlesh } from "cutis/react";
import { type Mesh, Object3D, SkinnedMesh } from "three";

export async function use(bytes: ArrayBuffer): Promise<string> {
  const cutis: Cutis = await load({ threads: 2 });
  const hero = Character.load(cutis, bytes, "hero.glb");
  const model = new Model(hero, { solver: "lattice", settings: { stiffness: 10, "bones.Spine.stiffness": 20, self_collision: false } });
  const state = new State(model);
  state.step(1 / 60, { clip: hero.clips[0]?.name ?? null, drags: [{ vertex: 0, target: [0, 1, 0], strength: 0.5 }] });
  const snapshot: State = state.copy();
  state.restore(snapshot);
  const first: number = state.positions[0] + (state.output("touch")?.values[0] ?? 0) + state.stats.contacts;
  const rig = new Rig(cutis, hero, { landmarks: { Hips: [0, 1, 0] } });
  const stop = new AbortController();
  const made: BakeObject = await bake(bytes, { name: "hero.glb", fps: 30, format: ".glb", signal: stop.signal, progress: (stage, done, total) => done < total || stage === "write" });
  const flesh = new Flesh(new SkinnedMesh(), { cutis, solver: "layers" });
  flesh.update(1 / 60);
  flesh.dispose();
  const own: Flesh = await new Flesh(new Object3D(), { worker: true, threads: 2, settings: { fat_stiffness: 2 } }).ready;
  const drawn: Mesh[] = own.meshes;
  const hooked: Flesh | null = useFlesh(drawn[0], { solver: "lattice" });
  hooked?.update(0.01);
  // @ts-expect-error the state of a worker may not be there
  own.state.hash;
  // @ts-expect-error a solver has a name
  new Model(hero, { solver: 3 });
  if (made.verdict?.level === "bad") throw new CutisError(made.verdict.text);
  return `${first} ${state.hash} ${rig.skeleton} ${made.files[0].bytes.length} ${cutis.solver("lattice").parameters[0].help}`;
}
