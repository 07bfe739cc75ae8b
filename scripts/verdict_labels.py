#!/usr/bin/env python3
"""verdict_labels.py [--bake CUTIS MODELS]: does the verdict agree with the eye?

Prints the rows of tests/verdict_labels.txt in which the verdict and the label differ, and a table of both halves: rows
that agree, rows that are called good though they look worse, and the same for the labels at first look. Without
--bake, the recorded figures are held against the bounds of src/measure/judge.c. With --bake, every row is baked again
(the models are those of ../shared/models); a row whose largest displacement or spike differs by more than a quarter
from what was recorded shows another result than the one that was looked at, and is named.

Exits with 1 when fewer than 90 % of the half that is held back agree, or a result that looks worse is called good.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COLUMNS = ("name", "file", "clip", "range", "solver", "settings", "eye", "first", "figures", "seen")


def read_rows():
    """The rows of the table, with their figures as numbers and the half that each is in."""
    rows = []
    with open(os.path.join(ROOT, "tests/verdict_labels.txt"), encoding="utf-8") as file:
        for line in file:
            if line.startswith("#"):
                continue
            row = dict(zip(COLUMNS, line.rstrip("\n").split(" | ")))
            row["figures"] = {k: float(v) for k, v in (word.split("=") for word in row["figures"].split())}
            digest = 2166136261
            for byte in " ".join(row[k] for k in ("name", "clip", "solver", "settings")).encode():
                digest = (digest ^ byte) * 16777619 & 0xFFFFFFFF
            row["held"] = digest & 1
            rows.append(row)
    return rows


def read_bounds():
    """The value of each figure above which it is worth a look."""
    with open(os.path.join(ROOT, "src/measure/judge.c"), encoding="utf-8") as file:
        table = re.search(r"harm_row rows\[.*?\n};", file.read(), re.S).group(0)
    return {name: float(look) for name, look in re.findall(r'\{"(\w+)", ([\d.e-]+),', table)}


def bake(row, cutis, models, folder):
    """The figures of a row's result as this program makes it."""
    source = row["file"] if "/" not in row["file"] else os.path.join(models, row["file"])
    report = os.path.join(folder, "report.json")
    command = [cutis, "bake", source, "-s", row["solver"], "-o", os.path.join(folder, "x.npy"), "--fps", "30", "-q",
               "--report", report]
    if row["clip"].endswith(".bvh"):
        command += ["--motion", os.path.join(models, row["clip"])]
    elif row["clip"] != "-":
        command += ["--clip", row["clip"].replace("/", "|")]
    if row["range"] != "-":
        start, end = row["range"].split(":")
        command += (["--start", start] if float(start) else []) + (["--end", end] if end else [])
    for setting in row["settings"].split(","):
        if setting != "-":
            command += ["--set", setting.replace(":", ",")]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    with open(report, encoding="utf-8") as file:
        return json.load(file)["verdict"]["figures"]


def differs(old, new):
    """Whether a result is another one than the one that was looked at."""
    def far(key, least):
        a, b = old.get(key, 0), new.get(key) or 0
        return abs(a - b) > max(0.25 * max(a, b), least)
    return far("displacement_max", 0.003) or far("spike", 0.2)


def main():
    rows, bounds = read_rows(), read_bounds()
    if len(sys.argv) > 1 and (sys.argv[1] != "--bake" or len(sys.argv) != 4):
        sys.exit(__doc__)
    if len(sys.argv) > 1:
        with tempfile.TemporaryDirectory() as folder:
            for row in rows:
                new = bake(row, sys.argv[2], sys.argv[3], folder)
                if differs(row["figures"], new):
                    print("look again: %(name)s %(clip)s %(solver)s %(settings)s" % row)
                row["figures"] = new

    # agreement, by half
    counts = {}
    for row in rows:
        found = [k for k, v in row["figures"].items() if v is not None and v > bounds[k]]
        for label in ("eye", "first"):
            worse = row[label] in ("worse", "flawed")
            count = counts.setdefault((row["held"], label), [0, 0, 0])
            count[0] += 1
            count[1] += worse == bool(found)
            count[2] += worse and not found
        if (row["eye"] in ("worse", "flawed")) != bool(found):
            print("differs: %s %s %s %s: looks %s, found %s" % (row["name"], row["clip"], row["solver"],
                                                                row["settings"], row["eye"], ", ".join(found) or "-"))
    print("%-28s %5s %7s %8s %18s" % ("half", "rows", "agree", "share", "good though worse"))
    for (held, label), (n, agree, missed) in sorted(counts.items()):
        name = ("held back" if held else "calibration") + (", at first look" if label == "first" else "")
        print("%-28s %5d %7d %7.0f%% %18d" % (name, n, agree, 100 * agree / n, missed))
    n, agree, _ = counts[1, "eye"]
    sys.exit(agree < 0.9 * n or any(c[2] for (_, label), c in counts.items() if label == "eye"))


main()
