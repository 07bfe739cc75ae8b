/*
 * live.js: play flesh that `cutis distil` has learned, without WebAssembly. The equations are those of
 * players/cutis_live.h; docs/reference/distil.md has the format.
 *
 *     import { LiveFleshPlugin } from "cutis/live";
 *     new GLTFLoader().register((parser) => new LiveFleshPlugin(parser, THREE)).load("hero_live.glb", (gltf) => {
 *       const flesh = gltf.userData.flesh;
 *       each frame, after the mixer: flesh.update(seconds);
 *     });
 *
 * LiveFlesh works without three.js.
 */

const MAGIC = "CUTIS_flesh 1";
const INFLUENCES = 4, POSE_JOINTS = 5, JOINT_FEATURES = 9, NEAR = 12, NEAR_PATCHES = 8, OSCILLATORS = 4, WEIGHTS = 6;
const CONTACT = 48, DYNAMICS = 88, FEATURES = 104, NONE = 65535;
const GAP = 0.01, REACH = 0.077, RADIUS = 0.03, DEEP = 0.022, MAX_DEPTH = 0.08, FADE = 0.5, MAX_STEP = 0.1;
const FREQUENCIES = [3, 5, 8, 13], DECAYS = [4, 5, 8, 13];

/** The arrays of the data, in their order: name, type, length from the counts. */
const LAYOUT = [
  ["parents", Int32Array, (n) => n.joints],
  ["low", Float32Array, (n) => 3 * n.joints],
  ["high", Float32Array, (n) => 3 * n.joints],
  ["pivots", Float32Array, (n) => 3 * n.joints],
  ["turnLimits", Float32Array, (n) => n.joints],
  ["turnScales", Float32Array, (n) => 3 * n.joints],
  ["turns", Int16Array, (n) => 3 * n.joints * n.patches],
  ["opposed", Uint8Array, (n) => n.joints * n.joints],
  ["jointFirst", Int32Array, (n) => n.joints + 1],
  ["rest", Float32Array, (n) => 3 * n.points],
  ["normals", Float32Array, (n) => 3 * n.points],
  ["restDepths", Float32Array, (n) => n.points],
  ["pointJoints", Uint16Array, (n) => INFLUENCES * n.points],
  ["pointWeights", Float32Array, (n) => INFLUENCES * n.points],
  ["poseJoints", Uint16Array, (n) => POSE_JOINTS * n.points],
  ["near", Uint16Array, (n) => NEAR * n.points],
  ["patches0", Uint16Array, (n) => n.points],
  ["patches1", Uint16Array, (n) => n.points],
  ["nearPatches0", Uint16Array, (n) => NEAR_PATCHES * n.points],
  ["nearPatches1", Uint16Array, (n) => NEAR_PATCHES * n.points],
  ["scales", Float32Array, () => FEATURES],
  ["coefficients", Int16Array, (n) => 3 * FEATURES * n.points],
  ["vertexPoints", Uint16Array, (n) => WEIGHTS * n.vertices],
  ["vertexWeights", Uint8Array, (n) => WEIGHTS * n.vertices],
];

/** The bytes of the data in a .glb (ArrayBuffer or Uint8Array), or null. */
export function findFlesh(glb) {
  const bytes = glb instanceof Uint8Array ? glb : new Uint8Array(glb);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at + 64 <= bytes.length; at += 4) {
    let k = 0;
    while (k < 16 && bytes[at + k] === (k < MAGIC.length ? MAGIC.charCodeAt(k) : 0)) k++;
    if (k < 16) continue;
    const size = view.getUint32(at + 16, true);
    return at + size <= bytes.length ? bytes.subarray(at, at + size) : null;
  }
  return null;
}

