/*
 * materials.js: the materials and textures of a glTF file by three.js's loader, without its meshes, which the library reads.
 */
import { Color, DoubleSide, MeshPhysicalMaterial } from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";

import { readGlb, scenePrimitives, writeGlb } from "./glb.js";

/** Skin for what has no material: a red sheen where light grazes it, as blood gives under thin skin. */
export function skin() {
  return new MeshPhysicalMaterial({ name: "skin", color: 0xd8a48c, roughness: 0.55, metalness: 0, sheen: 0.6, sheenRoughness: 0.45,
    sheenColor: new Color(0xff5a3c), specularIntensity: 0.6 });
}

/** One material for each part of the character; plain skin where the file has none. */
export async function partMaterials(description) {
  const plain = skin;
  const fallback = description.parts.map(plain);
  if (!description.bytes) return fallback;
  const file = readGlb(description.bytes);
  if (!file?.json.materials?.length) return fallback;
  try {
    // the description without scene and meshes: no geometry is decoded twice
    const { json, binary } = file;
    const primitives = scenePrimitives(json);
    const reduced = { ...json, scenes: [{ nodes: [] }], scene: 0, nodes: [], meshes: [], skins: [], animations: [], cameras: undefined, extensions: undefined };
    delete reduced.cameras;
    delete reduced.extensions;
    delete reduced.extensionsRequired;
    const gltf = await new GLTFLoader().parseAsync(writeGlb(reduced, [binary]).buffer, "");
    const made = await Promise.all(json.materials.map((_, i) => gltf.parser.getDependency("material", i).catch(plain)));
    for (const material of made) material.shadowSide = DoubleSide;

    // by the order of the parts, else by name
    if (primitives.length === description.parts.length) return primitives.map((p, i) => made[p.material] ?? fallback[i]);
    return description.parts.map((part, i) => made.find((material) => material.name && material.name === part.material) ?? fallback[i]);
  } catch {
    return fallback;
  }
}
