"""cutis for Blender: flesh that follows the timeline, bakes to shape keys, Mesh Cache and .glb, and rigs.

The add-on calls the library in the process, through the Python package that lies beside this file.
    addon_compat.py     what differs between versions of Blender
    addon_properties.py settings on objects and bones, made from the solvers' tables; presets
    addon_read.py       a Blender mesh, armature and props as a cutis character; its motion
    addon_live.py       sessions: frames on demand, snapshots, the cache that the modifier shows
    addon_bake.py       bakes, in the background of the window; their removal
    addon_rig.py        armature and vertex groups for a bare mesh
    addon_panels.py     panels
"""
bl_info = {
    "name": "cutis: skin and flesh",
    "author": "cutis",
    "version": (0, 1, 0),
    "blender": (3, 4, 0),
    "location": "3D View > Sidebar > cutis",
    "description": "Physically based skin and flesh for animated characters",
    "category": "Animation",
}

import os
import shutil
import sys
import tempfile

import bpy

# installed again, in a running Blender: the modules of before are of no use
for name in [n for n in sys.modules if n.startswith(__name__ + ".")]:
    del sys.modules[name]
    globals().pop(name[len(__name__) + 1:], None)


def load_library():
    """Import the package with a copy of its library: an update writes into the file of the add-on, and what is loaded from there
    crashes. Windows does not let it be written while it is loaded."""
    held = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cutis", "lib")
    library = os.path.join(held, "libcutis.so")
    if sys.platform == "win32" or "CUTIS_LIBRARY" in os.environ or not os.path.exists(library):
        from . import cutis
        return
    folder = tempfile.mkdtemp(prefix="cutis_")
    try:
        shutil.copytree(held, folder, dirs_exist_ok=True)
        os.environ["CUTIS_LIBRARY"] = os.path.join(folder, "libcutis.so")
        from . import cutis
    finally:
        os.environ.pop("CUTIS_LIBRARY", None)
        shutil.rmtree(folder, ignore_errors=True)  # what is loaded stays


MISSING = ""  # why the library is not there
try:
    load_library()
except ImportError as failure:
    MISSING = str(failure)


class CUTIS_PT_missing(bpy.types.Panel):
    bl_label = "cutis"
    bl_space_type, bl_region_type, bl_category = "VIEW_3D", "UI", "cutis"

    def draw(self, context):
        column = self.layout.column()
        column.label(text="The library cannot be loaded:", icon="ERROR")
        for start in range(0, len(MISSING), 60):
            column.label(text=MISSING[start:start + 60])
        column.label(text="Install the add-on .zip made for this system; NumPy is needed, too.")


if not MISSING:
    from . import addon_bake, addon_live, addon_panels, addon_properties, addon_rig
    MODULES = (addon_properties, addon_live, addon_bake, addon_rig, addon_panels)
    glTF2ExportUserExtension = addon_bake.ExportHook  # the name that Blender's exporter looks for


def register():
    if MISSING:
        bpy.utils.register_class(CUTIS_PT_missing)
        return
    for module in MODULES:
        module.register()


def unregister():
    if MISSING:
        bpy.utils.unregister_class(CUTIS_PT_missing)
        return
    for module in reversed(MODULES):
        module.unregister()