export class LiveFlesh {
  /** data: the bytes of the extension's buffer view. Throws when they are damaged. */
  constructor(data) {
    const bytes = new Uint8Array(data); // a copy of its own, so that arrays are aligned
    const head = new DataView(bytes.buffer);
    const text = String.fromCharCode(...bytes.subarray(0, MAGIC.length));
    if (bytes.length < 64 || text !== MAGIC || head.getUint32(16, true) !== bytes.length)
      throw new Error("these bytes are not flesh of cutis distil, or of another version");

    const n = { joints: head.getUint32(20, true), points: head.getUint32(24, true), vertices: head.getUint32(28, true) };
    n.patches = head.getUint32(32, true) + head.getUint32(36, true);
    this.jointCount = n.joints;
    this.pointCount = n.points;
    this.vertexCount = n.vertices;
    this.patchCounts = [head.getUint32(32, true), head.getUint32(36, true)];
    this.size = head.getFloat32(40, true);
    let at = 64;
    for (const [name, Type, length] of LAYOUT) {
      const count = length(n), width = count * Type.BYTES_PER_ELEMENT;
      if (at + width > bytes.length) throw new Error("the flesh is cut off; distil it again");
      this[name] = new Type(bytes.buffer, at, count);
      at += Math.ceil(width / 4) * 4;
    }

    /** The pose as it is to be shown, with limbs held out of other flesh: (jointCount x 12). */
    this.skin = new Float32Array(12 * n.joints);
    this.jointFeatures = new Float32Array(JOINT_FEATURES * n.joints);
    this.fades = new Float32Array(n.joints);
    this.boxes = new Float32Array(6 * n.joints);
    this.matrices = new Float32Array(9 * n.points);
    this.places = new Float32Array(3 * n.points);
    this.directions = new Float32Array(3 * n.points);
    this.placesOld = new Float32Array(3 * n.points);
    this.velocities = new Float32Array(3 * n.points);
    this.depths = new Float32Array(n.points);
    this.patchDepths = this.patchCounts.map((count) => new Float32Array(count));
    this.swings = new Float32Array(3 * OSCILLATORS * n.points);
    this.rates = new Float32Array(3 * OSCILLATORS * n.points);
    this.features = new Float32Array(FEATURES);
    /** Offsets of the points, rest space: (pointCount x 3). */
    this.offsets = new Float32Array(3 * n.points);
    /** 0: the pose is in the trained range; 1: at least one joint has faded to skinning. */
    this.outside = 0;
    this.reset();
  }

  /** Put the oscillators at rest; call it after a jump of the character. */
  reset() {
    this.swings.fill(0);
    this.rates.fill(0);
    this.steps = 0;
  }

  /** Advance by dt seconds to a pose. skin: (jointCount x 12), pose x inverse bind, row by row. */
  update(skin, dt) {
    this.#skin(skin);
    this.#contact();
    if (this.#correct(skin)) this.#skin(this.skin);
    this.#pose(this.skin);
    this.#swing(dt);
    this.#evaluate();
  }

  /** Write the offsets of all vertices: (vertexCount x 3), rest space. */
  vertices(result) {
    for (let v = 0; v < this.vertexCount; v++) {
      let x = 0, y = 0, z = 0;
      for (let k = WEIGHTS * v; k < WEIGHTS * (v + 1); k++) {
        const weight = this.vertexWeights[k] / 255, from = 3 * this.vertexPoints[k];
        x += weight * this.offsets[from];
        y += weight * this.offsets[from + 1];
        z += weight * this.offsets[from + 2];
      }
      result[3 * v] = x;
      result[3 * v + 1] = y;
      result[3 * v + 2] = z;
    }
  }

  /** Rotation of each joint relative to its parent, its distance from the trained range, and its features. */
  #pose(skin) {
    const own = new Float64Array(9), parent = new Float64Array(9), turn = new Float64Array(9), v = [0, 0, 0];
    this.outside = 0;
    this.jointFeatures.fill(0);
    for (let j = 0; j < this.jointCount; j++) {
      this.fades[j] = 1;
      if (this.parents[j] < 0) continue;
      rotation(skin, 12 * j, own);
      rotation(skin, 12 * this.parents[j], parent);
      for (let a = 0; a < 3; a++)
        for (let b = 0; b < 3; b++)
          turn[3 * a + b] = parent[a] * own[b] + parent[3 + a] * own[3 + b] + parent[6 + a] * own[6 + b];
      rotationVector(turn, v);

      let beyond = 0;
      for (let k = 0; k < 3; k++) {
        const clamped = Math.min(Math.max(v[k], this.low[3 * j + k]), this.high[3 * j + k]);
        beyond += (v[k] - clamped) ** 2;
        v[k] = clamped;
      }
      this.fades[j] = Math.max(1 - Math.sqrt(beyond) / FADE, 0);
      this.outside = Math.max(this.outside, 1 - this.fades[j]);
      for (let k = 0; k < 3; k++) {
        this.jointFeatures[JOINT_FEATURES * j + k] = v[k];
        this.jointFeatures[JOINT_FEATURES * j + 3 + k] = v[k] * v[k];
        this.jointFeatures[JOINT_FEATURES * j + 6 + k] = v[k] * v[(k + 1) % 3];
      }
    }
  }

