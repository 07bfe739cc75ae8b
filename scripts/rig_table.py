#!/usr/bin/env python3
"""rig_table.py: the referee of automatic rigging.

    scripts/rig_table.py [--cutis PROGRAM] [--joints] FILE.glb ...

Strips the skeleton of each rigged character, rigs the bare mesh with `cutis rig`, and compares each joint with the true one
of the same name class (hips, neck, left forearm ...; names that are ambiguous are left out). Errors are in percent of the
longest side. Without files: every rigged character under ../shared/models. Prints a table, the mean and the worst joint of
each body, and exits with 1 when a body was not rigged at all.
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


def hierarchy(path):
    """Joint name to its ancestors' names, of a .glb."""
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack_from("<I", data, 12)[0]
    nodes = json.loads(data[20:20 + length]).get("nodes", [])
    parents = {child: i for i, node in enumerate(nodes) for child in node.get("children", [])}
    above = {}
    for i, node in enumerate(nodes):
        names = set()
        k = i
        while k in parents:
            k = parents[k]
            names.add(nodes[k].get("name", ""))
        above[node.get("name", "")] = names
    return above


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
    """Joint errors by name, template, and the recogniser's sentence."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.glb")
        done = subprocess.run([program, "rig", path, "--against", "own", "-j", "1", "-o", out], capture_output=True, text=True)
    errors = {}
    truth = {}
    template = "none"
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
    return errors, template, done


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cutis", default=os.path.join(ROOT, "build/release/bin/cutis"))
    parser.add_argument("--joints", action="store_true", help="print every joint")
    parser.add_argument("files", nargs="*")
    given = parser.parse_args()
    models = os.path.join(ROOT, "..", "shared", "models")
    files = given.files or sorted(
        glob.glob(models + "/rigs/*/*.glb") + glob.glob(models + "/makehuman-cmu-*/*.glb") +
        glob.glob(models + "/mesh2motion-*/*.glb") + glob.glob(models + "/khronos-*/[CF]*.glb") +
        glob.glob(models + "/khronos-RiggedF*/*.glb") + glob.glob(models + "/webxr*/*.glb"))
    failed = 0
    means = []
    print("%-28s %-12s %6s %6s %7s  %s" % ("body", "template", "joints", "mean", "worst", "at"))
    for path in files:
        errors, template, done = rig(given.cutis, path)
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
        print("%-28s %-12s %6d %6.2f %7.2f  %s" % (name, template, len(major), mean, major.get(worst, 0), worst))
        if given.joints:
            for joint, error in errors.items():
                print("    %-20s %6.2f" % (joint, error))
    if means:
        print("%d bodies, mean of the means %.2f %%" % (len(means), sum(means) / len(means)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
