"""cutis: physically based skin and flesh for animated characters.

    import cutis
    result = cutis.bake("hero.glb", "hero_flesh.glb")            # one call
    arm = cutis.Character.make("arm")                            # or Character.load, Character.from_arrays
    state = cutis.Model(arm, "lattice").state()                  # or frame by frame
    state.step(1 / 60, motion=arm.motion("flex"))
    print(state.positions)                                       # NumPy array, no copy

Errors of the library are exceptions (cutis.Error) with the library's own sentence. Calls release the GIL: several
states may be stepped on several threads. Arrays that are views say so; they keep what they look at alive.
"""
from .bake import BakeResult, bake
from .character import Character, Clip, Joint, Prop, local_parts
from .core import (ArgumentError, DataError, Error, FileError, FormatError, Interrupted, MemoryError, Pool,
                   UnsupportedError, library_path, version)
from .model import ClipMotion, Model, Output, State, StepStats
from .solvers import OutputInfo, Parameter, Preset, Solver, presets, solver, solvers
from .tools import Quality, Rig, bind, measure, measure_frames, read_cache, rig, rig_templates, save_morphs, zoo

__version__ = version()
__all__ = ["ArgumentError", "BakeResult", "Character", "Clip", "ClipMotion", "DataError", "Error", "FileError",
           "FormatError", "Interrupted", "Joint", "MemoryError", "Model", "Output", "OutputInfo", "Parameter", "Pool", "Preset",
           "Prop", "Quality", "Rig", "Solver", "State", "StepStats", "UnsupportedError", "bake", "bind", "library_path",
           "local_parts", "measure", "measure_frames", "presets", "read_cache", "rig", "rig_templates", "save_morphs", "solver", "solvers",
           "version", "zoo"]