  /** Linear skinning of the points; boxes around the points of each joint. */
  #skin(skin) {
    const m = new Float64Array(12), { rest, normals, places, directions, boxes, matrices } = this;
    for (let j = 0; j < this.jointCount; j++) {
      for (let k = 0; k < 3; k++) {
        boxes[6 * j + k] = 1e30;
        boxes[6 * j + 3 + k] = -1e30;
      }
      for (let i = this.jointFirst[j]; i < this.jointFirst[j + 1]; i++) {
        m.fill(0);
        for (let w = INFLUENCES * i; w < INFLUENCES * (i + 1); w++) {
          const weight = this.pointWeights[w], from = 12 * this.pointJoints[w];
          if (weight === 0) continue;
          for (let k = 0; k < 12; k++) m[k] += weight * skin[from + k];
        }
        let squares = 0;
        for (let k = 0; k < 3; k++) {
          const r = 4 * k, at = 3 * i + k;
          places[at] = m[r] * rest[3 * i] + m[r + 1] * rest[3 * i + 1] + m[r + 2] * rest[3 * i + 2] + m[r + 3];
          directions[at] = m[r] * normals[3 * i] + m[r + 1] * normals[3 * i + 1] + m[r + 2] * normals[3 * i + 2];
          squares += directions[at] ** 2;
          for (let c = 0; c < 3; c++) matrices[9 * i + 3 * k + c] = m[r + c];
          boxes[6 * j + k] = Math.min(boxes[6 * j + k], places[at]);
          boxes[6 * j + 3 + k] = Math.max(boxes[6 * j + 3 + k], places[at]);
        }
        const length = Math.sqrt(squares);
        for (let k = 0; k < 3 && length > 0; k++) directions[3 * i + k] /= length;
      }
    }
  }

  /** The depth at which points [first, last) lie below the skin at a point: the largest, at least `depth`. */
  #depth(i, first, last, depth) {
    const { places: p, directions: n, size } = this, gap = GAP * size, reach = REACH * size;
    const inverse = 1 / (RADIUS * size) ** 2, px = p[3 * i], py = p[3 * i + 1], pz = p[3 * i + 2];
    const nx = n[3 * i], ny = n[3 * i + 1], nz = n[3 * i + 2];
    for (let a = 3 * first; a < 3 * last; a += 3) {
      const x = p[a] - px, y = p[a + 1] - py, z = p[a + 2] - pz, t = -(x * nx + y * ny + z * nz);
      const near = 1 - (x * x + y * y + z * z - t * t) * inverse;
      if (t <= -gap || t >= reach || near <= 0) continue;
      const facing = (-(nx * n[a] + ny * n[a + 1] + nz * n[a + 2]) - 0.1) / 0.3;
      const value = (t + gap) * near * Math.min(Math.max(facing, 0), 1);
      if (value > depth) depth = value;
    }
    return depth;
  }

  /** Depths at all points, divided by the size, and their means over patches. */
  #contact() {
    const { depths, boxes, jointFirst, places, directions, size, jointCount: joints } = this;
    const half = 0.5 * (REACH - GAP) * size, middle = (0.5 * (REACH + GAP) + RADIUS) * size, far = REACH * size;
    depths.fill(0);
    for (let a = 0; a < joints; a++)
      for (let b = 0; b < joints; b++) {
        if (!this.opposed[a * joints + b] || jointFirst[b] === jointFirst[b + 1]) continue;
        let apart = false;
        for (let k = 0; k < 3; k++)
          apart ||= boxes[6 * a + k] - far > boxes[6 * b + 3 + k] || boxes[6 * a + 3 + k] + far < boxes[6 * b + k];
        if (apart) continue;
        for (let i = jointFirst[a]; i < jointFirst[a + 1]; i++) {
          let outside = false;
          for (let k = 0; k < 3; k++) {
            const c = places[3 * i + k] - directions[3 * i + k] * half;
            outside ||= c + middle < boxes[6 * b + k] || c - middle > boxes[6 * b + 3 + k];
          }
          if (!outside) depths[i] = this.#depth(i, jointFirst[b], jointFirst[b + 1], depths[i]);
        }
      }
    for (let i = 0; i < this.pointCount; i++) depths[i] = Math.min(depths[i] / size, MAX_DEPTH) - this.restDepths[i];
    [this.patches0, this.patches1].forEach((patches, l) => {
      const means = this.patchDepths[l].fill(0), share = means.length / this.pointCount;
      for (let i = 0; i < this.pointCount; i++) means[patches[i]] += depths[i];
      for (let k = 0; k < means.length; k++) means[k] *= share;
    });
  }

  /** Turn limbs out of other flesh. Returns whether a joint has turned. */
  #correct(skin) {
    const inverse = new Float64Array(12), local = new Float64Array(12), about = new Float64Array(12), r = new Float64Array(9);
    const [fine, coarse] = this.patchDepths, patches = fine.length + coarse.length, v = [0, 0, 0];
    let any = false;
    this.skin.set(skin);
    for (let j = 0; j < this.jointCount; j++) {
      const parent = this.parents[j], limit = this.turnLimits[j];
      if (parent < 0) continue;
      let squares = 0;
      for (let axis = 0; axis < 3 && limit > 0; axis++) {
        let sum = 0, at = (3 * j + axis) * patches;
        for (let k = 0; k < fine.length; k++) sum += fine[k] * this.turns[at++];
        for (let k = 0; k < coarse.length; k++) sum += coarse[k] * this.turns[at++];
        v[axis] = sum * this.turnScales[3 * j + axis];
        squares += v[axis] ** 2;
      }
      const turns = limit > 0 && squares > 1e-14;
      let carried = false;
      for (let k = 12 * parent; k < 12 * parent + 12 && any; k++) carried ||= this.skin[k] !== skin[k];
      if ((!turns && !carried) || !invert(skin, 12 * parent, inverse)) continue;

      multiply(inverse, 0, skin, 12 * j, local, 0);
      if (turns) {
        const length = Math.sqrt(squares);
        for (let k = 0; k < 3 && length > limit; k++) v[k] *= limit / length;
        turnMatrix(v, r);
        const q = [0, 1, 2].map((k) => {
          const [x, y, z] = this.pivots.subarray(3 * j, 3 * j + 3);
          return local[4 * k] * x + local[4 * k + 1] * y + local[4 * k + 2] * z + local[4 * k + 3];
        });
        for (let k = 0; k < 3; k++) {
          about.set(r.subarray(3 * k, 3 * k + 3), 4 * k);
          about[4 * k + 3] = q[k] - (r[3 * k] * q[0] + r[3 * k + 1] * q[1] + r[3 * k + 2] * q[2]);
        }
        multiply(about, 0, local.slice(), 0, local, 0);
        any = true;
      }
      multiply(this.skin, 12 * parent, local, 0, this.skin, 12 * j);
    }
    return any;
  }

  /** Damped oscillators, driven by the accelerations of the points. */
  #swing(dt) {
    const moves = dt > 0 && dt <= MAX_STEP, free = new Float64Array(4 * OSCILLATORS);
    for (let o = 0; o < OSCILLATORS && moves; o++) {
      const speed = 2 * Math.PI * FREQUENCIES[o], decay = DECAYS[o], fall = Math.exp(-decay * dt);
      const c = fall * Math.cos(speed * dt), s = (fall * Math.sin(speed * dt)) / speed;
      free.set([c + decay * s, s, -(speed * speed + decay * decay) * s, c - decay * s], 4 * o);
    }
    for (let i = 0; i < 3 * this.pointCount; i++) {
      const velocity = moves ? (this.places[i] - this.placesOld[i]) / dt : 0;
      const change = this.steps === 2 && moves ? velocity - this.velocities[i] : 0;
      this.velocities[i] = velocity;
      this.placesOld[i] = this.places[i];
      let at = Math.floor(i / 3) * 3 * OSCILLATORS + (i % 3);
      for (let o = 0; o < 4 * OSCILLATORS; o += 4, at += 3) {
        const swing = moves ? this.swings[at] : 0, rate = moves ? this.rates[at] - change : 0;
        this.swings[at] = free[o] * swing + free[o + 1] * rate;
        this.rates[at] = free[o + 2] * swing + free[o + 3] * rate;
      }
    }
    this.steps = moves ? Math.min(this.steps + 1, 2) : 1;
  }

  /** Offsets of all points. */
  #evaluate() {
    const { features: f, depths, scales, coefficients, matrices, swings } = this;
    for (let i = 0; i < this.pointCount; i++) {
      let amount = this.size, fade = 1, at = 0;
      f.fill(0);
      for (let k = 0; k < POSE_JOINTS; k++) {
        const j = this.poseJoints[POSE_JOINTS * i + k];
        if (j === NONE) continue;
        for (let n = 0; n < JOINT_FEATURES; n++)
          f[JOINT_FEATURES * k + n] = this.jointFeatures[JOINT_FEATURES * j + n];
        fade = Math.min(fade, this.fades[j]);
      }
      amount *= fade;
      for (let k = 0; k < NEAR; k++) {
        const depth = depths[this.near[NEAR * i + k]];
        f[CONTACT + k] = depth;
        f[CONTACT + NEAR + k] = Math.max(depth - DEEP, 0);
      }
      at = CONTACT + 2 * NEAR;
      for (let k = 0; k < NEAR_PATCHES; k++) {
        f[at + k] = this.patchDepths[0][this.nearPatches0[NEAR_PATCHES * i + k]];
        f[at + NEAR_PATCHES + k] = this.patchDepths[1][this.nearPatches1[NEAR_PATCHES * i + k]];
      }
      for (let o = 0; o < OSCILLATORS; o++) {
        const z = 3 * (OSCILLATORS * i + o);
        for (let k = 0; k < 3; k++)
          f[DYNAMICS + 3 * o + k] =
            (matrices[9 * i + k] * swings[z] + matrices[9 * i + 3 + k] * swings[z + 1] +
              matrices[9 * i + 6 + k] * swings[z + 2]) / this.size;
      }
      for (let k = 0; k < FEATURES; k++) f[k] *= scales[k];
      for (let axis = 0, c = 3 * FEATURES * i; axis < 3; axis++) {
        let sum = 0;
        for (let k = 0; k < FEATURES; k++) sum += f[k] * coefficients[c++];
        this.offsets[3 * i + axis] = sum * amount;
      }
    }
  }
}

