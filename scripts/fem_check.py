#!/usr/bin/env python3
"""fem_check.py: solver `layers` against finite elements of the same flesh.

usage: scripts/fem_check.py [--program P] [--output DIR] [SCENE ...]       SCENE: bend, press, sag (all when not given)

A round bar of flesh with two bones in its axis is made here, and settled by `cutis bake --solver layers`. CalculiX
(Debian: calculix-ccx) then computes the same flesh as a Neo-Hookean solid: quadratic hexahedra between the solver's
bone layer, which is put where the solver has it, and the free skin. The ends of the bar are held.
  bend   the second bone turns by 60 degrees; nothing but the bones moves the flesh, so the modulus does not matter
  press  a flat table, a third as long as the bar, is pressed into its side by 0.15 of its radius, without
         friction
  sag    an acceleration of 9.81 m/s2 across the bar; the modulus is that at which the sag has the solver's mean
Printed: distance of the skin from that of the finite elements, over the bar's diagonal (mean, 95th percentile,
largest), beside that of linear skinning, and for `sag` the modulus and the frequency that it stands for.
"""
import argparse
import json
import os
import shutil
import struct
import subprocess
import sys

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RADIUS, LENGTH, ROUND, ALONG, DEEP = 0.06, 0.6, 32, 48, 4
DENSITY, POISSON = 1000.0, 0.49
TABLE = 0.2  # length of what is pressed into the bar
POINTS = ROUND * (ALONG + 1)


# ---- the bar ----

def bar_points():
    """(ALONG + 1, ROUND, 3): rings along x."""
    x = np.linspace(-LENGTH / 2, LENGTH / 2, ALONG + 1)
    a = np.arange(ROUND) * 2 * np.pi / ROUND
    rings = np.zeros((ALONG + 1, ROUND, 3))
    rings[..., 0] = x[:, None]
    rings[..., 1] = RADIUS * np.cos(a)
    rings[..., 2] = RADIUS * np.sin(a)
    return rings


def bar_write(path, degrees):
    """A .glb of the bar: joints at one end and in the middle, and a clip in which the second turns about z."""
    rings = bar_points()
    points = np.concatenate([rings.reshape(-1, 3), [[-LENGTH / 2, 0, 0], [LENGTH / 2, 0, 0]]])
    faces = []
    for i in range(ALONG):
        for j in range(ROUND):
            a, b = i * ROUND + j, i * ROUND + (j + 1) % ROUND
            faces += [[a, b, b + ROUND], [a, b + ROUND, a + ROUND]]
    for j in range(ROUND):
        k = (j + 1) % ROUND
        faces += [[POINTS, k, j], [POINTS + 1, ALONG * ROUND + j, ALONG * ROUND + k]]
    triangle = points[np.array(faces)]
    if np.einsum("ij,ij->i", triangle[:, 0], np.cross(triangle[:, 1], triangle[:, 2])).sum() < 0:
        faces = [face[::-1] for face in faces]

    # the weight of the second joint rises smoothly over two radii around the middle
    t = np.clip(points[:, 0] / (2 * RADIUS) + 0.5, 0, 1)
    second = t * t * (3 - 2 * t)
    weights = np.stack([1 - second, second, 0 * t, 0 * t], 1)
    joints = np.tile(np.array([0, 1, 0, 0], "u1"), (len(points), 1))
    binds = np.tile(np.eye(4), (3, 1, 1))
    binds[0, 3, 0], binds[1, 3, 0], binds[2, 3, 0] = LENGTH / 2, 0, -LENGTH / 2

    # two seconds to turn, six to settle
    times = np.linspace(0, 8, 81)
    angles = np.radians(degrees) * np.clip(times / 2, 0, 1)
    turns = np.stack([0 * times, 0 * times, np.sin(angles / 2), np.cos(angles / 2)], 1)

    blob, views, accessors = b"", [], []

    def add(array, kind, component, ends=False):
        nonlocal blob
        views.append({"buffer": 0, "byteOffset": len(blob), "byteLength": array.nbytes})
        entry = {"bufferView": len(views) - 1, "componentType": component, "type": kind,
                 "count": array.size if kind == "SCALAR" else len(array)}
        if ends:
            entry["min"] = np.atleast_1d(array.min(0)).tolist()
            entry["max"] = np.atleast_1d(array.max(0)).tolist()
        accessors.append(entry)
        blob += array.tobytes() + b"\0" * (-array.nbytes % 4)
        return len(accessors) - 1

    attributes = {"POSITION": add(points.astype("<f4"), "VEC3", 5126, True), "JOINTS_0": add(joints, "VEC4", 5121),
                  "WEIGHTS_0": add(weights.astype("<f4"), "VEC4", 5126)}
    indices = add(np.array(faces, "<u2").ravel(), "SCALAR", 5123)
    inverse = add(binds.reshape(3, 16).astype("<f4"), "MAT4", 5126)
    sampler = {"input": add(times.astype("<f4"), "SCALAR", 5126, True), "output": add(turns.astype("<f4"), "VEC4", 5126)}
    document = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0, 3]}],
        "nodes": [{"name": "first", "translation": [-LENGTH / 2, 0, 0], "children": [1]},
                  {"name": "second", "translation": [LENGTH / 2, 0, 0], "children": [2]},
                  {"name": "tip", "translation": [LENGTH / 2, 0, 0]}, {"name": "bar", "mesh": 0, "skin": 0}],
        "meshes": [{"primitives": [{"attributes": attributes, "indices": indices}]}],
        "skins": [{"joints": [0, 1, 2], "inverseBindMatrices": inverse}],
        "animations": [{"name": "turn", "samplers": [sampler],
                        "channels": [{"sampler": 0, "target": {"node": 1, "path": "rotation"}}]}],
        "accessors": accessors, "bufferViews": views, "buffers": [{"byteLength": len(blob)}]}
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    with open(path, "wb") as file:
        file.write(struct.pack("<III", 0x46546C67, 2, 28 + len(text) + len(blob)))
        file.write(struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(blob), 0x4E4942) + blob)


