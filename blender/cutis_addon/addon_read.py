"""A Blender mesh, its armature and props as a cutis character, and their motion as a clip.

A character is all visible meshes that one armature deforms, joined in the order of the scene: body, head and clothes as one, so that
they touch and carry each other and stay together at their borders.

Space: cutis gets Blender's world, turned so that y is up as in glTF: (x, y, z) becomes (x, z, -y), which is exact. The
rest pose is that of the first frame's object matrices, so that an armature of any scale, moved or animated as an object,
deforms as Blender's modifier does.
"""
import contextlib
import hashlib
from dataclasses import dataclass, field

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


def sentence(failure):
    """What went wrong, as Blender shows it."""
    text = str(failure)
    return text[:1].upper() + text[1:]


def why_unusable(thing):
    """What keeps an object from being simulated; None: nothing."""
    if thing is None or thing.type != "MESH":
        return "select a mesh object"
    if thing.library is not None or (thing.data.library is not None and thing.override_library is None):
        return "%s is linked from another file; make it local or make a library override" % thing.name
    if thing.instance_type != "NONE":
        return "%s makes instances of others; make them real first" % thing.name
    return None


def check_usable(thing):
    """Raise what keeps an object from being simulated."""
    reason = why_unusable(thing)
    if reason:
        raise Problem(reason)


def armature_of(thing):
    """The armature that was chosen, else that of the modifier, else the parent."""
    if thing.cutis.armature:
        return thing.cutis.armature
    for modifier in thing.modifiers:
        if modifier.type == "ARMATURE" and modifier.object:
            return modifier.object
    return thing.parent if thing.parent and thing.parent.type == "ARMATURE" else None


def deformed_by(thing, armature):
    """Whether the armature moves the points of a mesh; what is parented to a bone follows as a whole and needs no flesh."""
    if thing.type != "MESH" or armature is None:
        return False
    if thing.cutis.armature:
        return thing.cutis.armature == armature
    return any(m.type == "ARMATURE" and m.object == armature for m in thing.modifiers) \
        or (thing.parent == armature and thing.parent_type == "ARMATURE")


def meshes_of(scene, armature):
    """All meshes that an armature deforms."""
    return [other for other in scene.objects if deformed_by(other, armature)]


def mates_of(scene, thing):
    """The meshes of a character, shown or hidden: those of its armature that are joined. A mesh that is not joined is alone."""
    armature = armature_of(thing)
    if armature is None or not thing.cutis.joined:
        return [thing]
    return [other for other in scene.objects
            if other == thing or (deformed_by(other, armature) and other.cutis.joined and other.cutis.prop == "none")]


def parts_of(scene, thing):
    """The meshes that are simulated together: the visible ones that can be."""
    return [other for other in mates_of(scene, thing)
            if other == thing or (other.visible_get() and not why_unusable(other) and has_weights(other))]


def lead_of(scene, thing):
    """The mesh of a character that keeps its settings: the one that is live or baked, else the largest."""
    mates = mates_of(scene, thing)
    for test in (lambda m: m.cutis.live, lambda m: m.cutis.report):
        for mate in mates:
            if test(mate):
                return mate
    return max(mates, key=lambda m: (m.visible_get(), len(m.data.vertices)))


def character_of(context):
    """The mesh that keeps the settings of the character that is selected: by one of its meshes, or by its armature."""
    thing = mesh_of(context)
    return lead_of(context.scene, thing) if thing is not None else None


def mesh_of(context):
    """The active mesh, or one of the active armature, or of an armature below the active object (importers put empties above)."""
    thing = context.object
    if thing is None or thing.type == "MESH":
        return thing
    for armature in [thing, *thing.children_recursive]:
        meshes = meshes_of(context.scene, armature) if armature.type == "ARMATURE" else []
        if meshes:
            return next((mesh for mesh in meshes if mesh.cutis.joined), meshes[0])
    return None


def has_weights(thing):
    armature = armature_of(thing)
    return any(group.name in armature.data.bones for group in thing.vertex_groups)


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


class Walk:
    """With it, the timeline may be walked over: frame and pose are as before behind it, a pose without keys, too."""

    def __init__(self, scene, armature, keep_pose=True):
        self.scene, self.armature = scene, armature if keep_pose else None
        self.loose = False  # whether the pose was one without keys

    def values(self):
        return [(tuple(bone.location), tuple(bone.rotation_quaternion), tuple(bone.rotation_euler), tuple(bone.rotation_axis_angle),
                 tuple(bone.scale)) for bone in self.armature.pose.bones] if self.armature else []

    def __enter__(self):
        self.frame, self.part = self.scene.frame_current, self.scene.frame_subframe
        self.before = self.values()
        return self

    def __exit__(self, *_):
        self.scene.frame_set(self.frame, subframe=self.part)
        after = self.values()
        self.loose = after != self.before
        for i, bone in enumerate(self.armature.pose.bones if self.loose else ()):
            if after[i] != self.before[i]:
                bone.location, bone.rotation_quaternion, bone.rotation_euler, bone.rotation_axis_angle, bone.scale = self.before[i]
        if self.loose:
            bpy.context.view_layer.update()


