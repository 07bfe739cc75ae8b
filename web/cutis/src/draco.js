/*
 * draco.js: a .glb whose meshes Draco compressed as one that is not, by the decoder of the npm package draco3d, which the
 * caller loads (it is large): `unpackDraco(bytes, await createDecoderModule())`. Files without Draco come back as they are.
 */
import { CutisError } from "./memory.js";

const EXTENSION = "KHR_draco_mesh_compression";
// component types of glTF: array of JavaScript, what the decoder calls it
const TYPES = {
  5120: [Int8Array, "DT_INT8"], 5121: [Uint8Array, "DT_UINT8"], 5122: [Int16Array, "DT_INT16"], 5123: [Uint16Array, "DT_UINT16"],
  5125: [Uint32Array, "DT_UINT32"], 5126: [Float32Array, "DT_FLOAT32"],
};

/** Whether the bytes are a .glb that uses Draco. */
export function usesDraco(bytes) {
  const glb = parse(bytes);
  return Boolean(glb?.json.extensionsUsed?.includes(EXTENSION));
}

export function unpackDraco(bytes, draco) {
  const glb = parse(bytes);
  if (!glb?.json.extensionsUsed?.includes(EXTENSION)) return bytes;
  const { json, binary } = glb;
  const chunks = [binary];
  let length = binary.byteLength;
  const view = (array) => {
    const padded = new Uint8Array((array.byteLength + 3) & ~3);
    padded.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
    json.bufferViews.push({ buffer: 0, byteOffset: length, byteLength: array.byteLength });
    chunks.push(padded);
    length += padded.byteLength;
    return json.bufferViews.length - 1;
  };

  const decoder = new draco.Decoder();
  for (const mesh of json.meshes ?? []) {
    for (const primitive of mesh.primitives) {
      const packed = primitive.extensions?.[EXTENSION];
      if (!packed) continue;
      const place = json.bufferViews[packed.bufferView];
      const data = binary.subarray(place.byteOffset ?? 0, (place.byteOffset ?? 0) + place.byteLength);
      const buffer = new draco.DecoderBuffer();
      buffer.Init(new Int8Array(data), data.byteLength);
      const decoded = new draco.Mesh();
      const status = decoder.DecodeBufferToMesh(buffer, decoded);
      if (!status.ok()) throw new CutisError(`Draco data of mesh '${mesh.name ?? ""}' is damaged: ${status.error_msg()}`, "format");

      // faces
      const size = 12 * decoded.num_faces();
      const pointer = draco._malloc(size);
      decoder.GetTrianglesUInt32Array(decoded, size, pointer);
      const indices = new Uint32Array(draco.HEAPU8.buffer, pointer, size / 4).slice();
      draco._free(pointer);
      const accessor = primitive.indices === undefined ? json.accessors.push({ type: "SCALAR" }) - 1 : primitive.indices;
      Object.assign(json.accessors[accessor], { componentType: 5125, count: indices.length, bufferView: view(indices), byteOffset: 0 });
      primitive.indices = accessor;

      // attributes
      for (const [name, id] of Object.entries(packed.attributes)) {
        const attribute = decoder.GetAttributeByUniqueId(decoded, id);
        const own = json.accessors[primitive.attributes[name]];
        const [type, called] = TYPES[own.componentType];
        const count = decoded.num_points() * attribute.num_components();
        const bytesNeeded = count * type.BYTES_PER_ELEMENT;
        const at = draco._malloc(bytesNeeded);
        decoder.GetAttributeDataArrayForAllPoints(decoded, attribute, draco[called], bytesNeeded, at);
        const values = new type(draco.HEAPU8.buffer, at, count).slice();
        draco._free(at);
        Object.assign(own, { count: decoded.num_points(), bufferView: view(values), byteOffset: 0 });
      }
      draco.destroy(decoded);
      draco.destroy(buffer);
      delete primitive.extensions[EXTENSION];
      if (!Object.keys(primitive.extensions).length) delete primitive.extensions;
    }
  }
  draco.destroy(decoder);
  for (const key of ["extensionsUsed", "extensionsRequired"]) {
    json[key] = json[key]?.filter((name) => name !== EXTENSION);
    if (!json[key]?.length) delete json[key];
  }
  json.buffers[0].byteLength = length;
  return build(json, chunks, length);
}

/** Description and binary part of a .glb; null when it is none. */
export function parse(bytes) {
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.byteLength < 20 || data.getUint32(0, true) !== 0x46546c67) return null;
  const length = data.getUint32(12, true);
  if (20 + length > bytes.byteLength) return null;
  try {
    const json = JSON.parse(new TextDecoder().decode(bytes.slice(20, 20 + length)));
    return { json, binary: bytes.subarray(Math.min(bytes.byteLength, 28 + length)) };
  } catch {
    return null; // the library's own reader says what is wrong
  }
}

function build(json, chunks, length) {
  let text = new TextEncoder().encode(JSON.stringify(json));
  const padded = new Uint8Array((text.byteLength + 3) & ~3).fill(32);
  padded.set(text);
  text = padded;
  const made = new Uint8Array(12 + 8 + text.byteLength + 8 + length);
  const data = new DataView(made.buffer);
  [0x46546c67, 2, made.byteLength, text.byteLength, 0x4e4f534a].forEach((value, i) => data.setUint32(4 * i, value, true));
  made.set(text, 20);
  let at = 20 + text.byteLength;
  data.setUint32(at, length, true);
  data.setUint32(at + 4, 0x004e4942, true);
  at += 8;
  for (const chunk of chunks) {
    made.set(chunk, at);
    at += chunk.byteLength;
  }
  return made;
}
