/*
 * view.js: what is drawn: the character, plain skinning beside or behind it, skeleton, props, inner layers, floor; and what
 * the pointer meets.
 */
import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { TransformControls } from "three/addons/controls/TransformControls.js";
import { RoomEnvironment } from "three/addons/environments/RoomEnvironment.js";

import { LAYERS, paintColors, scaleOf } from "./colors.js";
import { partMaterials, skin } from "./materials.js";
import { vertexLit } from "./vertex_lit.js";

// background: the middle and the edge of the picture
const THEMES = {
  dark: { background: ["#3a404a", "#14161a"], floor: 0x22252b, line: 0x3a404a },
  light: { background: ["#fbfcfe", "#cfd5dd"], floor: 0xdfe3e8, line: 0xc3c9d1 },
};

const SUN = new THREE.Vector3(0.7, 1.4, 0.9); // from the character's middle, in its sizes
const BLEND_SECONDS = 0.4; // from one solver's flesh to another's
const MAX_DRIFT = 0.15; // of the size: how far the character goes sideways before the camera follows
const RIM = new THREE.Vector3(-1, 0.6, -1);

/** A white disc, for points. */
function roundDot() {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 32;
  const g = canvas.getContext("2d");
  g.fillStyle = "#fff";
  g.beginPath();
  g.arc(16, 16, 15, 0, 7);
  g.fill();
  return new THREE.CanvasTexture(canvas);
}

/** A spotlight on the wall behind: brighter in the middle. */
function backdrop([middle, edge]) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 256;
  const g = canvas.getContext("2d");
  const fill = g.createRadialGradient(128, 105, 0, 128, 105, 180);
  fill.addColorStop(0, middle);
  fill.addColorStop(1, edge);
  g.fillStyle = fill;
  g.fillRect(0, 0, 256, 256);
  const made = new THREE.CanvasTexture(canvas);
  made.colorSpace = THREE.SRGBColorSpace;
  return made;
}

/** Opaque up to the middle of a disc's radius, nothing at its edge. */
function fadingDisc() {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 256;
  const g = canvas.getContext("2d");
  const fill = g.createRadialGradient(128, 128, 50, 128, 128, 127);
  fill.addColorStop(0, "#fff");
  fill.addColorStop(1, "#000");
  g.fillStyle = fill;
  g.fillRect(0, 0, 256, 256);
  return new THREE.CanvasTexture(canvas);
}

const looks = new WeakMap();

/** Of a material what see-through and cut change, as the file has it. */
function fileLook(material) {
  const { transparent, opacity, side, depthWrite } = material;
  if (!looks.has(material)) looks.set(material, { transparent, opacity, side, depthWrite });
  return looks.get(material);
}

/** Free a material and its textures. */
function freeMaterial(material) {
  if (!material) return;
  for (const value of Object.values(material)) if (value?.isTexture) value.dispose();
  material.dispose();
}

/** Take an object out of its parent and free its geometries, materials and textures; it may be used again. */
function remove(parent, object) {
  parent.remove(object);
  object.traverse(({ geometry, material }) => {
    geometry?.dispose();
    for (const one of Array.isArray(material) ? material : [material]) freeMaterial(one);
  });
}

