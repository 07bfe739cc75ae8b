"""A Blender mesh, its armature and props as a cutis character, and their motion as a clip.

Space: cutis gets Blender's world, turned so that y is up as in glTF: (x, y, z) becomes (x, z, -y), which is exact. The
rest pose is that of the first frame's object matrices, so that an armature of any scale, moved or animated as an object,
deforms as Blender's modifier does.
"""
import hashlib

import bpy
import numpy as np

from . import addon_compat, cutis
from .addon_properties import MAPS, settings_of

TURN = np.array([[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]], float)  # Blender's world to cutis
BACK = TURN.T
MODIFIER = "cutis"
KEYS = "cutis_"  # how the names of baked shape keys begin
KEYS_A_FRAME = 8  # instants of a frame that are read at most


class Problem(Exception):
    """A sentence for the user."""


def check_usable(thing):
    """Raise what keeps an object from being simulated."""
    if thing is None or thing.type != "MESH":
        raise Problem("select a mesh object")
    if thing.library is not None or (thing.data.library is not None and thing.override_library is None):
        raise Problem("%s is linked from another file; make it local or make a library override" % thing.name)
    if thing.instance_type != "NONE":
        raise Problem("%s makes instances of others; make them real first" % thing.name)


def armature_of(thing):
    """The armature that was chosen, else that of the modifier, else the parent."""
    if thing.cutis.armature:
        return thing.cutis.armature
    for modifier in thing.modifiers:
        if modifier.type == "ARMATURE" and modifier.object:
            return modifier.object
    return thing.parent if thing.parent and thing.parent.type == "ARMATURE" else None


def armature_index(thing):
    """Place in the modifier stack where the skeleton acts, and whether it is there."""
    for i, modifier in enumerate(thing.modifiers):
        if modifier.type == "ARMATURE":
            return i, True
    return 0, False


class Bare:
    """With it, an object shows what goes into the armature modifier: no armature, nothing after it, no baked keys."""

    def __init__(self, thing, keys=False):
        self.thing, self.keys = thing, keys

    def __enter__(self):
        first, found = armature_index(self.thing)
        self.shown = [(m, m.show_viewport) for m in list(self.thing.modifiers)[first if found else 0:]
                      if found or m.name.startswith(MODIFIER)]
        for modifier, _ in self.shown:
            modifier.show_viewport = False
        blocks = self.thing.data.shape_keys
        self.muted = [(k, k.mute) for k in blocks.key_blocks] if blocks and self.keys else []
        for key, _ in self.muted:
            key.mute = True
        bpy.context.view_layer.update()
        return self

    def __exit__(self, *_):
        for modifier, shown in self.shown:
            modifier.show_viewport = shown
        for key, muted in self.muted:
            key.mute = muted


def matrix(m):
    return np.array(m, float).reshape(4, 4)


def _evaluated(thing):
    """Positions, first corners and corners, texture coordinates and weights by group of the evaluated mesh."""
    graph = bpy.context.evaluated_depsgraph_get()
    real = thing.evaluated_get(graph)
    mesh = real.to_mesh()
    try:
        positions = np.empty(3 * len(mesh.vertices), np.float32)
        mesh.vertices.foreach_get("co", positions)
        first = np.empty(len(mesh.polygons) + 1, np.int32)
        if len(mesh.polygons):
            mesh.polygons.foreach_get("loop_start", first[:-1])
        first[-1] = len(mesh.loops)
        corners = np.empty(len(mesh.loops), np.int32)
        mesh.loops.foreach_get("vertex_index", corners)
        coordinates = None
        if mesh.uv_layers.active:
            coordinates = np.empty(2 * len(mesh.loops), np.float32)
            mesh.uv_layers.active.data.foreach_get("uv", coordinates)
            coordinates = coordinates.reshape(-1, 2) * (1, -1) + (0, 1)
        groups = [[(g.group, g.weight) for g in vertex.groups] for vertex in mesh.vertices]
    finally:
        real.to_mesh_clear()
    return positions.reshape(-1, 3), first, corners, coordinates, groups


