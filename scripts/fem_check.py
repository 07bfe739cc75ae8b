#!/usr/bin/env python3
"""fem_check.py: solver `layers` or `tissue` against finite elements of the same flesh.

usage: scripts/fem_check.py [--solver S] [--set KEY=VALUE ...] [--fine N] [--alternate] [--degrees D] [--regions]
                            [--program P] [--output DIR] [SCENE ...]
       S: layers (the default) or tissue; N: points of the solver's bar per interval of the elements (1);
       SCENE: bend, press, sag (all when not given)

A round bar of flesh with two bones in its axis is made here, and settled by `cutis bake --solver S`. CalculiX
(Debian: calculix-ccx) then computes the same flesh as a Neo-Hookean solid: quadratic hexahedra between the solver's
bone layer, which is put where the solver has it, and the free skin. The ends of the bar are held. For `tissue` each of
its three layers is one layer of elements, with the ratio of moduli that the solver has; for `layers`, whose stiffness
is no modulus, the flesh is uniform.
  bend   the second bone turns by D degrees (60); nothing but the bones moves the flesh, so the modulus does not matter
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
RADIUS, LENGTH, ROUND, ALONG = 0.06, 0.6, 32, 48
MAX_DEEP = 6  # intervals of the grid through the flesh
DENSITY, POISSON = 1000.0, 0.49
TABLE = 0.2  # length of what is pressed into the bar


# ---- the bar ----

def bar_points(fine=1):
    """(fine * ALONG + 1, fine * ROUND, 3): rings along x."""
    x = np.linspace(-LENGTH / 2, LENGTH / 2, fine * ALONG + 1)
    a = np.arange(fine * ROUND) * 2 * np.pi / (fine * ROUND)
    rings = np.zeros((fine * ALONG + 1, fine * ROUND, 3))
    rings[..., 0] = x[:, None]
    rings[..., 1] = RADIUS * np.cos(a)
    rings[..., 2] = RADIUS * np.sin(a)
    return rings


def bar_write(path, degrees, fine, alternate):
    """A .glb of the bar: joints at one end and in the middle, and a clip in which the second turns about z."""
    rings = bar_points(fine)
    across, long = fine * ROUND, fine * ALONG
    count = across * (long + 1)
    points = np.concatenate([rings.reshape(-1, 3), [[-LENGTH / 2, 0, 0], [LENGTH / 2, 0, 0]]])
    faces = []
    for i in range(long):
        for j in range(across):
            a, b = i * across + j, i * across + (j + 1) % across
            if alternate and (i + j) % 2:
                faces += [[a, b, a + across], [b, b + across, a + across]]
            else:
                faces += [[a, b, b + across], [a, b + across, a + across]]
    for j in range(across):
        k = (j + 1) % across
        faces += [[count, k, j], [count + 1, long * across + j, long * across + k]]
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
    """Where the solver comes to rest: (layers from skin to bone, linear skinning), and the layers at rest."""
    path = os.path.join(options.output, name)
    bar_write(path + ".glb", degrees, options.fine, options.alternate)
    common = [path + ".glb", "--detail", "drawn", "--fps", "2", "-q"]
    inner = ["fat", "muscle", "bone"] if options.solver == "tissue" else ["bone"]
    if options.solver == "tissue":  # what the finite elements have not
        off = ["gravity=0", "anatomy=0", "muscle_bulge=0", "joints=fixed"]
        more = [word for setting in off for word in ("--set", setting)] + more
    more = more + [word for setting in options.set for word in ("--set", setting)]
    subprocess.run([options.program, "bake", *common, "--solver", options.solver, "--outputs", ",".join(inner),
                    "-o", path + ".npy", *more], check=True)
    subprocess.run([options.program, "bake", *common, "--solver", "lbs", "-o", path + ".lbs.npy"], check=True)

    def frame(end, index):
        fine = options.fine
        rings = np.load(path + end)[index][:fine * ROUND * (fine * ALONG + 1)].reshape(fine * ALONG + 1, fine * ROUND, 3)
        return rings[::fine, ::fine].astype("f8")

    ends = [".npy"] + [".npy.%s.npy" % layer for layer in inner]
    rest = [bar_points()] + [frame(end, 0) for end in ends[1:]]
    return [frame(end, -1) for end in ends], frame(".lbs.npy", -1), rest


def shear_moduli(options):
    """Ratios of the shear moduli of the layers of elements, from skin to bone."""
    if options.solver != "tissue":
        return [1, 1]
    table = json.loads(subprocess.run([options.program, "solvers", options.solver, "--json"], check=True,
                                      capture_output=True, text=True).stdout)
    values = {parameter["name"]: parameter["default"] for parameter in table["parameters"]}
    values.update(setting.split("=", 1) for setting in options.set)
    moduli = np.array([float(values[tissue + "_stiffness"]) for tissue in ("skin", "fat", "muscle")]) ** 2
    return list(moduli / moduli.max())


# ---- finite elements ----

def node_of(i, j, k):
    """Number of a node of the grid along, round and deep, or None where a quadratic hexahedron has none."""
    if i % 2 + j % 2 + k % 2 > 1:
        return None
    return 1 + (i * ROUND + j % ROUND) * (MAX_DEEP + 1) + k


def elements(k):
    """Nodes of the elements between depths k and k + 2 of the grid."""
    for i in range(0, ALONG, 2):
        for j in range(0, ROUND, 2):
            low = [(0, 0), (2, 0), (2, 2), (0, 2)]
            sides = [(1, 0), (2, 1), (1, 2), (0, 1)]
            yield [node_of(i + a, j + b, k + c) for c, ring in ((0, low), (2, low), (0, sides), (2, sides), (1, low))
                   for a, b in ring]


def solve(options, name, rest, fixed, moduli, load):
    """Displacements by node. rest: node -> place; fixed: (node, axis) -> displacement; load: acceleration."""
    path = os.path.join(options.output, name)
    with open(path + ".inp", "w") as file:
        print("*NODE, NSET=ALL", file=file)
        for n, x in rest.items():
            print("%d, %.9g, %.9g, %.9g" % (n, *x), file=file)
        number = 0
        for layer, shear in enumerate(moduli):
            print("*ELEMENT, TYPE=C3D20R, ELSET=FLESH%d" % layer, file=file)
            for corners in elements(2 * layer):
                number += 1
                print(", ".join(map(str, [number, *corners[:14]])) + ",\n" + ", ".join(map(str, corners[14:])),
                      file=file)
            bulk = 2 * shear * (1 + POISSON) / (3 * (1 - 2 * POISSON))
            print("*MATERIAL, NAME=FLESH%d\n*HYPERELASTIC, NEO HOOKE\n%.9g, %.9g" % (layer, shear / 2, 2 / bulk),
                  file=file)
            print("*DENSITY\n%g\n*SOLID SECTION, ELSET=FLESH%d, MATERIAL=FLESH%d" % (DENSITY, layer, layer), file=file)
        print("*STEP, NLGEOM, INC=400\n*STATIC\n0.25, 1., 1e-6, 0.5\n*BOUNDARY", file=file)
        for (n, axis), value in sorted(fixed.items()):
            print("%d, %d, %d, %.9g" % (n, axis + 1, axis + 1, value), file=file)
        length = float(np.linalg.norm(load))
        if length > 0:
            print("*DLOAD", file=file)
            for layer in range(len(moduli)):
                print("FLESH%d, GRAV, %.9g, %.9g, %.9g, %.9g" % (layer, length, *(np.array(load) / length)), file=file)
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


def grid_layer(layers, k, deep):
    """Surface of the grid at depth k of `deep`, between the given layers."""
    place = k * (len(layers) - 1) / deep
    low = min(int(place), len(layers) - 2)
    return (low + 1 - place) * layers[low] + (place - low) * layers[low + 1]


def flesh(options, name, layers, layers_rest, moduli, load=(0, 0, 0), table=None):
    """Skin by finite elements: (places, mask), each over (ALONG + 1, ROUND)."""
    deep = 2 * len(moduli)
    rest, fixed = {}, {}
    for k in range(deep + 1):
        surface, goal = grid_layer(layers_rest, k, deep), grid_layer(layers, k, deep)
        for i in range(ALONG + 1):
            for j in range(ROUND):
                n = node_of(i, j, k)
                if n is None:
                    continue
                rest[n] = surface[i, j]
                if k == deep or i in (0, ALONG):
                    for axis in range(3):
                        fixed[n, axis] = goal[i, j, axis] - rest[n][axis]

    # the table: what is above it goes into its plane, until nothing is; a round bar only widens where it is pressed,
    # so that nothing has to be let go
    touching = {}
    while True:
        moved = solve(options, name, rest, {**fixed, **touching}, moduli, load) if table is None or touching else {}
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

def deviations(x, places):
    """Distances over the diagonal of the bar, in %."""
    return 100 * np.linalg.norm(x - places, axis=-1) / np.linalg.norm([LENGTH, 2 * RADIUS, 2 * RADIUS])


def report(options, name, skin, linear, places, mask, more=""):
    def figures(x):
        d = deviations(x, places)[mask]
        return "%.3f | %.2f | %.2f" % (d.mean(), np.percentile(d, 95), d.max())

    print("| %s | %s | %s |%s" % (name, figures(skin), figures(linear), more), flush=True)
    if options.regions:
        report_regions(skin, places, mask)


def report_regions(skin, places, mask):
    """Mean, largest and mean outward deviation by distance from the middle of the bar and by side."""
    rings = bar_points()
    d = deviations(skin, places)
    normals = np.cross(np.roll(places, -1, 1) - np.roll(places, 1, 1), np.gradient(places, axis=0))
    normals /= np.maximum(np.linalg.norm(normals, axis=-1, keepdims=True), 1e-12)
    normals *= np.sign((normals * (places - places.mean(1, keepdims=True))).sum(-1, keepdims=True).mean())
    outward = 100 * ((skin - places) * normals).sum(-1) / np.linalg.norm([LENGTH, 2 * RADIUS, 2 * RADIUS])
    angle = rings[..., 1] / RADIUS
    sides = {"+y": angle > 0.7, "side": np.abs(angle) <= 0.7, "-y": angle < -0.7}
    edges = [0, 0.04, 0.08, 0.12, 0.16, 0.24, 0.31]
    for low, high in zip(edges[:-1], edges[1:]):
        for side, chosen in sides.items():
            at = mask & chosen & (np.abs(rings[..., 0]) >= low) & (np.abs(rings[..., 0]) < high)
            print("    %.2f to %.2f m from the middle, %-4s mean %.3f, largest %.2f, outwards %+.3f" %
                  (low, high, side, d[at].mean(), d[at].max(), outward[at].mean()))


def bend(options):
    layers, linear, rest = settle(options, "bend", options.degrees, ["--set", "self_collision=off"])
    moduli = 1e4 * np.array(shear_moduli(options))
    report(options, "bend", layers[0], linear, *flesh(options, "bend_fem", layers, rest, moduli))


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
    layers, linear, rest = settle(options, "press", 0, ["--set", "friction=0", "--set", "self_collision=off", "--prop", table])
    moduli = 1e4 * np.array(shear_moduli(options))
    report(options, "press", layers[0], linear, *flesh(options, "press_fem", layers, rest, moduli, table=level))


def sag(options):
    layers, linear, rest = settle(options, "sag", 0, ["--set", "acceleration=0,-9.81,0"])
    skin, ratios, shear = layers[0], np.array(shear_moduli(options)), 1e4
    for _ in range(4):
        places, mask = flesh(options, "sag_fem", [linear] + layers[1:], rest, shear * ratios, (0, -9.81, 0))
        inner = mask.copy()
        inner[: ALONG // 6] = inner[-(ALONG // 6):] = False
        ratio = (places - linear)[inner][:, 1].mean() / (skin - linear)[inner][:, 1].mean()
        shear *= ratio
    thickness = np.linalg.norm(rest[0] - rest[-1], axis=-1).mean()
    frequency = np.sqrt(shear / DENSITY) / (4 * thickness)
    report(options, "sag", skin, linear, places, mask,
           " greatest shear modulus %.2f kPa: a slab of it %.0f mm thick swings at %.1f Hz" %
           (shear / 1000, 1000 * thickness, frequency))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--solver", choices=["layers", "tissue"], default="layers")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a parameter of the solver")
    parser.add_argument("--fine", type=int, default=1, help="points of the solver's bar per interval of the elements")
    parser.add_argument("--alternate", action="store_true", help="diagonals of the bar's squares in turn, not all one way")
    parser.add_argument("--degrees", type=float, default=60, help="how far the bar bends")
    parser.add_argument("--regions", action="store_true", help="print deviations by region, too")
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
    print("| scene | %s: mean | 95 %% | largest | linear skinning: mean | 95 %% | largest |" % options.solver)
    print("|---|---|---|---|---|---|---|")
    for name in options.scenes or scenes:
        scenes[name](options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