export class View {
  constructor(host) {
    this.host = host;
    const probe = document.createElement("canvas").getContext("webgl2");
    const about = probe?.getExtension("WEBGL_debug_renderer_info");
    const name = about ? probe.getParameter(about.UNMASKED_RENDERER_WEBGL) : "";
    this.software = /swiftshader|llvmpipe|software/i.test(name); // no antialiasing, no shadows, light at vertices there
    this.renderer = new THREE.WebGLRenderer({ antialias: !this.software, powerPreference: "high-performance" });
    this.renderer.localClippingEnabled = true;
    this.renderer.shadowMap.enabled = !this.software;
    this.renderer.toneMapping = this.software ? THREE.NoToneMapping : THREE.NeutralToneMapping;
    this.canvas = this.renderer.domElement;
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("aria-label", "the character in three dimensions");
    host.append(this.canvas);

    // camera, light, floor
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(35, 1, 0.01, 100);
    this.orbit = new OrbitControls(this.camera, this.canvas);
    this.orbit.enableDamping = true;
    this.orbit.dampingFactor = 0.12;
    this.sky = new THREE.HemisphereLight(0xffffff, 0x8a7f78, 1.6);
    this.sun = new THREE.DirectionalLight(0xfff4e8, 2.2);
    this.rim = new THREE.DirectionalLight(0xbfd4ff, 0.9);
    this.sun.castShadow = !this.software;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.radius = 3;
    this.sun.position.copy(SUN);
    this.rim.position.copy(RIM);
    this.scene.add(this.sky, this.sun, this.sun.target, this.rim, this.rim.target);
    this.makeFloor();
    if (!this.software) this.makeEnvironment();

    this.mode = "one"; // or two, split, ghost
    this.fade = null;
    this.divider = 0.5;
    this.coloring = "material";
    this.clip = new THREE.Plane(new THREE.Vector3(-1, 0, 0), 0);
    this.raycaster = new THREE.Raycaster();
    this.wire = false;
    this.props = [];
    this.gizmo = new TransformControls(this.camera, this.canvas);
    this.gizmo.setSize(0.8);
    this.gizmo.addEventListener("dragging-changed", (event) => (this.orbit.enabled = !event.value));
    this.scene.add(this.gizmo.getHelper());
    new ResizeObserver(() => this.resize()).observe(host);
    this.resize();
    this.rendered = 0;
    this.dirty = true;
    this.orbit.addEventListener("change", () => (this.dirty = true));
    this.gizmo.addEventListener("change", () => (this.dirty = true));
    this.renderer.setAnimationLoop(() => this.draw());
  }

  /** The floor has the theme's own colour, whatever the light; a disc above it takes the shadow. */
  makeFloor() {
    const disc = new THREE.CircleGeometry(1, 64).rotateX(-Math.PI / 2);
    const below = (factor) => ({ polygonOffset: true, polygonOffsetFactor: factor, polygonOffsetUnits: factor });
    this.floor = new THREE.Mesh(disc, new THREE.MeshBasicMaterial({ toneMapped: false, transparent: true, depthWrite: false,
      alphaMap: fadingDisc(), ...below(2) }));
    this.floor.renderOrder = -2;
    this.scene.add(this.floor);
    if (this.software) return;
    const shadow = new THREE.Mesh(disc, new THREE.ShadowMaterial({ opacity: 0.4, depthWrite: false, ...below(1) }));
    shadow.receiveShadow = true;
    shadow.renderOrder = -1;
    this.floor.add(shadow);
  }
  /** Light from all around, which metal reflects; the sky light is then the smaller part. */
  makeEnvironment() {
    const generator = new THREE.PMREMGenerator(this.renderer);
    const room = new RoomEnvironment();
    this.scene.environment = generator.fromScene(room, 0.04).texture;
    this.scene.environmentIntensity = 0.4;
    this.sky.intensity = 0.25;
    room.dispose();
    generator.dispose();
  }
  /** The material as this browser draws it. */
  lit(material) {
    return this.software ? vertexLit(material, this.sky, [this.sun, this.rim]) : material;
  }
  theme(name) {
    const colors = THEMES[name];
    this.scene.background?.dispose();
    this.scene.background = backdrop(colors.background);
    this.floor.material.color.setHex(colors.floor);
    this.lineColor = colors.line;
    this.makeGrid();
    this.dirty = true;
  }
  makeGrid() {
    if (this.grid) remove(this.scene, this.grid);
    const size = this.size ?? 2;
    this.grid = new THREE.PolarGridHelper(size * 1.2, 16, 6, 64, this.lineColor, this.lineColor);
    Object.assign(this.grid.material, { transparent: true, opacity: 0.55, toneMapped: false });
    const { min, max } = this.description?.bounds ?? { min: [0, 0, 0], max: [0, 0, 0] };
    this.grid.position.set((min[0] + max[0]) / 2, this.ground ?? 0, (min[2] + max[2]) / 2);
    this.scene.add(this.grid);
  }
  /** Fit the drawing to its place in the page. */
  resize() {
    const { clientWidth: width, clientHeight: height } = this.host;
    if (!width || !height) return;
    this.renderer.setPixelRatio(this.software ? 1 : Math.min(2, devicePixelRatio));
    const now = this.renderer.getSize(new THREE.Vector2());
    if (now.x !== width || now.y !== height) this.renderer.setSize(width, height);
    this.setAspect(width, height);
  }
  setAspect(width, height) {
    this.camera.aspect = (width * this.pane().width) / height;
    if (this.lift) this.camera.setViewOffset(width, height, 0, this.lift * height, width, height);
    else this.camera.clearViewOffset();
    this.camera.updateProjectionMatrix();
    this.dirty = true;
  }

