"""Bakes: in the background of the window, to a Mesh Cache, to shape keys, or to a .glb file; and their removal."""
import json
import os
import re
import threading

import bpy
import numpy as np

from . import addon_compat, addon_live, cutis
from .addon_read import (KEYS, MODIFIER, Motion, Problem, Reading, Walk, armature_of, character_of, check_usable, mates_of,
                         mesh_of, meshes_of, parts_of, sentence)

BAKED = "cutis bake"  # the modifier, and the action
STAGES = {"load": "reading", "build": "making the body", "lead_in": "lead-in", "loop": "closing the loop", "frames": "frames",
          "measure": "measuring", "write": "writing"}
running = None  # the bake in the background of the window


class Bake:
    """One bake of one character: prepare and finish on Blender's thread, run on any."""

    def __init__(self, scene, thing):
        check_usable(thing)
        own = thing.cutis
        if armature_of(thing) is None:
            raise Problem("%s has no armature; choose one, or use Rig to make one" % thing.name)
        self.thing_name = thing.name
        self.target, self.loop = own.target, own.loop
        self.tolerance, self.targets = own.tolerance / 100, own.targets
        self.lead_in = None if own.lead_in < 0 else own.lead_in
        self.fraction, self.stage, self.stopped = 0.0, "load", False
        self.result = self.failure = None
        for part in parts_of(scene, thing) if self.target == "keys" else ():
            self._check_keys(part)
        self.path = self._path(own.path, thing)

        # what goes in, as live mode reads it
        addon_live._busy += 1
        try:
            with Walk(scene, armature_of(thing)):
                scene.frame_set(scene.frame_start)
                self.reading = Reading(scene, thing)
                self.motion = Motion(scene, thing, self.reading)
        finally:
            addon_live._busy -= 1
        self.character = self.reading.character(self.motion.clip("timeline"))

    def _check_keys(self, thing):
        if thing.data.users > 1:
            raise Problem("the mesh of %s is used by %d objects; make it single-user, or bake to a Mesh Cache"
                          % (thing.name, thing.data.users))
        for modifier in thing.modifiers:
            if modifier.type == "ARMATURE":
                if modifier.use_deform_preserve_volume:
                    raise Problem("shape keys replay on linear skinning: switch off Preserve Volume of modifier %s, or bake "
                                  "to a Mesh Cache" % modifier.name)
                break
            if modifier.show_viewport and modifier.type not in ("MESH_CACHE",):
                raise Problem("modifier %s lies above the armature; shape keys cannot replay through it: bake to a Mesh Cache"
                              % modifier.name)

    def _path(self, given, thing):
        ending = ".glb" if self.target == "glb" else ".pc2"
        if self.target == "keys":
            return None
        if not given:
            if not bpy.data.filepath:
                raise Problem("save the .blend first, or name a file for the bake")
            given = "//%s_cutis%s" % (bpy.path.clean_name(thing.name), ending)
        path = bpy.path.abspath(given)
        if not path.lower().endswith(ending):
            path += ending
        if not os.path.isdir(os.path.dirname(path)):
            raise Problem("there is no folder %s" % os.path.dirname(path))
        return path

    @property
    def text(self):
        """How far it is."""
        return "stopping" if self.stopped else "%d %%, %s" % (100 * self.fraction, STAGES.get(self.stage, self.stage))

    # ---- on a thread ----

    def run(self):
        weights = {"lead_in": (0.0, 0.2), "loop": (0.2, 0.5), "frames": (0.2, 0.9)}

        def progress(stage, done, total):
            low, high = weights.get(stage, (0.9, 1.0) if stage in ("measure", "write") else (0.0, 0.0))
            self.fraction = low + (high - low) * (done / total if total else 0)
            self.stage = stage
            return not self.stopped

        try:
            output = self.path if self.target == "glb" else None
            self.result = cutis.bake(
                self.character, output, solver=self.reading.stack, clip="timeline", settings=self.reading.settings,
                fps=self.motion.fps, lead_in=self.lead_in, loop=self.loop, detail=self.reading.detail, keep_frames=True,
                measure=True, progress=progress, format=".glb" if self.target == "keys" else None,
                tolerance=self.tolerance, targets=self.targets)
        except BaseException as failure:
            self.failure = failure

    # ---- behind it ----

    def finish(self):
        """Put the result into the scene; returns a sentence."""
        if self.failure is not None:
            raise self.failure
        thing = bpy.data.objects[self.thing_name]
        result = self.result
        text = "%d frames" % result.frame_count
        parts = [bpy.data.objects[part.name] for part in self.reading.parts]
        if len(parts) > 1:
            text += " of %d meshes" % len(parts)
        if self.target == "cache":
            for i, part in enumerate(parts):
                self._finish_cache(i, part)
        elif self.target == "keys":
            text += ", %d shape keys, off by at most %.3g %% of the size" % (
                self._finish_keys(parts), 100 * result.morphs["max_error"])
        else:
            text += " in %s" % os.path.basename(self.path)
        if result.loop:
            text += "; seam %.2g of the size%s" % (result.loop["position_seam"], "" if result.loop["closed"] else " (not closed)")
        quality = result.quality
        told = self._scene_frames
        thing.cutis.report = json.dumps({
            "text": text, "verdict": told(result.verdict or ""), "level": result.level or "good",
            "volume": quality.volume_error_max, "intersections": int(quality.self_intersections_max),
            "intersections_rest": int(quality.self_intersections_rest), "seconds": result.total_seconds,
            "ms": 1000 * result.step_median, "start": self.motion.start,
            "worst": int(next((f["frame"] for f in result.findings if f["frame"] >= 0),
                              max(quality.worst_intersection_frame, quality.worst_volume_frame, -1))),
            "findings": [told(f["text"]) for f in result.findings],
            "warnings": self.reading.warnings + [told(text) for text in result.warnings]})
        if self.target != "glb":
            thing.cutis.live = False  # the bake takes its place
        return text

    def _scene_frames(self, text):
        """A sentence of the library, which counts frames from 0, with the numbers of the timeline."""
        return re.sub(r"\bframes? \d+(?: to \d+)?", lambda found: re.sub(
            r"\d+", lambda number: str(int(number.group()) + self.motion.start), found.group()), text)

    def part_path(self, index):
        """The file of a mesh: that of the bake, with the mesh's name when there are several."""
        if len(self.reading.parts) == 1:
            return self.path
        return "%s_%s.pc2" % (self.path[:-4], bpy.path.clean_name(self.reading.parts[index].name))

    def _finish_cache(self, index, thing):
        """Write beside the target and rename, so that a failure leaves the old file."""
        part = self.reading.parts[index]
        frames = self.result.positions[:, part.first:part.end]
        target = self.part_path(index)
        temporary = target + ".tmp"
        addon_live.write_header(temporary, frames.shape[1], self.motion.start, len(frames))
        memory = np.memmap(temporary, "<f4", "r+", addon_live.HEADER, frames.shape)
        for i, frame in enumerate(frames):
            memory[i] = self.motion.to_object(min(i, self.motion.count - 1), index, frame)
        memory.flush()
        del memory
        os.replace(temporary, target)
        remove_keys(thing)
        path = bpy.path.relpath(target) if bpy.data.filepath else target
        addon_live.attach(thing, path, self.motion.start, BAKED)

    def _finish_keys(self, things):
        """Shape keys and actions of their own, from the morph targets that the library fitted; returns how many targets."""
        made = cutis.Character.load("bake.glb", next(iter(self.result.files.values())))
        names = [name for name in made.morphs if name not in self.reading.morphs]
        order = list(made.morphs)
        weights = np.stack([made.morph_weights("timeline", i / self.result.fps) for i in range(self.result.frame_count)])
        columns = {name: weights[:, order.index(name)] for name in names}
        for thing, part in zip(things, self.reading.parts):
            # a mesh gets the targets that move it
            deltas = {name: made.morphs[name][part.first:part.end] for name in names}
            self._finish_keys_of(thing, part, {name: delta for name, delta in deltas.items() if delta.any()}, columns)
        return len(names)

    def _finish_keys_of(self, thing, part, deltas, columns):
        remove_bake(thing)
        if not deltas:
            return

        # the keys
        if thing.data.shape_keys is None:
            thing.shape_key_add(name="Basis", from_mix=False)
            thing.data["cutis_basis"] = True  # to be taken away again with the others
        base = np.empty(3 * len(thing.data.vertices), np.float32)
        thing.data.shape_keys.reference_key.data.foreach_get("co", base)
        into = np.linalg.inv(part.place[:3, :3])
        blocks = []
        for i, delta in enumerate(deltas.values()):
            block = thing.shape_key_add(name="%s%02d" % (KEYS, i), from_mix=False)
            block.data.foreach_set("co", (base.reshape(-1, 3) + delta @ into.T).astype(np.float32).reshape(-1))
            blocks.append(block)

        # an action of their own, on an NLA track with the name of the armature's: exporters join tracks of one name, so the
        # bones and the keys become one animation
        name, shift, scale = clip_of(armature_of(thing))
        action = bpy.data.actions.new(BAKED)
        data = thing.data.shape_keys.animation_data_create()
        track = data.nla_tracks.new()
        track.name = name
        curves = addon_compat.action_curves(action, thing.data.shape_keys)
        frames = np.arange(self.result.frame_count) + float(self.motion.start)
        for block, key in zip(blocks, deltas):
            curve = curves.new('key_blocks["%s"].value' % block.name)
            curve.keyframe_points.add(len(frames))
            flat = np.stack([shift + scale * frames, columns[key]], 1).reshape(-1)
            curve.keyframe_points.foreach_set("co", flat)
            for point in curve.keyframe_points:
                point.interpolation = "LINEAR"
            curve.update()
        strip = track.strips.new(BAKED, self.motion.start, action)
        strip.action_frame_start = shift + scale * frames[0]
        strip.action_frame_end = shift + scale * max(frames[-1], frames[0] + 1)
        strip.scale = 1 / scale
        strip.frame_start, strip.frame_end = frames[0], max(frames[-1], frames[0] + 1)


