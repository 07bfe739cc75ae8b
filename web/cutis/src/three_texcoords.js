/*
 * three_texcoords.js: texture coordinates of morph targets for three.js, whose own loader reads positions, normals and
 * colours of targets only. A bake of sliding skin to .glb has them.
 *
 *     new GLTFLoader().register((parser) => new TexcoordMorphs(parser))
 *
 * The coordinates of a vertex are those of the mesh plus the sum of its targets, each times its influence; the vertex
 * shader of each material adds them up, with the influences that the mixer sets.
 */
import { DataTexture, FloatType, NearestFilter, RGFormat, Vector2 } from "three";

const WIDTH = 2048; // texels of a row; every WebGL 2 has as many

const DECLARATIONS = `
uniform highp sampler2D cutisTexcoords;
uniform int cutisVertexCount;
`;

const SUM = `
#ifdef USE_MORPHTARGETS
  vec2 cutisUv = uv;
  for (int k = 0; k < MORPHTARGETS_COUNT; k++) {
    if (morphTargetInfluences[k] == 0.0) continue;
    int cutisAt = k * cutisVertexCount + gl_VertexID;
    cutisUv += morphTargetInfluences[k] * texelFetch(cutisTexcoords, ivec2(cutisAt % ${WIDTH}, cutisAt / ${WIDTH}), 0).xy;
  }
  #define uv cutisUv
#endif
#include <uv_vertex>
#undef uv
`;

/** The targets of a mesh in one texture, target by target. */
function pack(targets, count) {
  const data = new Float32Array(2 * WIDTH * Math.ceil((targets.length * count) / WIDTH));
  targets.forEach((target, k) => {
    for (let i = 0; i < count; i++) {
      data[2 * (k * count + i)] = target.getX(i);
      data[2 * (k * count + i) + 1] = target.getY(i);
    }
  });
  const texture = new DataTexture(data, WIDTH, data.length / (2 * WIDTH), RGFormat, FloatType);
  texture.minFilter = NearestFilter;
  texture.magFilter = NearestFilter;
  texture.needsUpdate = true;
  return texture;
}

/** A copy of a material that adds up texture coordinates before it uses them. */
function sliding(material, texture, count) {
  const copy = material.clone();
  copy.onBeforeCompile = (shader) => {
    shader.uniforms.cutisTexcoords = { value: texture };
    shader.uniforms.cutisVertexCount = { value: count };
    shader.vertexShader = DECLARATIONS + shader.vertexShader.replace("#include <uv_vertex>", SUM);
  };
  copy.customProgramCacheKey = () => "cutis texcoords";
  return copy;
}

/** Plug-in of GLTFLoader. */
export class TexcoordMorphs {
  constructor(parser) {
    this.parser = parser;
    this.name = "CUTIS_texcoord_morphs";
  }

  async afterRoot(gltf) {
    const meshes = [];
    for (const scene of gltf.scenes) scene.traverse((node) => node.isMesh && meshes.push(node));
    await Promise.all(meshes.map((mesh) => this.#add(mesh)));
  }

  async #add(mesh) {
    const place = this.parser.associations.get(mesh);
    const primitive = this.parser.json.meshes?.[place?.meshes]?.primitives[place.primitives ?? 0];
    const indices = primitive?.targets?.map((target) => target.TEXCOORD_0);
    const own = mesh.geometry.attributes.uv;
    if (!own || !indices || indices.some((index) => index === undefined)) return;

    const targets = await Promise.all(indices.map((index) => this.parser.getDependency("accessor", index)));
    const texture = pack(targets, own.count);
    mesh.geometry.userData.texcoordTargets = targets;
    mesh.geometry.addEventListener("dispose", () => texture.dispose());
    const change = (material) => sliding(material, texture, own.count);
    mesh.material = Array.isArray(mesh.material) ? mesh.material.map(change) : change(mesh.material);
  }
}

/** Texture coordinates of a vertex as its mesh shows them now. */
export function texcoordOf(mesh, vertex, target = new Vector2()) {
  target.fromBufferAttribute(mesh.geometry.attributes.uv, vertex);
  mesh.geometry.userData.texcoordTargets?.forEach((morph, k) => {
    target.x += mesh.morphTargetInfluences[k] * morph.getX(vertex);
    target.y += mesh.morphTargetInfluences[k] * morph.getY(vertex);
  });
  return target;
}
