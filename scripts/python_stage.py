"""python_stage.py LIBRARY FOLDER: put the Python package `cutis` into FOLDER, ready to import.

Copies python/cutis, makes its ctypes declarations from include/cutis, and adds the library with the shared libraries
that it needs beyond those of every system, so that nothing else has to be installed.
"""
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# part of every Linux; a second copy of these in one process does harm
SYSTEM = ("linux-vdso", "ld-linux", "libc.so", "libm.so", "libpthread", "libdl", "librt", "libgcc_s", "libstdc++")


def needed(library):
    """Shared libraries that `library` needs, each behind those that it needs itself."""
    found = []
    try:
        text = subprocess.run(["ldd", library], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return found  # of another system: its builder puts them there
    for line in text.splitlines():
        name, _, path = line.strip().partition(" => ")
        path = path.split(" (")[0]
        if path and not name.startswith(SYSTEM):
            for deeper in needed(path):
                if deeper not in found:
                    found.append(deeper)
            if path not in found:
                found.append(path)
    return found


def bring(libraries, folder, licences):
    """Copy shared libraries of others into `folder`, and the licence texts of their Debian packages into `licences`."""
    os.makedirs(licences, exist_ok=True)
    for path in libraries:
        shutil.copy(os.path.realpath(path), os.path.join(folder, os.path.basename(path)))
        try:
            owner = subprocess.run(["dpkg", "-S", os.path.realpath(path)], capture_output=True, text=True).stdout.split(":")[0]
            shutil.copy("/usr/share/doc/%s/copyright" % owner, os.path.join(licences, owner + ".txt"))
        except OSError:
            pass  # another system: the texts come with its own packages


def stage(library, folder):
    package = os.path.join(folder, "cutis")
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(os.path.join(ROOT, "python", "cutis"), package, ignore=shutil.ignore_patterns("__pycache__", "lib"))
    subprocess.run([sys.executable, os.path.join(ROOT, "scripts", "python_structs.py"),
                    os.path.join(ROOT, "include", "cutis"), os.path.join(package, "_structs.py"),
                    os.path.join(folder, "layout.c")], check=True)
    held = os.path.join(package, "lib")
    os.makedirs(held)
    name = os.path.basename(library)
    shutil.copy(library, os.path.join(held, name))
    others = needed(library)
    bring(others, held, os.path.join(package, "licences"))
    with open(os.path.join(held, "order.txt"), "w") as file:
        file.write("".join(os.path.basename(path) + "\n" for path in others))
    return package


if __name__ == "__main__":
    stage(*sys.argv[1:3])