def clip_of(armature):
    """The name under which exporters write what an armature plays, and its action's time at a frame of the scene: shift + scale x
    frame. An active action that is on no track gets a muted one, because exporters join only tracks."""
    data = armature.animation_data
    if data is None:
        return BAKED, 0.0, 1.0
    if data.action is not None:
        for track in data.nla_tracks:
            if [strip.action for strip in track.strips if not strip.mute] == [data.action]:
                return track.name, 0.0, 1.0
        track = data.nla_tracks.new()
        track.name, track.mute = data.action.name, True
        track.strips.new(BAKED, int(data.action.frame_range[0]), data.action)
        return track.name, 0.0, 1.0
    strips = [(track, strip) for track in data.nla_tracks if not track.mute
              for strip in track.strips if not strip.mute and strip.action]
    if len(strips) != 1:
        return BAKED, 0.0, 1.0
    track, strip = strips[0]
    scale = 1 / strip.scale
    return track.name, strip.action_frame_start - strip.frame_start * scale, scale


class ExportHook:
    """Called by Blender's glTF exporter. It samples an action from its first key on at whole frames that it rounds down: keys
    that begin between frames, or 1e-6 before one as importers leave them, would shift the bones by a frame against the baked
    keys. During the export such an action has a range of whole frames."""
    changed = []

    def restore(self):
        for action, used, start, end in self.changed:
            action.frame_start, action.frame_end, action.use_frame_range = start, end, used
        self.changed.clear()

    def pre_gather_actions_hook(self, thing, settings):
        if thing.type != "ARMATURE" or not any(has_keys(mesh) for mesh in meshes_of(bpy.context.scene, thing)):
            return
        data = thing.animation_data
        actions = {data.action, *(strip.action for track in data.nla_tracks for strip in track.strips)} - {None} if data else ()
        for action in actions:
            if action.use_frame_range or action in [one[0] for one in self.changed]:
                continue
            start, end = action.frame_range
            self.changed.append((action, False, action.frame_start, action.frame_end))
            action.frame_start, action.frame_end = np.floor(start + 1e-3), np.ceil(end - 1e-3)
            action.use_frame_range = True

    def gather_gltf_extensions_hook(self, gltf, settings):
        self.restore()


