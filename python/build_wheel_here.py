"""What pip calls for `pip install ./python` (PEP 517), with nothing but Python itself, so that it works offline.

The wheel holds libcutis from build/release (or CUTIS_LIBRARY), which is built when it is not there.
"""
import base64
import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


def _version():
    with open(os.path.join(ROOT, "include", "cutis", "base.h")) as file:
        return ".".join(re.findall(r"#define CUTIS_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", file.read()))


def _library():
    path = os.environ.get("CUTIS_LIBRARY") or os.path.join(ROOT, "build", "release", "libcutis.so")
    if not os.path.exists(path):
        made = subprocess.run(["make", "-C", ROOT, "build"], stdout=sys.stderr)
        if made.returncode or not os.path.exists(path):
            raise SystemExit("the library is not there and cannot be built; run make, or set CUTIS_LIBRARY to its path")
    return path


def get_requires_for_build_wheel(config_settings=None):
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    sys.path.insert(0, os.path.join(ROOT, "scripts"))
    from python_stage import stage
    version = _version()
    tag = "py3-none-" + re.sub(r"[-.]", "_", sysconfig.get_platform())
    name = "cutis-%s-%s.whl" % (version, tag)
    information = "cutis-%s.dist-info/" % version
    rows = []
    with tempfile.TemporaryDirectory() as folder, \
            zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:

        def write(path, data):
            # without a time, so that the same sources give the same bytes
            wheel.writestr(zipfile.ZipInfo(path), data, zipfile.ZIP_DEFLATED)

        def add(path, data):
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append("%s,sha256=%s,%d" % (path, digest, len(data)))
            write(path, data)

        # the package, then what pip wants to know of it
        package = stage(_library(), folder)
        for at, _, files in sorted(os.walk(package)):
            for file in sorted(files):
                with open(os.path.join(at, file), "rb") as source:
                    add(os.path.relpath(os.path.join(at, file), folder).replace(os.sep, "/"), source.read())
        with open(os.path.join(ROOT, "LICENSE"), "rb") as source:
            add(information + "LICENSE", source.read())
        add(information + "METADATA", (
            "Metadata-Version: 2.1\nName: cutis\nVersion: %s\nSummary: Physically based skin and flesh for animated "
            "characters\nLicense: MIT\nRequires-Python: >=3.8\nRequires-Dist: numpy\n" % version).encode())
        add(information + "WHEEL", ("Wheel-Version: 1.0\nGenerator: cutis\nRoot-Is-Purelib: false\nTag: %s\n" % tag).encode())
        rows.append(information + "RECORD,,")
        write(information + "RECORD", "\n".join(rows) + "\n")
    return name
