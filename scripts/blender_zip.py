"""blender_zip.py LIBRARY OUT.zip: the Blender add-on with the Python package and the library in it, to install from Blender."""
import os
import sys
import tempfile
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
from python_stage import stage  # noqa: E402

library, out = sys.argv[1:3]
with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(out + ".tmp", "w", zipfile.ZIP_DEFLATED) as target:

    def add(path, name):
        """Without the file's time, so that the same sources give the same bytes."""
        with open(path, "rb") as source:
            target.writestr(zipfile.ZipInfo(name), source.read(), zipfile.ZIP_DEFLATED)

    for base, under in ((os.path.join(ROOT, "blender", "cutis_addon"), "cutis_addon"),
                        (stage(library, folder), "cutis_addon/cutis")):
        for at, folders, files in os.walk(base):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            for file in sorted(files):
                path = os.path.join(at, file)
                add(path, under + "/" + os.path.relpath(path, base).replace(os.sep, "/"))
    # the library for Windows, when it was built beside this one
    windows = os.path.join(ROOT, "build", "win64", "cutis.dll")
    if os.path.exists(windows):
        add(windows, "cutis_addon/cutis/lib/cutis.dll")
    add(os.path.join(ROOT, "LICENSE"), "cutis_addon/LICENSE")
os.replace(out + ".tmp", out)
print(out)
