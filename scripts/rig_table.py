#!/usr/bin/env python3
"""rig_table.py: the referee of automatic rigging.

    scripts/rig_table.py [--cutis PROGRAM] [--joints] [--parts] FILE ...

Strips the skeleton of each rigged character, rigs the bare mesh with `cutis rig`, and compares each joint with the true one
of the same name class (hips, neck, left forearm ...; names that are ambiguous are left out). Errors are in percent of the
longest side. Without files: every rigged character under ../shared/models. Prints a table, the mean and the worst joint of
each body, the number and the mean error of finger joints, and exits with 1 when a body was not rigged at all.

Weights are compared by limbs: trunk, head, each arm, leg, wing, and the tail; the neck passes for both trunk and head. A true
joint belongs to the limb of the joint that it was matched with, or to that of its nearest ancestor; limbs without a match are
left out. "wrong": percent of all skin weight that goes to another limb than in the file; "gross": percent of the vertices of
which more than half does. --parts prints both for each mesh.
"""
import argparse
import glob
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MAJOR = re.compile(r"^(hips|head|neck|(upper_arm|forearm|hand|thigh|shin|foot)(_front|_hind)?_[lr])$")
ROW = re.compile(r"^\s+(\S+)\s{2,}(\S.*?)\s{2,}([0-9.]+)\s*$")


CHAINS = [("upper_arm", "forearm", "hand"), ("thigh", "shin", "foot")]

# limbs by the names of our templates; what matches none of them (chains, trees) is not compared
LIMBS = [(re.compile(r"^(?:hips|spine|chest|shoulder)"), "trunk"), (re.compile(r"^(?:head|jaw|ear|beak)"), "head"),
         (re.compile(r"^neck"), "neck"), (re.compile(r"^tail"), "tail"), (re.compile(r"^wing.*_(l|r)$"), "wing"),
         (re.compile(r"^(?:upper_arm|forearm|hand|thumb|index|middle|ring|pinky).*_(l|r)$"), "arm"),
         (re.compile(r"^(?:thigh|shin|foot|toe)s?_(front|hind)_(l|r)$"), "leg"),
         (re.compile(r"^(?:thigh|shin|foot|toe).*_(l|r)$"), "leg")]
