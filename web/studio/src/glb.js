/*
 * glb.js: a .glb taken apart into description and binary part, and put together again.
 */
const MAGIC = 0x46546c67;
const JSON_CHUNK = 0x4e4f534a;
const BINARY_CHUNK = 0x004e4942;

/** { json, binary } of a .glb, of a .gltf with an empty binary part; null: neither. */
export function readGlb(bytes) {
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    if (data.getUint32(0, true) !== MAGIC) return { json: JSON.parse(new TextDecoder().decode(bytes)), binary: new Uint8Array(0) };
    const length = data.getUint32(12, true);
    return { json: JSON.parse(new TextDecoder().decode(bytes.subarray(20, 20 + length))), binary: bytes.subarray(28 + length) };
  } catch {
    return null;
  }
}

/** The bytes of a .glb; its binary part is given in pieces. */
export function writeGlb(json, pieces) {
  const text = new TextEncoder().encode(JSON.stringify(json));
  const padded = (text.byteLength + 3) & ~3;
  const size = pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
  const out = new Uint8Array(28 + padded + size).fill(32, 20, 20 + padded);
  const head = new DataView(out.buffer);
  [MAGIC, 2, out.byteLength, padded, JSON_CHUNK].forEach((value, i) => head.setUint32(4 * i, value, true));
  out.set(text, 20);
  head.setUint32(20 + padded, size, true);
  head.setUint32(24 + padded, BINARY_CHUNK, true);
  let at = 28 + padded;
  for (const piece of pieces) {
    out.set(piece, at);
    at += piece.byteLength;
  }
  return out;
}

/** Primitives with triangles as the scene is traversed: the order of a character's parts. */
export function scenePrimitives(json) {
  const found = [];
  const visit = (index) => {
    const node = json.nodes[index];
    if (node.mesh !== undefined) found.push(...json.meshes[node.mesh].primitives.filter((p) => p.mode === undefined || p.mode >= 4));
    (node.children ?? []).forEach(visit);
  };
  (json.scenes?.[json.scene ?? 0]?.nodes ?? []).forEach(visit);
  return found;
}

const COMPONENTS = { 5120: [Int8Array, 127], 5122: [Int16Array, 32767], 5126: [Float32Array, 1] };

/** Vectors of an accessor, (count x 3); null: none, or compressed or sparse. */
function vectors(json, binary, index) {
  const accessor = json.accessors[index];
  const view = json.bufferViews?.[accessor?.bufferView];
  if (!view || accessor.sparse || view.extensions || accessor.type !== "VEC3" || !COMPONENTS[accessor.componentType]) return null;
  const [Type, factor] = COMPONENTS[accessor.componentType];
  const size = Type.BYTES_PER_ELEMENT;
  const stride = view.byteStride ?? 3 * size;
  const begin = (view.byteOffset ?? 0) + (accessor.byteOffset ?? 0);
  if (begin + stride * (accessor.count - 1) + 3 * size > binary.byteLength) return null;
  const data = new DataView(binary.buffer, binary.byteOffset, binary.byteLength);
  const read = { 1: (at) => data.getInt8(at), 2: (at) => data.getInt16(at, true), 4: (at) => data.getFloat32(at, true) }[size];
  const made = new Float32Array(3 * accessor.count);
  for (let i = 0; i < made.length; i++) made[i] = read(begin + stride * Math.floor(i / 3) + size * (i % 3)) / factor;
  return made;
}

/** Positions and normals as a file has them, in the order of a character's vertices; null: some part has no normals to read. */
export function fileNormals(bytes, parts) {
  const file = readGlb(bytes);
  if (!file?.binary.byteLength) return null;
  const primitives = scenePrimitives(file.json);
  if (primitives.length !== parts.length) return null;
  const count = parts.reduce((most, part) => Math.max(most, part.firstVertex + part.vertexCount), 0);
  const made = { positions: new Float32Array(3 * count), normals: new Float32Array(3 * count) };
  for (const [i, { attributes }] of primitives.entries()) {
    for (const [name, key] of [["positions", "POSITION"], ["normals", "NORMAL"]]) {
      const values = attributes[key] === undefined ? null : vectors(file.json, file.binary, attributes[key]);
      if (!values || values.length !== 3 * parts[i].vertexCount) return null;
      made[name].set(values, 3 * parts[i].firstVertex);
    }
  }
  return made;
}