/** Columns of a matrix at unit length. */
function rotation(skin, at, r) {
  for (let c = 0; c < 3; c++) {
    const x = skin[at + c], y = skin[at + 4 + c], z = skin[at + 8 + c], length = Math.sqrt(x * x + y * y + z * z);
    const scale = length > 0 ? 1 / length : 0;
    r[c] = x * scale;
    r[3 + c] = y * scale;
    r[6 + c] = z * scale;
  }
}

/** Modified Rodrigues vector 4 tan(angle / 4) axis of a rotation. */
function rotationVector(r, v) {
  const q = [0, 0, 0, 0], trace = r[0] + r[4] + r[8];
  if (trace > 0) {
    const s = Math.sqrt(trace + 1);
    q[3] = 0.5 * s;
    q[0] = ((r[7] - r[5]) * 0.5) / s;
    q[1] = ((r[2] - r[6]) * 0.5) / s;
    q[2] = ((r[3] - r[1]) * 0.5) / s;
  } else {
    let i = r[4] > r[0] ? 1 : 0;
    if (r[8] > r[4 * i]) i = 2;
    const j = (i + 1) % 3, k = (i + 2) % 3;
    const s = Math.sqrt(Math.max(r[4 * i] - r[4 * j] - r[4 * k] + 1, 0)), inverse = s > 0 ? 0.5 / s : 0;
    q[i] = 0.5 * s;
    q[3] = (r[3 * k + j] - r[3 * j + k]) * inverse;
    q[j] = (r[3 * j + i] + r[3 * i + j]) * inverse;
    q[k] = (r[3 * k + i] + r[3 * i + k]) * inverse;
  }
  const sign = q[3] < 0 ? -1 : 1;
  for (let k = 0; k < 3; k++) v[k] = (4 * sign * q[k]) / (1 + sign * q[3]);
}