def _weights(groups, joint_of_group, loose):
    """Sparse weights; what no bone moves hangs on joint `loose`. Also whether anything does."""
    any_loose = False
    first, joints, weights = [0], [], []
    for entries in groups:
        before = len(joints)
        for group, weight in entries:
            joint = joint_of_group.get(group)
            if joint is not None and weight > 0:
                joints.append(joint)
                weights.append(weight)
        if len(joints) == before:
            joints.append(loose)
            weights.append(1.0)
            any_loose = True
        first.append(len(joints))
    return np.array(first, np.int32), np.array(joints, np.int32), np.array(weights, np.float32), any_loose


def bones_in_order(armature):
    """Bones, parents first."""
    made = []
    for bone in armature.data.bones:
        if bone.parent is None:
            stack = [bone]
            while stack:
                one = stack.pop()
                made.append(one)
                stack.extend(reversed(one.children))
    return made


def props_of(scene, thing):
    return [other for other in scene.objects
            if other.type == "MESH" and other is not thing and other.cutis.prop != "none" and other.visible_get()]


def rest_matrix(prop):
    """Where a prop stands; of a free one: where it stood before the simulation moved it."""
    return np.array(prop["cutis_rest"], float).reshape(4, 4) if "cutis_rest" in prop else matrix(prop.matrix_world)


