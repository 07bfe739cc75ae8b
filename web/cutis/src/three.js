/*
 * three.js: flesh for a character of three.js.
 *
 *     const flesh = new Flesh(gltf.scene, { worker: true });
 *     mixer.update(dt);
 *     flesh.update(dt);
 *
 * All SkinnedMeshes below the object become one body. Until it is built, three.js's own skinning is drawn; then the skinned meshes
 * are hidden, and a plain mesh with the same materials stands in the place of each. World space of three is the library's scene
 * space.
 */
import { BufferAttribute, BufferGeometry, Matrix4, Mesh, Vector3 } from "three";

import { Character } from "./character.js";
import { FleshSimulation } from "./flesh_simulation.js";
import { CutisError } from "./memory.js";
import { mergeSkinned, rows } from "./three_merge.js";

export { TexcoordMorphs, texcoordOf } from "./three_texcoords.js";
export { rows };

const SOLVER = "lattice"; // for real time
const MAX_DUE = 0.25; // seconds of one step: a page that was hidden does not catch up
const OWN = ["position", "normal", "skinIndex", "skinWeight", "tangent"]; // attributes that flesh does not share

/**
 * The SkinnedMeshes below an object as a character in the bind pose, and the bone of each joint. props: meshes of three that the
 * flesh touches, where they stand now: [mesh] or [{ mesh, role, mass, ... }].
 */
export function characterFrom(cutis, root, { props = [], settings = {}, maps = {} } = {}) {
  const { mesh, bones } = mergeSkinned(root);
  const plain = Character.from(cutis, { ...mesh, settings, maps });
  if (!props.length) return { character: plain, bones };
  const character = plain.withProps(props.map(propOf));
  plain.dispose();
  return { character, bones };
}

/** A mesh of three as a prop where it stands. */
function propOf(given, i) {
  const { mesh, ...rest } = given.isMesh ? { mesh: given } : given;
  mesh.updateWorldMatrix(true, false);
  const { index, attributes: { position } } = mesh.geometry;
  const triangles = Int32Array.from({ length: index?.count ?? position.count }, (_, k) => (index ? index.getX(k) : k));
  const positions = new Float32Array(3 * position.count);
  const v = new Vector3();
  for (let k = 0; k < position.count; k++) v.fromBufferAttribute(position, k).toArray(positions, 3 * k);
  return { name: mesh.name || `prop${i}`, shape: "mesh", positions, triangles, place: rows(mesh.matrixWorld), ...rest };
}

export class Flesh {
  /**
   * root: a SkinnedMesh, or an object with some below it. Either worker: true, or cutis: of load(), which builds and steps on this
   * thread. Others: solver, settings, detail, substep, props, maps; threads and wasm of the worker's load().
   */
  constructor(root, { cutis = null, worker = false, solver = SOLVER, settings = {}, detail = 0, substep = 0, props = [], maps = {},
    threads = 1, wasm = null } = {}) {
    if (!cutis && !worker) {
      throw new CutisError("give a worker or the loaded library: new Flesh(object, { worker: true }), or { cutis: await load() }");
    }
    const merged = mergeSkinned(root);
    this.root = root;
    this.parts = merged.parts;
    this.skinned = merged.parts.map(({ skinned }) => skinned);
    this.bones = merged.bones;
    this.morphs = merged.morphs;
    this.props = props.map((given) => (given.isMesh ? given : given.mesh));
    this.drags = [];
    this.meshes = [];
    this.shown = false;
    this.disposed = false;
    const given = { mesh: { ...merged.mesh, maps }, props: props.map(propOf), normals: merged.normals,
      options: { solver: solver ?? SOLVER, settings, detail, substep } };
    if (worker) this.begin(given, threads, wasm);
    else this.build(cutis, given);
  }
  /** What is drawn for the first SkinnedMesh. */
  get mesh() {
    return this.meshes[0] ?? null;
  }
  get character() {
    return this.simulation?.character ?? null;
  }
  get model() {
    return this.simulation?.model ?? null;
  }
  get state() {
    return this.simulation?.state ?? null;
  }

  // ---- on this thread ----

  build(cutis, given) {
    this.simulation = new FleshSimulation(cutis, given);
    this.built(this.simulation.info);
    this.ready = Promise.resolve(this);
    this.reset();
  }
  built({ vertexCount, jointCount, propRoles, model }) {
    this.info = model;
    this.vertexCount = vertexCount;
    this.joints = new Float32Array(12 * jointCount);
    this.moved = this.props.map((_, i) => propRoles[i] !== "collider");
    this.positions = new Float32Array(3 * vertexCount);
    this.normals = new Float32Array(3 * vertexCount);
  }

  // ---- in a worker ----

