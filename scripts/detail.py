#!/usr/bin/env python3
"""detail.py: the same bake at half, default and double detail of the simulation body, and how far apart the shapes are.

usage: scripts/detail.py [--program P] [--solver S] [--details A,B,C] [--seconds S] [--fps F] [--bound PERCENT] [NAME[:CLIP] ...]

Each NAME is a built-in character or a file (default: arm, hand, man, cat, dancer and bunny, all clips). Distances are percent
of the size, of the same vertex in the same frame, against the middle detail. The exit code is 1 when a bake fails or a
largest distance is above the bound (default 1). Needs numpy.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def call(arguments):
    made = subprocess.run(arguments, capture_output=True, text=True)
    if made.returncode != 0:
        sys.exit("detail: %s: %s" % (" ".join(arguments), made.stderr.strip()))
    return made.stdout


def clips_of(program, name):
    return {clip["name"]: clip for clip in json.loads(call([program, "info", name, "--json"]))["clips"]}


def bake(options, name, clip, detail, folder):
    """Frames (count x vertices x 3) and the number of the body's points."""
    base = os.path.join(folder, "detail")
    end = []
    if options.seconds:
        end = ["--end", "%.6f" % min(clip["start"] + options.seconds, clip["end"])]
    call([options.program, "bake", name, "--solver", options.solver, "--clip", clip["name"], "--detail", str(detail),
          "--fps", str(options.fps), "-q", "-o", base + ".npy", "--report", base + ".json"] + end)
    with open(base + ".json") as file:
        report = json.load(file)
    return numpy.load(base + ".npy").astype("f8"), report.get("body_points", 0)


def main():
    parser = argparse.ArgumentParser(description="half and double detail of the simulation body, compared")
    parser.add_argument("--program", default=os.path.join(ROOT, "build/release/bin/cutis"))
    parser.add_argument("--solver", default="layers")
    parser.add_argument("--details", default="2000,4000,8000")
    parser.add_argument("--seconds", type=float, default=0, help="at most so much of each clip; 0 for all")
    parser.add_argument("--fps", type=float, default=20)
    parser.add_argument("--bound", type=float, default=1)
    parser.add_argument("names", nargs="*", metavar="NAME[:CLIP]",
                        default=["arm", "hand", "man", "cat", "dancer", "bunny"])
    options = parser.parse_args()
    details = [int(text) for text in options.details.split(",")]
    middle = details[len(details) // 2]
    worst = 0
    print("character | clip | detail (points) | p99 | largest, % of the size | frame")
    with tempfile.TemporaryDirectory() as folder:
        for given in options.names:
            name, _, wanted = given.partition(":")
            clips = clips_of(options.program, name)
            for clip in [clips[wanted]] if wanted else clips.values():
                reference, _ = bake(options, name, clip, middle, folder)
                size = numpy.linalg.norm(numpy.ptp(reference[0], axis=0))
                for detail in details:
                    if detail == middle:
                        continue
                    frames, points = bake(options, name, clip, detail, folder)
                    apart = 100 * numpy.linalg.norm(frames - reference, axis=2) / size
                    worst = max(worst, apart.max())
                    print("%s | %s | %d (%s) | %.2f | %.2f | %d" % (
                        name, clip["name"], detail, points or "drawn", numpy.percentile(apart, 99, axis=1).max(), apart.max(),
                        apart.max(axis=1).argmax()), flush=True)
    print("== detail: largest distance %.2f %% of the size, asked %.2g" % (worst, options.bound))
    return 1 if worst > options.bound else 0


if __name__ == "__main__":
    sys.exit(main())
