"""Settings on objects and bones. One group of properties for each solver, made from its table of parameters."""
import bpy
from bpy.props import (BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty,
                       StringProperty)

from . import cutis

SOLVERS = cutis.solvers()
BODY = [s for s in SOLVERS if not s.surface]
SURFACE = [s for s in SOLVERS if s.surface]
PREFERRED = next((s.name for s in SOLVERS if s.preferred), SOLVERS[0].name)
MAPS = {"stiffness": 1.0, "fat": 1.0, "freeze": 0.0, "depth": 1.0}  # with the value of what is not painted

# Factors on defaults, by what a parameter is: applied to every parameter of the solver whose name holds the word.
PRESETS = {
    "athletic": ("firm, little fat", {"young": 1.6, "fat_stiffness": 1.8, "muscle_stiffness": 1.3, "skin_stiffness": 1.4, "damping": 1.5}),
    "soft": ("soft, moves a little", {"fat_stiffness": 0.6, "skin_stiffness": 0.7, "young": 0.7, "stiffness": 0.7}),
    "heavy": ("much soft flesh that swings", {"young": 0.5, "fat_stiffness": 0.35, "muscle_stiffness": 0.8, "skin_stiffness": 0.5,
                                             "damping": 0.6, "stiffness": 0.5}),
    "elastic toy": ("rubber: swings long", {"young": 0.3, "fat_stiffness": 0.5, "muscle_stiffness": 0.4, "skin_stiffness": 0.5,
                                            "damping": 0.25, "stiffness": 0.4}),
    "sturdy": ("hardly moves", {"young": 3.0, "fat_stiffness": 2.2, "muscle_stiffness": 1.4, "skin_stiffness": 2.0, "damping": 3.0,
                                "stiffness": 2.0}),
}


def touched(self, context):
    """A setting changed: the sessions that it concerns are out of date."""
    from . import addon_live
    addon_live.settings_changed()


def _property(parameter):
    unit = " (%s)" % parameter.unit if parameter.unit else ""
    common = {"name": parameter.name.replace("_", " ").capitalize() + unit, "description": parameter.help,
              "update": touched}
    if parameter.type == "bool":
        return BoolProperty(default=bool(parameter.default), **common)
    if parameter.type == "int":
        return IntProperty(default=int(parameter.default), min=int(parameter.min), max=int(parameter.max), **common)
    if parameter.type == "choice":
        items = [(name, name, "") for name in parameter.choices]
        return EnumProperty(items=items, default=parameter.choices[int(parameter.default)], **common)
    digits = 4 if parameter.max <= 2 else 2
    return FloatProperty(default=parameter.default, min=parameter.min, max=parameter.max, precision=digits, **common)


def _group(solver, bones):
    """A PropertyGroup class of a solver; for bones: its per-bone parameters, each with a switch."""
    fields = {}
    for parameter in solver.parameters:
        if bones and not parameter.per_bone:
            continue
        fields[parameter.name] = _property(parameter)
        if bones:
            fields["use_" + parameter.name] = BoolProperty(
                name="Set %s for this bone" % parameter.name, description=parameter.help, default=False, update=touched)
    return type("CutisBone_%s" % solver.name if bones else "Cutis_%s" % solver.name, (bpy.types.PropertyGroup,),
                {"__annotations__": fields})


OBJECT_GROUPS = {s.name: _group(s, False) for s in SOLVERS}
BONE_GROUPS = {s.name: _group(s, True) for s in SOLVERS}


def value_text(group, parameter):
    """A property as a setting's text; None when it is the default, so that the library's own bits are kept."""
    value = getattr(group, parameter.name)
    if parameter.type == "choice":
        return None if value == parameter.choices[int(parameter.default)] else value
    if parameter.type == "bool":
        return None if value == bool(parameter.default) else ("on" if value else "off")
    if parameter.type == "int":
        return None if value == int(parameter.default) else str(value)
    if abs(value - parameter.default) <= 1e-6 * max(abs(parameter.default), 1e-9):
        return None
    return "%.7g" % min(max(value, parameter.min), parameter.max)


def _live_changed(self, context):
    from . import addon_live
    addon_live.live_switched(self.id_data)


def _color_changed(self, context):
    from . import addon_live
    addon_live.color_switched(self.id_data)


def _apply_preset(self, context):
    for solver in SOLVERS:
        group = getattr(self, "s_" + solver.name)
        factors = PRESETS[self.preset][1] if self.preset in PRESETS else {}
        for parameter in solver.parameters:
            if parameter.type != "float":
                continue
            factor = next((f for word, f in factors.items() if parameter.name == word or parameter.name.endswith("_" + word)),
                          1.0)
            setattr(group, parameter.name, min(max(parameter.default * factor, parameter.min), parameter.max))
    touched(self, context)