def settle(options, name, degrees, more):
    """(skin, bone, linear), each (ALONG + 1, ROUND, 3): where solver layers and linear skinning come to rest."""
    path = os.path.join(options.output, name)
    bar_write(path + ".glb", degrees)
    common = [path + ".glb", "--detail", "drawn", "--fps", "2", "-q"]
    subprocess.run([options.program, "bake", *common, "--solver", "layers", "--outputs", "bone", "-o", path + ".npy",
                    *more], check=True)
    subprocess.run([options.program, "bake", *common, "--solver", "lbs", "-o", path + ".lbs.npy"], check=True)
    last = [np.load(path + end)[-1][:POINTS].reshape(ALONG + 1, ROUND, 3).astype("f8")
            for end in (".npy", ".npy.bone.npy", ".lbs.npy")]
    first = np.load(path + ".npy.bone.npy")[0][:POINTS].reshape(ALONG + 1, ROUND, 3).astype("f8")
    return last, first


# ---- finite elements ----

def node_of(i, j, k):
    """Number of a node of the grid along, round and deep, or None where a quadratic hexahedron has none."""
    if i % 2 + j % 2 + k % 2 > 1:
        return None
    return 1 + (i * ROUND + j % ROUND) * (DEEP + 1) + k


def elements():
    for i in range(0, ALONG, 2):
        for j in range(0, ROUND, 2):
            for k in range(0, DEEP, 2):
                low = [(0, 0), (2, 0), (2, 2), (0, 2)]
                sides = [(1, 0), (2, 1), (1, 2), (0, 1)]
                yield [node_of(i + a, j + b, k + c) for c, ring in ((0, low), (2, low), (0, sides), (2, sides), (1, low))
                       for a, b in ring]


def solve(options, name, rest, fixed, shear, load):
    """Displacements by node. rest: node -> place; fixed: (node, axis) -> displacement; load: acceleration."""
    path = os.path.join(options.output, name)
    bulk = 2 * shear * (1 + POISSON) / (3 * (1 - 2 * POISSON))
    with open(path + ".inp", "w") as file:
        print("*NODE, NSET=ALL", file=file)
        for n, x in rest.items():
            print("%d, %.9g, %.9g, %.9g" % (n, *x), file=file)
        print("*ELEMENT, TYPE=C3D20R, ELSET=FLESH", file=file)
        for number, corners in enumerate(elements(), 1):
            print(", ".join(map(str, [number, *corners[:14]])) + ",\n" + ", ".join(map(str, corners[14:])), file=file)
        print("*MATERIAL, NAME=FLESH\n*HYPERELASTIC, NEO HOOKE\n%.9g, %.9g" % (shear / 2, 2 / bulk), file=file)
        print("*DENSITY\n%g\n*SOLID SECTION, ELSET=FLESH, MATERIAL=FLESH" % DENSITY, file=file)
        print("*STEP, NLGEOM, INC=400\n*STATIC\n0.1, 1., 1e-6, 0.2\n*BOUNDARY", file=file)
        for (n, axis), value in sorted(fixed.items()):
            print("%d, %d, %d, %.9g" % (n, axis + 1, axis + 1, value), file=file)
        length = float(np.linalg.norm(load))
        if length > 0:
            print("*DLOAD\nFLESH, GRAV, %.9g, %.9g, %.9g, %.9g" % (length, *(np.array(load) / length)), file=file)
        print("*NODE PRINT, NSET=ALL, FREQUENCY=1000\nU\n*END STEP", file=file)
    run = subprocess.run(["ccx", name], cwd=options.output, capture_output=True, text=True,
                         env={**os.environ, "OMP_NUM_THREADS": "1"})
    if "Job finished" not in run.stdout:
        sys.exit("fem_check.py: CalculiX fails on %s.inp:\n%s" % (path, run.stdout[-1500:]))
    moved = {}
    with open(path + ".dat") as file:
        for words in map(str.split, file):
            if len(words) == 4 and words[0].isdigit():
                moved[int(words[0])] = np.array(list(map(float, words[1:])))
    return moved


