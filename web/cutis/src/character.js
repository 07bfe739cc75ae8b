/*
 * character.js: a mesh, its skeleton, weights and motion; read-only.
 */
import { CutisError, Owned, camel } from "./memory.js";

const ROLES = ["collider", "rigid", "soft"];
const SHAPES = ["mesh", "plane", "sphere", "capsule", "box"];
const PATHS = { translation: 0, rotation: 1, scale: 2, morph: 3 };
const INTERPOLATIONS = ["step", "linear", "cubic"];
const IDENTITY = { translation: [0, 0, 0], rotation: [0, 0, 0, 1], scale: [1, 1, 1] };

export class Character extends Owned {
  /** Not for callers: use load, make or from. */
  constructor(cutis, pointer, owner = null) {
    super(cutis, pointer, "cutis_character_destroy", owner);
  }

  // ---- making one ----

  /** From the bytes of a file; the extension of the name selects the format. */
  static load(cutis, bytes, name) {
    return cutis.memory.scoped((scope) => {
      const { memory } = cutis;
      const data = scope.array(asBytes(bytes), Uint8Array);
      return new Character(cutis, memory.make("cutis_character_load_memory", data, bytes.byteLength, scope.text(name), 0));
    });
  }

  /** One of the built-in characters (cutis.zoo). */
  static make(cutis, name, resolution = 1) {
    return cutis.memory.scoped((scope) => new Character(cutis, cutis.memory.make("cutis_zoo_make", scope.text(name), resolution, 0)));
  }

  /** From arrays, which are copied and checked. */
  static from(cutis, given) {
    return cutis.memory.scoped((scope) => {
      const { memory } = cutis;
      const vertexCount = given.positions.length / 3;
      const values = { name: given.name ?? "character", vertex_count: vertexCount, positions: scope.floats(given.positions) };

      // faces: triangles, or polygons by their first corners
      const corners = given.corners ?? given.triangles;
      const first = given.faceFirst ?? Int32Array.from({ length: corners.length / 3 + 1 }, (_, i) => 3 * i);
      values.face_count = first.length - 1;
      values.face_first = scope.ints(first);
      values.corners = scope.ints(corners);
      if (given.texcoords) values.texcoords = scope.floats(given.texcoords, 2 * corners.length, "texcoords");

      // weights: as many for each vertex, or sparse
      if (given.weights) {
        const { first: start, joints, values: weights } = given.weights;
        const count = joints.length / vertexCount;
        values.influence_first = scope.ints(start ?? Int32Array.from({ length: vertexCount + 1 }, (_, i) => count * i), vertexCount + 1, "weights.first");
        values.influence_joints = scope.ints(joints);
        values.influence_weights = scope.floats(weights, joints.length, "weights.values");
      }

      // skeleton, clips, maps, morphs, props
      const joints = given.joints ?? [];
      values.joint_count = joints.length;
      values.joints = scope.structs("cutis_joint", joints.map((joint, i) => ({
        name: joint.name,
        parent: joint.parent ?? -1,
        rest: { ...IDENTITY, ...joint.rest },
        idle: { ...IDENTITY, ...joint.rest, ...joint.idle },
        inverse_bind: numbers(joint.inverseBind, 12, `inverseBind of joint ${i}`),
      })));
      const clips = given.clips ?? [];
      values.clip_count = clips.length;
      values.clips = scope.structs("cutis_clip", clips.map((clip) => ({
        name: clip.name,
        track_count: clip.tracks.length,
        tracks: scope.structs("cutis_track", clip.tracks.map((track) => ({
          target: track.target,
          path: PATHS[track.path],
          interpolation: INTERPOLATIONS.indexOf(track.interpolation ?? "linear"),
          key_count: track.times.length,
          times: scope.floats(track.times),
          values: scope.floats(track.values),
        }))),
      })));
      const maps = Object.entries(given.maps ?? {});
      values.map_count = maps.length;
      values.maps = scope.structs("cutis_map", maps.map(([name, map]) => ({ name, values: scope.floats(map, vertexCount, `map ${name}`) })));
      const morphs = Object.entries(given.morphs ?? {});
      values.morph_count = morphs.length;
      values.morphs = scope.structs("cutis_morph", morphs.map(([name, deltas]) => ({ name, deltas: scope.floats(deltas, 3 * vertexCount, `morph ${name}`) })));
      const props = given.props ?? [];
      values.prop_count = props.length;
      values.props = scope.structs("cutis_prop", props.map((prop) => propValues(prop, scope)));
      const parts = given.parts ?? [];
      values.part_count = parts.length;
      values.parts = scope.structs("cutis_part", parts.map((part) => ({ name: part.name, material: part.material ?? "",
        first_vertex: part.firstVertex, vertex_count: part.vertexCount, first_face: part.firstFace, face_count: part.faceCount })));
      Object.assign(values, scope.settings(given.settings));
      return new Character(cutis, memory.make("cutis_character_create", scope.struct("cutis_character", values), 0));
    });
  }