def remove_tracks(data):
    """Remove the tracks of a bake, and actions that nothing else uses."""
    for track in [t for t in data.nla_tracks if any(strip.name.startswith(BAKED) for strip in t.strips)]:
        actions = [strip.action for strip in track.strips if strip.action]
        data.nla_tracks.remove(track)
        for action in actions:
            if action.users == 0 and action.name.startswith(BAKED):
                bpy.data.actions.remove(action)


def has_keys(thing):
    blocks = thing.data.shape_keys
    return bool(blocks) and any(block.name.startswith(KEYS) for block in blocks.key_blocks)


def remove_keys(thing):
    blocks = thing.data.shape_keys
    if not blocks:
        return
    data = blocks.animation_data
    if data:
        remove_tracks(data)
        if data.action and data.action.name.startswith(BAKED):  # of an older version
            action = data.action
            data.action = None
            if action.users == 0:
                bpy.data.actions.remove(action)
    for block in [k for k in blocks.key_blocks if k.name.startswith(KEYS)]:
        thing.shape_key_remove(block)
    blocks = thing.data.shape_keys
    if blocks and len(blocks.key_blocks) == 1 and thing.data.get("cutis_basis"):
        thing.shape_key_clear()
    thing.data.pop("cutis_basis", None)

    # the armature's track serves all of its meshes
    armature = armature_of(thing)
    if armature and armature.animation_data and not any(has_keys(other) for other in mates_of(bpy.context.scene, thing)):
        remove_tracks(armature.animation_data)


