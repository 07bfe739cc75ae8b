/*
 * three.mjs: Flesh of cutis/three in Node, against three.js's own skinning; run from a project that has both packages.
 */
import assert from "node:assert/strict";

import { Character, load } from "cutis";
import { Flesh } from "cutis/three";
import { Bone, BoxGeometry, BufferAttribute, BufferGeometry, Group, Mesh, MeshBasicMaterial, Skeleton, SkinnedMesh, Vector3 } from "three";

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
assert.throws(() => new Flesh(mesh, { solver: "lbs" }), /load/);
assert.throws(() => new Flesh(box, { cutis }), /SkinnedMesh/);
console.log("Flesh of cutis/three agrees with three.js");
process.exit(0);