  /** A copy with props beside its own: { name, place (3 x 4), role, shape, size, ... }. */
  withProps(props) {
    const { cutis } = this;
    return cutis.memory.scoped((scope) => {
      const list = props.map((prop) => ({ prop: propValues(prop, scope), place: numbers(prop.place ?? [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0], 12, "place of a prop") }));
      return new Character(cutis, cutis.memory.make("cutis_character_add_props", this.pointer, scope.structs("cutis_placed_prop", list), list.length, 0));
    });
  }

  /** A copy with built-in props: { name: "ball", position: [x, y, z], scale }; without position where the clip reaches. */
  withBuiltInProps(props, clip = null) {
    const { cutis } = this;
    return cutis.memory.scoped((scope) => {
      const list = scope.structs("cutis_prop_request", props.map(propRequest));
      return new Character(cutis, cutis.memory.make("cutis_bake_add_props", this.pointer, list, props.length, this.clipIndex(clip), 0, 0, 0));
    });
  }

  /** A copy with the motion of a .bvh (or another character's file) as one more clip. */
  withMotion(bytes, name, map = {}) {
    const { cutis } = this;
    const path = cutis.files.put(bytes, name);
    try {
      return cutis.memory.scoped((scope) => {
        const pairs = Object.entries(map).map(([from, to]) => ({ from, to }));
        return new Character(cutis, cutis.memory.make("cutis_character_add_bvh", this.pointer, scope.text(path), scope.structs("cutis_name_pair", pairs), pairs.length, 0));
      });
    } finally {
      cutis.files.remove(path);
    }
  }

  /** The bytes of a .glb or .obj. source: bytes of the .glb that it was rigged from, all of which is kept. */
  save(ending = ".glb", source = null) {
    const { cutis } = this;
    const path = cutis.files.path("character" + ending);
    const from = source ? cutis.files.put(source, "source.glb") : null;
    try {
      cutis.memory.scoped((scope) => {
        if (from) cutis.memory.call("cutis_character_save_rig", this.pointer, scope.text(from), scope.text(path));
        else cutis.memory.call("cutis_character_save", this.pointer, scope.text(path));
      });
      return cutis.files.take(path);
    } finally {
      if (from) cutis.files.remove(from);
    }
  }

  // ---- reading; arrays are views: copy them (slice) before the next call ----

  get(field) {
    return this.cutis.memory.field("cutis_character", this.pointer, field);
  }
  list(field, count, struct) {
    const { memory } = this.cutis;
    const at = this.get(field);
    return Array.from({ length: this.get(count) }, (_, i) => memory.read(struct, at + i * memory.size(struct)));
  }
  get name() { return this.get("name"); }
  get vertexCount() { return this.get("vertex_count"); }
  get triangleCount() { return this.get("triangle_count"); }
  get jointCount() { return this.get("joint_count"); }
  /** Length of the diagonal of the bounds: "the size" of every relative figure. */
  get size() { return this.get("size"); }
  get bounds() { return { min: this.get("bounds_min"), max: this.get("bounds_max") }; }
  get positions() { return this.cutis.memory.floats(this.get("positions"), 3 * this.vertexCount); }
  get triangles() { return this.cutis.memory.ints(this.get("triangles"), 3 * this.triangleCount); }
  get triangleFaces() { return this.cutis.memory.ints(this.get("triangle_faces"), this.triangleCount); }
  get triangleCorners() { return this.cutis.memory.ints(this.get("triangle_corners"), 3 * this.triangleCount); }
  get faceFirst() { return this.cutis.memory.ints(this.get("face_first"), this.get("face_count") + 1); }
  get corners() { return this.cutis.memory.ints(this.get("corners"), this.get("corner_count")); }
  get vertexPoints() { return this.cutis.memory.ints(this.get("vertex_points"), this.vertexCount); }
  /** (corners x 2), or null */
  get texcoords() {
    const at = this.get("texcoords");
    return at ? this.cutis.memory.floats(at, 2 * this.get("corner_count")) : null;
  }
  /** First influence of each vertex (and the end), joints, values; null when nothing is skinned. */
  get weights() {
    const { memory } = this.cutis;
    const at = this.get("influence_first");
    if (!at) return null;
    const first = memory.ints(at, this.vertexCount + 1);
    const count = first[this.vertexCount];
    return { first, joints: memory.ints(this.get("influence_joints"), count), values: memory.floats(this.get("influence_weights"), count) };
  }
  get joints() {
    return this.list("joints", "joint_count", "cutis_joint").map((joint) => ({ name: joint.name, parent: joint.parent,
      rest: joint.rest, idle: joint.idle, inverseBind: joint.inverse_bind, deforms: joint.deforms, role: joint.role }));
  }
  get clips() {
    return this.list("clips", "clip_count", "cutis_clip").map(({ name, start, end }) => ({ name, start, end }));
  }
  get parts() {
    return this.list("parts", "part_count", "cutis_part").map((part) => Object.fromEntries(Object.entries(part).map(([key, value]) => [camel(key), value])));
  }
  get maps() {
    return Object.fromEntries(this.list("maps", "map_count", "cutis_map").map((map) => [map.name, this.cutis.memory.floats(map.values, this.vertexCount)]));
  }
  get morphCount() { return this.get("morph_count"); }
  get props() {
    return this.list("props", "prop_count", "cutis_prop").map((prop) => ({ name: prop.name, role: ROLES[prop.role], shape: SHAPES[prop.shape], size: prop.size, joint: prop.joint }));
  }
  get settings() {
    return Object.fromEntries(this.list("settings", "setting_count", "cutis_setting").map(({ key, value }) => [key, value]));
  }
  get warnings() { return this.cutis.memory.texts(this.get("warnings"), this.get("warning_count")); }

