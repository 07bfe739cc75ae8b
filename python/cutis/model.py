"""Models and states: simulation frame by frame."""
import ctypes
from ctypes import POINTER, byref
from dataclasses import dataclass
from typing import Any, Callable, List, Optional, Sequence, Tuple

import numpy as np

from . import _structs as c
from .character import Character
from .core import (Pool, array, call, decode, encode, jobs_of, library, number, pointer, settings_array, vector, view,
                   whole)
from .solvers import DOMAINS, OutputInfo, _output


class ClipMotion:
    """A clip as a motion: `lead_in` seconds from the rest pose to its first pose, then the clip."""

    def __init__(self, character: Character, clip: Optional[str] = None, lead_in: float = 0.0):
        if not isinstance(character, Character):
            raise TypeError("character must be a cutis.Character")
        if not number("lead_in", lead_in) >= 0:
            raise ValueError("lead_in must be 0 or more seconds")
        self.character = character
        self.lead_in = float(lead_in)
        self._c = c.cutis_clip_motion(character._handle, character.clip_index(clip), self.lead_in)
        self._weights = np.zeros(character._c.morph_count, np.float32)

    def pose(self, time: float) -> np.ndarray:
        """(joints x 3 x 4) at a time in the state's seconds."""
        joints = np.empty((self.character.joint_count, 3, 4), np.float32)
        library.cutis_clip_motion_sample(ctypes.cast(byref(self._c), ctypes.c_void_p), number("time", time),
                                         pointer(joints, ctypes.c_float))
        return joints

    def morphs(self, time: float) -> np.ndarray:
        """Weights of the morphs at that time."""
        if len(self._weights):
            library.cutis_clip_motion_morphs(byref(self._c), number("time", time), pointer(self._weights, ctypes.c_float))
        return self._weights


@dataclass(frozen=True)
class StepStats:
    """Figures of the last step."""
    substeps: int
    iterations: int
    contacts: int
    residual: float
    unconverged: int
    repairs: int
    part_ms: Tuple[float, ...]


@dataclass(frozen=True)
class Output:
    """An output of a solver; values: (count x components), a view."""
    domain: str
    values: np.ndarray


class Model:
    """A character prepared for a solver; immutable. Slow to build; raises cutis.Error on failure."""

    def __init__(self, character: Character, solver: Optional[str] = None, settings: Any = None, *, substep: float = 0.0,
                 detail: int = 0, pool: Optional[Pool] = None):
        """solver: a name or a stack such as "lattice+slide"; None: the default, as in bake."""
        if not isinstance(character, Character):
            raise TypeError("character must be a cutis.Character, not %s" % type(character).__name__)
        definition = library.cutis_model_def_default()
        definition.character = character._handle
        if solver is None:
            solver = decode(library.cutis_solver_default(character._handle).contents.name)
        definition.solver = encode(solver, "the name of a solver")
        definition.settings, definition.setting_count, _alive = settings_array(settings)
        definition.substep = number("substep", substep)
        definition.detail = whole("detail", detail)
        definition.jobs = jobs_of(pool)
        self.character = character
        self._handle = POINTER(c.cutis_model)()
        call("cutis_model_build", byref(definition), byref(self._handle))
        info = library.cutis_model_get_info(self._handle)
        self.solver = decode(info.solver)
        self.substep = info.substep
        self.element_count = info.element_count
        self.body_points = info.body_points
        self.state_bytes = info.state_bytes
        self.model_bytes = info.model_bytes
        self.warnings: List[str] = [decode(info.warnings[i]) for i in range(info.warning_count)]
        self.notes: List[str] = [decode(info.notes[i]) for i in range(info.note_count)]

    def __del__(self):
        if getattr(self, "_handle", None):
            library.cutis_model_destroy(self._handle)
            self._handle = None

    def parameter(self, name: str) -> float:
        """Value of a parameter; NaN if the solver has none of that name."""
        return library.cutis_model_parameter(self._handle, encode(name))

    @property
    def lead_in(self) -> float:
        """Default lead-in of a bake, seconds: from rest to the first pose of a clip that does not start at rest."""
        return library.cutis_bake_lead_in(self._handle)

    def clip_lead_in(self, clip: Optional[str] = None, start: Optional[float] = None, character: Optional[Character] = None) -> float:
        """The same for a clip from `start` seconds on (default: its start). 0 if the flesh is at rest there; then
        reset the state to that pose. character: one with the same joints and the clip (default: the model's)."""
        source = self.character if character is None else character
        index = source.clip_index(clip)
        if start is None:
            start = source.clips[clip][0] if clip is not None else 0.0
        return library.cutis_bake_clip_lead_in(self._handle, source._handle, index, number("start", start))

    def find_output(self, role: int, index: int = 0) -> Optional[OutputInfo]:
        """The index-th output of that role (CUTIS_OUTPUT_...); None if there is none."""
        found = library.cutis_model_find_output(self._handle, whole("role", role), whole("index", index))
        return _output(found.contents) if found else None

    def state(self) -> "State":
        """A new state, at rest."""
        return State(self)

    def __repr__(self) -> str:
        return "<cutis.Model %s of %s: %d elements>" % (self.solver, self.character.name, self.element_count)


