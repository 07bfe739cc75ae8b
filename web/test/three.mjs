/*
 * three.mjs: Flesh of cutis/three in Node, against three.js's own skinning; run from a project that has both packages.
 */
import assert from "node:assert/strict";

import { Character, load } from "cutis";
import { Flesh } from "cutis/three";
import { Bone, BoxGeometry, BufferAttribute, BufferGeometry, Group, Matrix4, Mesh, MeshBasicMaterial, Skeleton, SkinnedMesh, Vector3 } from "three";

const cutis = await load();

/** The built-in arm as a SkinnedMesh below a moved and scaled group. */
function skinnedArm() {
  const arm = Character.make(cutis, "arm", 0.12);
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(arm.positions.slice(), 3));
  geometry.setIndex(new BufferAttribute(Uint32Array.from(arm.triangles), 1));
  const index = new Uint16Array(4 * arm.vertexCount);
  const weight = new Float32Array(4 * arm.vertexCount);
  const { first, joints, values } = arm.weights;
  for (let v = 0; v < arm.vertexCount; v++) {
    for (let k = 0; k < Math.min(4, first[v + 1] - first[v]); k++) {
      index[4 * v + k] = joints[first[v] + k];
      weight[4 * v + k] = values[first[v] + k];
    }
  }
  geometry.setAttribute("skinIndex", new BufferAttribute(index, 4));
  geometry.setAttribute("skinWeight", new BufferAttribute(weight, 4));
  const bones = arm.joints.map(({ name, rest }) => {
    const bone = new Bone();
    bone.name = name;
    bone.position.fromArray(rest.translation);
    bone.quaternion.fromArray(rest.rotation);
    bone.scale.fromArray(rest.scale);
    return bone;
  });
  arm.joints.forEach(({ parent }, i) => parent >= 0 && bones[parent].add(bones[i]));
  const mesh = new SkinnedMesh(geometry, new MeshBasicMaterial());
  mesh.add(bones[0]);
  const group = new Group();
  group.add(mesh);
  group.updateMatrixWorld(true);
  mesh.bind(new Skeleton(bones));
  group.position.set(1, 2, 3);
  group.scale.setScalar(2);
  arm.dispose();
  return { mesh, bones, group };
}

/** Largest distance of what flesh draws from what three.js draws, in world space, over the largest coordinate. */
function distance(flesh, mesh) {
  const a = new Vector3();
  const b = new Vector3();
  let worst = 0;
  flesh.mesh.updateWorldMatrix(true, false);
  for (let v = 0; v < flesh.state.vertexCount; v++) {
    mesh.getVertexPosition(v, a).applyMatrix4(mesh.matrixWorld);
    b.fromBufferAttribute(flesh.mesh.geometry.attributes.position, v).applyMatrix4(flesh.mesh.matrixWorld);
    worst = Math.max(worst, a.distanceTo(b));
  }
  return worst;
}

// plain skinning is three.js's own, wherever the mesh hangs
const { mesh, bones, group } = skinnedArm();
const plain = new Flesh(mesh, { cutis, solver: "lbs" });
assert.equal(mesh.visible, false);
assert.equal(plain.mesh.parent, group);
for (let i = 0; i < 5; i++) {
  bones[1].rotation.z = 0.2 * i;
  group.rotation.y = 0.1 * i;
  group.updateMatrixWorld(true);
  plain.update(1 / 60);
  assert.ok(distance(plain, mesh) < 1e-4, `off by ${distance(plain, mesh)}`);
}
plain.dispose();
assert.equal(mesh.visible, true);

// flesh swings on: it moves when the bones do, is near skinning, and feels a prop
const box = new Mesh(new BoxGeometry(0.1, 0.1, 0.1), new MeshBasicMaterial());
box.position.set(9, 9, 9);
const flesh = new Flesh(mesh, { cutis, solver: "lattice", props: [box] });
for (let i = 0; i < 20; i++) {
  bones[1].rotation.z = 0.05 * i;
  group.updateMatrixWorld(true);
  flesh.update(1 / 60);
}
const off = distance(flesh, mesh);
assert.ok(off > 1e-4 && off < 0.4, `off by ${off}`);
assert.ok(flesh.mesh.geometry.attributes.normal.array.every(Number.isFinite));
flesh.dispose();

