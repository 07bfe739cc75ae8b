"""Panels: the sidebar of the 3D view, the bone's own panel, the object's own panel for props."""
import json

import bpy

from . import addon_bake, addon_live, cutis
from .addon_properties import MAPS
from .addon_read import armature_of, character_of, lead_of, mesh_of, meshes_of, parts_of, sentence


class Sidebar:
    bl_space_type, bl_region_type, bl_category = "VIEW_3D", "UI", "cutis"


def wrap(layout, text, icon="NONE"):
    """Text over as many lines as the width of the sidebar needs."""
    room = bpy.context.region.width / bpy.context.preferences.system.ui_scale
    width = max(16, int((room - (70 if icon != "NONE" else 45)) / 6))  # letters of about 6 pixels
    layout = layout.column(align=True)
    layout.scale_y = 0.75
    line = ""
    for word in text.split():
        if line and len(line) + len(word) >= width:
            layout.label(text=line, icon=icon)
            line, icon = "", "BLANK1" if icon != "NONE" else "NONE"
        line += (" " if line else "") + word
    if line:
        layout.label(text=line, icon=icon)


def duration(seconds):
    return "%.3g ms" % (1000 * seconds) if seconds < 1 else "%.3g s" % seconds


def aligned(layout):
    """A column with labels at the left of fields, as in Blender's own panels."""
    column = layout.column()
    column.use_property_split, column.use_property_decorate = True, False
    return column


class CUTIS_PT_main(Sidebar, bpy.types.Panel):
    bl_label = "cutis"

    def draw(self, context):
        layout = self.layout
        thing = character_of(context)
        if thing is None:
            wrap(layout, "Select a mesh with an armature")
            return
        own = thing.cutis
        armature = armature_of(thing)
        self.draw_meshes(layout, context, thing, armature)
        column = aligned(layout)
        if own.armature or not armature:
            column.prop(own, "armature")
        column.prop(own, "solver")
        column.prop(own, "surface")
        column.prop(own, "preset")
        column.prop(own, "color")
        shading = context.space_data.shading
        if own.color != "none" and (shading.type, shading.color_type) != ("SOLID", "VERTEX"):
            layout.operator("cutis.show_colors", icon="SHADING_SOLID")
        layout.prop(own, "live", toggle=True, icon="PLAY")
        session = addon_live.sessions.get(thing.name)
        if session and (session.job or session.motion is None):
            layout.label(text="Preparing ...", icon="TIME")
        elif session:
            row = layout.row()
            row.label(text="%d of %d frames simulated" % (session.done, session.motion.count))
            row.operator("cutis.refresh", text="", icon="FILE_REFRESH")
            if session.posed is not None:
                wrap(layout, "This pose has no keys: plain skinning is shown. Insert keyframes to see flesh", "INFO")
        if thing.name in addon_live.errors:
            wrap(layout.box(), addon_live.errors[thing.name], "ERROR")


    def draw_meshes(self, layout, context, thing, armature):
        """What is simulated: the mesh, or those of the armature, each with a switch."""
        meshes = meshes_of(context.scene, armature) if armature else []
        if len(meshes) < 2:
            layout.label(text="%s on %s" % (thing.name, armature.name) if armature else thing.name, icon="MESH_DATA")
            return
        parts = parts_of(context.scene, thing)
        layout.label(text="%d meshes on %s" % (len(parts), armature.name) if len(parts) > 1
                     else "%s on %s" % (thing.name, armature.name), icon="MESH_DATA")
        column = layout.box().column(align=True)
        for mesh in meshes:
            row = column.row()
            row.active = mesh in parts
            row.prop(mesh.cutis, "joined", text=mesh.name)


class CUTIS_PT_notes(Sidebar, bpy.types.Panel):
    """What the library has to say about a live character."""
    bl_label = "Notes"
    bl_parent_id = "CUTIS_PT_main"
    bl_options = {"DEFAULT_CLOSED"}

    @staticmethod
    def notes(context):
        session = addon_live.session_of(context)
        if session is None or session.job or session.motion is None:
            return []
        return session.reading.warnings + session.model.warnings + session.model.notes

    @classmethod
    def poll(cls, context):
        return bool(cls.notes(context))

    def draw_header_preset(self, context):
        self.layout.label(text="%d  " % len(self.notes(context)))

    def draw(self, context):
        for text in self.notes(context):
            wrap(self.layout, sentence(text), "INFO")


class CUTIS_PT_parameters(Sidebar, bpy.types.Panel):
    bl_label = "Parameters"
    bl_parent_id = "CUTIS_PT_main"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        return mesh_of(context) is not None

    def draw(self, context):
        own = character_of(context).cutis
        column = self.layout.column()
        if not own.armature and armature_of(character_of(context)):
            column.prop(own, "armature", text="Armature")
        column.prop(own, "detail")
        column.prop(own, "drawn")
        column.prop(own, "lead_in")
        for solver in own.solvers():
            column.separator()
            column.label(text=solver.name)
            group = getattr(own, "s_" + solver.name)
            for parameter in solver.parameters:
                column.prop(group, parameter.name)


