"""Characters: meshes with skeleton, weights and motion."""
import ctypes
from ctypes import POINTER, byref
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _structs as c
from .core import (array, call, decode, encode, library, number, pointer, settings_array, table, vector, view, whole)

ROLES = ("collider", "rigid", "soft")
SHAPES = ("mesh", "plane", "sphere", "capsule", "box")
PATHS = ((c.CUTIS_PATH_TRANSLATION, 3), (c.CUTIS_PATH_ROTATION, 4), (c.CUTIS_PATH_SCALE, 3))


def decompose(matrices: np.ndarray) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Translations, unit quaternions (x, y, z, w) and scales of matrices (... x 3 x 4). Shear is dropped."""
    matrices = np.asarray(matrices, float)
    shape = matrices.shape[:-2]
    m = matrices[..., :3, :3].reshape(-1, 3, 3).copy()
    scales = np.linalg.norm(m, axis=1)
    scales[np.linalg.det(m) < 0, 0] *= -1  # a mirror
    m /= np.where(scales == 0, 1, scales)[:, None, :]

    # the largest of the four components first, so that nothing is divided by a small one
    xx, yy, zz = m[:, 0, 0], m[:, 1, 1], m[:, 2, 2]
    squares = np.stack([1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz, 1 + xx + yy + zz], 1)
    yz, zx, xy = m[:, 2, 1] - m[:, 1, 2], m[:, 0, 2] - m[:, 2, 0], m[:, 1, 0] - m[:, 0, 1]
    sxy, szx, syz = m[:, 0, 1] + m[:, 1, 0], m[:, 0, 2] + m[:, 2, 0], m[:, 1, 2] + m[:, 2, 1]
    rows = np.stack([np.stack([squares[:, 0], sxy, szx, yz], 1), np.stack([sxy, squares[:, 1], syz, zx], 1),
                     np.stack([szx, syz, squares[:, 2], xy], 1), np.stack([yz, zx, xy, squares[:, 3]], 1)], 1)
    quaternions = rows[np.arange(len(m)), squares.argmax(1)]
    quaternions /= np.linalg.norm(quaternions, axis=1, keepdims=True)
    return (matrices[..., :3, 3].astype(np.float32), quaternions.reshape(shape + (4,)).astype(np.float32),
            scales.reshape(shape + (3,)).astype(np.float32))


def compose(translations: np.ndarray, rotations: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """Matrices (... x 4 x 4) of translations, quaternions and scales."""
    x, y, z, w = np.moveaxis(np.asarray(rotations, float), -1, 0)
    made = np.zeros(x.shape + (4, 4))
    made[..., :3, :3] = np.stack([
        np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)], -1),
        np.stack([2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)], -1),
        np.stack([2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)], -1)], -2)
    made[..., :3, :3] *= np.asarray(scales, float)[..., None, :]
    made[..., :3, 3] = translations
    made[..., 3, 3] = 1
    return made


def local_parts(scene: Any, parents: Sequence[int]) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Translations, rotations and scales in the parents' space, of matrices in scene space (... x joints x 4 x 4).

    Each joint makes up for the rounding of those above it, so that errors do not grow along a chain.
    """
    scene = np.asarray(scene, float)
    stored = np.empty_like(scene)
    parts = (np.empty(scene.shape[:-2] + (3,), np.float32), np.empty(scene.shape[:-2] + (4,), np.float32),
             np.empty(scene.shape[:-2] + (3,), np.float32))
    for j, parent in enumerate(parents):
        above = stored[..., parent, :, :] if parent >= 0 else np.eye(4)
        own = decompose((np.linalg.inv(above) @ scene[..., j, :, :])[..., :3, :])
        for whole, part in zip(parts, own):
            whole[..., j, :] = part
        stored[..., j, :, :] = above @ compose(*own)
    return parts


@dataclass
class Joint:
    """A node of the skeleton. rest: local transform in the rest pose, 3 x 4 (or 4 x 4), or translation, rotation, scale."""
    name: str
    parent: int = -1
    rest: Any = field(default_factory=lambda: np.eye(4)[:3])
    inverse_bind: Any = None  # rest scene space -> joint space; None: the inverse of the rest pose
    idle: Any = None  # local transform where no clip moves it; None: rest