/** The same arm as two SkinnedMeshes that share bones: halves of its triangles; the second one is bound in centimetres. */
function halves() {
  const { mesh: whole, bones: shared, group: all } = skinnedArm();
  const { index } = whole.geometry;
  const half = Math.floor(index.count / 6) * 3;
  const part = (from, to) => {
    const used = [...new Set(index.array.subarray(from, to))];
    const place = new Map(used.map((v, i) => [v, i]));
    const geometry = new BufferGeometry();
    for (const name of ["position", "skinIndex", "skinWeight"]) {
      const { array, itemSize } = whole.geometry.attributes[name];
      const values = used.flatMap((v) => [...array.subarray(itemSize * v, itemSize * v + itemSize)]);
      geometry.setAttribute(name, new BufferAttribute(new array.constructor(values), itemSize));
    }
    geometry.setIndex([...index.array.subarray(from, to)].map((v) => place.get(v)));
    return geometry;
  };
  const first = new SkinnedMesh(part(0, half), new MeshBasicMaterial());
  first.name = "first";
  const second = new SkinnedMesh(part(half, index.count), new MeshBasicMaterial());
  second.name = "second";
  all.add(shared[0], first, second);
  whole.removeFromParent();
  const inverses = whole.skeleton.boneInverses;
  first.bind(new Skeleton(shared, inverses), new Matrix4());
  second.geometry.scale(100, 100, 100);
  const metres = new Matrix4().makeScale(0.01, 0.01, 0.01);
  second.bind(new Skeleton(shared, inverses.map((inverse) => inverse.clone().multiply(metres))), new Matrix4());
  return { group: all, bones: shared, first, second };
}

/** The largest distance over all meshes of a flesh. */
function distances(flesh) {
  const a = new Vector3();
  const b = new Vector3();
  let worst = 0;
  flesh.skinned.forEach((skinned, i) => {
    flesh.meshes[i].updateWorldMatrix(true, false);
    for (let v = 0; v < skinned.geometry.attributes.position.count; v++) {
      skinned.getVertexPosition(v, a).applyMatrix4(skinned.matrixWorld);
      b.fromBufferAttribute(flesh.meshes[i].geometry.attributes.position, v).applyMatrix4(flesh.meshes[i].matrixWorld);
      worst = Math.max(worst, a.distanceTo(b));
    }
  });
  return worst;
}

// several SkinnedMeshes are one body, also when they are bound in other units; three's own skinning with a morph target
const pair = halves();
const target = new Float32Array(pair.second.geometry.attributes.position.array.length).fill(0);
for (let v = 0; v < target.length / 3; v++) target[3 * v + 1] = 5; // centimetres
pair.second.geometry.morphAttributes.position = [new BufferAttribute(target, 3)];
pair.second.geometry.morphTargetsRelative = true;
pair.second.updateMorphTargets();
const both = new Flesh(pair.group, { cutis, solver: "lbs" });
assert.equal(both.meshes.length, 2);
assert.ok(!pair.first.visible && !pair.second.visible && both.meshes.every(({ parent }) => parent === pair.group));
for (let i = 0; i < 4; i++) {
  pair.bones[1].rotation.z = 0.3 * i;
  pair.second.morphTargetInfluences[0] = 0.3 * i;
  pair.group.updateMatrixWorld(true);
  both.update(1 / 60);
  assert.ok(distances(both) < 2e-4, `off by ${distances(both)} with the morph target at ${0.3 * i}`);
}
both.dispose();
assert.ok(pair.first.visible && pair.second.visible);
pair.second.morphTargetInfluences[0] = 0;
const body = new Flesh(pair.group, { cutis, solver: "layers", detail: 300 });
const pieces = body.model.info.fleshPieces;
assert.equal(pieces, 1, `the two halves are ${pieces} pieces of flesh`);
body.dispose();

// the normals of the file: flat ones stay flat, and turn with the bones
const flat = skinnedArm();
flat.mesh.geometry = flat.mesh.geometry.toNonIndexed();
flat.mesh.geometry.computeVertexNormals();
const faceted = new Flesh(flat.mesh, { cutis, solver: "lbs" });
for (const angle of [0, 0.8]) {
  flat.bones[1].rotation.z = angle;
  flat.group.rotation.y = angle;
  flat.group.updateMatrixWorld(true);
  faceted.update(1 / 60);
  const { position, normal } = faceted.mesh.geometry.attributes;
  const [a, b, c] = [new Vector3(), new Vector3(), new Vector3()];
  let far = 0;
  let sum = 0;
  for (let v = 0; v < position.count; v += 3) {
    [a, b, c].forEach((p, k) => p.fromBufferAttribute(position, v + k));
    const face = b.sub(a).cross(c.sub(a)).normalize();
    for (let k = 0; k < 3; k++) {
      const off = face.angleTo(a.fromBufferAttribute(normal, v + k));
      far = Math.max(far, off);
      sum += off / position.count;
    }
  }
  // faces in one plane at rest share normals: where they are bent apart, these are their mean
  assert.ok(far < (angle ? 0.3 : 0.02) && sum < 0.005, `at ${angle} flat normals are off by ${far}, ${sum} in the mean`);
}
faceted.dispose();
assert.throws(() => new Flesh(mesh, { solver: "lbs" }), /load/);
assert.throws(() => new Flesh(mesh, { worker: true }), /no Worker/);
assert.throws(() => new Flesh(box, { cutis }), /SkinnedMesh/);
console.log("Flesh of cutis/three agrees with three.js");
process.exit(0);