  /** Index of a clip; null: -1, the idle pose. */
  clipIndex(clip) {
    if (clip === null || clip === undefined) return -1;
    const found = this.cutis.memory.scoped((scope) => this.cutis.memory.run("cutis_character_find_clip", this.pointer, scope.text(clip)));
    if (found < 0) throw new CutisError(`there is no clip '${clip}' in ${this.name}; there are: ${this.clips.map((c) => c.name).join(", ")}`);
    return found;
  }
  /** (joints x 12), joint space to scene space: a clip at a time, or the idle pose; a copy. */
  pose(clip = null, time = 0) {
    return this.matrices((at) => this.cutis.memory.run("cutis_pose_sample", this.pointer, this.clipIndex(clip), time, at));
  }
  restPose() {
    return this.matrices((at) => this.cutis.memory.run("cutis_pose_rest", this.pointer, at));
  }
  matrices(fill) {
    const { memory } = this.cutis;
    return memory.scoped((scope) => {
      const at = scope.room(48 * this.jointCount);
      fill(at);
      return memory.floats(at, 12 * this.jointCount).slice();
    });
  }
  /** The weights of the morphs of a clip at a time; a copy. */
  morphWeights(clip = null, time = 0) {
    const { memory } = this.cutis;
    return memory.scoped((scope) => {
      const at = scope.room(4 * this.morphCount);
      memory.run("cutis_pose_morphs", this.pointer, this.clipIndex(clip), time, at);
      return memory.floats(at, this.morphCount).slice();
    });
  }
  /** Components, holes, self-intersections, volume, ... */
  topology() {
    const { memory } = this.cutis;
    return memory.scoped((scope) => {
      const at = scope.room(memory.size("cutis_topology"));
      memory.call("cutis_character_topology", this.pointer, 0, at);
      return memory.plain("cutis_topology", at);
    });
  }
  /** The surface of a prop as triangles, in its own space. plane: half width of a plane. */
  propSurface(index, plane = 1) {
    const { memory } = this.cutis;
    if (!(index >= 0 && index < this.get("prop_count"))) throw new CutisError(`there is no prop ${index}`);
    return memory.scoped((scope) => {
      const prop = this.get("props") + index * memory.size("cutis_prop");
      const counts = scope.room(8);
      memory.run("cutis_prop_surface", prop, plane, counts, counts + 4, 0, 0);
      const [vertices, triangles] = memory.ints(counts, 2);
      const positions = scope.room(12 * vertices);
      const indices = scope.room(12 * triangles);
      memory.run("cutis_prop_surface", prop, plane, counts, counts + 4, positions, indices);
      return { positions: memory.floats(positions, 3 * vertices).slice(), triangles: memory.ints(indices, 3 * triangles).slice() };
    });
  }
}

/** A prop for the library: names of JavaScript, sizes and arrays. */
function propValues(prop, scope) {
  const role = ROLES.indexOf(prop.role ?? "collider");
  const shape = SHAPES.indexOf(prop.shape ?? "mesh");
  if (role < 0 || shape < 0) throw new CutisError(`prop '${prop.name}': the role is one of ${ROLES.join(", ")}, the shape one of ${SHAPES.join(", ")}`);
  const values = { name: prop.name, role, shape, size: prop.size ?? [0, 0, 0], joint: prop.joint ?? -1, mass: prop.mass ?? 0,
    friction: prop.friction ?? -1, restitution: prop.restitution ?? -1, stiffness: prop.stiffness ?? 0.5 };
  if (shape === 0) {
    values.vertex_count = prop.positions.length / 3;
    values.positions = scope.floats(prop.positions);
    values.triangle_count = prop.triangles.length / 3;
    values.triangles = scope.ints(prop.triangles);
  }
  return values;
}

export function propRequest(prop) {
  if (typeof prop === "string") prop = { name: prop };
  return { name: prop.name, placed: Boolean(prop.position), position: prop.position, scale: prop.scale ?? 0 };
}

export function numbers(values, count, what) {
  if (!values || values.length !== count) throw new CutisError(`${what} must have ${count} numbers`);
  return values;
}

export function asBytes(bytes) {
  if (bytes instanceof Uint8Array) return bytes;
  if (ArrayBuffer.isView(bytes)) return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes instanceof ArrayBuffer || Object.prototype.toString.call(bytes) === "[object SharedArrayBuffer]") return new Uint8Array(bytes);
  throw new CutisError("the bytes of a file must be an ArrayBuffer or a Uint8Array");
}
