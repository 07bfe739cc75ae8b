"""Rig: an armature and vertex groups for a bare mesh. Joints may be moved as empties first."""
import bpy
import numpy as np
from mathutils import Vector

from . import cutis
from .addon_read import BACK, TURN, Problem, _evaluated, check_usable, matrix, sentence

JOINTS = "cutis joints"


def bare_character(thing):
    positions, first, corners, _, _ = _evaluated(thing)
    place = TURN @ matrix(thing.matrix_world)
    return cutis.Character.from_arrays(positions @ place[:3, :3].T + place[:3, 3], (first, corners), name=thing.name)


def empties_of(thing):
    collection = bpy.data.collections.get(JOINTS)
    return [e for e in collection.objects if e.get("cutis_mesh") == thing.name] if collection else []


def make(thing, template):
    """The rig, with joints where the empties stand; and the places of its joints in the world."""
    check_usable(thing)
    if len(thing.modifiers):
        raise Problem("%s has modifiers; apply or remove them, then rig" % thing.name)
    landmarks = {e["cutis_joint"]: (TURN[:3, :3] @ np.array(e.matrix_world.translation)).tolist()
                 for e in empties_of(thing) if e.get("cutis_moved_from") is None
                 or np.linalg.norm(np.array(e["cutis_moved_from"]) - np.array(e.matrix_world.translation)) > 1e-6}
    made = cutis.rig(bare_character(thing), None if template == "auto" else template, landmarks)
    places = made.character.rest_pose()[:, :, 3] @ BACK[:3, :3].T
    return made, places


class CUTIS_OT_rig_joints(bpy.types.Operator):
    bl_idname = "cutis.rig_joints"
    bl_label = "Show joints"
    bl_description = "Find the joints of a mesh and show them as empties, to be moved before Rig"
    bl_options = {"REGISTER", "UNDO"}
    template: bpy.props.EnumProperty(name="Skeleton", items=[("auto", "auto", "The one that fits best")] + [
        (name, name, text) for name, text in cutis.rig_templates().items()])

    def execute(self, context):
        thing = context.object
        try:
            for empty in empties_of(thing) if thing else ():
                bpy.data.objects.remove(empty)
            made, places = make(thing, self.template)
        except (Problem, cutis.Error) as failure:
            self.report({"ERROR"}, sentence(failure))
            return {"CANCELLED"}
        collection = bpy.data.collections.get(JOINTS) or bpy.data.collections.new(JOINTS)
        if collection.name not in context.scene.collection.children:
            context.scene.collection.children.link(collection)
        for name, place in zip(made.character.joints, places):
            empty = bpy.data.objects.new("joint " + name, None)
            empty.empty_display_type = "SPHERE"
            empty.empty_display_size = 0.012 * made.character.size
            empty.location = place
            empty["cutis_mesh"], empty["cutis_joint"] = thing.name, name
            empty["cutis_moved_from"] = [float(x) for x in place]
            empty.show_in_front = True
            collection.objects.link(empty)
        thing["cutis_template"] = made.skeleton
        self.report({"INFO"}, "Move the joints that are wrong, then press Rig")
        return {"FINISHED"}


class CUTIS_OT_rig(bpy.types.Operator):
    bl_idname = "cutis.rig"
    bl_label = "Rig"
    bl_description = "Make an armature and vertex groups for this mesh"
    bl_options = {"REGISTER", "UNDO"}
    template: bpy.props.EnumProperty(name="Skeleton", items=[("auto", "auto", "The one that fits best")] + [
        (name, name, text) for name, text in cutis.rig_templates().items()])

    def execute(self, context):
        thing = context.object
        try:
            template = self.template if self.template != "auto" or thing is None else thing.get("cutis_template", "auto")
            made, places = make(thing, template)
        except (Problem, cutis.Error) as failure:
            self.report({"ERROR"}, sentence(failure))
            return {"CANCELLED"}
        character = made.character
        names, parents = character.joints, character.parents

        # the armature, in the world
        data = bpy.data.armatures.new(thing.name + " rig")
        armature = bpy.data.objects.new(thing.name + " rig", data)
        context.scene.collection.objects.link(armature)
        for other in context.selected_objects:
            other.select_set(False)
        context.view_layer.objects.active = armature
        armature.select_set(True)
        bpy.ops.object.mode_set(mode="EDIT")
        least = 0.01 * character.size
        for i, (name, parent) in enumerate(zip(names, parents)):
            bone = data.edit_bones.new(name)
            head = Vector(places[i])
            children = [Vector(places[k]) for k, p in enumerate(parents) if p == i]
            tail = sum(children, Vector()) / len(children) if children else None
            if tail is None or (tail - head).length < least:
                way = head - Vector(places[parent]) if parent >= 0 else Vector((0, 0, 1))
                way = way if way.length > least else Vector((0, 0, 1))
                tail = head + way.normalized() * max(0.4 * way.length, least)
            bone.head, bone.tail = head, tail
            if parent >= 0:
                bone.parent = data.edit_bones[names[parent]]
        bpy.ops.object.mode_set(mode="OBJECT")

        # the weights
        first, joints, weights = character.weights
        groups = {}
        for vertex in range(len(thing.data.vertices)):
            for k in range(first[vertex], first[vertex + 1]):
                joint = int(joints[k])
                if joint not in groups:
                    groups[joint] = thing.vertex_groups.get(names[joint]) or thing.vertex_groups.new(name=names[joint])
                groups[joint].add([vertex], float(weights[k]), "REPLACE")
        place = thing.matrix_world.copy()
        thing.parent = armature
        thing.matrix_world = place
        modifier = thing.modifiers.new("Armature", "ARMATURE")
        modifier.object = armature
        thing.cutis.armature = armature
        for empty in empties_of(thing):
            bpy.data.objects.remove(empty)
        armature.select_set(False)
        thing.select_set(True)
        context.view_layer.objects.active = thing
        self.report({"INFO"}, made.sentences[0] if made.sentences else "Rigged")
        return {"FINISHED"}


CLASSES = (CUTIS_OT_rig_joints, CUTIS_OT_rig)


def register():
    for one in CLASSES:
        bpy.utils.register_class(one)


def unregister():
    for one in reversed(CLASSES):
        bpy.utils.unregister_class(one)