@dataclass
class Clip:
    """Linear keys: local transforms (keys x joints x 3 x 4, or the arrays of local_parts), and weights of morphs
    (keys x morphs)."""
    name: str
    times: Any
    locals: Any
    morphs: Any = None
    joints: Optional[Sequence[int]] = None  # that are keyed; None: all


@dataclass
class Prop:
    """An object that the character can touch; joint -1: fixed in the scene."""
    name: str
    role: str = "collider"
    shape: str = "mesh"
    size: Sequence[float] = (0, 0, 0)
    joint: int = -1
    mass: float = 0
    friction: float = -1
    restitution: float = -1
    stiffness: float = 0.5
    positions: Any = None
    triangles: Any = None


def _matrix(matrix: Any, what: str) -> np.ndarray:
    """The upper three rows of a matrix of 3 x 4 or 4 x 4."""
    made = np.asarray(matrix)
    if made.dtype.kind not in "fiu" or made.shape not in ((3, 4), (4, 4)):
        raise ValueError("%s must be a matrix of 3 x 4" % what)
    return made.astype(float)[:3]


def _set_transform(to: Any, matrix: Any, what: str) -> None:
    if isinstance(matrix, tuple) and len(matrix) == 3:
        for part, values, count in zip((to.translation, to.rotation, to.scale), matrix, (3, 4, 3)):
            part[:] = array(what, values, np.float32, (count,)).tolist()
        return
    translation, rotation, scale = decompose(_matrix(matrix, what))
    to.translation[:] = translation.tolist()
    to.rotation[:] = rotation.tolist()
    to.scale[:] = scale.tolist()


def _corners(faces: Any) -> Tuple[np.ndarray, np.ndarray]:
    """First corner of each face, and corners: of (n x 3 or 4) array, list of polygons, or the two arrays themselves."""
    if isinstance(faces, tuple) and len(faces) == 2 and np.ndim(faces[0]) == 1 and len(faces[0]) and faces[0][0] == 0:
        first, corners = array("faces[0]", faces[0], np.int32, (None,)), array("faces[1]", faces[1], np.int32, (None,))
        if (np.diff(first) < 3).any() or first[-1] != len(corners):
            raise ValueError("faces[0] must begin with 0, grow by 3 or more, and end with the number of corners")
        return first, corners
    if isinstance(faces, np.ndarray):
        if faces.ndim != 2 or faces.shape[1] < 3:
            raise ValueError("faces must have the shape n x 3 (or n x 4)")
        corners = array("faces", faces, np.int32, (None, None))
        return np.arange(0, corners.size + 1, corners.shape[1], dtype=np.int32), corners.reshape(-1)
    try:
        lengths = [len(face) for face in faces]
    except TypeError:
        raise TypeError("faces must be an array, or a list of polygons") from None
    first = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    flat = [corner for face in faces for corner in face]
    return first, array("faces", flat, np.int32, (None,)) if flat else np.zeros(0, np.int32)


