"""Bake: simulate a character through a clip in one call."""
import ctypes
import json
from ctypes import POINTER, byref
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _structs as c
from .character import Character
from .core import (call, decode, encode, encode_optional, library, number, settings_array, table, vector, view, whole)
from .tools import quality_of

STAGES = ("load", "build", "lead_in", "loop", "frames", "measure", "write")
LEVELS = ("good", "look", "bad")  # of a verdict
_PLAIN = ("frame_count", "vertex_count", "fps", "start", "lead_in", "substep", "interrupted", "threads", "element_count",
          "size", "load_seconds", "build_seconds", "lead_in_seconds", "total_seconds", "step_min", "step_median",
          "step_mean", "step_max", "model_bytes", "state_bytes", "peak_bytes", "substeps", "iterations", "unconverged",
          "repairs", "contacts_max", "residual_max", "volume_min", "volume_max", "props_moved", "failed_checks", "hash")


class BakeResult:
    """Result of a bake. Fields are those of cutis_bake_result; times in seconds."""

    def __init__(self, handle: Any):
        self._handle = handle
        made = handle.contents
        for name in _PLAIN:
            setattr(self, name, getattr(made, name))
        self.solver = decode(made.solver)
        self.clip = decode(made.clip) if made.clip else None
        self.element = decode(made.element)
        self.report: Dict[str, Any] = json.loads(decode(made.report))
        self.warnings: List[str] = [decode(made.warnings[i]) for i in range(made.warning_count)]
        self.quality = quality_of(made.quality) if made.has_quality else None
        self.loop = {n: getattr(made.loop, n) for n, _ in made.loop._fields_} if made.has_loop else None
        self.morphs = {n: getattr(made.morphs, n) for n, _ in made.morphs._fields_} if made.has_morphs else None
        self.verdict: Optional[str] = decode(made.verdict.text) if made.has_verdict else None
        self.gained: Optional[str] = decode(made.verdict.gained.text) if made.has_verdict else None
        self.level: Optional[str] = LEVELS[made.verdict.level] if made.has_verdict else None
        self.findings: List[Dict[str, Any]] = [
            {"text": decode(f.text), "level": LEVELS[f.level], "value": f.value, "bound": f.bound,
             "frame": f.worst_frame, "vertex": f.vertex}
            for f in (made.verdict.findings[i] for i in range(made.verdict.finding_count if made.has_verdict else 0))]
        self.checks = [(decode(k.name), decode(k.relation), k.bound, k.value, k.passed)
                       for k in (made.checks[i] for i in range(made.check_count))]

    def __repr__(self) -> str:
        return "<cutis.BakeResult %s of %s: %d frames x %d vertices%s>" % (
            self.solver, self.clip or "the idle pose", self.frame_count, self.vertex_count,
            ", " + self.verdict if self.verdict else "")

    def __del__(self):
        if getattr(self, "_handle", None):
            library.cutis_bake_destroy(self._handle)
            self._handle = None

    @property
    def positions(self) -> Optional[np.ndarray]:
        """(frames x vertices x 3) with keep_frames; a view."""
        made = self._handle.contents
        return view(made.positions, (self.frame_count, self.vertex_count, 3), self) if made.positions else None

    @property
    def volume_ratios(self) -> np.ndarray:
        """(frames); a view."""
        return view(self._handle.contents.volume_ratios, (self.frame_count,), self, "<f8")

    @property
    def step_series(self) -> np.ndarray:
        """(frames) seconds; a view."""
        return view(self._handle.contents.step_series, (self.frame_count,), self, "<f8")

    @property
    def files(self) -> Dict[str, bytes]:
        """Files in memory, if `format` was given."""
        made = self._handle.contents
        return {decode(made.files[i].name): ctypes.string_at(made.files[i].data, made.files[i].size)
                for i in range(made.file_count)}


