/*
 * vertex_lit.js: materials for browsers that draw in software. Light is computed at the vertices, not at every pixel: diffuse
 * light of a sky and of lights far away, no highlights. Colours are multiplied as they are stored, not converted at every
 * pixel: with c the colour and l the light, (c l)^(1/2.2) = c^(1/2.2) l^(1/2.2).
 */
import { MeshBasicMaterial, NoColorSpace, Vector3 } from "three";

const KEPT = ["name", "map", "alphaMap", "opacity", "transparent", "alphaTest", "side", "vertexColors", "depthWrite", "polygonOffset", "polygonOffsetFactor", "polygonOffsetUnits"];

const VARYING = `
  varying vec3 litFront;
  #ifdef DOUBLE_SIDED
    varying vec3 litBack;
  #endif
`;
const VERTEX = `${VARYING}
  uniform vec3 skyColor, groundColor, farColors[FAR], farDirections[FAR];
  vec3 lightOf(vec3 n) {
    vec3 sum = mix(groundColor, skyColor, 0.5 * n.y + 0.5);
    for (int i = 0; i < FAR; i++) sum += farColors[i] * max(0.0, dot(n, farDirections[i]));
    return pow(sum * 0.31830988618, vec3(1.0 / 2.2));
  }
`;
const LIGHT = `
  vec3 litNormal = normalize(mat3(modelMatrix) * normal);
  litFront = lightOf(litNormal);
  #ifdef DOUBLE_SIDED
    litBack = lightOf(-litNormal);
  #endif
  #ifdef USE_COLOR
    vColor.rgb = pow(vColor.rgb, vec3(1.0 / 2.2));
  #endif
`;
const SHADE = `
  #ifdef DOUBLE_SIDED
    outgoingLight *= gl_FrontFacing ? litFront : litBack;
  #else
    outgoingLight *= litFront;
  #endif
`;

/** The material, lit at the vertices by a hemisphere light and directional lights; itself where it shines. */
export function vertexLit(material, sky, far) {
  if (material.emissive?.getHex()) return material;
  const made = new MeshBasicMaterial();
  for (const key of KEPT) if (material[key] !== undefined) made[key] = material[key];
  made.color.copy(material.color).convertLinearToSRGB();
  if (made.map) {
    made.map = made.map.clone();
    made.map.colorSpace = NoColorSpace;
  }
  made.onBeforeCompile = (shader) => {
    const strong = (color, light) => color.clone().multiplyScalar(light.intensity);
    Object.assign(shader.uniforms, {
      skyColor: { value: strong(sky.color, sky) },
      groundColor: { value: strong(sky.groundColor, sky) },
      farColors: { value: far.map((light) => strong(light.color, light)) },
      farDirections: { value: far.map((light) => new Vector3().subVectors(light.position, light.target.position).normalize()) },
    });
    const declared = VERTEX.replaceAll("FAR", String(far.length));
    shader.vertexShader = declared + shader.vertexShader.replace("#include <project_vertex>", `#include <project_vertex>${LIGHT}`);
    shader.fragmentShader = VARYING + shader.fragmentShader.replace("#include <opaque_fragment>", `${SHADE}#include <opaque_fragment>`).replace("#include <colorspace_fragment>", "");
  };
  return made;
}
