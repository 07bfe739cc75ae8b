/*
 * preview.js: plain skinning in the page, shown while the worker builds the flesh, so that a character moves from the moment it
 * is opened. Linear-blend skinning of the rest positions; the normals turn with the same matrices. Morph targets are left out.
 */
const RATE = 60;

/** Area-weighted unit normals of positions (vertices x 3), smooth across texture seams, as the library has them. */
export function smoothNormals({ positions, triangles, points }) {
  const sums = new Float64Array(3 * points.reduce((most, p) => Math.max(most, p + 1), 0));
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [3 * triangles[t], 3 * triangles[t + 1], 3 * triangles[t + 2]];
    const [ux, uy, uz] = [positions[b] - positions[a], positions[b + 1] - positions[a + 1], positions[b + 2] - positions[a + 2]];
    const [vx, vy, vz] = [positions[c] - positions[a], positions[c + 1] - positions[a + 1], positions[c + 2] - positions[a + 2]];
    for (let k = 0; k < 3; k++) {
      const p = 3 * points[triangles[t + k]];
      sums[p] += uy * vz - uz * vy;
      sums[p + 1] += uz * vx - ux * vz;
      sums[p + 2] += ux * vy - uy * vx;
    }
  }
  const normals = new Float32Array(positions.length);
  points.forEach((point, v) => {
    const [x, y, z] = sums.subarray(3 * point, 3 * point + 3);
    const length = Math.hypot(x, y, z);
    normals.set(length > 0 ? [x / length, y / length, z / length] : [0, 1, 0], 3 * v);
  });
  return normals;
}

export class Preview {
  /** description: of the worker; poses: (frames x joints x 12) of the clip, at 60 a second; show(frame) draws one. */
  constructor(description, poses, show) {
    this.description = description;
    this.poses = poses;
    this.show = show;
    this.stride = 12 * description.joints.length;
    this.frames = Math.max(1, this.stride ? poses.length / this.stride : 1);
    this.normals = description.normals ?? smoothNormals(description);
    this.skin = new Float32Array(this.stride);
    this.at = 0;
    this.shown = 0;
  }
  start() {
    const begun = performance.now();
    const draw = () => {
      if (this.ended) return;
      this.at = Math.floor(((performance.now() - begun) / 1000) * RATE) % this.frames;
      this.show(this.frame(this.at));
      this.shown++;
      if (this.frames > 1) requestAnimationFrame(draw);
    };
    draw();
  }
  stop() {
    this.ended = true;
  }

  /** A frame as the worker sends them. */
  frame(index) {
    const { positions: rest, weights, vertexCount } = this.description;
    const joints = this.poses.subarray(index * this.stride, (index + 1) * this.stride);
    const made = { positions: rest.slice(), normals: this.normals.slice(), joints, props: [], vertexCount };
    if (!weights) return made;
    this.description.joints.forEach(({ inverseBind }, j) => multiply(joints, inverseBind, 12 * j, this.skin));
    const m = new Float64Array(12);
    for (let v = 0; v < vertexCount; v++) {
      // the mean of the joints' matrices; a vertex that follows none stays
      const [first, end] = [weights.first[v], weights.first[v + 1]];
      if (first === end) continue;
      m.fill(0);
      for (let i = first; i < end; i++) for (let k = 0, at = 12 * weights.joints[i]; k < 12; k++) m[k] += weights.values[i] * this.skin[at + k];
      transform(m, rest, made.positions, 3 * v, 1);
      transform(m, this.normals, made.normals, 3 * v, 0);
      const n = made.normals;
      const length = Math.hypot(n[3 * v], n[3 * v + 1], n[3 * v + 2]) || 1;
      for (let k = 0; k < 3; k++) n[3 * v + k] /= length;
    }
    return made;
  }
}

/** The 3 x 4 matrix a (from a place in an array) times b. */
function multiply(a, b, at, into) {
  for (let row = at; row < at + 12; row += 4) {
    for (let column = 0; column < 4; column++) {
      into[row + column] = a[row] * b[column] + a[row + 1] * b[4 + column] + a[row + 2] * b[8 + column] + (column === 3 ? a[row + 3] : 0);
    }
  }
}

/** m times a vector at a place of an array; w: 1 for places, 0 for directions. */
function transform(m, from, into, at, w) {
  const [x, y, z] = [from[at], from[at + 1], from[at + 2]];
  for (let row = 0; row < 3; row++) into[at + row] = m[4 * row] * x + m[4 * row + 1] * y + m[4 * row + 2] * z + w * m[4 * row + 3];
}