def remove_bake(thing):
    addon_live.detach(thing, BAKED)
    remove_keys(thing)


class CUTIS_OT_bake(bpy.types.Operator):
    bl_idname = "cutis.bake"
    bl_label = "Bake"
    bl_description = "Simulate the frame range of the scene. Esc stops"
    bl_options = {"REGISTER", "UNDO"}

    def prepare(self, context):
        try:
            self.bake = Bake(context.scene, character_of(context))
            return True
        except (Problem, cutis.Error) as failure:
            self.report({"ERROR"}, sentence(failure))
            return False

    def conclude(self):
        try:
            text = self.bake.finish()
        except cutis.Interrupted:
            self.report({"WARNING"}, "The bake was stopped; nothing has changed")
            return {"CANCELLED"}
        except (Problem, cutis.Error, OSError) as failure:
            self.report({"ERROR"}, sentence(failure))
            return {"CANCELLED"}
        self.report({"INFO"}, "Baked " + text)
        return {"FINISHED"}

    def execute(self, context):
        if not self.prepare(context):
            return {"CANCELLED"}
        self.bake.run()
        return self.conclude()

    def invoke(self, context, event):
        global running
        if bpy.app.background:
            return self.execute(context)
        if running is not None:
            self.report({"ERROR"}, "A bake is running; stop it first")
            return {"CANCELLED"}
        if not self.prepare(context):
            return {"CANCELLED"}
        running = self.bake
        self.thread = threading.Thread(target=self.bake.run, daemon=True)
        self.thread.start()
        manager = context.window_manager
        manager.progress_begin(0, 100)
        self.timer = manager.event_timer_add(0.1, window=context.window)
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        global running
        if event.type == "ESC":
            self.bake.stopped = True
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        context.window_manager.progress_update(100 * self.bake.fraction)
        context.workspace.status_text_set("cutis bake: %s. Esc stops" % self.bake.text)
        addon_live.redraw(("UI",), ("VIEW_3D",))
        if self.thread.is_alive():
            return {"RUNNING_MODAL"}
        context.window_manager.event_timer_remove(self.timer)
        context.window_manager.progress_end()
        context.workspace.status_text_set(None)
        running = None
        return self.conclude()