  // ---- the character ----

  async show(description) {
    const materials = await partMaterials(description);
    this.clear();
    this.fade = null;
    this.description = description;
    const { bounds, size } = description;
    this.size = size;
    this.ground = bounds.min[1];
    this.geometry = this.makeGeometry(description);
    this.ghostGeometry = this.makeGeometry(description);
    this.materials = materials.map((material) => this.lit(material));
    this.plain = this.lit(skin());
    this.colored = this.lit(new THREE.MeshLambertMaterial({ vertexColors: true }));
    this.ghostMaterial = this.lit(new THREE.MeshLambertMaterial({ color: 0x4d8dff, transparent: true, opacity: 0.35, depthWrite: false, polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 2 }));
    this.mesh = new THREE.Mesh(this.geometry, this.materials);
    this.ghost = new THREE.Mesh(this.ghostGeometry, this.materials);
    for (const mesh of [this.mesh, this.ghost]) Object.assign(mesh, { frustumCulled: false, castShadow: true, receiveShadow: true });
    this.scene.add(this.mesh, this.ghost);
    this.makeSkeleton(description);
    this.elements = new THREE.Points(new THREE.BufferGeometry(), new THREE.PointsMaterial({ vertexColors: true, size: size * 0.009 }));
    this.elements.frustumCulled = false;
    this.elements.visible = false;
    this.scene.add(this.elements);
    this.tissue = new THREE.Group();
    this.scene.add(this.tissue);
    this.frameCamera();
    this.floor.scale.setScalar(size * 3);
    this.makeGrid();
    this.applyLook();
  }
  makeGeometry({ positions, triangles, triangleFaces, parts, uv, vertexCount }) {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(positions.slice(), 3).setUsage(THREE.DynamicDrawUsage));
    geometry.setAttribute("normal", new THREE.BufferAttribute(new Float32Array(3 * vertexCount), 3).setUsage(THREE.DynamicDrawUsage));
    geometry.setAttribute("color", new THREE.BufferAttribute(new Float32Array(3 * vertexCount).fill(1), 3).setUsage(THREE.DynamicDrawUsage));
    if (uv) geometry.setAttribute("uv", new THREE.BufferAttribute(uv, 2));
    geometry.setIndex(new THREE.BufferAttribute(Uint32Array.from(triangles), 1));

