/*
 * materials.js: the materials and textures of a glTF file by three.js's loader, without its meshes, which the library reads.
 */
import { DoubleSide, MeshStandardMaterial } from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";

/** One material for each part of the character; plain skin where the file has none. */
export async function partMaterials(description) {
  const plain = () => new MeshStandardMaterial({ name: "skin", color: 0xd8a48c, roughness: 0.62, metalness: 0 });
  const fallback = description.parts.map(plain);
  if (!description.bytes) return fallback;
  const file = read(description.bytes);
  if (!file?.json.materials?.length) return fallback;
  try {
    // the description without scene and meshes: no geometry is decoded twice
    const { json, binary } = file;
    const primitives = scenePrimitives(json);
    const reduced = { ...json, scenes: [{ nodes: [] }], scene: 0, nodes: [], meshes: [], skins: [], animations: [], cameras: undefined, extensions: undefined };
    delete reduced.cameras;
    delete reduced.extensions;
    delete reduced.extensionsRequired;
    const gltf = await new GLTFLoader().parseAsync(glb(reduced, binary), "");
    const made = await Promise.all(json.materials.map((_, i) => gltf.parser.getDependency("material", i).catch(plain)));
    for (const material of made) material.shadowSide = DoubleSide;

    // by the order of the parts, else by name
    if (primitives.length === description.parts.length) return primitives.map((p, i) => made[p.material] ?? fallback[i]);
    return description.parts.map((part, i) => made.find((material) => material.name && material.name === part.material) ?? fallback[i]);
  } catch {
    return fallback;
  }
}

function read(bytes) {
  const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    if (data.getUint32(0, true) !== 0x46546c67) return { json: JSON.parse(new TextDecoder().decode(bytes)), binary: new Uint8Array(0) };
    const length = data.getUint32(12, true);
    return { json: JSON.parse(new TextDecoder().decode(bytes.slice(20, 20 + length))), binary: bytes.subarray(28 + length) };
  } catch {
    return null;
  }
}

function glb(json, binary) {
  const text = new TextEncoder().encode(JSON.stringify(json));
  const padded = (text.byteLength + 3) & ~3;
  const out = new Uint8Array(28 + padded + binary.byteLength).fill(32, 20, 20 + padded);
  const head = new DataView(out.buffer);
  [0x46546c67, 2, out.byteLength, padded, 0x4e4f534a].forEach((value, i) => head.setUint32(4 * i, value, true));
  out.set(text, 20);
  head.setUint32(20 + padded, binary.byteLength, true);
  head.setUint32(24 + padded, 0x004e4942, true);
  out.set(binary, 28 + padded);
  return out.buffer;
}

function scenePrimitives(json) {
  const found = [];
  const visit = (index) => {
    const node = json.nodes[index];
    if (node.mesh !== undefined) found.push(...json.meshes[node.mesh].primitives.filter((p) => p.mode === undefined || p.mode >= 4));
    (node.children ?? []).forEach(visit);
  };
  (json.scenes?.[json.scene ?? 0]?.nodes ?? []).forEach(visit);
  return found;
}
