"""blender -b --factory-startup -noaudio -P scripts/blender_pictures.py -- ADDON.zip CHARACTER.glb CLIP FRAME OUT_FOLDER

The pictures of docs/guide/blender.md, rendered by Workbench: a frame under linear skinning, live, and with colours of stretch.
"""
import os
import sys

import bpy
import numpy as np
from mathutils import Vector

np.bool = bool  # Blender 3.4's importer was written for an older NumPy
ADDON, PATH, CLIP, FRAME, OUT = sys.argv[sys.argv.index("--") + 1:]
FRAME = int(FRAME)
bpy.ops.preferences.addon_install(filepath=ADDON)
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.preferences.addon_enable(module="cutis_addon")
scene = bpy.context.scene
bpy.ops.import_scene.gltf(filepath=PATH)
body = next(t for t in scene.objects if t.type == "MESH" and t.vertex_groups)
armature = body.find_armature()
for track in armature.animation_data.nla_tracks:
    if track.name == CLIP:
        armature.animation_data.action = track.strips[0].action
    track.mute = True
armature.hide_render = True
for thing in scene.objects:
    thing.hide_render = thing is not body
scene.frame_start, scene.frame_end = 0, FRAME
scene.render.fps = 30
for polygon in body.data.polygons:
    polygon.use_smooth = True

# the camera looks at the middle of the frame
scene.frame_set(FRAME)
real = body.evaluated_get(bpy.context.evaluated_depsgraph_get())
points = np.array([real.matrix_world @ v.co for v in real.data.vertices])
middle, size = Vector((points.max(0) + points.min(0)) / 2), np.linalg.norm(points.max(0) - points.min(0))
camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
scene.collection.objects.link(camera)
camera.location = middle + Vector((0.7, -1.0, 0.25)).normalized() * 1.15 * size
camera.rotation_euler = (middle - camera.location).to_track_quat("-Z", "Y").to_euler()
scene.camera = camera
scene.render.engine = "BLENDER_WORKBENCH"
scene.display.shading.light = "STUDIO"
scene.display.shading.show_cavity = True
scene.display.shading.color_type = "SINGLE"
scene.display.shading.single_color = (0.8, 0.62, 0.53)
scene.render.resolution_x = scene.render.resolution_y = 360
scene.world = bpy.data.worlds.new("world")
scene.world.color = (0.75, 0.78, 0.82)


def picture(name):
    scene.render.filepath = os.path.join(OUT, name)
    bpy.ops.render.render(write_still=True)


picture("blender_before.png")
body.cutis.color = "stretch"
body.cutis.live = True
scene.frame_set(FRAME)
picture("blender_live.png")
scene.display.shading.color_type = "VERTEX"
picture("blender_stretch.png")