/** The rotation of a modified Rodrigues vector. */
function turnMatrix(v, r) {
  let [x, y, z] = v.map((c) => c / 4);
  const s = x * x + y * y + z * z, d = 1 / (1 + s), w = (1 - s) * d;
  x *= 2 * d;
  y *= 2 * d;
  z *= 2 * d;
  r.set([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], 0);
  r.set([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)], 3);
  r.set([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], 6);
}

/** c = a after b, 3 x 4 each. */
function multiply(a, i, b, j, c, k) {
  const result = new Float64Array(12);
  for (let r = 0; r < 3; r++)
    for (let n = 0; n < 4; n++)
      result[4 * r + n] = a[i + 4 * r] * b[j + n] + a[i + 4 * r + 1] * b[j + 4 + n] + a[i + 4 * r + 2] * b[j + 8 + n] +
        (n === 3 ? a[i + 4 * r + 3] : 0);
  c.set(result, k);
}

/** Inverse of a 3 x 4 matrix; false when it is singular. */
function invert(skin, at, inverse) {
  const m = skin.subarray(at, at + 12);
  for (let r = 0; r < 3; r++)
    for (let c = 0; c < 3; c++) {
      const a = (c + 1) % 3, b = (c + 2) % 3, d = (r + 1) % 3, e = (r + 2) % 3;
      inverse[4 * r + c] = m[4 * a + d] * m[4 * b + e] - m[4 * a + e] * m[4 * b + d];
    }
  const determinant = m[0] * inverse[0] + m[1] * inverse[4] + m[2] * inverse[8];
  if (!(Math.abs(determinant) > 1e-20)) return false;
  for (let r = 0; r < 12; r += 4) {
    for (let c = 0; c < 3; c++) inverse[r + c] /= determinant;
    inverse[r + 3] = -(inverse[r] * m[3] + inverse[r + 1] * m[7] + inverse[r + 2] * m[11]);
  }
  return true;
}

