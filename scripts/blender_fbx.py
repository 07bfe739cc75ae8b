"""blender_fbx.py: export glTF characters as FBX by Blender, for tests of the FBX reader.

    blender -b --factory-startup -noaudio -P scripts/blender_fbx.py -- IN.glb OUT.fbx [IN.glb OUT.fbx ...]
"""
import sys

import bpy
import numpy

numpy.bool = bool  # the glTF importer of Blender 3.4 asks for it

arguments = sys.argv[sys.argv.index("--") + 1 :]
for source, target in zip(arguments[::2], arguments[1::2]):
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = 60
    bpy.ops.import_scene.gltf(filepath=source, bone_heuristic="TEMPERANCE")
    for thing in list(bpy.data.objects):  # the importer adds a shape for bones
        if thing.name.startswith("Icosphere") and thing.type == "MESH":
            bpy.data.objects.remove(thing)
    bpy.ops.export_scene.fbx(
        filepath=target,
        add_leaf_bones=False,
        bake_anim_use_all_bones=True,
        bake_anim_simplify_factor=0,
        bake_anim_use_nla_strips=False,
        bake_anim_use_all_actions=True,
    )
    print("wrote", target)
