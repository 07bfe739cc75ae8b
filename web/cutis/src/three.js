/*
 * three.js: flesh for a SkinnedMesh of three.js.
 *
 *     const flesh = new Flesh(skinnedMesh, { cutis, solver: "lattice" });
 *     mixer.update(dt);
 *     flesh.update(dt);
 *
 * World space of three is the library's scene space. The skinned mesh is hidden and a plain one with its materials, whose
 * vertices the library moves, stands in its place.
 */
import { BufferAttribute, BufferGeometry, Matrix4, Mesh, Quaternion, Vector3 } from "three";

import { Character } from "./character.js";
import { CutisError } from "./memory.js";
import { Model, State } from "./model.js";

export { TexcoordMorphs, texcoordOf } from "./three_texcoords.js";

/** A matrix of three (column-major, 4 x 4) as 12 numbers, row by row. */
export function rows(matrix, into = new Float32Array(12), at = 0) {
  const e = matrix.elements;
  for (let row = 0; row < 3; row++) for (let column = 0; column < 4; column++) into[at + 4 * row + column] = e[4 * column + row];
  return into;
}

function parts(matrix) {
  const translation = new Vector3();
  const rotation = new Quaternion();
  const scale = new Vector3();
  matrix.decompose(translation, rotation, scale);
  return { translation: translation.toArray(), rotation: rotation.toArray(), scale: scale.toArray() };
}

/** Names that are not there yet. */
function uniqueNames(names) {
  const taken = new Set();
  return names.map((name, i) => {
    let own = name || `bone${i}`;
    for (let k = 2; taken.has(own); k++) own = `${name || "bone"}_${k}`;
    taken.add(own);
    return own;
  });
}

/**
 * A SkinnedMesh as a character: mesh, skeleton and weights in the bind pose. props: meshes of three that the flesh touches,
 * where they stand now: [mesh] or [{ mesh, role, mass, ... }].
 */
export function characterFrom(cutis, skinned, { props = [], settings = {}, maps = {} } = {}) {
  const { geometry, skeleton, bindMatrix } = skinned;
  const position = geometry.attributes.position;
  const skinIndex = geometry.attributes.skinIndex;
  const skinWeight = geometry.attributes.skinWeight;
  if (!skinIndex || !skinWeight || !skeleton) throw new CutisError("a SkinnedMesh with a skeleton is needed: this one has no skinIndex, skinWeight or skeleton");

  // the mesh in bind space, which is scene space at rest
  const count = position.count;
  const positions = new Float32Array(3 * count);
  const joints = new Int32Array(4 * count);
  const weights = new Float32Array(4 * count);
  const v = new Vector3();
  for (let i = 0; i < count; i++) {
    v.fromBufferAttribute(position, i).applyMatrix4(bindMatrix).toArray(positions, 3 * i);
    for (let k = 0; k < 4; k++) {
      joints[4 * i + k] = skinIndex.getComponent(i, k);
      weights[4 * i + k] = skinWeight.getComponent(i, k);
    }
  }
  const index = geometry.index ? Int32Array.from(geometry.index.array) : Int32Array.from({ length: count }, (_, i) => i);

  // parents come before children
  const bones = skeleton.bones;
  const depth = (bone) => (bones.includes(bone.parent) ? 1 + depth(bone.parent) : 0);
  const order = bones.map((_, i) => i).sort((a, b) => depth(bones[a]) - depth(bones[b]) || a - b);
  const place = new Int32Array(bones.length);
  order.forEach((bone, i) => (place[bone] = i));
  const names = uniqueNames(order.map((i) => bones[i].name));
  const rest = order.map((i) => skeleton.boneInverses[i].clone().invert());
  const list = order.map((bone, i) => {
    const parent = bones.indexOf(bones[bone].parent);
    const local = parent < 0 ? rest[i] : rest[place[parent]].clone().invert().multiply(rest[i]);
    return { name: names[i], parent: parent < 0 ? -1 : place[parent], rest: parts(local), inverseBind: rows(skeleton.boneInverses[bone]) };
  });
  for (let i = 0; i < joints.length; i++) joints[i] = place[joints[i]];

  let character = Character.from(cutis, { name: skinned.name || "mesh", positions, triangles: index, weights: { joints, values: weights }, joints: list, settings, maps });
  if (props.length) {
    const plain = character;
    character = plain.withProps(props.map(propOf));
    plain.dispose();
  }
  return { character, order };
}