class State:
    """The state of a simulation; copy() takes a snapshot."""

    def __init__(self, model: Model):
        if not isinstance(model, Model):
            raise TypeError("model must be a cutis.Model, not %s" % type(model).__name__)
        self.model = model
        self._handle = POINTER(c.cutis_state)()
        call("cutis_state_create", model._handle, None, byref(self._handle))

    def __del__(self):
        if getattr(self, "_handle", None):
            library.cutis_state_destroy(self._handle)
            self._handle = None

    def reset(self, joints: Any = None) -> None:
        """Set the time to 0, at rest in this pose (joints x 3 x 4; None: the rest pose)."""
        pose = None if joints is None else self._pose(joints)
        library.cutis_state_reset(self.model._handle, self._handle, pointer(pose, ctypes.c_float))

    def copy(self) -> "State":
        """Take a snapshot."""
        made = State(self.model)
        made.restore(self)
        return made

    def restore(self, snapshot: "State") -> None:
        """Restore a snapshot."""
        if not isinstance(snapshot, State) or snapshot.model is not self.model:
            raise TypeError("a snapshot of the same model is needed")
        library.cutis_state_copy(self.model._handle, self._handle, snapshot._handle)

    def teleport(self, transform: Any) -> None:
        """Move the character by a rigid transform (3 x 4)."""
        matrix = array("transform", transform, np.float32, (3, 4))
        library.cutis_state_teleport(self.model._handle, self._handle, pointer(matrix, ctypes.c_float))

    def __repr__(self) -> str:
        return "<cutis.State of %s at %.4g s>" % (self.model.solver, self.time)

    @property
    def hash(self) -> int:
        """Hash of the state: equal for equal simulations, on any machine."""
        return library.cutis_state_hash(self.model._handle, self._handle)

    @property
    def time(self) -> float:
        """Seconds since reset."""
        return library.cutis_state_time(self._handle)

    def _pose(self, joints: Any) -> np.ndarray:
        joints = np.asarray(joints)
        if joints.ndim == 2 and joints.shape[-1] == 12:
            joints = joints.reshape(-1, 3, 4)
        return array("joints", joints, np.float32, (self.model.character.joint_count, 3, 4))

    def step(self, dt: float, joints: Any = None, *, motion: Any = None,
             surface: Optional[Callable[[float], Any]] = None, morphs: Any = None,
             drags: Sequence[Tuple[int, Sequence[float], float]] = (), acceleration: Sequence[float] = (0, 0, 0),
             wind: Sequence[float] = (0, 0, 0),
             impulses: Sequence[Tuple[Sequence[float], float, Sequence[float]]] = (),
             amount: float = 1.0, pool: Optional[Pool] = None) -> None:
        """Advance by dt seconds, then compute positions and outputs.

        joints: the pose at the end (joints x 3 x 4), interpolated in between; or motion: a ClipMotion, or a function of
        the time that returns such a pose. surface: a function of the time that returns positions (vertices x 3), for
        surface solvers. drags: (vertex, target, strength). acceleration: of the flesh, in addition to the motion of its
        bones; wind: velocity of the air; impulses: blows, (place, radius, velocity). amount: share of the deviation
        from skinning that is shown: 0 skinning, 1 the simulation, 2 exaggerated; see show.
        """
        if not 0 <= number("dt", dt) < float("inf"):
            raise ValueError("dt must be 0 or more seconds")
        self._advance(self.time + float(dt), joints, motion, surface, morphs, drags, acceleration, wind, impulses, pool)
        self.show(amount, pool)

    def show(self, amount: float = 1.0, pool: Optional[Pool] = None) -> None:
        """Compute positions and outputs of the current time again, with another amount of the deviation from skinning."""
        given = ctypes.c_float(number("amount", amount))
        if not 0 <= given.value <= c.CUTIS_MAX_AMOUNT:
            raise ValueError("amount must be from 0 to %g" % c.CUTIS_MAX_AMOUNT)
        shown = c.cutis_step_input(amount=ctypes.pointer(given), jobs=jobs_of(pool))
        library.cutis_state_show(self.model._handle, self._handle, byref(shown))

    def _advance(self, time: float, joints: Any, motion: Any, surface: Any, morphs: Any, drags: Any, acceleration: Any,
                 wind: Any, impulses: Any, pool: Optional[Pool], interrupted: Optional[Callable[[], bool]] = None) -> bool:
        step = c.cutis_step_input()
        keep: List[Any] = []
        failures: List[BaseException] = []
        if (joints is None) == (motion is None):
            raise TypeError("either joints or motion must be given")

        # the pose
        if joints is not None:
            keep.append(self._pose(joints))
            step.joints = pointer(keep[-1], ctypes.c_float)
        elif isinstance(motion, ClipMotion):
            if motion.character.joint_count != self.model.character.joint_count:
                raise ValueError("the motion has %d joints, the model %d"
                                 % (motion.character.joint_count, self.model.character.joint_count))
            step.motion.context = ctypes.cast(byref(motion._c), ctypes.c_void_p)
            step.motion.sample = ctypes.cast(library.cutis_clip_motion_sample, type(step.motion.sample))
            if morphs is None and len(motion._weights):
                morphs = motion.morphs(time)
        else:
            step.motion.sample = _sampler(c.cutis_motion, motion, self._pose, self.model.character.joint_count * 12,
                                          failures)
        if surface is not None:
            vertices = self.model.character.vertex_count
            step.surface.sample = _sampler(c.cutis_surface, surface,
                                           lambda given: array("surface", given, np.float32, (vertices, 3)),
                                           vertices * 3, failures)

        # the rest
        if morphs is not None:
            keep.append(array("morphs", morphs, np.float32, (self.model.character._c.morph_count,)))
            step.morphs = pointer(keep[-1], ctypes.c_float)
        if drags:
            made = (c.cutis_drag * len(drags))()
            for to, (vertex, target, strength) in zip(made, _tuples("drags", drags, "(vertex, target, strength)")):
                if not 0 <= whole("the vertex of a drag", vertex) < self.model.character.vertex_count:
                    raise ValueError("there is no vertex %r to drag" % (vertex,))
                to.vertex, to.strength = int(vertex), number("the strength of a drag", strength)
                to.target[:] = vector("the target of a drag", target)
            step.drags, step.drag_count = made, len(drags)
        step.acceleration[:] = vector("acceleration", acceleration)
        step.wind[:] = vector("wind", wind)
        if impulses:
            blows = (c.cutis_impulse * len(impulses))()
            for blow, (place, radius, velocity) in zip(blows, _tuples("impulses", impulses, "(place, radius, velocity)")):
                blow.place[:] = vector("the place of an impulse", place)
                blow.radius = number("the radius of an impulse", radius)
                blow.velocity[:] = vector("the velocity of an impulse", velocity)
            step.impulses, step.impulse_count = blows, len(impulses)
        step.jobs = jobs_of(pool)
        kind = library.cutis_state_advance.argtypes[4]
        stop = kind() if interrupted is None else kind(lambda _context: bool(interrupted()))
        reached = library.cutis_state_advance(self.model._handle, self._handle, byref(step), time, stop, None)
        if failures:
            raise failures[0]
        return bool(reached)

    def run_to(self, time: float, motion: ClipMotion, *, amount: float = 1.0, pool: Optional[Pool] = None,
               interrupted: Optional[Callable[[], bool]] = None) -> bool:
        """Step along a motion to a time in the state's seconds, as a bake does: the same bits. interrupted: called
        between substeps; when it returns True, the state stops early. Returns whether the time was reached; a further call
        continues as if it had not stopped.
        """
        if not isinstance(motion, ClipMotion):
            raise TypeError("motion must be a cutis.ClipMotion, not %s" % type(motion).__name__)
        if not abs(number("time", time)) < float("inf"):
            raise ValueError("time must be a number of seconds")
        reached = self._advance(float(time), None, motion, None, None, (), (0, 0, 0), (0, 0, 0), (), pool, interrupted)
        if reached:
            self.show(amount, pool)
        return reached

    # ---- results ----

    @property
    def positions(self) -> np.ndarray:
        """(vertices x 3), scene space; a view that changes with the next step."""
        return view(library.cutis_state_positions(self.model._handle, self._handle),
                    (self.model.character.vertex_count, 3), self)

    @property
    def joints(self) -> np.ndarray:
        """(joints x 3 x 4), the shown pose: joints yield to contact; a view that changes with the next step."""
        return view(library.cutis_state_joints(self.model._handle, self._handle),
                    (self.model.character.joint_count, 3, 4), self)

    @property
    def normals(self) -> np.ndarray:
        """(vertices x 3), unit normals; a copy."""
        made = np.empty((self.model.character.vertex_count, 3), np.float32)
        library.cutis_state_normals(self.model._handle, self._handle, pointer(made, ctypes.c_float))
        return made

    @property
    def stats(self) -> StepStats:
        """Statistics of the last step."""
        s = library.cutis_state_stats(self.model._handle, self._handle).contents
        return StepStats(s.substeps, s.iterations, s.contacts, s.residual, s.unconverged, s.repairs, tuple(s.part_ms))

    def output(self, name: str) -> Optional[Output]:
        """One of the solver's outputs by name; None if it has none of that name."""
        made = c.cutis_output()
        if not library.cutis_state_output(self.model._handle, self._handle, encode(name), byref(made)):
            return None
        return Output(DOMAINS[made.domain], view(made.values, (made.count, made.components), self))

    def output_role(self, role: int, index: int = 0) -> Optional[Output]:
        """The index-th output of that role (CUTIS_OUTPUT_...)."""
        made = c.cutis_output()
        if not library.cutis_state_output_role(self.model._handle, self._handle, whole("role", role), whole("index", index), byref(made)):
            return None
        return Output(DOMAINS[made.domain], view(made.values, (made.count, made.components), self))

    def prop(self, index: int) -> np.ndarray:
        """Transform of a prop: 3 x 4, its own space to scene space."""
        if not 0 <= whole("index", index) < self.model.character._c.prop_count:
            raise IndexError("there is no prop %r" % (index,))
        made = c.cutis_prop_state()
        library.cutis_state_prop(self.model._handle, self._handle, int(index), byref(made))
        return np.array(made.transform, np.float32).reshape(3, 4)

    def prop_positions(self, index: int) -> Optional[np.ndarray]:
        """(vertices x 3) of a soft prop that the solver deforms, scene space; a view; None for others."""
        if not 0 <= whole("index", index) < self.model.character._c.prop_count:
            raise IndexError("there is no prop %r" % (index,))
        made = c.cutis_prop_state()
        library.cutis_state_prop(self.model._handle, self._handle, int(index), byref(made))
        return view(made.positions, (made.vertex_count, 3), self) if made.positions and made.vertex_count else None


def _tuples(what: str, values: Any, shape: str) -> Any:
    if any(not isinstance(value, (tuple, list)) or len(value) != 3 for value in values):
        raise TypeError("%s must be a list of %s" % (what, shape))
    return values


def _sampler(kind: Any, function: Any, check: Callable[[Any], np.ndarray], count: int, failures: list) -> Any:
    """A Python function of the time as a callback of C. Its exceptions propagate from the step."""
    if not callable(function):
        raise TypeError("a motion is a ClipMotion or a function of the time")

    def sample(_context, time, out):
        try:
            made = check(function(time))  # named: a temporary array would be freed before its numbers are copied
            ctypes.memmove(out, made.ctypes.data, 4 * count)
        except BaseException as failure:  # never through C
            failures.append(failure)
            ctypes.memset(out, 0, 4 * count)

    return dict(kind._fields_)["sample"](sample)
