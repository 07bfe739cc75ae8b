/*
 * three_merge.js: all SkinnedMeshes of a character of three.js as one mesh with one skeleton.
 *
 * Meshes of one character share bones, sometimes with other inverse matrices: another unit, or another pose in which they were
 * bound. The first matrix of a bone counts, and every vertex is put where its own matrices have it in that common pose:
 *
 *     p' = sum_j w_j R_j inverse_j B p
 *
 * with R_j the bone in the common pose, inverse_j and B (bindMatrix) those of the vertex's mesh. For the first mesh that is B p.
 */
import { Matrix3, Matrix4, Quaternion, Vector3 } from "three";

import { CutisError } from "./memory.js";

/** A matrix of three (column-major, 4 x 4) as 12 numbers, row by row. */
export function rows(matrix, into = new Float32Array(12), at = 0) {
  const e = matrix.elements;
  for (let row = 0; row < 3; row++) for (let column = 0; column < 4; column++) into[at + 4 * row + column] = e[4 * column + row];
  return into;
}

function transformOf(matrix) {
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

/** The SkinnedMeshes below an object, itself included. */
export function skinnedMeshes(root) {
  const found = [];
  root.traverse?.((node) => node.isSkinnedMesh && found.push(node));
  for (const { geometry, skeleton, name } of found) {
    if (!geometry.attributes.skinIndex || !geometry.attributes.skinWeight || !skeleton) {
      throw new CutisError(`SkinnedMesh '${name}' has no skinIndex, skinWeight or skeleton`);
    }
  }
  if (!found.length) throw new CutisError("a SkinnedMesh is needed, or an object that has one below it");
  return found;
}

/** Bones of all meshes, parents before children, with the first inverse matrix of each. */
function collectBones(meshes) {
  const inverses = new Map();
  for (const { skeleton } of meshes) {
    skeleton.bones.forEach((bone, i) => inverses.has(bone) || inverses.set(bone, skeleton.boneInverses[i]));
  }
  const parentOf = (bone) => {
    let above = bone.parent;
    while (above && !inverses.has(above)) above = above.parent;
    return above;
  };
  const depth = (bone) => (parentOf(bone) ? 1 + depth(parentOf(bone)) : 0);
  const bones = [...inverses.keys()];
  const depths = new Map(bones.map((bone) => [bone, depth(bone)]));
  bones.sort((a, b) => depths.get(a) - depths.get(b));
  return { bones, inverses, parentOf };
}

/**
 * { mesh, normals, bones, morphs, parts }: mesh for Character.from; the file's normals (vertices x 3) or null; the bone of each
 * joint; for each morph the mesh and index that has its weight; for each SkinnedMesh its first vertex and their count.
 */
export function mergeSkinned(root) {
  const meshes = skinnedMeshes(root);
  const { bones, inverses, parentOf } = collectBones(meshes);
  const place = new Map(bones.map((bone, i) => [bone, i]));
  const rest = bones.map((bone) => inverses.get(bone).clone().invert());
  const names = uniqueNames(bones.map(({ name }) => name));
  const joints = bones.map((bone, i) => {
    const above = parentOf(bone);
    const local = above ? rest[place.get(above)].clone().invert().multiply(rest[i]) : rest[i];
    return { name: names[i], parent: above ? place.get(above) : -1, rest: transformOf(local), inverseBind: rows(inverses.get(bone)) };
  });

  // room for all
  let vertexCount = 0;
  let cornerCount = 0;
  const parts = meshes.map((skinned) => {
    const { position } = skinned.geometry.attributes;
    const part = { skinned, first: vertexCount, count: position.count };
    vertexCount += position.count;
    cornerCount += skinned.geometry.index?.count ?? position.count;
    return part;
  });
  const made = { positions: new Float32Array(3 * vertexCount), triangles: new Int32Array(cornerCount),
    joints: new Int32Array(4 * vertexCount), weights: new Float32Array(4 * vertexCount) };
  const normals = new Float32Array(3 * vertexCount);
  const targets = new Map(); // name -> { deltas, mesh, index }

  let corner = 0;
  for (const part of parts) {
    const { geometry } = part.skinned;
    const count = geometry.index?.count ?? part.count;
    for (let i = 0; i < count; i++) made.triangles[corner++] = part.first + (geometry.index ? geometry.index.getX(i) : i);
    mergeVertices(part, { made, normals, targets, place, rest, vertexCount });
  }
  const morphs = [...targets].map(([name, target]) => ({ name, ...target }));
  const known = normals.some((x) => x !== 0);
  return { parts, bones, normals: known ? normals : null, morphs: morphs.map(({ skinned, index }) => ({ skinned, index })),
    mesh: { name: root.name || meshes[0].name || "mesh", positions: made.positions, triangles: made.triangles,
      weights: { joints: made.joints, values: made.weights }, joints,
      morphs: Object.fromEntries(morphs.map(({ name, deltas }) => [name, deltas])) } };
}

/** Vertices of one mesh: weights, places, normals and targets in the common pose. */
function mergeVertices({ skinned, first, count }, { made, normals, targets, place, rest, vertexCount }) {
  const { geometry, skeleton, bindMatrix } = skinned;
  const { position, normal, skinIndex, skinWeight } = geometry.attributes;
  const joints = skeleton.bones.map((bone) => place.get(bone));
  const own = joints.map((joint, i) => rest[joint].clone().multiply(skeleton.boneInverses[i]).multiply(bindMatrix));
  const used = targetsOf(skinned, targets, vertexCount);
  const matrix = new Matrix4();
  const linear = new Matrix3();
  const v = new Vector3();
  for (let i = 0; i < count; i++) {
    const at = first + i;
    let sum = 0;
    for (let k = 0; k < 4; k++) sum += skinWeight.getComponent(i, k);
    matrix.elements.fill(0);
    for (let k = 0; k < 4; k++) {
      const index = skinIndex.getComponent(i, k);
      const weight = sum > 0 ? skinWeight.getComponent(i, k) / sum : Number(k === 0);
      made.joints[4 * at + k] = joints[index] ?? 0;
      made.weights[4 * at + k] = weight;
      if (weight !== 0) for (let c = 0; c < 16; c++) matrix.elements[c] += weight * own[index].elements[c];
    }
    v.fromBufferAttribute(position, i).applyMatrix4(matrix).toArray(made.positions, 3 * at);
    linear.setFromMatrix4(matrix);
    for (const { values, deltas } of used) {
      v.fromBufferAttribute(values, i);
      if (!geometry.morphTargetsRelative) {
        v.x -= position.getX(i);
        v.y -= position.getY(i);
        v.z -= position.getZ(i);
      }
      v.applyMatrix3(linear).toArray(deltas, 3 * at);
    }
    if (normal) {
      v.fromBufferAttribute(normal, i).applyMatrix3(linear.getNormalMatrix(matrix)).normalize().toArray(normals, 3 * at);
    }
  }
}

/** The targets of a mesh; those of one name in several meshes are one: the first mesh has the weight. */
function targetsOf(skinned, targets, vertexCount) {
  const { position = [] } = skinned.geometry.morphAttributes;
  const dictionary = Object.entries(skinned.morphTargetDictionary ?? {});
  return position.map((values, index) => {
    const name = dictionary.find(([, own]) => own === index)?.[0] ?? `target${index}`;
    if (!targets.has(name)) targets.set(name, { skinned, index, deltas: new Float32Array(3 * vertexCount) });
    return { values, deltas: targets.get(name).deltas };
  });
}
