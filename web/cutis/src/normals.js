/*
 * normals.js: the normals of a file, turned by a deformation.
 *
 * The library gives normals that are smooth everywhere, by which a hard edge looks like a balloon. Vertices at one point with one
 * normal in the file are a group; its triangles have a mean normal. At rest the file's normal is written in a frame of that mean
 * and of one edge of the surface; later the same numbers in the frame as it is then give the normal. So a flat face stays flat, and
 * both sides of a texture seam keep one normal.
 */
const SAME = 0.9999; // least cosine between normals of one group: 0.8 degrees, the rounding of normals in 8 bits

export class AuthoredNormals {
  /** At rest: positions, the file's normals (vertices x 3; zero: none), triangles, and the point of each vertex. */
  constructor({ positions, normals, triangles, points }) {
    this.triangles = Int32Array.from(triangles);
    this.groups = this.makeGroups(normals, points);
    this.sums = new Float64Array(3 * this.count);
    this.coordinates = new Float32Array(3 * this.count).fill(0);
    this.edges = new Int32Array(2 * this.count).fill(-1); // the frame's edge of each group: two vertices
    this.sum(positions);
    this.chooseEdges(positions);
    const frame = new Float64Array(9);
    this.first.forEach((v, g) => {
      const [x, y, z] = normals.subarray(3 * v, 3 * v + 3);
      const length = Math.hypot(x, y, z);
      if (!(length > 0) || !this.frame(g, positions, frame)) {
        this.coordinates[3 * g + 2] = 1; // the mean itself
        return;
      }
      for (let k = 0; k < 3; k++) {
        this.coordinates[3 * g + k] = (x * frame[3 * k] + y * frame[3 * k + 1] + z * frame[3 * k + 2]) / length;
      }
    });
  }
  /** The group of each vertex; `first`: a vertex of each group. */
  makeGroups(normals, points) {
    const groups = new Int32Array(points.length);
    const atPoint = new Map();
    this.first = [];
    for (let v = 0; v < points.length; v++) {
      const n = normals.subarray(3 * v, 3 * v + 3);
      const known = atPoint.get(points[v]) ?? [];
      let group = known.find((g) => {
        const m = normals.subarray(3 * this.first[g], 3 * this.first[g] + 3);
        const dot = n[0] * m[0] + n[1] * m[1] + n[2] * m[2];
        return dot >= SAME * Math.hypot(...n) * Math.hypot(...m);
      });
      if (group === undefined) {
        group = this.first.length;
        this.first.push(v);
        atPoint.set(points[v], [...known, group]);
      }
      groups[v] = group;
    }
    this.count = this.first.length;
    return groups;
  }
  /** Area-weighted mean normals of the groups, of unit length. */
  sum(p) {
    const { sums, groups, triangles } = this;
    sums.fill(0);
    for (let t = 0; t < triangles.length; t += 3) {
      const [a, b, c] = [3 * triangles[t], 3 * triangles[t + 1], 3 * triangles[t + 2]];
      const ux = p[b] - p[a];
      const uy = p[b + 1] - p[a + 1];
      const uz = p[b + 2] - p[a + 2];
      const vx = p[c] - p[a];
      const vy = p[c + 1] - p[a + 1];
      const vz = p[c + 2] - p[a + 2];
      for (let k = 0; k < 3; k++) {
        const at = 3 * groups[triangles[t + k]];
        sums[at] += uy * vz - uz * vy;
        sums[at + 1] += uz * vx - ux * vz;
        sums[at + 2] += ux * vy - uy * vx;
      }
    }
    for (let at = 0; at < sums.length; at += 3) {
      const length = Math.hypot(sums[at], sums[at + 1], sums[at + 2]);
      if (length > 0) for (let k = 0; k < 3; k++) sums[at + k] /= length;
      else sums[at + 1] = 1;
    }
  }
  /** For each group the edge that is longest along its surface. */
  chooseEdges(positions) {
    const { triangles, groups, edges } = this;
    const longest = new Float32Array(this.count);
    for (let i = 0; i < triangles.length; i++) {
      const first = i - (i % 3);
      const group = groups[triangles[i]];
      for (const end of [triangles[first + ((i + 1) % 3)], triangles[first + ((i + 2) % 3)]]) {
        const length = this.tangent(group, triangles[i], end, positions, []);
        if (length <= longest[group]) continue;
        longest[group] = length;
        edges.set([triangles[i], end], 2 * group);
      }
    }
  }
  /** The part of an edge that is across the normal of a group; its length. */
  tangent(group, from, to, positions, into) {
    const { sums } = this;
    let along = 0;
    for (let k = 0; k < 3; k++) {
      into[k] = positions[3 * to + k] - positions[3 * from + k];
      along += into[k] * sums[3 * group + k];
    }
    for (let k = 0; k < 3; k++) into[k] -= along * sums[3 * group + k];
    return Math.hypot(into[0], into[1], into[2]);
  }
  /** Tangent, second tangent and normal of a group; false: the edge has no length along the surface. */
  frame(group, positions, into) {
    const [from, to] = [this.edges[2 * group], this.edges[2 * group + 1]];
    const length = from < 0 ? 0 : this.tangent(group, from, to, positions, into);
    if (!(length > 0)) return false;
    for (let k = 0; k < 3; k++) {
      into[k] /= length;
      into[6 + k] = this.sums[3 * group + k];
    }
    into[3] = into[7] * into[2] - into[8] * into[1];
    into[4] = into[8] * into[0] - into[6] * into[2];
    into[5] = into[6] * into[1] - into[7] * into[0];
    return true;
  }

  /** The normals (vertices x 3) of a surface. */
  apply(positions, normals) {
    const { coordinates, sums, groups } = this;
    const frame = new Float64Array(9);
    this.sum(positions);
    for (let g = 0; g < this.count; g++) {
      if (!this.frame(g, positions, frame)) continue; // the mean
      for (let k = 0; k < 3; k++) {
        sums[3 * g + k] = coordinates[3 * g] * frame[k] + coordinates[3 * g + 1] * frame[3 + k]
          + coordinates[3 * g + 2] * frame[6 + k];
      }
    }
    for (let v = 0; v < groups.length; v++) for (let k = 0; k < 3; k++) normals[3 * v + k] = sums[3 * groups[v] + k];
  }
}