/* ---- three.js ---- */

const DECLARATIONS = `
attribute vec4 cutisPoints;
attribute vec4 cutisWeights;
attribute vec4 cutisMore; // two points, two weights
uniform highp sampler2D cutisOffsets;
vec3 cutisOffset(float point) { return texelFetch(cutisOffsets, ivec2(int(point) % 256, int(point) / 256), 0).xyz; }
`;
const SUM = `#include <begin_vertex>
transformed += cutisWeights.x * cutisOffset(cutisPoints.x) + cutisWeights.y * cutisOffset(cutisPoints.y)
  + cutisWeights.z * cutisOffset(cutisPoints.z) + cutisWeights.w * cutisOffset(cutisPoints.w)
  + cutisMore.z * cutisOffset(cutisMore.x) + cutisMore.w * cutisOffset(cutisMore.y);
`;

/**
 * For GLTFLoader.register. Adds gltf.userData.flesh with update(seconds). Points are evaluated on the CPU, and vertices
 * follow them in the vertex shader. THREE: the three module, for DataTexture and BufferAttribute.
 */
export class LiveFleshPlugin {
  constructor(parser, THREE) {
    this.parser = parser;
    this.THREE = THREE;
    this.name = "CUTIS_flesh";
  }

  async afterRoot(gltf) {
    const extension = this.parser.json.extensions?.CUTIS_flesh;
    if (!extension) return;
    const flesh = new LiveFlesh(await this.parser.getDependency("bufferView", extension.bufferView));
    const joints = await Promise.all(extension.joints.map((node) => this.parser.getDependency("node", node)));
    const meshes = [];
    gltf.scene.traverse((object) => object.isSkinnedMesh && meshes.push(object));
    gltf.userData.flesh = attachFlesh(this.THREE, flesh, gltf.scene, joints, meshes);
  }
}