class Reading:
    """What goes into the library, apart from motion."""

    def __init__(self, scene, thing):
        check_usable(thing)
        self.name, self.thing_name = thing.name, thing.name
        armature = armature_of(thing)
        self.warnings = []
        for modifier in thing.modifiers:
            if modifier.type == "ARMATURE" and modifier.use_bone_envelopes:
                self.warnings.append("bone envelopes of %s are ignored: use vertex groups" % thing.name)
            if modifier.type == "ARMATURE" and modifier.vertex_group:
                self.warnings.append("the vertex group of modifier %s is ignored" % modifier.name)

        # the mesh as it goes into the armature modifier, without shape keys, in the world of the first frame
        with Bare(thing, keys=True):
            positions, self.first, self.corners, self.texcoords, groups = _evaluated(thing)
        if len(positions) == 0 or len(self.corners) == 0:
            raise Problem("%s has no faces" % thing.name)
        self.place = TURN @ matrix(thing.matrix_world)
        self.positions = (positions @ self.place[:3, :3].T + self.place[:3, 3]).astype(np.float32)
        if np.linalg.det(self.place[:3, :3]) < 0:  # a mirrored object: faces look inwards
            for a, b in zip(self.first[:-1], self.first[1:]):
                self.corners[a:b] = self.corners[a:b][::-1]
                if self.texcoords is not None:
                    self.texcoords[a:b] = self.texcoords[a:b][::-1]

        # the skeleton: the bones, the armature object where vertices hang on it alone, a joint for each prop
        self.joints, self.bones = [], []
        names, rests = {}, []
        if armature:
            base = TURN @ matrix(armature.matrix_world)
            for bone in bones_in_order(armature):
                names[bone.name] = len(self.joints)
                parent = names[bone.parent.name] if bone.parent else -1
                # the rest pose as a file would tell it, by the inverse bind matrices: the same character either way
                bind = np.linalg.inv(base @ matrix(bone.matrix_local)).astype(np.float32)
                rests.append(np.linalg.inv(bind.astype(float)))
                self.joints.append(cutis.Joint(bone.name, parent, None, bind[:3]))
                self.bones.append(bone.name)
            parts = cutis.local_parts(np.array(rests), [joint.parent for joint in self.joints])
            for i, joint in enumerate(self.joints):
                joint.rest = tuple(part[i] for part in parts)
        deforming = {bone.name for bone in armature.data.bones if bone.use_deform} if armature else set()
        joint_of_group = {g.index: names[g.name] for g in thing.vertex_groups if g.name in deforming}
        self.weights, self.loose = None, False
        if armature:
            *self.weights, self.loose = _weights(groups, joint_of_group, len(self.joints))
            self.weights = tuple(self.weights)
            if self.loose:
                self.joints.append(cutis.Joint("cutis armature", -1, base[:3]))
        self.parents = [joint.parent for joint in self.joints]
        if armature and not joint_of_group:
            raise Problem("no vertex group of %s has the name of a bone of %s; use Rig, or parent with automatic weights"
                          % (thing.name, armature.name))

        # painted maps
        self.maps = {}
        for name, neutral in MAPS.items():
            group = thing.vertex_groups.get("cutis_" + name)
            if group:
                values = np.full(len(positions), neutral, np.float32)
                for i, entries in enumerate(groups):
                    for index, weight in entries:
                        if index == group.index:
                            values[i] = weight
                self.maps[name] = values

        # shape keys as morphs
        self.keys, self.morphs = [], {}
        blocks = thing.data.shape_keys
        if blocks:
            others = [k for k in blocks.key_blocks[1:] if not k.name.startswith(KEYS)]
            if others and len(thing.data.vertices) != len(positions):
                self.warnings.append("shape keys of %s are ignored: a modifier above the armature changes its vertices" % thing.name)
                others = []
            for key in others:
                own, base = (np.empty(3 * len(positions), np.float32) for _ in range(2))
                key.data.foreach_get("co", own)
                key.relative_key.data.foreach_get("co", base)
                delta = (own - base).reshape(-1, 3) @ self.place[:3, :3].T
                if key.vertex_group and key.vertex_group in thing.vertex_groups:
                    index = thing.vertex_groups[key.vertex_group].index
                    share = np.array([next((w for g, w in entries if g == index), 0.0) for entries in groups])
                    delta = delta * share[:, None]
                self.keys.append(key.name)
                self.morphs[key.name] = delta.astype(np.float32)

        # props
        self.props, self.prop_names, self.prop_meshes = [], [], []
        for prop in props_of(scene, thing):
            points, first, corners, _, _ = _evaluated(prop)
            triangles = [(corners[a], corners[k], corners[k + 1]) for a, b in zip(first[:-1], first[1:]) for k in range(a + 1, b - 1)]
            self.joints.append(cutis.Joint("cutis prop " + prop.name, -1, (TURN @ rest_matrix(prop))[:3]))
            self.parents.append(-1)
            self.props.append(cutis.Prop(prop.name, prop.cutis.prop, "mesh", joint=len(self.joints) - 1,
                                         mass=prop.cutis.mass, friction=prop.cutis.friction,
                                         stiffness=prop.cutis.softness, positions=points,
                                         triangles=np.array(triangles, np.int32)))
            self.prop_names.append(prop.name)
        self.settings = settings_of(thing, armature, scene)
        self.stack, self.detail = thing.cutis.stack(), thing.cutis.detail_value()
        self.digest = self._digest()

    def _digest(self):
        made = hashlib.sha256(repr((self.settings, self.stack, self.detail, self.keys, self.bones, self.parents,
                                    [(p.name, p.role, p.mass, p.friction, p.stiffness) for p in self.props])).encode())
        arrays = [self.positions, self.first, self.corners, *(self.weights or ()), *self.maps.values(), *self.morphs.values()]
        arrays += [np.concatenate([np.ravel(part) for part in j.rest]) for j in self.joints] + [p.positions for p in self.props]
        for array in arrays:
            made.update(np.ascontiguousarray(array).tobytes())
        return made.hexdigest()

    def character(self, clip=None):
        """The whole character, with a clip."""
        return cutis.Character.from_arrays(
            self.positions, (self.first, self.corners), weights=self.weights, joints=self.joints,
            clips=[clip] if clip else [], morphs=self.morphs, maps=self.maps, props=self.props,
            texcoords=self.texcoords, name=self.name)

    def dancer(self, clip):
        """A character of the same skeleton and hardly a mesh, to sample a clip from."""
        points = np.eye(3, dtype=np.float32)
        morphs = {name: np.zeros((3, 3), np.float32) for name in self.morphs}
        return cutis.Character.from_arrays(points, np.array([[0, 1, 2]]), joints=self.joints, clips=[clip], morphs=morphs)


def _keys_between_frames(holders, start, end):
    """Frames of keys that lie between whole frames, of what animates the given objects and data."""
    found = set()

    def add(curves, place):
        for curve in curves:
            flat = np.empty(2 * len(curve.keyframe_points), np.float32)
            curve.keyframe_points.foreach_get("co", flat)
            found.update(np.round(place(flat[::2].astype(float)), 4))

    for data in [h.animation_data for h in holders if h is not None and h.animation_data]:
        if data.action:
            add(addon_compat.curves_of(data.action), lambda frames: frames)
        for strip in [s for t in data.nla_tracks if not t.mute for s in t.strips if not s.mute and s.action]:
            once = (strip.action_frame_end - strip.action_frame_start) * strip.scale
            for i in range(int(np.ceil(strip.repeat))):
                add(addon_compat.curves_of(strip.action),
                    lambda frames: strip.frame_start + i * once + (frames - strip.action_frame_start) * strip.scale)
    return sorted(f for f in found if start < f < end and abs(f - round(f)) > 1e-3)