    // triangles of a part follow each other
    let at = 0;
    parts.forEach((part, i) => {
      const begin = at;
      while (at < triangleFaces.length && triangleFaces[at] < part.firstFace + part.faceCount) at++;
      geometry.addGroup(3 * begin, 3 * (at - begin), i);
    });
    geometry.boundingSphere = new THREE.Sphere(new THREE.Vector3(), Infinity);
    return geometry;
  }
  makeSkeleton({ joints }) {
    const geometry = new THREE.BufferGeometry();
    this.bonePairs = joints.map((joint, i) => [joint.parent, i]).filter(([parent]) => parent >= 0);
    geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(6 * this.bonePairs.length), 3));
    this.skeleton = new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ color: 0xffb347, depthTest: false, transparent: true }));
    this.skeleton.frustumCulled = false;
    const dots = new THREE.BufferGeometry();
    dots.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * joints.length), 3));
    dots.setAttribute("color", new THREE.BufferAttribute(new Float32Array(3 * joints.length).fill(1), 3));
    this.jointDots = new THREE.Points(dots, new THREE.PointsMaterial({ size: 8, sizeAttenuation: false, depthTest: false, transparent: true, vertexColors: true, map: roundDot(), alphaTest: 0.4 }));
    this.jointDots.frustumCulled = false;
    this.skeleton.renderOrder = 2;
    this.jointDots.renderOrder = 3;
    this.scene.add(this.skeleton, this.jointDots);
    this.markJoint(-1);
    this.skeleton.visible = this.jointDots.visible = this.showSkeleton ?? false;
  }
  clear() {
    for (const key of ["mesh", "ghost", "skeleton", "jointDots", "elements", "tissue"]) {
      if (this[key]) remove(this.scene, this[key]);
      this[key] = null;
    }
    for (const material of [...(this.materials ?? []), this.plain, this.colored, this.ghostMaterial]) freeMaterial(material);
    this.materials = [];
    this.setProps([]);
    this.gizmo.detach();
  }
  /** The whole character as it stands now, from the side that it faces. */
  frameCamera() {
    const bounds = new THREE.Box3().setFromBufferAttribute(this.geometry.attributes.position);
    const middle = bounds.getCenter(new THREE.Vector3());
    const reach = ((0.53 + (this.lift ?? 0)) * this.size) / Math.tan((this.camera.fov * Math.PI) / 360) / Math.min(1, this.camera.aspect);
    const from = new THREE.Vector3(0.42, 0.16, 0.9);
    from.multiply(new THREE.Vector3(this.description.facing, 1, this.description.facing));
    this.camera.near = this.size / 200;
    this.camera.far = this.size * 40;
    this.camera.position.copy(middle).add(from.normalize().multiplyScalar(reach));
    this.camera.updateProjectionMatrix();
    this.orbit.target.copy(middle);
    this.orbit.minDistance = this.size / 20;
    this.orbit.maxDistance = this.size * 12;
    const s = this.size;
    Object.assign(this.sun.shadow.camera, { left: -s, right: s, top: s, bottom: -s, near: 0.1 * s, far: 4 * s });
    this.sun.shadow.camera.updateProjectionMatrix();
    this.sun.shadow.normalBias = (3 * 2 * s) / this.sun.shadow.mapSize.x; // three texels: their slope on the skin draws no stripes
    this.anchor = middle;
    this.placeAround(middle);
  }
  /** Lights and floor around a place; the grid stays, so that motion shows. */
  placeAround(place) {
    for (const [light, from] of [[this.sun, SUN], [this.rim, RIM]]) {
      const turned = from.clone().multiply(new THREE.Vector3(this.description.facing, 1, this.description.facing));
      light.position.copy(place).addScaledVector(turned, this.size);
      light.target.position.copy(place);
    }
    this.floor.position.set(place.x, this.ground, place.z);
    this.dirty = true;
  }
  /** A character that walks away takes camera, lights and floor along; what sways about its place does not. */
  followCharacter() {
    if (!this.anchor || !this.orbit.enabled) return;
    const { min, max } = new THREE.Box3().setFromBufferAttribute(this.geometry.attributes.position);
    const way = new THREE.Vector3((min.x + max.x) / 2 - this.anchor.x, 0, (min.z + max.z) / 2 - this.anchor.z);
    const most = MAX_DRIFT * this.size;
    if (!(way.length() > most)) return;
    way.setLength(way.length() - most);
    for (const place of [this.anchor, this.camera.position, this.orbit.target]) place.add(way);
    this.placeAround(this.anchor);
  }

  // ---- how it looks ----

  applyLook() {
    if (!this.mesh) return;
    const own = this.coloring === "material" ? this.materials : this.coloring === "plain" ? this.plain : this.colored;
    this.mesh.material = own;
    for (const material of [...this.materials, this.plain, this.colored]) this.applyMaterial(material);
    this.ghostMaterial.wireframe = this.wire;
    this.ghostMaterial.clippingPlanes = this.cut ? [this.clip] : [];
    this.ghost.material = this.mode === "ghost" ? this.ghostMaterial : this.coloring === "material" ? this.materials : this.plain;
    this.ghost.visible = this.mode === "ghost";
    this.skeleton.visible = this.jointDots.visible = Boolean(this.showSkeleton);
    this.dirty = true;
  }
  /** Wireframe, cut and transparency of one material of the character, from what the file has. */
  applyMaterial(material) {
    const file = fileLook(material);
    const transparent = file.transparent || Boolean(this.seeThrough);
    const side = this.cut ? THREE.DoubleSide : file.side;

    // both are compiled into the shader
    material.needsUpdate = material.transparent !== transparent || material.side !== side;
    material.transparent = transparent;
    material.side = side;
    material.opacity = this.seeThrough ? 0.28 * file.opacity : file.opacity;
    material.depthWrite = this.seeThrough ? false : file.depthWrite;
    material.wireframe = this.wire;
    material.clippingPlanes = this.cut ? [this.clip] : [];
  }
  setCut(on, axis = "x", at = 0.5) {
    this.cut = on;
    const k = { x: 0, y: 1, z: 2 }[axis];
    const { min, max } = this.description?.bounds ?? { min: [0, 0, 0], max: [1, 1, 1] };
    const normal = [0, 0, 0];
    normal[k] = -1;
    this.clip.normal.set(...normal);
    this.clip.constant = min[k] + at * (max[k] - min[k]);
    this.applyLook();
  }

  // ---- frames ----

  frame(message, outputs) {
    if (!this.mesh || message.vertexCount !== this.description.vertexCount) return;
    const put = (geometry, name, values) => {
      geometry.attributes[name].array.set(values);
      geometry.attributes[name].needsUpdate = true;
    };
    const blended = this.blended(message);
    put(this.geometry, "position", blended.positions);
    put(this.geometry, "normal", blended.normals);
    if (message.ghost) {
      put(this.ghostGeometry, "position", message.ghost);
      put(this.ghostGeometry, "normal", message.ghostNormals);
    }
    const values = message.values ?? (this.coloring.startsWith("map:") ? this.mapValues : null);
    if (values && this.mesh.material === this.colored) {
      this.scale = scaleOf(this.coloring, outputs.find((output) => output.name === this.coloring), values);
      paintColors(values, this.scale, this.geometry.attributes.color.array);
      this.geometry.attributes.color.needsUpdate = true;
    }
    this.placeJoints(message.joints);
    this.placeProps(message.props);
    this.placeElements(message);
    this.followCharacter();
    this.dirty = true;
  }
  /**
   * Another simulation goes on from here: what is drawn passes from the last frame of the one into the other. The difference
   * between the two is added to what follows, less and less.
   */
  blend() {
    this.fade = { begun: null, from: { positions: this.geometry.attributes.position.array.slice(),
      normals: this.geometry.attributes.normal.array.slice() } };
  }
  blended(message) {
    const { fade } = this;
    if (!fade) return message;
    const now = performance.now();
    if (fade.begun === null) {
      fade.begun = now;
      fade.offset = Object.fromEntries(Object.entries(fade.from).map(([name, values]) =>
        [name, values.map((x, i) => x - message[name][i])]));
    }
    const t = (now - fade.begun) / 1000 / BLEND_SECONDS;
    if (t >= 1) {
      this.fade = null;
      return message;
    }
    const share = 1 - t * t * (3 - 2 * t);
    const mix = (name) => message[name].map((x, i) => x + share * fade.offset[name][i]);
    return { positions: mix("positions"), normals: mix("normals") };
  }
  /** Values of the page's own, such as a painted map. */
  setMap(values) {
    this.mapValues = values;
    if (!values || !this.mesh) return;
    paintColors(values, scaleOf("map:", null, values), this.geometry.attributes.color.array);
    this.geometry.attributes.color.needsUpdate = true;
    this.dirty = true;
  }
  placeJoints(joints) {
    this.pose = joints;
    const at = (j, into, k) => [0, 1, 2].forEach((c) => (into[3 * k + c] = joints[12 * j + 4 * c + 3]));
    const lines = this.skeleton.geometry.attributes.position;
    this.bonePairs.forEach(([parent, child], i) => {
      at(parent, lines.array, 2 * i);
      at(child, lines.array, 2 * i + 1);
    });
    lines.needsUpdate = true;
    const dots = this.jointDots.geometry.attributes.position;
    for (let j = 0; j < dots.count; j++) at(j, dots.array, j);
    dots.needsUpdate = true;
  }
  /** A joint is drawn elsewhere, until the next frame. */
  moveJoint(j, position) {
    position.forEach((x, c) => (this.pose[12 * j + 4 * c + 3] = x));
    this.placeJoints(this.pose);
    this.dirty = true;
  }
  markJoint(chosen) {
    const color = this.jointDots.geometry.attributes.color;
    for (let j = 0; j < color.count; j++) color.setXYZ(j, 1, j === chosen ? 0.35 : 0.8, j === chosen ? 0.25 : 0.45);
    color.needsUpdate = true;
    this.dirty = true;
  }
  jointPlace(j) {
    return new THREE.Vector3(this.pose[12 * j + 3], this.pose[12 * j + 7], this.pose[12 * j + 11]);
  }
  setProps(list) {
    for (const prop of this.props) remove(this.scene, prop);
    this.props = list.map(({ positions, triangles, name }) => {
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute("position", new THREE.BufferAttribute(positions, 3));
      geometry.setIndex(new THREE.BufferAttribute(Uint32Array.from(triangles), 1));
      const flat = geometry.toNonIndexed();
      flat.computeVertexNormals();
      const mesh = new THREE.Mesh(flat, this.lit(new THREE.MeshStandardMaterial({ color: 0x6f9bd1, roughness: 0.7 })));
      mesh.name = name;
      mesh.matrixAutoUpdate = false;
      mesh.castShadow = mesh.receiveShadow = true;
      this.scene.add(mesh);
      return mesh;
    });
  }
  placeProps(list) {
    list.forEach(({ transform }, i) => {
      if (!this.props[i]) return;
      this.props[i].matrix.set(...transform, 0, 0, 0, 1);
      this.props[i].matrixWorldNeedsUpdate = true;
    });
  }
  placeElements(message) {
    this.elements.visible = Boolean(message.elements);
    if (message.elements) {
      const geometry = this.elements.geometry;
      const count = message.elements.length / 3;
      if (geometry.attributes.position?.count !== count) {
        geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * count), 3));
        geometry.setAttribute("color", new THREE.BufferAttribute(new Float32Array(3 * count).fill(0.8), 3));
      }
      geometry.attributes.position.array.set(message.elements);
      geometry.attributes.position.needsUpdate = true;
      if (message.layers) {
        for (let i = 0; i < count; i++) geometry.attributes.color.setXYZ(i, ...(LAYERS[Math.round(message.layers[i])] ?? LAYERS[5]));
        geometry.attributes.color.needsUpdate = true;
      }
    }
    const tissue = message.tissue ?? [];
    while (this.tissue.children.length > tissue.length) remove(this.tissue, this.tissue.children.at(-1));
    tissue.forEach((positions, i) => {
      let mesh = this.tissue.children[i];
      if (!mesh) {
        const geometry = new THREE.BufferGeometry();
        geometry.setAttribute("position", new THREE.BufferAttribute(positions, 3));
        geometry.setIndex(this.geometry.index);
        const color = LAYERS[Math.max(0, tissue.length - 1 - i)] ?? LAYERS[5];
        mesh = new THREE.Mesh(geometry, new THREE.MeshLambertMaterial({ color: new THREE.Color(...color), flatShading: true }));
        mesh.frustumCulled = false;
        this.tissue.add(mesh);
      }
      mesh.geometry.attributes.position.array.set(positions);
      mesh.geometry.attributes.position.needsUpdate = true;
    });
  }

  /** Draw the character higher, by a share of the height: something stands before the lower part. */
  setLift(share) {
    this.lift = share;
    this.resize();
  }
  /** Draw once in another size; resize() goes back. */
  renderAt(width, height) {
    const now = this.renderer.getSize(new THREE.Vector2());
    if (now.x !== width || now.y !== height) {
      this.renderer.setPixelRatio(1);
      this.renderer.setSize(width, height, false);
      this.setAspect(width, height);
    }
    this.render();
  }
  setMode(mode) {
    this.mode = mode;
    if (this.mesh) this.mesh.visible = true;
    this.resize();
    this.applyLook();
  }
  /** The part of the canvas that a camera fills: the half under x with two views, else all. In shares of the width. */
  pane(x = 0) {
    if (this.mode !== "two") return { left: 0, width: 1 };
    return { left: x < 0.5 ? 0 : 0.5, width: 0.5 };
  }
  /** Where a place of the scene is on the screen, in the view of the flesh: { x, y, z }, pixels of the window. */
  toScreen(place) {
    const box = this.canvas.getBoundingClientRect();
    const { left, width } = this.pane(1);
    const p = place.clone().project(this.camera);
    return { x: box.left + box.width * (left + (width * (p.x + 1)) / 2), y: box.top + ((1 - p.y) / 2) * box.height, z: p.z };
  }
  /** What is drawn now, as a picture; give(blob) has it. */
  picture(give) {
    this.render();
    this.canvas.toBlob(give); // before the browser takes the drawing away
  }
  draw() {
    this.orbit.update();
    if (!this.dirty) return;
    this.dirty = false;
    this.rendered++;
    this.render();
  }
  render() {
    const { renderer } = this;
    if ((this.mode !== "split" && this.mode !== "two") || !this.mesh) {
      renderer.render(this.scene, this.camera);
      return;
    }
    // skinning on the left, flesh on the right
    const { width, height } = renderer.getSize(new THREE.Vector2());
    const two = this.mode === "two";
    const at = Math.round(width * (two ? 0.5 : this.divider));
    const draw = (flesh, left, right) => {
      this.mesh.visible = flesh;
      this.ghost.visible = !flesh;
      if (two) renderer.setViewport(left, 0, right - left, height);
      renderer.setScissor(left, 0, right - left, height);
      renderer.render(this.scene, this.camera);
    };
    renderer.setScissorTest(true);
    draw(false, 0, at);
    draw(true, at, width);
    renderer.setScissorTest(false);
    renderer.setViewport(0, 0, width, height);
    this.ghost.visible = false;
  }

  // ---- pointer ----

  ray(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width;
    const { left, width } = this.pane(x);
    const at = new THREE.Vector2(((x - left) / width) * 2 - 1, 1 - ((event.clientY - box.top) / box.height) * 2);
    this.raycaster.setFromCamera(at, this.camera);
    return this.raycaster;
  }
  /** The nearest vertex under the pointer: { vertex, point, normal }; null: none. */
  pick(event) {
    if (!this.mesh) return null;
    const single = this.mesh.material;
    this.mesh.material = this.plain;
    const [hit] = this.ray(event).intersectObject(this.mesh, false);
    this.mesh.material = single;
    if (!hit) return null;
    const positions = this.geometry.attributes.position;
    const p = new THREE.Vector3();
    let best = null;
    for (const vertex of [hit.face.a, hit.face.b, hit.face.c]) {
      const distance = p.fromBufferAttribute(positions, vertex).distanceTo(hit.point);
      if (!best || distance < best.distance) best = { vertex, distance };
    }
    return { vertex: best.vertex, point: hit.point.clone(), normal: hit.face.normal.clone() };
  }
  /** Where the pointer is on the plane through `point` that faces the camera. */
  onPlane(event, point) {
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(this.camera.getWorldDirection(new THREE.Vector3()), point);
    return this.ray(event).ray.intersectPlane(plane, new THREE.Vector3());
  }
  /** The joint whose dot is nearest to the pointer, within 14 pixels; -1: none. */
  pickJoint(event) {
    if (!this.pose || !this.jointDots) return -1;
    let best = -1;
    let least = 14;
    for (let j = 0; j < this.description.joints.length; j++) {
      const p = this.toScreen(this.jointPlace(j));
      const distance = Math.hypot(p.x - event.clientX, p.y - event.clientY);
      if (distance < least && p.z < 1) {
        least = distance;
        best = j;
      }
    }
    return best;
  }
}