class CUTIS_OT_stop(bpy.types.Operator):
    bl_idname = "cutis.stop"
    bl_label = "Stop"
    bl_description = "Stop the bake; nothing changes"

    def execute(self, context):
        if running is not None:
            running.stopped = True
        return {"FINISHED"}


class CUTIS_OT_remove(bpy.types.Operator):
    bl_idname = "cutis.remove"
    bl_label = "Remove"
    bl_description = "Remove the bake and live mode from this character; nothing else is touched"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context):
        lead = character_of(context)
        if lead is None:
            self.report({"ERROR"}, "Select a mesh object")
            return {"CANCELLED"}
        lead.cutis.live = False
        for thing in mates_of(context.scene, lead):
            remove_bake(thing)
            addon_live.detach(thing, MODIFIER)
            thing.cutis.report = ""
            found = thing.data.color_attributes.get("cutis")
            if found:
                thing.data.color_attributes.remove(found)
        return {"FINISHED"}


class CUTIS_OT_worst(bpy.types.Operator):
    bl_idname = "cutis.worst_frame"
    bl_label = "Show worst frame"
    bl_description = "Jump to the frame where the result is worst"

    def execute(self, context):
        lead = character_of(context)
        report = json.loads((lead.cutis.report if lead else "") or "{}")
        if report.get("worst", -1) < 0:
            self.report({"INFO"}, "No frame stands out")
            return {"CANCELLED"}
        context.scene.frame_set(report["start"] + report["worst"])
        return {"FINISHED"}


class CUTIS_OT_refresh(bpy.types.Operator):
    bl_idname = "cutis.refresh"
    bl_label = "Simulate again"
    bl_description = "Read mesh, animation and props again"

    def execute(self, context):
        session = addon_live.session_of(context)
        if session is None:
            self.report({"ERROR"}, "Switch Live on first")
            return {"CANCELLED"}
        try:
            session.refresh(context.scene, anew=True)
            if session.prepared():
                session.show(context.scene.frame_current)
            addon_live.wake()
            addon_live.update_view(session.thing)
        except (Problem, cutis.Error) as failure:
            self.report({"ERROR"}, sentence(failure))
            return {"CANCELLED"}
        return {"FINISHED"}


class CUTIS_OT_show_colors(bpy.types.Operator):
    bl_idname = "cutis.show_colors"
    bl_label = "Show colours"
    bl_description = "Set this 3D view to show the colours: Viewport Shading > Solid, Color > Attribute"

    def execute(self, context):
        context.space_data.shading.type = "SOLID"
        context.space_data.shading.color_type = "VERTEX"
        return {"FINISHED"}


class CUTIS_OT_add_map(bpy.types.Operator):
    bl_idname = "cutis.add_map"
    bl_label = "Paint"
    bl_description = "Add the vertex group of this map, for Blender's weight paint"
    bl_options = {"REGISTER", "UNDO"}
    name: bpy.props.StringProperty()

    def execute(self, context):
        from .addon_properties import MAPS
        thing = mesh_of(context)
        if thing is None:
            self.report({"ERROR"}, "Select a mesh object")
            return {"CANCELLED"}
        group = thing.vertex_groups.get("cutis_" + self.name)
        if group is None:
            group = thing.vertex_groups.new(name="cutis_" + self.name)
            group.add(range(len(thing.data.vertices)), MAPS[self.name], "REPLACE")
        thing.vertex_groups.active = group
        addon_live.settings_changed()
        return {"FINISHED"}


CLASSES = (CUTIS_OT_bake, CUTIS_OT_stop, CUTIS_OT_remove, CUTIS_OT_worst, CUTIS_OT_refresh, CUTIS_OT_show_colors,
           CUTIS_OT_add_map)


def register():
    for one in CLASSES:
        bpy.utils.register_class(one)


def unregister():
    for one in reversed(CLASSES):
        bpy.utils.unregister_class(one)