/** Show flesh on skinned meshes, whose vertices are those of the data in their order. */
export function attachFlesh(THREE, flesh, scene, joints, meshes) {
  const { DataTexture, BufferAttribute, RGBAFormat, FloatType, NearestFilter, Matrix4 } = THREE;
  const rows = Math.ceil(flesh.pointCount / 256), texels = new Float32Array(4 * 256 * rows);
  const texture = new DataTexture(texels, 256, rows, RGBAFormat, FloatType);
  texture.minFilter = texture.magFilter = NearestFilter;

  /* primitives that share their positions are one part of the vertices */
  const parts = new Map();
  let first = 0;
  for (const mesh of meshes) {
    const geometry = mesh.geometry, position = geometry.attributes.position;
    if (!parts.has(position)) {
      parts.set(position, first);
      first += position.count;
    }
    const start = parts.get(position), points = new Float32Array(4 * position.count);
    const weights = new Float32Array(4 * position.count), more = new Float32Array(4 * position.count);
    if (start + position.count > flesh.vertexCount) throw new Error("the flesh is of another mesh");
    for (let v = 0; v < position.count; v++) {
      const at = WEIGHTS * (start + v);
      for (let k = 0; k < 4; k++) {
        points[4 * v + k] = flesh.vertexPoints[at + k];
        weights[4 * v + k] = flesh.vertexWeights[at + k] / 255;
      }
      for (let k = 0; k < 2; k++) {
        more[4 * v + k] = flesh.vertexPoints[at + 4 + k];
        more[4 * v + 2 + k] = flesh.vertexWeights[at + 4 + k] / 255;
      }
    }
    geometry.setAttribute("cutisPoints", new BufferAttribute(points, 4));
    geometry.setAttribute("cutisWeights", new BufferAttribute(weights, 4));
    geometry.setAttribute("cutisMore", new BufferAttribute(more, 4));
    const soften = (material) => {
      const copy = material.clone();
      copy.onBeforeCompile = (shader) => {
        shader.uniforms.cutisOffsets = { value: texture };
        shader.vertexShader = DECLARATIONS + shader.vertexShader.replace("#include <begin_vertex>", SUM);
      };
      copy.customProgramCacheKey = () => "cutis flesh";
      return copy;
    };
    mesh.material = Array.isArray(mesh.material) ? mesh.material.map(soften) : soften(mesh.material);
  }

  /* inverse bind matrices, from the first skeleton that has the joint */
  const inverses = joints.map((joint) => {
    for (const { skeleton } of meshes) {
      const index = skeleton.bones.indexOf(joint);
      if (index >= 0) return skeleton.boneInverses[index];
    }
    throw new Error("the flesh is of another skeleton");
  });

  /* skeletons show the corrected pose: their update, which the renderer calls, writes it over three's own */
  const skin = new Float32Array(12 * joints.length), matrix = new Matrix4();
  let size = 0;
  for (const skeleton of new Set(meshes.map((mesh) => mesh.skeleton))) {
    const places = joints.map((joint) => skeleton.bones.indexOf(joint)), plain = skeleton.update.bind(skeleton);
    skeleton.update = () => {
      plain();
      for (let j = 0; j < joints.length && size > 0; j++)
        for (let r = 0; r < 3 && places[j] >= 0; r++)
          for (let c = 0; c < 4; c++)
            skeleton.boneMatrices[16 * places[j] + 4 * c + r] = flesh.skin[12 * j + 4 * r + c] * size;
    };
  }
  return {
    flesh,
    /** Advance to the current pose of the joints. */
    update(seconds) {
      scene.updateMatrixWorld(true);
      size = Math.cbrt(scene.matrixWorld.determinant());
      const scale = 1 / size;
      joints.forEach((joint, j) => {
        const e = matrix.multiplyMatrices(joint.matrixWorld, inverses[j]).elements;
        for (let r = 0; r < 3; r++) for (let c = 0; c < 4; c++) skin[12 * j + 4 * r + c] = e[4 * c + r] * scale;
      });
      flesh.update(skin, seconds);
      for (let i = 0; i < flesh.pointCount; i++)
        for (let k = 0; k < 3; k++) texels[4 * i + k] = flesh.offsets[3 * i + k];
      texture.needsUpdate = true;
    },
  };
}