def _influences(weights: Any, vertex_count: int, joint_count: int) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sparse weights: of a dense (vertices x joints) array, or (first, joints, weights) unchanged."""
    if isinstance(weights, tuple):
        first = array("weights[0]", weights[0], np.int32, (vertex_count + 1,))
        joints = array("weights[1]", weights[1], np.int32, (None,))
        values = array("weights[2]", weights[2], np.float32, (len(joints),))
        if first[0] != 0 or first[-1] != len(joints) or (np.diff(first) < 0).any():
            raise ValueError("weights[0] must go up from 0 to the number of influences")
        return first, joints, values
    dense = array("weights", weights, np.float32, (vertex_count, joint_count))
    vertices, joints = np.nonzero(dense)
    first = np.searchsorted(vertices, np.arange(vertex_count + 1)).astype(np.int32)
    return first, joints.astype(np.int32), dense[vertices, joints]


class Character:
    """A mesh, its skeleton, weights and motion; read-only. Create one with load, make or from_arrays."""

    def __init__(self, handle: Any = None, owner: Any = None):
        """Internal: a pointer of the library, and its owner (None: this object)."""
        if not isinstance(handle, POINTER(c.cutis_character)) or not handle:
            raise TypeError("use Character.load, Character.make or Character.from_arrays")
        self._handle = handle
        self._owner = owner

    def __del__(self):
        if getattr(self, "_handle", None) and self._owner is None:
            library.cutis_character_destroy(self._handle)
            self._handle = None

    # ---- making one ----

    @classmethod
    def load(cls, path: Union[str, Any], data: Optional[bytes] = None) -> "Character":
        """Load a file, or its bytes; the extension of the path selects the format."""
        handle = POINTER(c.cutis_character)()
        if data is None:
            call("cutis_character_load", encode(path, "a path"), None, byref(handle))
        else:
            if not isinstance(data, (bytes, bytearray, memoryview)):
                raise TypeError("data must be bytes, not %s" % type(data).__name__)
            data = bytes(data)
            call("cutis_character_load_memory", ctypes.cast(data, ctypes.c_void_p), len(data), encode(path, "a path"), None,
                 byref(handle))
        return cls(handle)

    @classmethod
    def make(cls, name: str, resolution: float = 1.0) -> "Character":
        """One of the built-in characters (cutis.zoo())."""
        handle = POINTER(c.cutis_character)()
        call("cutis_zoo_make", encode(name), number("resolution", resolution), None, byref(handle))
        return cls(handle)

    @classmethod
    def from_arrays(cls, positions: Any, faces: Any, *, weights: Any = None, joints: Sequence[Joint] = (),
                    clips: Sequence[Clip] = (), morphs: Optional[Dict[str, Any]] = None,
                    maps: Optional[Dict[str, Any]] = None, props: Sequence[Prop] = (), texcoords: Any = None,
                    settings: Any = None, name: str = "character") -> "Character":
        """Create from arrays, which are checked and copied.

        positions: (vertices x 3), rest pose. faces: (n x 3 or 4) array or list of polygons. weights: dense (vertices x
        joints) or sparse (first, joints, weights). morphs: deltas (vertices x 3) by name. maps: painted values
        (vertices) by name. texcoords: (corners x 2), v grows downwards.
        """
        given = c.cutis_character()
        keep: List[Any] = []

        def put(what: str, values: Any, dtype: Any, shape: Any, kind: Any) -> Any:
            made = array(what, values, dtype, shape)
            keep.append(made)
            return pointer(made, kind)

        # the mesh
        points = array("positions", positions, np.float32, (None, 3))
        keep.append(points)
        given.name = encode(name, "name")
        given.vertex_count = len(points)
        given.positions = pointer(points, ctypes.c_float)
        first, corners = _corners(faces)
        keep += [first, corners]
        given.face_count = len(first) - 1
        given.face_first = pointer(first, ctypes.c_int)
        given.corners = pointer(corners, ctypes.c_int)
        if texcoords is not None:
            given.texcoords = put("texcoords", texcoords, np.float32, (len(corners), 2), ctypes.c_float)
        if weights is not None:
            first, owners, values = _influences(weights, len(points), len(joints))
            keep += [first, owners, values]
            given.influence_first = pointer(first, ctypes.c_int)
            given.influence_joints = pointer(owners, ctypes.c_int)
            given.influence_weights = pointer(values, ctypes.c_float)

        # the skeleton: the inverse bind matrices follow from the rest pose where none are given
        skeleton = (c.cutis_joint * max(1, len(joints)))()
        scene: List[np.ndarray] = []
        for i, joint in enumerate(joints):
            if not isinstance(joint, Joint):
                raise TypeError("joints must be cutis.Joint, not %s" % type(joint).__name__)
            if not -1 <= whole("the parent of joint %r" % joint.name, joint.parent) < i:
                raise ValueError("the parent of joint %d, %r, must come before it" % (i, joint.name))
            local = np.eye(4)
            what = "the rest of joint %r" % joint.name
            local[:3] = compose(*joint.rest)[:3] if isinstance(joint.rest, tuple) else _matrix(joint.rest, what)
            scene.append(scene[joint.parent] @ local if joint.parent >= 0 else local)
            skeleton[i].name = encode(joint.name, "the name of a joint")
            skeleton[i].parent = joint.parent
            _set_transform(skeleton[i].rest, joint.rest, what)
            _set_transform(skeleton[i].idle, joint.rest if joint.idle is None else joint.idle, "idle")
            if joint.inverse_bind is not None:
                bind = _matrix(joint.inverse_bind, "the inverse_bind of joint %r" % joint.name)
            else:
                try:
                    bind = np.linalg.inv(scene[i])[:3]
                except np.linalg.LinAlgError:
                    raise ValueError("the rest of joint %r is flat" % joint.name) from None
            skeleton[i].inverse_bind[:] = bind.reshape(12).tolist()
        given.joint_count = len(joints)
        given.joints = skeleton
        keep.append(skeleton)

        # painted maps and morphs
        for what, kind, entries in (("map", c.cutis_map, table("maps", maps)), ("morph", c.cutis_morph, table("morphs", morphs))):
            made = (kind * max(1, len(entries)))()
            for i, (key, values) in enumerate(entries.items()):
                made[i].name = encode(key)
                shape = (len(points),) if what == "map" else (len(points), 3)
                at = put("%s %r" % (what, key), values, np.float32, shape, ctypes.c_float)
                setattr(made[i], "values" if what == "map" else "deltas", at)
            setattr(given, what + "_count", len(entries))
            setattr(given, what + "s", made)
            keep.append(made)

        # props
        things = (c.cutis_prop * max(1, len(props)))()
        for to, prop in zip(things, props):
            if not isinstance(prop, Prop):
                raise TypeError("props must be cutis.Prop, not %s" % type(prop).__name__)
            if prop.role not in ROLES or prop.shape not in SHAPES:
                raise ValueError("prop %r: the role is one of %s, the shape one of %s" % (prop.name, ROLES, SHAPES))
            to.name = encode(prop.name)
            to.role, to.shape = ROLES.index(prop.role), SHAPES.index(prop.shape)
            what = "prop %r: " % prop.name
            to.size[:] = vector(what + "size", prop.size)
            to.joint = whole(what + "joint", prop.joint)
            if not -1 <= prop.joint < len(joints):
                raise ValueError("%sthere is no joint %d" % (what, prop.joint))
            for name in ("mass", "friction", "restitution", "stiffness"):
                setattr(to, name, number(what + name, getattr(prop, name)))
            if prop.shape == "mesh":
                to.positions = put(what + "positions", prop.positions, np.float32, (None, 3), ctypes.c_float)
                to.vertex_count = len(keep[-1])
                to.triangles = put(what + "triangles", prop.triangles, np.int32, (None, 3), ctypes.c_int)
                to.triangle_count = len(keep[-1])
        given.prop_count = len(props)
        given.props = things
        keep.append(things)

        # motion
        made_clips = (c.cutis_clip * max(1, len(clips)))()
        for to, clip in zip(made_clips, clips):
            if not isinstance(clip, Clip):
                raise TypeError("clips must be cutis.Clip, not %s" % type(clip).__name__)
            to.name = encode(clip.name)
            tracks, arrays = _tracks(clip, len(joints), given.morph_count)
            to.tracks = tracks
            to.track_count = len(tracks)
            keep += [tracks, arrays]
        given.clip_count = len(clips)
        given.clips = made_clips
        keep.append(made_clips)
        given.settings, given.setting_count, alive = settings_array(settings)
        keep += alive

        handle = POINTER(c.cutis_character)()
        call("cutis_character_create", byref(given), None, byref(handle))
        return cls(handle)

    def save(self, path: str) -> None:
        """Write .glb or .obj."""
        call("cutis_character_save", self._handle, encode(path, "a path"))

    def with_motion(self, path: str, pairs: Optional[Dict[str, str]] = None) -> "Character":
        """A copy with the motion of a .bvh file as one more clip; pairs: joints of the motion and of the character."""
        pairs = table("pairs", pairs)
        made = (c.cutis_name_pair * max(1, len(pairs)))()
        for to, (source, target) in zip(made, pairs.items()):
            setattr(to, "from", encode(source))
            to.to = encode(target)
        handle = POINTER(c.cutis_character)()
        call("cutis_character_add_bvh", self._handle, encode(path, "a path"), made, len(pairs), None, byref(handle))
        return Character(handle)

    # ---- reading ----

    @property
    def _c(self) -> Any:
        return self._handle.contents

    @property
    def name(self) -> str:
        """Name of the file, or the given name."""
        return decode(self._c.name)

    @property
    def vertex_count(self) -> int:
        """Number of vertices."""
        return self._c.vertex_count

    @property
    def joint_count(self) -> int:
        """Number of joints."""
        return self._c.joint_count

    @property
    def size(self) -> float:
        """Length of the diagonal of the bounds: "the size" of every relative figure."""
        return self._c.size

    @property
    def positions(self) -> np.ndarray:
        """(vertices x 3), rest pose; a view."""
        return view(self._c.positions, (self._c.vertex_count, 3), self)

    @property
    def triangles(self) -> np.ndarray:
        """(triangles x 3) vertices; a view."""
        return view(self._c.triangles, (self._c.triangle_count, 3), self, "<i4")

    @property
    def faces(self) -> List[List[int]]:
        """Polygons, as lists of vertices."""
        first = view(self._c.face_first, (self._c.face_count + 1,), self, "<i4")
        corners = view(self._c.corners, (self._c.corner_count,), self, "<i4")
        return [part.tolist() for part in np.split(corners, first[1:-1])]

    @property
    def texcoords(self) -> Optional[np.ndarray]:
        """(corners x 2), or None; a view."""
        return view(self._c.texcoords, (self._c.corner_count, 2), self) if self._c.texcoords else None

    @property
    def weights(self) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        """First influence of each vertex (and the end), joints, weights; views."""
        if not self._c.influence_first:
            return np.zeros(self.vertex_count + 1, np.int32), np.zeros(0, np.int32), np.zeros(0, np.float32)
        first = view(self._c.influence_first, (self.vertex_count + 1,), self, "<i4")
        return (first, view(self._c.influence_joints, (int(first[-1]),), self, "<i4"),
                view(self._c.influence_weights, (int(first[-1]),), self))

    @property
    def joints(self) -> List[str]:
        """Names of the joints, parents first."""
        return [decode(self._c.joints[i].name) for i in range(self._c.joint_count)]

    @property
    def parents(self) -> List[int]:
        """Index of the parent of each joint, or -1."""
        return [self._c.joints[i].parent for i in range(self._c.joint_count)]

    @property
    def clips(self) -> Dict[str, Tuple[float, float]]:
        """Start and end of each clip, seconds."""
        return {decode(self._c.clips[i].name): (self._c.clips[i].start, self._c.clips[i].end)
                for i in range(self._c.clip_count)}

    @property
    def maps(self) -> Dict[str, np.ndarray]:
        """Painted maps; views."""
        return {decode(self._c.maps[i].name): view(self._c.maps[i].values, (self.vertex_count,), self)
                for i in range(self._c.map_count)}

    @property
    def morphs(self) -> Dict[str, np.ndarray]:
        """Deltas (vertices x 3); views."""
        return {decode(self._c.morphs[i].name): view(self._c.morphs[i].deltas, (self.vertex_count, 3), self)
                for i in range(self._c.morph_count)}

    @property
    def props(self) -> List[str]:
        """Names of the props."""
        return [decode(self._c.props[i].name) for i in range(self._c.prop_count)]

    @property
    def warnings(self) -> List[str]:
        """Problems of the data that were repaired, one sentence each."""
        return [decode(self._c.warnings[i]) for i in range(self._c.warning_count)]

    def clip_index(self, clip: Optional[str]) -> int:
        """Index of a clip; None: -1, the idle pose."""
        if clip is None:
            return -1
        found = library.cutis_character_find_clip(self._handle, encode(clip, "clip"))
        if found < 0:
            raise ValueError("there is no clip '%s' in %s; there are: %s" % (clip, self.name, ", ".join(self.clips)))
        return found

    def pose(self, clip: Optional[str] = None, time: float = 0.0) -> np.ndarray:
        """(joints x 3 x 4), joint space to scene space: a clip at a time, or the idle pose."""
        joints = np.empty((self.joint_count, 3, 4), np.float32)
        library.cutis_pose_sample(self._handle, self.clip_index(clip), number("time", time), pointer(joints, ctypes.c_float))
        return joints

    def rest_pose(self) -> np.ndarray:
        """(joints x 3 x 4), joint space to scene space: the pose in which the mesh was bound."""
        joints = np.empty((self.joint_count, 3, 4), np.float32)
        library.cutis_pose_rest(self._handle, pointer(joints, ctypes.c_float))
        return joints

    def morph_weights(self, clip: Optional[str] = None, time: float = 0.0) -> np.ndarray:
        """(morphs): weights of a clip at a time."""
        weights = np.zeros(self._c.morph_count, np.float32)
        if len(weights):
            library.cutis_pose_morphs(self._handle, self.clip_index(clip), number("time", time), pointer(weights, ctypes.c_float))
        return weights

    def motion(self, clip: Optional[str] = None, lead_in: float = 0.0) -> "ClipMotion":  # noqa: F821
        """A clip as a motion for State.step."""
        from .model import ClipMotion
        return ClipMotion(self, clip, lead_in)

    def topology(self) -> Dict[str, Any]:
        """Components, holes, self-intersections, volume, ..."""
        made = c.cutis_topology()
        call("cutis_character_topology", self._handle, None, byref(made))
        return {field: getattr(made, field) for field, _ in made._fields_}

    def __repr__(self) -> str:
        return "<cutis.Character %s: %d vertices, %d joints, %d clips>" % (
            self.name, self.vertex_count, self.joint_count, self._c.clip_count)


def _tracks(clip: Clip, joint_count: int, morph_count: int) -> Tuple[Any, List[Any]]:
    """Tracks of a clip, and the arrays they point to."""
    times = array("times of clip %r" % clip.name, clip.times, np.float32, (None,))
    chosen = list(range(joint_count)) if clip.joints is None else list(clip.joints)
    if any(not 0 <= j < joint_count for j in chosen):
        raise ValueError("clip %r keys a joint that is not there" % clip.name)
    what = "locals of clip %r" % clip.name
    if isinstance(clip.locals, tuple) and len(clip.locals) == 3:
        parts = [array(what, part, np.float32, (len(times), len(chosen), n)) for part, n in zip(clip.locals, (3, 4, 3))]
    else:
        parts = decompose(array(what, clip.locals, np.float64, (len(times), len(chosen), 3, 4)))
    weights = array("morphs of clip %r" % clip.name, np.zeros((len(times), 0)) if clip.morphs is None else clip.morphs,
                    np.float32, (len(times), morph_count if clip.morphs is not None else 0))
    parts = [np.ascontiguousarray(np.swapaxes(part, 0, 1)) for part in parts]
    columns = np.ascontiguousarray(weights.T)
    tracks = (c.cutis_track * max(1, 3 * len(chosen) + len(columns)))()
    n = 0
    for (path, _), values in zip(PATHS, parts):
        for joint, own in zip(chosen, values):
            tracks[n].target, tracks[n].path = joint, path
            tracks[n].values = pointer(own, ctypes.c_float)
            n += 1
    for i, own in enumerate(columns):
        tracks[n].target, tracks[n].path = i, c.CUTIS_PATH_MORPH
        tracks[n].values = pointer(own, ctypes.c_float)
        n += 1
    for track in tracks:
        track.interpolation = c.CUTIS_INTERPOLATION_LINEAR
        track.key_count = len(times)
        track.times = pointer(times, ctypes.c_float)
    if n == 0:
        raise ValueError("clip %r moves nothing" % clip.name)
    return tracks, [times, parts, columns]