def bones_now(armature, names):
    """Bones in cutis' space (bones x 4 x 4), at the frame that is shown."""
    base = TURN @ matrix(armature.matrix_world)
    return np.array([base @ matrix(armature.pose.bones[name].matrix) for name in names])


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


def props_of(scene, parts):
    return [other for other in scene.objects
            if other.type == "MESH" and other not in parts and other.cutis.prop != "none" and other.visible_get()]


def rest_matrix(prop):
    """Where a prop stands; of a free one: where it stood before the simulation moved it."""
    return np.array(prop["cutis_rest"], float).reshape(4, 4) if "cutis_rest" in prop else matrix(prop.matrix_world)


@dataclass
class Part:
    """A mesh object of a character, and where its vertices are among those of the character."""
    name: str
    first: int
    end: int
    place: np.ndarray  # object to cutis, in the first frame
    keys: dict = field(default_factory=dict)  # names of its shape keys, and of their morphs


class Reading:
    """What goes into the library, apart from motion."""

    def __init__(self, scene, thing):
        check_usable(thing)
        self.name = thing.name
        armature = armature_of(thing)
        things = parts_of(scene, thing)
        self.warnings, self.parts, self.keys = [], [], []
        for mate in mates_of(scene, thing):
            if mate not in things and mate.visible_get():
                self.warnings.append("left out: %s" % (why_unusable(mate) or "%s has no weights of a bone" % mate.name))

        # the meshes, one behind the other
        meshes = [self._mesh(one) for one in things]
        positions, firsts, corners, coordinates, groups = zip(*meshes)
        self.positions = np.concatenate(positions)
        self.corners = np.concatenate([c + part.first for c, part in zip(corners, self.parts)]).astype(np.int32)
        starts = np.cumsum([0] + [len(c) for c in corners])
        self.first = np.concatenate([f[:-1] + s for f, s in zip(firsts, starts)] + [starts[-1:]]).astype(np.int32)
        self.texcoords = None
        if any(c is not None for c in coordinates):
            self.texcoords = np.concatenate([np.zeros((len(own), 2)) if c is None else c for c, own in zip(coordinates, corners)])

        self._skeleton(armature, things, groups)
        self._maps(things, groups)
        self._morphs(things, groups)
        self._props(scene, things)
        self.settings = settings_of(thing, armature, scene)
        self.stack, self.detail = thing.cutis.stack(), thing.cutis.detail_value()
        self.digest = self._digest()

    def _mesh(self, thing):
        """A mesh as it goes into the armature modifier, without shape keys, in the world of the first frame."""
        for modifier in thing.modifiers:
            if modifier.type == "ARMATURE" and modifier.use_bone_envelopes:
                self.warnings.append("bone envelopes of %s are ignored: use vertex groups" % thing.name)
            if modifier.type == "ARMATURE" and modifier.vertex_group:
                self.warnings.append("the vertex group of modifier %s is ignored" % modifier.name)
        with Bare(thing, keys=True):
            positions, first, corners, coordinates, groups = _evaluated(thing)
        if len(positions) == 0 or len(corners) == 0:
            raise Problem("%s has no faces" % thing.name)
        place = TURN @ matrix(thing.matrix_world)
        if np.linalg.det(place[:3, :3]) < 0:  # a mirrored object: faces look inwards
            for a, b in zip(first[:-1], first[1:]):
                corners[a:b] = corners[a:b][::-1]
                if coordinates is not None:
                    coordinates[a:b] = coordinates[a:b][::-1]
        begin = self.parts[-1].end if self.parts else 0
        self.parts.append(Part(thing.name, begin, begin + len(positions), place))
        return (positions @ place[:3, :3].T + place[:3, 3]).astype(np.float32), first, corners, coordinates, groups

    def _skeleton(self, armature, things, groups):
        """The bones; the armature object where vertices hang on it alone; the weights."""
        self.joints, self.bones, self.weights, self.loose = [], [], None, False
        if armature is None:
            self.parents = []
            return
        names, rests = {}, []
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

        # weights of all meshes
        deforming = {bone.name for bone in armature.data.bones if bone.use_deform}
        firsts, joints, weights = [np.zeros(1, np.int32)], [], []
        for thing, entries in zip(things, groups):
            joint_of_group = {g.index: names[g.name] for g in thing.vertex_groups if g.name in deforming}
            if not joint_of_group:
                raise Problem("no vertex group of %s has the name of a bone of %s; use Rig, or parent with automatic weights"
                              % (thing.name, armature.name))
            first, own, values, loose = _weights(entries, joint_of_group, len(self.joints))
            firsts.append(first[1:] + firsts[-1][-1])
            joints.append(own)
            weights.append(values)
            self.loose |= loose
        self.weights = np.concatenate(firsts), np.concatenate(joints), np.concatenate(weights)
        if self.loose:
            self.joints.append(cutis.Joint("cutis armature", -1, base[:3]))
        self.parents = [joint.parent for joint in self.joints]

    def _maps(self, things, groups):
        """Painted maps; what is not painted keeps the usual value."""
        self.maps = {}
        for name, neutral in MAPS.items():
            painted = [thing.vertex_groups.get("cutis_" + name) for thing in things]
            if not any(painted):
                continue
            values = np.full(len(self.positions), neutral, np.float32)
            for part, group, entries in zip(self.parts, painted, groups):
                for i, own in enumerate(entries) if group else ():
                    for index, weight in own:
                        if index == group.index:
                            values[part.first + i] = weight
            self.maps[name] = values

    def _morphs(self, things, groups):
        """Shape keys as morphs; where meshes have keys of one name each is a morph of its own."""
        self.morphs = {}
        for thing, part, entries in zip(things, self.parts, groups):
            count = part.end - part.first
            blocks = thing.data.shape_keys
            others = [k for k in blocks.key_blocks[1:] if not k.name.startswith(KEYS)] if blocks else []
            if others and len(thing.data.vertices) != count:
                self.warnings.append("shape keys of %s are ignored: a modifier above the armature changes its vertices" % thing.name)
                others = []
            for key in others:
                own, base = (np.empty(3 * count, np.float32) for _ in range(2))
                key.data.foreach_get("co", own)
                key.relative_key.data.foreach_get("co", base)
                delta = (own - base).reshape(-1, 3) @ part.place[:3, :3].T
                if key.vertex_group and key.vertex_group in thing.vertex_groups:
                    index = thing.vertex_groups[key.vertex_group].index
                    share = np.array([next((w for g, w in own if g == index), 0.0) for own in entries])
                    delta = delta * share[:, None]
                name = key.name if key.name not in self.morphs else "%s of %s" % (key.name, thing.name)
                part.keys[key.name] = name
                self.keys.append(name)
                self.morphs[name] = np.zeros((len(self.positions), 3), np.float32)
                self.morphs[name][part.first:part.end] = delta

    def _props(self, scene, things):
        """Props, with a joint for each."""
        self.props, self.prop_names = [], []
        for prop in props_of(scene, things):
            points, first, corners, _, _ = _evaluated(prop)
            triangles = [(corners[a], corners[k], corners[k + 1]) for a, b in zip(first[:-1], first[1:]) for k in range(a + 1, b - 1)]
            self.joints.append(cutis.Joint("cutis prop " + prop.name, -1, (TURN @ rest_matrix(prop))[:3]))
            self.parents.append(-1)
            self.props.append(cutis.Prop(prop.name, prop.cutis.prop, "mesh", joint=len(self.joints) - 1,
                                         mass=prop.cutis.mass, friction=prop.cutis.friction,
                                         stiffness=prop.cutis.softness, positions=points,
                                         triangles=np.array(triangles, np.int32)))
            self.prop_names.append(prop.name)

    def _digest(self):
        made = hashlib.sha256(repr((self.settings, self.stack, self.detail, self.keys, self.bones, self.parents,
                                    [(p.name, p.first, p.end) for p in self.parts],
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


def joints_that_move_as_one(reading, dancer):
    """For each joint the first one that it moves with, over the clip; by the rule of the library (src/body/body_parts.c)."""
    low, high = reading.positions.min(0).astype(float), reading.positions.max(0).astype(float)
    corners = np.array([[x, y, z, 1] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
    start, end = dancer.clips["timeline"]
    binds = np.linalg.inv(np.concatenate([dancer.rest_pose().astype(float), np.tile([[[0, 0, 0, 1]]], (dancer.joint_count, 1, 1))], 1))
    poses = np.array([dancer.pose("timeline", start + share * (end - start)) for share in np.linspace(0, 1, 24)]).astype(float)
    moved = poses @ binds @ corners.T  # (poses x joints x 3 x corners)
    far = 1e-3 * np.linalg.norm(high - low)
    groups = list(range(dancer.joint_count))
    for j in range(dancer.joint_count):
        for k in range(j):
            if groups[k] == k and np.linalg.norm(moved[:, j] - moved[:, k], axis=1).max() <= far:
                groups[j] = k
                break
    bent = sum(parent >= 0 and groups[parent] != groups[j] for j, parent in enumerate(reading.parents))
    return np.array(groups if bent >= 0.3 * dancer.joint_count else range(dancer.joint_count))


def components(triangles, count):
    """For each vertex the least one that edges connect it with."""
    labels = np.arange(count)
    while True:
        before = labels.copy()
        np.minimum.at(labels, triangles.reshape(-1), np.repeat(labels[triangles].min(1), 3))
        labels = labels[labels]
        if (labels == before).all():
            return labels


def rigid_pieces(reading, dancer, triangles):
    """For each piece of the mesh the joints that move it as one, -1 where it bends. The simulation body depends on the motion by
    this alone: while it stays, a changed key needs no new model."""
    first, joints, weights = reading.weights
    groups = joints_that_move_as_one(reading, dancer)[joints]
    heads = np.repeat(np.arange(len(first) - 1), np.diff(first))
    one = np.full(len(first) - 1, -1)
    np.maximum.at(one, heads, groups)
    alone = np.full(len(first) - 1, True)
    np.logical_and.at(alone, heads, (groups == one[heads]) | (weights < 0.01))
    one[~alone] = -1

    # a piece is rigid when all of its vertices are, by the same joints
    labels = components(triangles, len(one))
    low, high = np.full(len(one), len(reading.joints)), np.full(len(one), -1)
    np.minimum.at(low, labels, one)
    np.maximum.at(high, labels, one)
    roots = labels == np.arange(len(one))
    return np.where(low[roots] == high[roots], low[roots], -1).tolist()


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
        props = [bpy.data.objects[name] for name in reading.prop_names]
        parts = [bpy.data.objects[part.name] for part in reading.parts]
        keys = [one.data.shape_keys.key_blocks[name] for one, part in zip(parts, reading.parts) for name in part.keys]
        self.count = self.end - self.start + 1

        # the instants: frames, and keys between them, so that nothing of the motion is missed
        holders = [armature, armature.data if armature else None, *parts, *(one.data.shape_keys for one in parts), *props]
        for one in [armature, *parts, *props]:
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
        places = np.empty((len(self.frames), len(parts), 4, 4))
        self.weights = np.zeros((len(self.frames), len(keys)), np.float32)

        # walk over the timeline with the meshes switched off; the caller returns
        with contextlib.ExitStack() as stack:
            for one in parts:
                stack.enter_context(Bare(one))
            for i, frame in enumerate(self.frames):
                whole_frame = int(np.floor(frame))  # of negative frames, too
                scene.frame_set(whole_frame, subframe=frame - whole_frame)
                places[i] = [matrix(one.matrix_world) for one in parts]
                n = 0
                if armature:
                    n = len(reading.bones)
                    world[i, :n] = bones_now(armature, reading.bones)
                    if reading.loose:
                        world[i, n] = TURN @ matrix(armature.matrix_world)
                        n += 1
                for k, prop in enumerate(props):
                    world[i, n + k] = TURN @ rest_matrix(prop) if prop.cutis.prop != "collider" else TURN @ matrix(prop.matrix_world)
                self.weights[i] = [0.0 if key.mute else key.value for key in keys]

        self.bones = world[self.rows, :len(reading.bones)]
        self.parts = cutis.local_parts(world, reading.parents)
        self.places, self.morphs = places[self.rows], self.weights[self.rows]  # of whole frames

    def clip(self, name):
        times = (self.frames - self.start) / self.fps
        return cutis.Clip(name, times, self.parts, self.weights if self.weights.shape[1] else None)

    def same_until(self, other):
        """Number of leading frames that are equal in both."""
        if other is None or (self.start, self.fps) != (other.start, other.fps) or self.places.shape[1:] != other.places.shape[1:] \
                or self.parts[0].shape[1:] != other.parts[0].shape[1:] or self.weights.shape[1:] != other.weights.shape[1:]:
            return 0

        # poses, up to the first instant that differs
        n = min(len(self.frames), len(other.frames))
        equal = (self.frames[:n] == other.frames[:n]) & (self.weights[:n] == other.weights[:n]).all(1)
        for own, others in zip(self.parts, other.parts):
            equal &= (own[:n] == others[:n]).all((1, 2))
        same = int(np.searchsorted(self.rows, n if equal.all() else np.argmin(equal)))

        # places of the object
        placed = (self.places[:same] == other.places[:same]).all((1, 2, 3))
        return same if placed.all() else int(np.argmin(placed))

    def to_object(self, index, part, positions):
        """Positions of cutis at a frame, in the space of a part's mesh object."""
        into = np.linalg.inv(self.places[index, part]) @ BACK
        return (positions @ into[:3, :3].T + into[:3, 3]).astype(np.float32)