class Motion:
    """Poses of all frames of the scene, and of keys between them: joints in their parents' space, values of shape keys; object
    matrices of the frames."""

    def __init__(self, scene, thing, reading):
        self.start, self.end = scene.frame_start, scene.frame_end
        self.fps = scene.render.fps / scene.render.fps_base
        armature = armature_of(thing)
        poses = [armature.pose.bones[name] for name in reading.bones] if armature else []
        props = [bpy.data.objects[name] for name in reading.prop_names]
        blocks = thing.data.shape_keys
        keys = [blocks.key_blocks[name] for name in reading.keys] if blocks else []
        self.count = self.end - self.start + 1

        # the instants: frames, and keys between them, so that nothing of the motion is missed
        holders = [thing, armature, blocks, armature.data if armature else None, *props]
        for one in list(holders[:2]) + props:
            while one is not None and one.parent is not None:
                one = one.parent
                holders.append(one)
        whole = np.arange(self.start, self.end + 1, dtype=float)
        between = _keys_between_frames(holders, self.start, self.end)
        if len(between) > KEYS_A_FRAME * self.count:
            between = np.linspace(self.start, self.end, KEYS_A_FRAME * (self.count - 1) + 1)
            between = between[np.abs(between - np.round(between)) > 1e-3]
        self.frames = np.sort(np.concatenate([whole, np.array(between, float)]))
        self.rows = np.searchsorted(self.frames, whole)
        world = np.empty((len(self.frames), len(reading.joints), 4, 4))
        places = np.empty((len(self.frames), 4, 4))
        self.weights = np.zeros((len(self.frames), len(keys)), np.float32)

        # walk over the timeline with the mesh switched off, and return
        now, part = scene.frame_current, scene.frame_subframe
        with Bare(thing):
            for i, frame in enumerate(self.frames):
                whole_frame = int(np.floor(frame))  # of negative frames, too
                scene.frame_set(whole_frame, subframe=frame - whole_frame)
                places[i] = matrix(thing.matrix_world)
                n = 0
                if armature:
                    base = TURN @ matrix(armature.matrix_world)
                    for n, pose in enumerate(poses):
                        world[i, n] = matrix(pose.matrix)
                    n = len(poses)
                    world[i, :n] = base @ world[i, :n]
                    if reading.loose:
                        world[i, n] = base
                        n += 1
                for k, prop in enumerate(props):
                    world[i, n + k] = TURN @ rest_matrix(prop) if prop.cutis.prop != "collider" else TURN @ matrix(prop.matrix_world)
                self.weights[i] = [0.0 if key.mute else key.value for key in keys]
        scene.frame_set(now, subframe=part)

        self.parts = cutis.local_parts(world, reading.parents)
        self.places, self.morphs = places[self.rows], self.weights[self.rows]  # of whole frames

    def clip(self, name):
        times = (self.frames - self.start) / self.fps
        return cutis.Clip(name, times, self.parts, self.weights if self.weights.shape[1] else None)

    def same_until(self, other):
        """Number of leading frames that are equal in both."""
        if other is None or (self.start, self.fps) != (other.start, other.fps) \
                or self.parts[0].shape[1:] != other.parts[0].shape[1:] or self.weights.shape[1:] != other.weights.shape[1:]:
            return 0

        # poses, up to the first instant that differs
        n = min(len(self.frames), len(other.frames))
        equal = (self.frames[:n] == other.frames[:n]) & (self.weights[:n] == other.weights[:n]).all(1)
        for own, others in zip(self.parts, other.parts):
            equal &= (own[:n] == others[:n]).all((1, 2))
        same = int(np.searchsorted(self.rows, n if equal.all() else np.argmin(equal)))

        # places of the object
        placed = (self.places[:same] == other.places[:same]).all((1, 2))
        return same if placed.all() else int(np.argmin(placed))

    def to_object(self, index, positions):
        """Positions of cutis at a frame, in the space of the mesh object."""
        into = np.linalg.inv(self.places[index]) @ BACK
        return (positions @ into[:3, :3].T + into[:3, 3]).astype(np.float32)