def bake(source: Union[str, Character], output: Optional[str] = None, *, solver: Optional[str] = None,
         clip: Optional[str] = None, settings: Any = None, fps: float = 0.0, start: Optional[float] = None,
         end: Optional[float] = None, lead_in: Optional[float] = None, loop: bool = False, motion: Optional[str] = None,
         joint_map: Optional[Dict[str, str]] = None, props: Sequence[Any] = (), substep: float = 0.0, detail: int = 0,
         format: Optional[str] = None, outputs: Optional[str] = None, tolerance: float = 0.0, targets: int = 0,
         positions_only: bool = False, exact: bool = False, keep_frames: Optional[bool] = None, measure: bool = False,
         checks: Optional[str] = None, partial: bool = False, threads: int = 0,
         amount: Union[float, Sequence[Tuple[float, float]]] = 1.0,
         progress: Optional[Callable[[str, int, int], Any]] = None,
         message: Optional[Callable[[str, str], Any]] = None) -> BakeResult:
    """Simulate a character (or a file) through a clip, write `output`, and return figures and frames.

    Options are those of cutis_bake_def (include/cutis/bake.h). amount: share of the deviation from skinning that is
    shown, or (time, share) keys over the clip. keep_frames: None = if there is no output. progress (stage, done,
    total) is called several times per second; return False to stop the bake. message (kind,
    sentence) receives notes and warnings. An exception in either stops the bake and propagates to the caller.
    """
    definition = library.cutis_bake_def_default()
    failures: List[BaseException] = []

    # the character and its motion
    if isinstance(source, Character):
        definition.character = source._handle
    else:
        definition.source.name = encode(source, "source")
    definition.clip = encode_optional(clip, "clip")
    definition.motion.name = encode_optional(motion, "motion")
    joint_map = table("joint_map", joint_map)
    pairs = (c.cutis_name_pair * max(1, len(joint_map)))()
    for to, (one, two) in zip(pairs, joint_map.items()):
        setattr(to, "from", encode(one))
        to.to = encode(two)
    definition.map, definition.map_count = pairs, len(joint_map)
    for name, value in (("start", start), ("end", end), ("lead_in", lead_in)):
        if value is not None:
            setattr(definition, name, number(name, value))
    definition.fps = number("fps", fps)
    definition.loop = bool(loop)

    # props: a name, or (name, position) or (name, position, scale)
    if isinstance(props, str) or not hasattr(props, "__len__"):
        raise TypeError("props must be a list of names, or of (name, position) or (name, position, scale)")
    requests = (c.cutis_prop_request * max(1, len(props)))()
    for to, prop in zip(requests, props):
        prop = tuple(prop) if isinstance(prop, (tuple, list)) and prop else (prop,)
        to.name = encode(prop[0], "the name of a prop")
        if len(prop) > 1 and prop[1] is not None:
            to.placed = True
            to.position[:] = vector("the position of a prop", prop[1])
        to.scale = number("the scale of a prop", prop[2]) if len(prop) > 2 else 0
    definition.props, definition.prop_count = requests, len(props)

    # the amount over time
    amounts = [(0.0, amount)] if not hasattr(amount, "__len__") else list(amount)
    keys = (c.cutis_bake_key * max(1, len(amounts)))()
    for to, (time, value) in zip(keys, amounts):
        to.name, to.time, to.value = b"amount", number("a time of amount", time), number("amount", value)
    definition.keys, definition.key_count = keys, len(amounts)

    # the simulation and the output
    definition.solver = encode_optional(solver, "solver")
    definition.settings, definition.setting_count, _alive = settings_array(settings)
    definition.substep, definition.detail = number("substep", substep), whole("detail", detail)
    definition.output, definition.format = encode_optional(output, "output"), encode_optional(format, "format")
    definition.outputs, definition.checks = encode_optional(outputs, "outputs"), encode_optional(checks, "checks")
    definition.tolerance, definition.targets = number("tolerance", tolerance), whole("targets", targets)
    definition.positions_only, definition.exact = bool(positions_only), bool(exact)
    definition.keep_frames = output is None and format is None if keep_frames is None else bool(keep_frames)
    definition.measure, definition.partial, definition.threads = bool(measure), bool(partial), whole("threads", threads)
    for name, function in (("progress", progress), ("message", message)):
        if function is not None and not callable(function):
            raise TypeError("%s must be a function, not %s" % (name, type(function).__name__))

    # the host
    def on_progress(_context, stage, done, total):
        if failures:
            return False
        try:
            return progress(STAGES[stage], done, total) is not False
        except BaseException as failure:  # never through C
            failures.append(failure)
            return False

    def on_message(_context, kind, text):
        try:
            message("note" if kind == c.CUTIS_BAKE_NOTE else "warning", decode(text))
        except BaseException as failure:
            failures.append(failure)

    if progress is not None or message is not None:
        progress = progress or (lambda *_: True)
        definition.progress = dict(definition._fields_)["progress"](on_progress)
    if message is not None:
        definition.message = dict(definition._fields_)["message"](on_message)
    handle = POINTER(c.cutis_bake_result)()
    try:
        call("cutis_bake", byref(definition), byref(handle))
    except Exception:
        if failures:
            raise failures[0] from None
        raise
    if failures:
        library.cutis_bake_destroy(handle)
        raise failures[0]
    return BakeResult(handle)