def flesh(options, name, skin, bone, bone_rest, shear=1e4, load=(0, 0, 0), table=None):
    """Skin by finite elements: (places, mask), each over (ALONG + 1, ROUND)."""
    rings = bar_points()
    rest, fixed = {}, {}
    for i in range(ALONG + 1):
        for j in range(ROUND):
            for k in range(DEEP + 1):
                n = node_of(i, j, k)
                if n is None:
                    continue
                share = k / DEEP
                rest[n] = (1 - share) * rings[i, j] + share * bone_rest[i, j]
                held = i in (0, ALONG)
                if k == DEEP or held:
                    goal = (1 - share) * skin[i, j] + share * bone[i, j]
                    for axis in range(3):
                        fixed[n, axis] = goal[axis] - rest[n][axis]

    # the table: what is above it goes into its plane, until nothing is; a round bar only widens where it is pressed,
    # so that nothing has to be let go
    touching = {}
    while True:
        moved = solve(options, name, rest, {**fixed, **touching}, shear, load) if table is None or touching else {}
        before = len(touching)
        for i in range(1, ALONG):
            for j in range(ROUND):
                n = node_of(i, j, 0)
                if table is None or n is None or abs(rest[n][0]) > TABLE / 2:
                    continue
                height = rest[n][1] + (moved[n][1] if moved else 0)
                if (n, 1) not in touching and height > table + 1e-5:
                    touching[n, 1] = table - rest[n][1]
        if len(touching) == before:
            break
    mask = np.array([[node_of(i, j, 0) is not None for j in range(ROUND)] for i in range(ALONG + 1)])
    places = np.array([[rest[n] + moved[n] if (n := node_of(i, j, 0)) else [0, 0, 0] for j in range(ROUND)]
                       for i in range(ALONG + 1)])
    return places, mask


# ---- scenes ----

def tell(name, skin, linear, places, mask, more=""):
    diagonal = np.linalg.norm([LENGTH, 2 * RADIUS, 2 * RADIUS])

    def figures(x):
        d = 100 * np.linalg.norm(x - places, axis=-1)[mask] / diagonal
        return "%.2f | %.2f | %.2f" % (d.mean(), np.percentile(d, 95), d.max())

    print("| %s | %s | %s |%s" % (name, figures(skin), figures(linear), more), flush=True)


def bend(options):
    (skin, bone, linear), bone_rest = settle(options, "bend", 60, ["--set", "self_collision=off"])
    tell("bend", skin, linear, *flesh(options, "bend_fem", skin, bone, bone_rest))


def press(options):
    level = 0.85 * RADIUS
    table = os.path.join(options.output, "table.glb")
    node = {"name": "table", "translation": [0, level + 0.05, 0],
            "extras": {"cutis": {"role": "collider", "shape": "box", "size": [TABLE / 2, 0.05, 0.5]}}}
    document = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [node]}
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    with open(table, "wb") as file:
        file.write(struct.pack("<IIIII", 0x46546C67, 2, 20 + len(text), len(text), 0x4E4F534A) + text)
    (skin, bone, linear), bone_rest = settle(options, "press", 0, ["--set", "friction=0", "--prop", table])
    tell("press", skin, linear, *flesh(options, "press_fem", skin, bone, bone_rest, table=level))


def sag(options):
    (skin, bone, linear), bone_rest = settle(options, "sag", 0, ["--set", "acceleration=0,-9.81,0"])
    shear = 1e4
    for _ in range(4):
        places, mask = flesh(options, "sag_fem", linear, bone, bone_rest, shear, (0, -9.81, 0))
        inner = mask.copy()
        inner[: ALONG // 6] = inner[-(ALONG // 6):] = False
        ratio = (places - linear)[inner][:, 1].mean() / (skin - linear)[inner][:, 1].mean()
        shear *= ratio
    thickness = np.linalg.norm(bar_points() - bone_rest, axis=-1).mean()
    frequency = np.sqrt(shear / DENSITY) / (4 * thickness)
    tell("sag", skin, linear, places, mask, " shear modulus %.2f kPa: flesh %.0f mm thick swings at %.1f Hz" %
         (shear / 1000, 1000 * thickness, frequency))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=os.path.join(ROOT, "build/release/bin/cutis"))
    parser.add_argument("--output", default=os.path.join(ROOT, "build/fem"))
    parser.add_argument("scenes", nargs="*", default=[])
    options = parser.parse_args()
    scenes = {"bend": bend, "press": press, "sag": sag}
    for name in options.scenes:
        if name not in scenes:
            parser.error("no scene '%s': there are %s" % (name, ", ".join(scenes)))
    if not shutil.which("ccx"):
        sys.exit("fem_check.py: CalculiX (ccx) is not installed; Debian has it as calculix-ccx")
    options.program = os.path.abspath(options.program)
    os.makedirs(options.output, exist_ok=True)
    print("| scene | layers: mean | 95 % | largest | linear skinning: mean | 95 % | largest |")
    print("|---|---|---|---|---|---|---|")
    for name in options.scenes or scenes:
        scenes[name](options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
