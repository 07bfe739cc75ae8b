#!/usr/bin/env python3
"""lattice_tune.py: what the settings of solver lattice do over many clips, in one table.

usage: scripts/lattice_tune.py [--program P] [--models DIR] [--scenes zoo|models|all] [--seconds S] SETTINGS ...

Each SETTINGS is a list such as region=5,volume_stiffness=60 ("default" for none). Every clip of the zoo and the first
clip of every character under DIR (default ../shared/models) is baked with each; a row tells, for each of SETTINGS:
intersecting pairs of triangles (the most of a frame), the error of volume in percent, how far the surface is from
linear skinning (99th percentile) and how much it trembles (both in percent of the size), and milliseconds a frame. The
last row holds the worst volume and distance, the mean of the trembling, and the sums of the others. Linear skinning's
pairs come first.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ENDINGS = (".glb", ".gltf", ".fbx")


def scenes(options):
    """(name, arguments) of everything that is baked."""
    if options.scenes != "models":
        out = subprocess.run([options.program, "models", "--json"], capture_output=True, text=True, check=True).stdout
        for character in json.loads(out)["models"]:
            for clip in character["clips"]:
                end = min(clip["end"], clip["start"] + options.seconds)
                yield "%s %s" % (character["name"], clip["name"]), [character["name"], "--clip", clip["name"], "--end",
                                                                    str(end)]
    if options.scenes == "zoo":
        return
    for where, folders, names in os.walk(options.models):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(where, name)
            if name.lower().endswith(ENDINGS):
                info = subprocess.run([options.program, "info", path, "--json"], capture_output=True, text=True)
                clips = json.loads(info.stdout).get("clips", []) if info.returncode == 0 else []
                if clips:
                    end = min(clips[0]["end"], clips[0]["start"] + options.seconds)
                    yield os.path.relpath(path, options.models), [path, "--clip", clips[0]["name"], "--end", str(end)]


def bake(options, arguments, settings, folder):
    report = os.path.join(folder, "r.json")
    command = [options.program, "bake", *arguments, "--solver", "lattice", "-q", "-o", os.path.join(folder, "x.npy"),
               "--report", report]
    for setting in settings.split(",") if settings != "default" else []:
        command += ["--set", setting]
    if subprocess.run(command, capture_output=True).returncode not in (0, 3):
        return None
    with open(report) as file:
        return json.load(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=os.path.join(ROOT, "build/release/bin/cutis"))
    parser.add_argument("--models", default=os.path.join(ROOT, "..", "shared", "models"))
    parser.add_argument("--scenes", choices=("zoo", "models", "all"), default="all")
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("settings", nargs="+", metavar="SETTINGS")
    options = parser.parse_args()
    print("| scene | linear | " + " | ".join("%s: pairs, volume %%, p99 %%, trembles %%, ms" % s for s in options.settings) + " |")
    print("|---|---|" + "---|" * len(options.settings))
    totals = [[0, 0.0, 0.0, 0.0, 0.0] for _ in options.settings]
    trembles = [[] for _ in options.settings]
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments in scenes(options):
            cells, linear = [], "-"
            for total, tremble, settings in zip(totals, trembles, options.settings):
                report = bake(options, arguments, settings, folder)
                if not report:
                    cells.append("failed")
                    continue
                verdict, volume = report["verdict"], report.get("volume") or {}
                linear = verdict["intersections_linear"]
                error = max(1 - (volume.get("min_ratio") or 1), (volume.get("max_ratio") or 1) - 1)
                row = [verdict["intersections"], 100 * error, 100 * verdict["figures"]["displacement_p99"],
                       100 * verdict["figures"]["jitter"], report["timings"]["step_ms"]["median"]]
                total[0] += row[0]
                total[1] = max(total[1], row[1])
                total[2] = max(total[2], row[2])
                tremble.append(row[3])
                total[3] = sum(tremble) / len(tremble)
                total[4] += row[4]
                cells.append("%d %.1f %.1f %.2f %.2f" % tuple(row))
            print("| %s | %s | %s |" % (name, linear, " | ".join(cells)), flush=True)
    print("| all | | %s |" % " | ".join("%d %.1f %.1f %.2f %.1f" % tuple(t) for t in totals))
    return 0


if __name__ == "__main__":
    sys.exit(main())
