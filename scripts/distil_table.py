#!/usr/bin/env python3
"""distil_table.py PROGRAM FILE.glb --test CLIP [--test CLIP ...] [options]: learned flesh beside other ways, on clips
that it has not seen.

Learns from all other clips of the file, then plays each test clip by: linear skinning, dual quaternions, lattice, a
pose-only ridge, and the full player. Prints the distance of the vertices from the teacher (RMS and 99th percentile, mm for
files in metres), crossing pairs of triangles (mean and maximum), and the frame that is worst against skinning.

    scripts/distil_table.py build/release/bin/cutis hero.glb --test jump --solver tissue --detail 1500 --poses 200
"""
import argparse
import json
import os
import subprocess
import sys

import numpy

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("program")
    parser.add_argument("file")
    parser.add_argument("--test", action="append", required=True)
    parser.add_argument("--solver", default="tissue")
    parser.add_argument("--detail", default="1500")
    parser.add_argument("--poses", default="600")
    parser.add_argument("--points", default="300")
    parser.add_argument("--folder", default="distil_table", help="keeps what was simulated")
    parser.add_argument("--no-crossings", action="store_true")
    a = parser.parse_args()
    os.makedirs(a.folder, exist_ok=True)

    def path(name):
        return os.path.join(a.folder, name)

    def cutis(*arguments):
        return subprocess.run([a.program, *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout

    # what is learned: from all clips but those of the test
    clips = [clip["name"] for clip in json.loads(cutis("info", a.file, "--json"))["clips"]]
    unknown = [clip for clip in a.test if clip not in clips]
    if unknown:
        sys.exit("distil_table: there is no clip '%s'; there are %s" % (unknown[0], ", ".join(clips)))
    train = [option for clip in clips if clip not in a.test for option in ("--clip", clip)]
    learn = ["distil", a.file, *train, "--solver", a.solver, "--detail", a.detail, "--poses", a.poses, "--points", a.points,
             "--data", path("simulations")]
    print(cutis(*learn, "-o", path("full.glb"), "--report", path("full.json")).split("region")[0], flush=True)
    cutis(*learn, "--terms", "pose", "-o", path("pose.glb"), "-q")

    def frames(name, clip):
        target = path("%s_%s.npy" % (name, clip))
        if not os.path.exists(target) or name in ("full", "pose"):
            if name in ("full", "pose"):
                cutis("distil", path(name + ".glb"), "--play", clip, "-o", target, "-q")
            else:
                solver = a.solver if name == "teacher" else name
                cutis("bake", a.file, "--solver", solver, "--detail", a.detail, "--clip", clip, "-o", target, "-q")
        return target

    def crossings(cache):
        if a.no_crossings:
            return "-"
        q = json.loads(cutis("measure", a.file, cache, "--json"))
        return "%.0f / %d" % (q["self_intersections_mean"], q["self_intersections_max"])

    print("| clip | | RMS mm | p99 mm | ratio | worst frame | crossings mean / max |\n|---|---|---|---|---|---|---|")
    for clip in a.test:
        teacher_cache = frames("teacher", clip)
        teacher = numpy.load(teacher_cache, mmap_mode="r").astype(float)
        base = None
        for name in ("lbs", "dqs", "lattice", "pose", "full"):
            cache = frames(name, clip)
            error = numpy.linalg.norm(numpy.load(cache, mmap_mode="r")[:len(teacher)] - teacher, axis=2)
            per_frame = numpy.sqrt((error ** 2).mean(1))
            rms = numpy.sqrt((error ** 2).mean())
            base = (rms, per_frame) if base is None else base
            print("| %s | %s | %.2f | %.1f | %.2f | %.2f | %s |" % (
                clip, name, 1000 * rms, 1000 * numpy.percentile(error, 99), rms / base[0],
                (per_frame / numpy.maximum(base[1], 1e-9)).max(), crossings(cache)), flush=True)
        print("| %s | teacher | 0 | 0 | 0 | 0 | %s |" % (clip, crossings(teacher_cache)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