class CutisObject(bpy.types.PropertyGroup):
    __annotations__ = dict({
        "armature": PointerProperty(type=bpy.types.Object, name="Armature", description="The armature that moves the mesh",
                                    poll=lambda self, thing: thing.type == "ARMATURE", update=touched),
        "solver": EnumProperty(name="Solver", items=[(s.name, s.name, s.summary) for s in BODY], default=PREFERRED,
                               description="Solver of the flesh", update=touched),
        "surface": EnumProperty(name="Skin", items=[("none", "none", "No further solver on top")] +
                                [(s.name, s.name, s.summary) for s in SURFACE], default="none",
                                description="A second solver, for skin that slides on the flesh", update=touched),
        "preset": EnumProperty(name="Preset", items=[("default", "default", "The solver's own values")] +
                               [(name, name, text) for name, (text, _) in PRESETS.items()], default="default",
                               description="A starting point for the parameters", update=_apply_preset),
        "detail": IntProperty(name="Detail", default=0, min=0, max=100000, update=touched,
                              description="Points of the simulation body; 0: the default (4000)"),
        "drawn": BoolProperty(name="Simulate the mesh itself", default=False, update=touched,
                              description="Simulate the drawn mesh instead of a simulation body; slower for dense meshes"),
        "lead_in": FloatProperty(name="Lead-in (s)", default=-1, min=-1, max=60, update=touched,
                                 description="Seconds from rest to the first pose, before the first frame; -1: from the damping, 0 if the clip starts at rest"),
        "joined": BoolProperty(name="Part of the character", default=True, update=touched,
                               description="Simulate this mesh together with the other meshes of its armature; off: it is not changed"),
        "live": BoolProperty(name="Live", default=False, update=_live_changed,
                             description="The flesh follows the timeline"),
        "color": EnumProperty(name="Colours", default="none", update=_color_changed, items=[
            ("none", "none", "No colours"), ("stretch", "stretch", "Edges: blue is shorter, red is longer than at rest"),
            ("pressure", "pressure", "Contact of the skin"), ("touch", "touch", "Force of what touches the skin")]),
        "target": EnumProperty(name="Bake to", default="cache", items=[
            ("cache", "Mesh Cache", "A .pc2 file and a modifier: exact"),
            ("keys", "Shape keys", "Few shape keys with animated values: plays everywhere"),
            ("glb", ".glb file", "Skeleton and morph targets, for game engines")]),
        "path": StringProperty(name="File", subtype="FILE_PATH", description="Output file; empty: beside the .blend"),
        "loop": BoolProperty(name="Close the loop", default=False, description="Find the periodic motion, so that the last frame equals the first"),
        "tolerance": FloatProperty(name="Tolerance (%)", default=0.1, min=0.0001, max=100, precision=3,
                                   description="Largest error of shape keys, in percent of the size"),
        "targets": IntProperty(name="Shape keys at most", default=32, min=1, max=32),
        "report": StringProperty(options={"HIDDEN"}),
        "prop": EnumProperty(name="Prop", default="none", update=touched, items=[
            ("none", "none", "The character does not touch it"),
            ("collider", "collider", "Moved by its own animation; the skin gives way"),
            ("rigid", "rigid", "A free rigid body"), ("soft", "soft", "A free soft body")]),
        "friction": FloatProperty(name="Friction", default=0.5, min=0, max=2, update=touched),
        "mass": FloatProperty(name="Mass (kg)", default=0, min=0, description="0: from the volume", update=touched),
        "softness": FloatProperty(name="Stiffness", default=0.5, min=0, max=1, update=touched),
    }, **{"s_" + name: PointerProperty(type=group) for name, group in OBJECT_GROUPS.items()})

    def stack(self):
        return self.solver if self.surface == "none" else "%s+%s" % (self.solver, self.surface)

    def solvers(self):
        return [s for s in SOLVERS if s.name in (self.solver, self.surface)]

    def detail_value(self):
        return -1 if self.drawn else self.detail


class CutisBone(bpy.types.PropertyGroup):
    __annotations__ = {"s_" + name: PointerProperty(type=group) for name, group in BONE_GROUPS.items()}


def settings_of(thing, armature, scene):
    """All settings of an object and its bones that are not the defaults."""
    made = []
    own = thing.cutis
    stacked = own.surface != "none"
    for solver in own.solvers():
        group = getattr(own, "s_" + solver.name)
        for parameter in solver.parameters:
            key = "%s.%s" % (solver.name, parameter.name) if stacked else parameter.name
            text = value_text(group, parameter)
            if text is None and parameter.name == "unit" and scene.unit_settings.scale_length != 1:
                text = "%.7g" % scene.unit_settings.scale_length
            if text is not None:
                made.append((key, text))
        for bone in armature.data.bones if armature else ():
            group = getattr(bone.cutis, "s_" + solver.name)
            for parameter in solver.parameters:
                if not parameter.per_bone or not getattr(group, "use_" + parameter.name):
                    continue
                text = value_text(group, parameter)
                if text is None:
                    text = (parameter.choices[int(parameter.default)] if parameter.type == "choice"
                            else ("on" if parameter.default else "off") if parameter.type == "bool"
                            else "%.9g" % parameter.default)
                key = "bones.%s.%s%s" % (bone.name, solver.name + "." if stacked else "", parameter.name)
                made.append((key, text))
    return made


CLASSES = list(OBJECT_GROUPS.values()) + list(BONE_GROUPS.values()) + [CutisObject, CutisBone]


def register():
    for one in CLASSES:
        bpy.utils.register_class(one)
    bpy.types.Object.cutis = PointerProperty(type=CutisObject)
    bpy.types.Bone.cutis = PointerProperty(type=CutisBone)


def unregister():
    del bpy.types.Bone.cutis
    del bpy.types.Object.cutis
    for one in reversed(CLASSES):
        bpy.utils.unregister_class(one)
