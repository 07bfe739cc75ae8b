"""Rigging, measuring, caches and built-in characters."""
import ctypes
from ctypes import POINTER, byref
from dataclasses import make_dataclass
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from . import _structs as c
from .character import Character
from .core import (Pool, array, call, decode, encode, encode_optional, jobs_of, library, number, pointer, table, vector,
                   view, whole)

Quality = make_dataclass("Quality", [(name, float) for name, _ in c.cutis_quality._fields_], frozen=True)
Quality.__doc__ = "Figures of a result; docs/reference/conventions.md defines each one."
METHODS = ("auto", "heat", "voxel")


def quality_of(made: Any) -> Any:
    return Quality(*[getattr(made, name) for name, _ in made._fields_])


def _frames(character: Character, frames: Any) -> np.ndarray:
    if not isinstance(character, Character):
        raise TypeError("character must be a cutis.Character")
    return array("frames", frames, np.float32, (None, character.vertex_count, 3))


def measure(character: Character, frames: Any, fps: float = 30.0, pool: Optional[Pool] = None) -> Any:
    """Measures of frames (frames x vertices x 3) against the rest pose."""
    values = _frames(character, frames)
    made = c.cutis_quality()
    call("cutis_measure", character._handle, pointer(values, ctypes.c_float), len(values), number("fps", fps), jobs_of(pool), None,
         byref(made))
    return quality_of(made)


def measure_frames(character: Character, frames: Any, pool: Optional[Pool] = None) -> Dict[str, np.ndarray]:
    """The same per frame: volume_ratios, self_intersections, penetrations."""
    values = _frames(character, frames)
    volumes, depths = np.zeros(len(values)), np.zeros(len(values))
    pairs = np.zeros(len(values), np.int32)
    call("cutis_measure_frames", character._handle, pointer(values, ctypes.c_float), len(values), jobs_of(pool), None,
         pointer(volumes, ctypes.c_double), pointer(pairs, ctypes.c_int), pointer(depths, ctypes.c_double))
    return {"volume_ratios": volumes, "self_intersections": pairs, "penetrations": depths}


class Rig:
    """The result of rigging; `character` has the skeleton and the weights."""

    def __init__(self, handle: Any):
        self._handle = handle
        made = handle.contents
        self.character = Character(made.character, self)
        self.skeleton = decode(made.skeleton)
        self.sentences: List[str] = [decode(made.sentences[i]) for i in range(made.sentence_count)]
        #: of each vertex, the closed curve around a limb that it is on, or -1; empty when there are none
        count = self.character.vertex_count if made.vertex_curves else 0
        self.curves = np.array(made.vertex_curves[:count], np.int32)

    def __del__(self):
        if getattr(self, "_handle", None):
            library.cutis_rig_destroy(self._handle)
            self._handle = None


def _rig(function: str, character: Character, skeleton: Optional[str], landmarks: Optional[Dict[str, Sequence[float]]],
         method: str, max_influences: int, pool: Optional[Pool]) -> Rig:
    if not isinstance(character, Character):
        raise TypeError("character must be a cutis.Character")
    if method not in METHODS:
        raise ValueError("method is one of %s" % ", ".join(METHODS))
    definition = library.cutis_rig_def_default()
    definition.character = character._handle
    definition.skeleton = encode_optional(skeleton, "skeleton")
    landmarks = table("landmarks", landmarks)
    marks = (c.cutis_rig_landmark * max(1, len(landmarks)))()
    for to, (name, position) in zip(marks, landmarks.items()):
        to.name = encode(name)
        to.position[:] = vector("landmark %r" % name, position)
    definition.landmarks, definition.landmark_count = marks, len(landmarks)
    definition.method = METHODS.index(method)
    definition.max_influences = whole("max_influences", max_influences)
    definition.jobs = jobs_of(pool)
    handle = POINTER(c.cutis_rig)()
    call(function, byref(definition), byref(handle))
    return Rig(handle)


def rig(character: Character, skeleton: Optional[str] = None, landmarks: Optional[Dict[str, Sequence[float]]] = None, *,
        method: str = "auto", max_influences: int = 4, pool: Optional[Pool] = None) -> Rig:
    """Create a skeleton and weights. skeleton: a template (rig_templates()); landmarks: known positions of its joints."""
    return _rig("cutis_rig_create", character, skeleton, landmarks, method, max_influences, pool)


def bind(character: Character, *, method: str = "auto", max_influences: int = 4, pool: Optional[Pool] = None) -> Rig:
    """Compute new weights for the existing skeleton."""
    return _rig("cutis_rig_bind", character, None, None, method, max_influences, pool)


def rig_templates() -> Dict[str, str]:
    """Templates of rig, with a line on each."""
    entries = [library.cutis_rig_template_at(i) for i in range(library.cutis_rig_template_count())]
    return {decode(entry.name): decode(entry.summary) for entry in entries}


def zoo() -> Dict[str, str]:
    """Built-in characters, with a line on each."""
    entries = [library.cutis_zoo(i) for i in range(library.cutis_zoo_count())]
    return {decode(entry.name): decode(entry.summary) for entry in entries}


class _Cache:
    def __init__(self, handle: Any):
        self.handle = handle

    def __del__(self):
        library.cutis_cache_destroy(self.handle)


def read_cache(path: str) -> Tuple[np.ndarray, float, float]:
    """Positions (frames x vertices x 3; a view), first second and frames per second of .pc2, .mdd, .npy, .obj, .glb."""
    handle = POINTER(c.cutis_cache)()
    call("cutis_cache_load", encode(path, "a path"), None, byref(handle))
    owner = _Cache(handle)
    made = handle.contents
    return view(made.positions, (made.frame_count, made.vertex_count, 3), owner), made.start, made.fps


def save_morphs(character: Character, path: str, frames: Any, *, clip: Optional[str] = None, fps: float = 30.0,
                start: float = 0.0, tolerance: float = 0.0, targets: int = 0, exact: bool = False,
                positions_only: bool = False, pool: Optional[Pool] = None) -> Dict[str, Any]:
    """Write frames as a .glb of skeleton and morph targets, and return its accuracy."""
    values = _frames(character, frames)
    definition = c.cutis_morphs_def()
    definition.character = character._handle
    definition.clip = character.clip_index(clip)
    definition.start, definition.fps = number("start", start), number("fps", fps)
    definition.frames, definition.frame_count = pointer(values, ctypes.c_float), len(values)
    definition.tolerance, definition.target_limit = number("tolerance", tolerance), whole("targets", targets)
    definition.exact, definition.positions_only = bool(exact), bool(positions_only)
    definition.jobs = jobs_of(pool)
    info = c.cutis_morphs_info()
    call("cutis_morphs_save", byref(definition), encode(path, "a path"), byref(info))
    return {name: getattr(info, name) for name, _ in info._fields_}
