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