  begin(given, threads, wasm) {
    if (typeof Worker === "undefined") throw new CutisError("this platform has no Worker: give { cutis: await load() }", "unsupported");
    this.worker = new Worker(new URL("./flesh_worker.js", import.meta.url), { type: "module" });
    this.due = 0;
    this.pending = true; // a step whose frame has not come yet, or the build
    this.restart = true;
    this.ready = new Promise((resolve, reject) => {
      const failed = (error) => {
        this.failure = error;
        reject(error);
      };
      this.worker.onerror = (event) => failed(new CutisError(`the worker of the flesh ended: ${event.message ?? ""}`, "unsupported"));
      this.worker.onmessage = ({ data }) => {
        if (this.disposed) return;
        if (data.kind === "error") {
          failed(new CutisError(data.text, data.code));
        } else if (data.kind === "built") {
          this.built(data.info);
          this.pending = false;
        } else {
          this.pending = false;
          this.positions = data.positions;
          this.normals = data.normals;
          this.write(data.props);
          resolve(this);
        }
      };
    });
    this.ready.catch(() => {}); // who awaits it sees the failure
    this.worker.postMessage({ kind: "build", given, threads, wasm });
  }
  post() {
    if (this.pending) return;
    this.pending = true;
    this.readBones();
    const buffers = [this.positions.buffer, this.normals.buffer];
    this.worker.postMessage({ kind: "step", dt: Math.min(this.due, MAX_DUE), joints: this.joints, morphs: this.weights(),
      drags: this.drags, reset: this.restart, buffers }, buffers);
    this.restart = false;
    this.due = 0;
  }

  // ---- time ----

  /** Start again at rest in the pose that the bones have now. */
  reset() {
    if (this.worker) {
      this.restart = true;
      return;
    }
    this.readBones();
    this.simulation.reset(this.joints);
    if (this.morphs.length) this.simulation.step(0, { joints: this.joints, morphs: this.weights() });
    this.read();
  }
  /**
   * Advance by dt seconds to the pose that the bones have now, and show it. With a worker the frame is shown when it comes; while
   * one is under way, seconds add up.
   */
  update(dt) {
    if (this.disposed) return;
    if (this.worker) {
      this.due += dt;
      if (!this.failure) this.post();
      return;
    }
    this.readBones();
    this.simulation.step(dt, { joints: this.joints, morphs: this.weights() ?? undefined, drags: this.drags });
    this.read();
  }
  read() {
    this.simulation.read(this.positions, this.normals);
    this.write(this.simulation.propPlaces());
  }
  readBones() {
    this.root.updateWorldMatrix(true, true);
    this.bones.forEach((bone, i) => {
      bone.updateWorldMatrix(true, false);
      rows(bone.matrixWorld, this.joints, 12 * i);
    });
    // props follow their meshes
    this.props.forEach((mesh, i) => {
      mesh.updateWorldMatrix(true, false);
      if (!this.moved[i]) rows(mesh.matrixWorld, this.joints, 12 * (this.bones.length + i));
    });
  }
  /** Weights of the morph targets as three.js has them now; null: there are none. */
  weights() {
    if (!this.morphs.length) return null;
    return Float32Array.from(this.morphs, ({ skinned, index }) => skinned.morphTargetInfluences?.[index] ?? 0);
  }

  // ---- what is drawn ----

  /** Plain meshes in the places of the skinned ones: the same materials and attributes. */
  show() {
    this.shown = true;
    this.meshes = this.skinned.map((skinned) => {
      const geometry = new BufferGeometry();
      for (const [name, attribute] of Object.entries(skinned.geometry.attributes)) {
        if (!OWN.includes(name)) geometry.setAttribute(name, attribute);
      }
      geometry.setIndex(skinned.geometry.index);
      for (const group of skinned.geometry.groups) geometry.addGroup(group.start, group.count, group.materialIndex);
      const { count } = skinned.geometry.attributes.position;
      for (const name of ["position", "normal"]) geometry.setAttribute(name, new BufferAttribute(new Float32Array(3 * count), 3));
      const mesh = new Mesh(geometry, skinned.material);
      Object.assign(mesh, { name: `${skinned.name}_flesh`, castShadow: skinned.castShadow, receiveShadow: skinned.receiveShadow,
        renderOrder: skinned.renderOrder, frustumCulled: false, matrixAutoUpdate: false });
      mesh.layers.mask = skinned.layers.mask;
      skinned.parent?.add(mesh);
      this.hidden ??= this.skinned.map(({ visible }) => visible);
      mesh.visible = skinned.visible;
      skinned.visible = false;
      return mesh;
    });
  }
  write(places) {
    if (!this.shown) this.show();
    this.parts.forEach(({ first, count }, i) => {
      const mesh = this.meshes[i];
      const { position, normal } = mesh.geometry.attributes;
      position.array.set(this.positions.subarray(3 * first, 3 * (first + count)));
      normal.array.set(this.normals.subarray(3 * first, 3 * (first + count)));
      position.needsUpdate = true;
      normal.needsUpdate = true;

      // vertices are in world space: the mesh undoes where it hangs
      mesh.parent?.updateWorldMatrix(true, false);
      if (mesh.parent) mesh.matrix.copy(mesh.parent.matrixWorld).invert();
      else mesh.matrix.identity();
      mesh.matrixWorldNeedsUpdate = true;
    });
    this.props.forEach((mesh, i) => {
      if (!this.moved[i]) return;
      const world = new Matrix4().set(...places[i], 0, 0, 0, 1);
      const above = mesh.parent ? mesh.parent.matrixWorld.clone().invert() : new Matrix4();
      above.multiply(world).decompose(mesh.position, mesh.quaternion, mesh.scale);
    });
  }

  /** Give the skinned meshes back and free all. A build in a worker ends. */
  dispose() {
    if (this.disposed) return;
    this.disposed = true;
    this.worker?.terminate();
    this.simulation?.dispose();
    for (const mesh of this.meshes) {
      mesh.removeFromParent();
      mesh.geometry.dispose();
    }
    if (this.hidden) this.skinned.forEach((skinned, i) => (skinned.visible = this.hidden[i]));
  }
}