class CUTIS_PT_maps(Sidebar, bpy.types.Panel):
    bl_label = "Painted maps"
    bl_parent_id = "CUTIS_PT_main"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        return mesh_of(context) is not None

    def draw(self, context):
        thing = mesh_of(context)
        for name in MAPS:
            there = thing.vertex_groups.get("cutis_" + name) is not None
            operator = self.layout.operator("cutis.add_map", text="cutis_" + name, icon="CHECKMARK" if there else "ADD")
            operator.name = name


class CUTIS_PT_bake(Sidebar, bpy.types.Panel):
    bl_label = "Bake"
    bl_parent_id = "CUTIS_PT_main"

    @classmethod
    def poll(cls, context):
        return mesh_of(context) is not None

    def draw(self, context):
        own = character_of(context).cutis
        column = aligned(self.layout)
        column.prop(own, "target")
        if own.target != "keys":
            column.prop(own, "path")
        if own.target != "cache":
            column.prop(own, "tolerance", text="Error (%)")
            column.prop(own, "targets", text="Keys")
        column.prop(own, "loop")
        running = addon_bake.running
        if running is not None:
            self.layout.label(text=running.text, icon="TIME")
            self.layout.operator("cutis.stop", icon="CANCEL")
            return
        self.layout.operator("cutis.bake", icon="RENDER_ANIMATION")
        self.layout.operator("cutis.remove", icon="TRASH")


class CUTIS_PT_report(Sidebar, bpy.types.Panel):
    bl_label = "Report"
    bl_parent_id = "CUTIS_PT_main"

    @classmethod
    def poll(cls, context):
        thing = character_of(context)
        return thing is not None and bool(thing.cutis.report)

    def draw(self, context):
        report = json.loads(character_of(context).cutis.report)
        layout = self.layout
        wrap(layout, report["text"])
        if report["verdict"]:
            wrap(layout, sentence(report["verdict"]), {"good": "CHECKMARK", "look": "INFO"}.get(report["level"], "ERROR"))
        layout.label(text="Volume: at most %.2g %% off" % (100 * report["volume"]))
        layout.label(text="Intersections: %d (%d at rest)" % (report["intersections"], report["intersections_rest"]))
        layout.label(text="Time: %s, %s per frame" % (duration(report["seconds"]), duration(report["ms"] / 1000)))
        layout.operator("cutis.worst_frame", icon="VIEWZOOM")
        for text in report["findings"][1:] + report["warnings"]:
            wrap(layout, sentence(text), "INFO")


class CUTIS_PT_rig(Sidebar, bpy.types.Panel):
    bl_label = "Rig"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        wrap(self.layout, "For a mesh without an armature, upright, facing the front view")
        self.layout.operator("cutis.rig_joints", icon="EMPTY_DATA")
        self.layout.operator("cutis.rig", icon="ARMATURE_DATA")


class CUTIS_PT_prop(bpy.types.Panel):
    bl_label = "cutis prop"
    bl_space_type, bl_region_type, bl_context = "PROPERTIES", "WINDOW", "object"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        return context.object is not None and context.object.type == "MESH"

    def draw(self, context):
        own = context.object.cutis
        self.layout.prop(own, "prop")
        if own.prop != "none":
            self.layout.prop(own, "friction")
        if own.prop in ("rigid", "soft"):
            self.layout.prop(own, "mass")
        if own.prop == "soft":
            self.layout.prop(own, "softness")


class CUTIS_PT_bone(bpy.types.Panel):
    bl_label = "cutis"
    bl_space_type, bl_region_type, bl_context = "PROPERTIES", "WINDOW", "bone"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        return context.bone is not None

    def draw(self, context):
        bone = context.bone
        armature = context.object
        meshes = meshes_of(context.scene, armature)
        solvers = lead_of(context.scene, meshes[0]).cutis.solvers() if meshes else [s for s in cutis.solvers() if s.preferred]
        for solver in solvers:
            group = getattr(bone.cutis, "s_" + solver.name)
            self.layout.label(text=solver.name)
            for parameter in solver.parameters:
                if parameter.per_bone:
                    row = self.layout.row(align=True)
                    row.prop(group, "use_" + parameter.name, text="")
                    field = row.row()
                    field.enabled = getattr(group, "use_" + parameter.name)
                    field.prop(group, parameter.name)


CLASSES = (CUTIS_PT_main, CUTIS_PT_notes, CUTIS_PT_parameters, CUTIS_PT_maps, CUTIS_PT_bake, CUTIS_PT_report, CUTIS_PT_rig, CUTIS_PT_prop,
           CUTIS_PT_bone)


def register():
    for one in CLASSES:
        bpy.utils.register_class(one)


def unregister():
    for one in reversed(CLASSES):
        bpy.utils.unregister_class(one)