FORMATS = {5120: "b", 5121: "B", 5122: "h", 5123: "H", 5125: "I", 5126: "f"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


def glb_read(path):
    """The description and the binary part of a .glb."""
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack_from("<I", data, 12)[0]
    return json.loads(data[20:20 + length]), data[28 + length:]


def parents_of(nodes):
    return {child: i for i, node in enumerate(nodes) for child in node.get("children", [])}


def accessor_read(scene, binary, index):
    """Rows of an accessor; integers that stand for shares are scaled to 0..1."""
    accessor = scene["accessors"][index]
    view = scene["bufferViews"][accessor["bufferView"]]
    form = "<%d%s" % (WIDTHS[accessor["type"]], FORMATS[accessor["componentType"]])
    stride = view.get("byteStride", struct.calcsize(form))
    start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
    rows = [struct.unpack_from(form, binary, start + i * stride) for i in range(accessor["count"])]
    if accessor.get("normalized"):
        scale = {5121: 255.0, 5123: 65535.0}[accessor["componentType"]]
        rows = [[value / scale for value in row] for row in rows]
    return rows


def limb_of(name):
    """The limb of a joint of our templates, or None."""
    for pattern, limb in LIMBS:
        found = pattern.match(name)
        if found:
            return "_".join([limb] + [group for group in found.groups() if group])
    return None


def limbs_of_vertices(path, limb_of_node):
    """For every primitive: a list of {limb: weight}, one for each vertex. What a joint carries as a whole belongs to it."""
    scene, binary = glb_read(path)
    nodes = scene["nodes"]
    parents = parents_of(nodes)
    found = {}
    for i, node in enumerate(nodes):
        if "mesh" not in node:
            continue
        skin = scene["skins"][node["skin"]]["joints"] if "skin" in node else None
        for k, primitive in enumerate(scene["meshes"][node["mesh"]]["primitives"]):
            attributes = primitive["attributes"]
            count = scene["accessors"][attributes["POSITION"]]["count"]
            rows = [{} for _ in range(count)]
            for group in range(4):
                if skin is None or "JOINTS_%d" % group not in attributes:
                    break
                joints = accessor_read(scene, binary, attributes["JOINTS_%d" % group])
                weights = accessor_read(scene, binary, attributes["WEIGHTS_%d" % group])
                for row, j, w in zip(rows, joints, weights):
                    for joint, weight in zip(j, w):
                        if weight > 0:
                            limb = limb_of_node(scene, parents, skin[joint])
                            row[limb] = row.get(limb, 0) + weight
            if skin is None:
                limb = limb_of_node(scene, parents, i)
                rows = [{limb: 1.0}] * count
            found[(i, k, node.get("name", ""))] = rows
    return found


def same_share(true, own):
    """Weight that two skins give to the same limbs, of 1; None where less than half of one of them is of known limbs."""
    sums = [sum(weight for limb, weight in row.items() if limb) for row in (true, own)]
    if min(sums) < 0.5:
        return None
    true, own = [{limb: weight / total for limb, weight in row.items() if limb} for row, total in zip((true, own), sums)]
    same = 0
    for limb in set(true) & set(own):
        common = min(true[limb], own[limb])
        same += common
        true[limb] -= common
        own[limb] -= common

    # what is left of the neck goes with trunk and head
    for one, other in ((true, own), (own, true)):
        passed = min(one.get("neck", 0), other.get("trunk", 0) + other.get("head", 0))
        same += passed
    return same


def weights_compare(path, made, truth):
    """(wrong share, gross share) of all vertices and of each mesh; None where nothing can be compared."""
    limb_by_name = {true: limb_of(ours) for ours, true in truth.items()}
    known = set(limb_by_name.values()) | {"neck"}

    def true_limb(scene, parents, node):
        while node is not None:
            name = scene["nodes"][node].get("name", "")
            if name in limb_by_name:
                return limb_by_name[name]
            node = parents.get(node)
        return None

    def made_limb(scene, parents, node):
        limb = limb_of(scene["nodes"][node].get("name", ""))
        return limb if limb in known else None

    ours = limbs_of_vertices(made, made_limb)
    parts = {}
    for key, rows in limbs_of_vertices(path, true_limb).items():
        if key not in ours:
            continue
        wrong = 0
        gross = 0
        count = 0
        for true, own in zip(rows, ours[key]):
            same = same_share(true, own)
            if same is None:
                continue
            wrong += 1 - same
            gross += same < 0.5
            count += 1
        if count:
            name = key[2]
            sums = parts.setdefault(name, [0, 0, 0])
            for i, value in enumerate((wrong, gross, count)):
                sums[i] += value
    total = sum(sums[2] for sums in parts.values())
    if not total:
        return None, {}
    shares = {name: (100 * sums[0] / sums[2], 100 * sums[1] / sums[2], sums[2]) for name, sums in parts.items()}
    return tuple(100 * sum(sums[i] for sums in parts.values()) / total for i in (0, 1)), shares


def hierarchy(path):
    """Joint name to its ancestors' names, of a .glb."""
    nodes = glb_read(path)[0].get("nodes", [])
    parents = parents_of(nodes)
    above = {}
    for i, node in enumerate(nodes):
        names = set()
        k = i
        while k in parents:
            k = parents[k]
            names.add(nodes[k].get("name", ""))
        above[node.get("name", "")] = names
    return above


def places_of(path):
    """World places of the joints of a .glb, by name."""
    scene = glb_read(path)[0]
    nodes = scene.get("nodes", [])
    joints = {joint for skin in scene.get("skins", []) for joint in skin["joints"]}
    parents = parents_of(nodes)
    places = {}

    def local(node):
        if "matrix" in node:
            return [[node["matrix"][4 * k + i] for k in range(4)] for i in range(3)]
        x, y, z, w = node.get("rotation", (0, 0, 0, 1))
        turn = ((1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
                (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
                (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)))
        scale = node.get("scale", (1, 1, 1))
        move = node.get("translation", (0, 0, 0))
        return [[turn[i][k] * scale[k] for k in range(3)] + [move[i]] for i in range(3)]

    for i in sorted(joints):
        place = [0, 0, 0]
        k = i
        while k is not None:
            m = local(nodes[k])
            place = [m[r][3] + sum(m[r][c] * place[c] for c in range(3)) for r in range(3)]
            k = parents.get(k)
        places[nodes[i].get("name", "")] = place
    return places


def finger_key(name):
    """(side, finger 0 to 4 from the thumb, joint from 1) of a joint's name, or None."""
    text = name.lower()
    side = re.search(r"(?:^|[ _.])([lr])(?:[ _.]|$)|(left|right)", text)
    found = re.search(r"(thumb|index|middle|ring|pinky|little)\D*?0?(\d)", text)
    if found:
        finger, joint = ["thumb", "index", "middle", "ring", "pinky", "little"].index(found.group(1)), int(found.group(2))
    else:
        found = re.search(r"finger(\d)(\d?)$", text)  # 3ds Max: Finger0, Finger01, Finger02
        if not found:
            return None
        finger, joint = int(found.group(1)), int(found.group(2) or 0) + 1
    if not side or finger > 5 or not 1 <= joint <= 3:
        return None
    return (side.group(1) or side.group(2)[0], min(finger, 4), joint)


def fingers_compare(program, path, made):
    """Errors of the finger joints that both have, in percent of the longest side."""
    done = subprocess.run([program, "info", path], capture_output=True, text=True)
    size = max(float(x) for x in re.search(r"^size +([0-9.e+-]+) x ([0-9.e+-]+) x ([0-9.e+-]+)", done.stdout, re.M).groups())
    true, own = [{finger_key(name): place for name, place in places_of(file).items() if finger_key(name)}
                 for file in (path, made)]
    return [100 * sum((a - b) ** 2 for a, b in zip(true[key], own[key])) ** 0.5 / size for key in true if key in own]


def ambiguous(path, truth):
    """Joints whose true counterparts do not follow one another in the order of a limb: names that mislead."""
    above = hierarchy(path)
    bad = set()
    for chain in CHAINS:
        for side in ("_l", "_r"):
            names = [part + side for part in chain if part + side in truth]
            for i, low in enumerate(names):
                for high in names[i + 1:]:
                    if truth[high] in above.get(truth[low], set()):
                        bad.update(part + side for part in chain)
    return bad


def rig(program, path):
    """Joint errors by name, template, the recogniser's sentence, the weights by limbs, and errors of finger joints."""
    errors = {}
    truth = {}
    template = "none"
    weights = (None, {})
    fingers = []
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.glb")
        if not path.endswith(".glb"):
            converted = os.path.join(folder, os.path.splitext(os.path.basename(path))[0] + ".glb")
            subprocess.run([program, "convert", path, converted, "-q"], check=True, capture_output=True)
            path = converted
        done = subprocess.run([program, "rig", path, "--against", "own", "-j", "1", "-o", out], capture_output=True, text=True)
        for line in done.stdout.splitlines():
            row = ROW.match(line)
            if row:
                errors[row.group(1)] = float(row.group(3))
                truth[row.group(1)] = row.group(2)
            found = re.search(r", template (\S+)$", line)
            if found:
                template = found.group(1)
        if done.returncode == 3:
            template += "?"
        for joint in ambiguous(path, truth):
            errors.pop(joint, None)
            truth.pop(joint, None)
        if done.returncode in (0, 3):
            weights = weights_compare(path, out, truth)
            fingers = fingers_compare(program, path, out)
    return errors, template, done, weights, fingers


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cutis", default=os.path.join(ROOT, "build/release/bin/cutis"))
    parser.add_argument("--joints", action="store_true", help="print every joint")
    parser.add_argument("--parts", action="store_true", help="print the weights of every mesh")
    parser.add_argument("files", nargs="*")
    given = parser.parse_args()
    models = os.path.join(ROOT, "..", "shared", "models")
    files = given.files or sorted(
        glob.glob(models + "/rigs/*/*.glb") + glob.glob(models + "/makehuman-cmu-*/*.glb") +
        glob.glob(models + "/mesh2motion-*/*.glb") + glob.glob(models + "/khronos-*/[CF]*.glb") +
        glob.glob(models + "/khronos-RiggedF*/*.glb") + glob.glob(models + "/webxr*/*.glb"))
    failed = 0
    means = []
    shares = []
    fingers = []
    print("%-28s %-12s %6s %6s %7s  %-14s %6s %6s %7s %6s" %
          ("body", "template", "joints", "mean", "worst", "at", "wrong", "gross", "fingers", "mean"))
    for path in files:
        errors, template, done, (weights, parts), found = rig(given.cutis, path)
        name = os.path.splitext(os.path.basename(path))[0]
        if done.returncode not in (0, 3):
            failed += 1
            print("%-28s %s" % (name, (done.stderr.strip() or "failed").splitlines()[-1]))
            continue
        major = {k: v for k, v in errors.items() if MAJOR.match(k)} or errors
        worst = max(major, key=major.get) if major else "-"
        mean = sum(major.values()) / len(major) if major else float("nan")
        if major:
            means.append(mean)
        if weights:
            shares.append(weights)
        if found:
            fingers.append(sum(found) / len(found))
        row = "%-28s %-12s %6d %6.2f %7.2f  %-14s %13s %s" % (
            name, template, len(major), mean, major.get(worst, 0), worst, "%6.1f %6.1f" % weights if weights else "",
            "%7d %6.2f" % (len(found), fingers[-1]) if found else "")
        print(row.rstrip())
        if given.joints:
            for joint, error in errors.items():
                print("    %-20s %6.2f" % (joint, error))
        if given.parts:
            for part, (wrong, gross, count) in parts.items():
                print("    %-30s %6.1f %6.1f of %d vertices" % (part, wrong, gross, count))
    if means:
        print("%d bodies, mean of the means %.2f %%" % (len(means), sum(means) / len(means)))
    if fingers:
        print("fingers of %d bodies: mean of the means %.2f %%" % (len(fingers), sum(fingers) / len(fingers)))
    if shares:
        print("weights of %d bodies: wrong %.2f %%, gross %.2f %%" %
              (len(shares), sum(share[0] for share in shares) / len(shares), sum(share[1] for share in shares) / len(shares)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
