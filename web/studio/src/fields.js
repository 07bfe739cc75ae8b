/*
 * fields.js: one number a vertex for colours, from positions alone, with the definitions of `cutis render --color`.
 *
 * Vertices at the same place (texture seams) count as one point: points[v] is that of vertex v.
 */
const at = (p, v) => [p[3 * v], p[3 * v + 1], p[3 * v + 2]];
const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const length = (p, a, b) => Math.hypot(p[3 * a] - p[3 * b], p[3 * a + 1] - p[3 * b + 1], p[3 * a + 2] - p[3 * b + 2]);

const LEAF = 8; // triangles of a leaf of the tree

export class Fields {
  /** given: { positions at rest, triangles, points, size } */
  constructor(given) {
    Object.assign(this, given);
    this.pointCount = this.points.reduce((most, p) => Math.max(most, p + 1), 0);
    this.point = Int32Array.from(this.triangles, (v) => this.points[v]);
    this.restEdges = Float32Array.from(this.triangles, (a, i) => length(this.positions, a, this.next(i)));
  }
  /** The vertex after corner i in its triangle. */
  next(i) {
    return this.triangles[i % 3 === 2 ? i - 2 : i + 1];
  }

  /** Of the edges at a vertex, the length over its rest length that is farthest from 1. */
  stretch(positions) {
    const { triangles, point } = this;
    const found = new Float32Array(this.pointCount).fill(1);
    for (let i = 0; i < triangles.length; i++) {
      if (!(this.restEdges[i] > 0)) continue;
      const ratio = length(positions, triangles[i], this.next(i)) / this.restEdges[i];
      const strength = Math.max(ratio, 1 / ratio);
      for (const end of [point[i], point[i % 3 === 2 ? i - 2 : i + 1]]) {
        if (strength > Math.max(found[end], 1 / found[end])) found[end] = ratio;
      }
    }
    return Float32Array.from(this.points, (p) => found[p]);
  }

  /**
   * Local volume over its rest value: of the flesh between the triangles around a vertex and the middle of the body under
   * it, which is half way to the surface that a ray inwards meets at rest. 1 where there is none.
   */
  volume(positions) {
    this.opposites ??= this.findOpposites();
    this.restVolumes ??= this.volumes(this.positions);
    const now = this.volumes(positions);
    const rest = this.restVolumes;
    return Float32Array.from(this.points, (p) => (rest[p] > 0 ? now[p] / rest[p] : 1));
  }
  volumes(positions) {
    const { triangles, point, opposites } = this;
    const sums = new Float64Array(this.pointCount);
    for (let i = 0; i < triangles.length; i++) {
      const opposite = opposites[point[i]];
      if (!opposite) continue;

      // the middle: half way from the vertex to the place across
      const middle = at(positions, triangles[i]);
      opposite.vertices.forEach((v, k) => at(positions, v).forEach((x, c) => (middle[c] += opposite.weights[k] * x)));
      for (let c = 0; c < 3; c++) middle[c] /= 2;
      const first = i - (i % 3);
      const [a, b, c] = [0, 1, 2].map((k) => sub(at(positions, triangles[first + k]), middle));
      sums[point[i]] += dot(cross(a, b), c);
    }
    return sums;
  }

  /** For every point the place that a ray against its normal meets at rest: { vertices, weights } or null. */
  findOpposites() {
    const { positions, triangles, point } = this;
    const normals = new Float64Array(3 * this.pointCount);
    const place = new Int32Array(this.pointCount);
    for (let i = 0; i < triangles.length; i++) {
      const first = i - (i % 3);
      const a = at(positions, triangles[first]);
      const n = cross(sub(at(positions, triangles[first + 1]), a), sub(at(positions, triangles[first + 2]), a));
      for (let c = 0; c < 3; c++) normals[3 * point[i] + c] += n[c];
      place[point[i]] = triangles[i];
    }
    const tree = this.tree();
    return Array.from({ length: this.pointCount }, (_, p) => {
      const size = Math.hypot(...at(normals, p));
      if (!(size > 0)) return null;
      return this.hit(tree, at(positions, place[p]), at(normals, p).map((x) => -x / size), 1e-3 * this.size);
    });
  }

  /** Boxes of the triangles at rest, halved by their longest side: { min, max, left, right } or { min, max, list }. */
  tree() {
    const { positions, triangles } = this;
    const middles = Array.from({ length: triangles.length / 3 }, (_, t) => [0, 1, 2].map((c) => positions[3 * triangles[3 * t] + c] + positions[3 * triangles[3 * t + 1] + c] + positions[3 * triangles[3 * t + 2] + c]));
    const make = (list) => {
      const min = [Infinity, Infinity, Infinity];
      const max = [-Infinity, -Infinity, -Infinity];
      for (const t of list) {
        for (let k = 0; k < 9; k++) {
          const x = positions[3 * triangles[3 * t + Math.floor(k / 3)] + (k % 3)];
          min[k % 3] = Math.min(min[k % 3], x);
          max[k % 3] = Math.max(max[k % 3], x);
        }
      }
      if (list.length <= LEAF) return { min, max, list };
      const extents = sub(max, min);
      const axis = extents.indexOf(Math.max(...extents));
      list.sort((a, b) => middles[a][axis] - middles[b][axis]);
      const half = list.length >> 1;
      return { min, max, left: make(list.slice(0, half)), right: make(list.slice(half)) };
    };
    return make(middles.map((_, t) => t));
  }
  /** The nearest place beyond `near` on the ray. */
  hit(tree, origin, direction, near) {
    const { positions, triangles } = this;
    let best = null;
    let limit = Infinity;
    const visit = (node) => {
      // the box
      let low = near;
      let high = limit;
      for (let c = 0; c < 3; c++) {
        const [a, b] = [(node.min[c] - origin[c]) / direction[c], (node.max[c] - origin[c]) / direction[c]];
        if (Number.isNaN(a) || Number.isNaN(b)) continue; // along a face of the box
        low = Math.max(low, Math.min(a, b));
        high = Math.min(high, Math.max(a, b));
      }
      if (low > high) return;
      if (!node.list) {
        visit(node.left);
        visit(node.right);
        return;
      }

      // its triangles, after Moeller and Trumbore 1997
      for (const t of node.list) {
        const vertices = [triangles[3 * t], triangles[3 * t + 1], triangles[3 * t + 2]];
        const a = at(positions, vertices[0]);
        const e1 = sub(at(positions, vertices[1]), a);
        const e2 = sub(at(positions, vertices[2]), a);
        const h = cross(direction, e2);
        const det = dot(e1, h);
        if (det === 0) continue;
        const s = sub(origin, a);
        const q = cross(s, e1);
        const u = dot(s, h) / det;
        const v = dot(direction, q) / det;
        const distance = dot(e2, q) / det;
        if (u < 0 || v < 0 || u + v > 1 || distance < near || distance >= limit) continue;
        limit = distance;
        best = { vertices, weights: [1 - u - v, u, v] };
      }
    };
    visit(tree);
    return best;
  }
}