/** A mesh of three as a prop where it stands. */
function propOf(given, i) {
  const { mesh, ...rest } = given.isMesh ? { mesh: given } : given;
  mesh.updateWorldMatrix(true, false);
  const geometry = mesh.geometry;
  const triangles = geometry.index ? Int32Array.from(geometry.index.array) : Int32Array.from({ length: geometry.attributes.position.count }, (_, k) => k);
  const positions = new Float32Array(3 * geometry.attributes.position.count);
  const v = new Vector3();
  for (let k = 0; k < geometry.attributes.position.count; k++) v.fromBufferAttribute(geometry.attributes.position, k).toArray(positions, 3 * k);
  return { name: mesh.name || `prop${i}`, shape: "mesh", positions, triangles, place: rows(mesh.matrixWorld), ...rest };
}

export class Flesh {
  /** options: cutis (of load()), solver, settings, detail, substep, props, maps. */
  constructor(skinned, { cutis, solver = null, settings = {}, detail = 0, substep = 0, props = [], maps = {} } = {}) {
    if (!cutis) throw new CutisError("give the loaded library: new Flesh(mesh, { cutis: await load() })");
    const made = characterFrom(cutis, skinned, { props, maps });
    this.skinned = skinned;
    this.order = made.order;
    this.character = made.character;
    const chosen = solver ?? cutis.solvers.find((one) => one.preferred).name;
    this.model = new Model(this.character, { solver: chosen, settings, detail, substep });
    this.state = new State(this.model);
    this.props = props.map((given) => (given.isMesh ? given : given.mesh));
    this.moved = this.props.map((_, i) => this.character.props[i]?.role !== "collider");
    this.joints = new Float32Array(12 * this.character.jointCount);
    this.drags = [];

    // what is drawn instead: the same materials and attributes, positions and normals of the library
    const geometry = new BufferGeometry();
    for (const [name, attribute] of Object.entries(skinned.geometry.attributes)) {
      if (!["position", "normal", "skinIndex", "skinWeight", "tangent"].includes(name)) geometry.setAttribute(name, attribute);
    }
    geometry.setIndex(skinned.geometry.index);
    for (const group of skinned.geometry.groups) geometry.addGroup(group.start, group.count, group.materialIndex);
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(3 * this.state.vertexCount), 3));
    geometry.setAttribute("normal", new BufferAttribute(new Float32Array(3 * this.state.vertexCount), 3));
    this.mesh = new Mesh(geometry, skinned.material);
    Object.assign(this.mesh, { name: `${skinned.name}_flesh`, castShadow: skinned.castShadow, receiveShadow: skinned.receiveShadow, frustumCulled: false, matrixAutoUpdate: false });
    skinned.parent?.add(this.mesh);
    skinned.visible = false;
    this.reset();
  }

  /** Start again at rest in the pose that the bones have now. */
  reset() {
    this.readBones();
    this.state.reset(this.joints);
    this.write();
  }
  readBones() {
    const root = this.skinned.skeleton.bones[0];
    root?.updateWorldMatrix(true, true);
    const bones = this.skinned.skeleton.bones;
    this.order.forEach((bone, i) => {
      bones[bone].updateWorldMatrix(true, false);
      rows(bones[bone].matrixWorld, this.joints, 12 * i);
    });
    // props follow their meshes
    const first = this.character.jointCount - this.props.length;
    this.props.forEach((mesh, i) => {
      mesh.updateWorldMatrix(true, false);
      if (!this.moved[i]) rows(mesh.matrixWorld, this.joints, 12 * (first + i));
    });
  }

  /** Advance by dt seconds to the pose that the bones have now, and show it. */
  update(dt) {
    this.readBones();
    this.state.step(dt, { joints: this.joints, drags: this.drags });
    this.write();
  }
  write() {
    const { position, normal } = this.mesh.geometry.attributes;
    position.array.set(this.state.positions);
    normal.array.set(this.state.normals);
    position.needsUpdate = true;
    normal.needsUpdate = true;

    // vertices are in world space: the mesh undoes where it hangs
    const parent = this.mesh.parent;
    parent?.updateWorldMatrix(true, false);
    this.mesh.matrix.copy(parent ? parent.matrixWorld : new Matrix4()).invert();
    this.mesh.matrixWorldNeedsUpdate = true;
    this.props.forEach((mesh, i) => {
      if (!this.moved[i]) return;
      const m = this.state.prop(i).transform;
      const world = new Matrix4().set(...m, 0, 0, 0, 1);
      const above = mesh.parent ? mesh.parent.matrixWorld.clone().invert() : new Matrix4();
      above.multiply(world).decompose(mesh.position, mesh.quaternion, mesh.scale);
    });
  }

  /** Give the skinned mesh back and free all. */
  dispose() {
    this.mesh.removeFromParent();
    this.mesh.geometry.dispose();
    this.skinned.visible = true;
    this.state.dispose();
    this.model.dispose();
    this.character.dispose();
  }
}
