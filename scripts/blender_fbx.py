"""blender_fbx.py: export glTF characters as FBX by Blender, for tests of the FBX reader.

    blender -b --factory-startup -noaudio -P scripts/blender_fbx.py -- IN.glb OUT.fbx [IN.glb OUT.fbx ...]

A bone that an action does not key stays in Blender where the action before left it, while glTF lets it stand as its node
does. So each action gets keys for such bones before it is exported, and the scene is exported in the nodes' pose.
"""
import json
import os
import struct
import sys
import tempfile

import bpy
import numpy

numpy.bool = bool  # the glTF importer of Blender 3.4 asks for it
PATHS = ("location", "rotation_quaternion", "scale")


def load(path):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = 120  # keys at 24, 30 and 60 a second fall on frames
    bpy.ops.import_scene.gltf(filepath=path, bone_heuristic="TEMPERANCE")
    for thing in list(bpy.data.objects):  # the importer adds a shape for bones
        if thing.name.startswith("Icosphere") and thing.type == "MESH":
            bpy.data.objects.remove(thing)


def armatures():
    return [thing for thing in bpy.data.objects if thing.type == "ARMATURE"]


def standing_pose(path):
    """The pose of all bones without a clip: of the same file without its animations."""
    data = open(path, "rb").read()
    size = struct.unpack("<I", data[12:16])[0]
    root = json.loads(data[20:20 + size])
    root.pop("animations", None)
    text = json.dumps(root).encode()
    text += b" " * (-len(text) % 4)
    rest = data[20 + size:]
    with tempfile.TemporaryDirectory() as folder:
        still = os.path.join(folder, "still.glb")
        with open(still, "wb") as file:
            file.write(struct.pack("<4sIIII", b"glTF", 2, 20 + len(text) + len(rest), len(text), 0x4E4F534A) + text + rest)
        load(still)
        return {(thing.name, bone.name): [tuple(getattr(bone, path)) for path in PATHS]
                for thing in armatures() for bone in thing.pose.bones}


def stand(thing, pose):
    """Put an armature into that pose, with no action at work."""
    if thing.animation_data:
        thing.animation_data.action = None
        for track in thing.animation_data.nla_tracks:
            track.mute = True
    for bone in thing.pose.bones:
        for path, value in zip(PATHS, pose[thing.name, bone.name]):
            setattr(bone, path, value)


def key_the_rest(thing, pose):
    """Keys for the bones that an action of this armature leaves out."""
    for track in thing.animation_data.nla_tracks if thing.animation_data else ():
        action = track.strips[0].action
        keyed, start = {curve.data_path for curve in action.fcurves}, action.frame_range[0]
        for bone in thing.pose.bones:
            for path, value in zip(PATHS, pose[thing.name, bone.name]):
                name = 'pose.bones["%s"].%s' % (bone.name, path)
                if name in keyed:
                    continue
                for i, number in enumerate(value):
                    curve = action.fcurves.new(name, index=i)
                    curve.keyframe_points.add(1)
                    curve.keyframe_points[0].co = start, number


arguments = sys.argv[sys.argv.index("--") + 1:]
for source, target in zip(arguments[::2], arguments[1::2]):
    pose = standing_pose(source)
    load(source)
    for armature in armatures():
        key_the_rest(armature, pose)
        stand(armature, pose)
    bpy.context.view_layer.update()
    bpy.ops.export_scene.fbx(
        filepath=target,
        add_leaf_bones=False,
        bake_anim_use_all_bones=True,
        bake_anim_simplify_factor=0,
        bake_anim_use_nla_strips=False,
        bake_anim_use_all_actions=True,
    )
    print("wrote", target)
