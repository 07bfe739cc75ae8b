"""The solvers and their parameters, from the library's tables."""
import math
from dataclasses import dataclass
from typing import List, Optional, Tuple

from . import _structs as c
from .core import ArgumentError, decode, encode, library

TYPES = ("float", "int", "bool", "choice")
DOMAINS = ("vertex", "corner", "element")


@dataclass(frozen=True)
class Parameter:
    name: str
    type: str  # float, int, bool or choice
    default: float  # of a choice: index
    min: float
    max: float
    unit: str
    choices: Tuple[str, ...]
    per_bone: bool  # may be set for one joint: bones.NAME.parameter
    role: int  # CUTIS_PARAMETER_...
    help: str


@dataclass(frozen=True)
class OutputInfo:
    name: str
    role: int  # CUTIS_OUTPUT_...
    domain: str  # vertex, corner or element
    components: int
    unit: str
    palette: int
    range: Tuple[float, float]
    help: str


@dataclass(frozen=True)
class Solver:
    name: str
    summary: str
    paper: str
    element: str
    parts: Tuple[str, ...]  # of a step, that are timed
    substep: float
    flags: int
    parameters: Tuple[Parameter, ...]
    outputs: Tuple[OutputInfo, ...]

    @property
    def geometric(self) -> bool:
        """Depends only on the pose."""
        return bool(self.flags & c.CUTIS_SOLVER_GEOMETRIC)

    @property
    def surface(self) -> bool:
        """Runs on the surface of the solver before it in a stack."""
        return bool(self.flags & c.CUTIS_SOLVER_SURFACE)

    @property
    def preferred(self) -> bool:
        """The default of a bake for skinned characters."""
        return bool(self.flags & c.CUTIS_SOLVER_PREFERRED)

    def parameter(self, name: str) -> Parameter:
        """The parameter of that name."""
        for one in self.parameters:
            if one.name == name:
                return one
        raise ArgumentError("solver %s has no parameter '%s'" % (self.name, name))


def _parameter(p) -> Parameter:
    choices = tuple(decode(p.choices).split("|")) if p.choices else ()
    return Parameter(decode(p.name), TYPES[p.type], p.default_value, p.min, p.max, decode(p.unit), choices, p.per_bone,
                     p.role, decode(p.help))


def _output(o) -> OutputInfo:
    return OutputInfo(decode(o.name), o.role, DOMAINS[o.domain], o.components, decode(o.unit), o.palette,
                      (o.range[0], o.range[1]), decode(o.help))


def _solver(info) -> Solver:
    return Solver(decode(info.name), decode(info.summary), decode(info.paper), decode(info.element),
                  tuple(decode(info.parts[i]) for i in range(info.part_count)), info.substep, info.flags,
                  tuple(_parameter(info.parameters[i]) for i in range(info.parameter_count)),
                  tuple(_output(info.outputs[i]) for i in range(info.output_count)))


def solvers() -> List[Solver]:
    """All solvers, in the library's order."""
    return [_solver(library.cutis_solver(i).contents) for i in range(library.cutis_solver_count())]


def solver(name: str) -> Solver:
    """The solver of that name (one, not a stack)."""
    found = library.cutis_solver_find(encode(name, "the name of a solver"))
    if not found:
        raise ArgumentError("there is no solver '%s'; there are %s" % (name, ", ".join(s.name for s in solvers())))
    return _solver(found.contents)


@dataclass(frozen=True)
class Preset:
    """A kind of body: values for the parameters that solvers of flesh share. Settings {"preset": name} take it."""
    name: str
    summary: str

    def value(self, solver: str, parameter: str) -> Optional[float]:
        """The value for a parameter of a solver; None: it keeps its default."""
        found = library.cutis_preset_value(encode(self.name), encode(solver), encode(parameter))
        return None if math.isnan(found) else found


def presets() -> List[Preset]:
    """All presets, in the library's order."""
    found = (library.cutis_preset_get(i).contents for i in range(library.cutis_preset_count()))
    return [Preset(decode(one.name), decode(one.summary)) for one in found]
