#!/usr/bin/env python3
"""grasp_table.py [--quick] [--props a,b] [--frictions 0.3,0.8] [--resolutions 0.3,1]: grasp built-in props with the
built-in hand and with the same hand from a file, simulate the lift, and print a table.

A row is a prop, a friction and a resolution. 'held' is of the built-in hand and of the file. Depths are in millimetres.
Run from the root of the repository after `make`.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CUTIS = os.path.join(ROOT, "build/release/bin/cutis")
PROPS = "cube block ball can capsule soft_ball pencil".split()


def grasp(hand, prop, friction, folder, kind):
    """The report of one grasp, or the error."""
    report = os.path.join(folder, "report.json")
    run = subprocess.run([CUTIS, "grasp", hand, prop, "--type", kind, "--friction", str(friction), "--report", report, "-q"],
                         capture_output=True, text=True)
    if run.returncode != 0:
        return None, run.stderr.strip()
    with open(report) as file:
        return json.load(file), ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--props", default=",".join(PROPS))
    parser.add_argument("--frictions", default="0,0.3,0.5,0.8")
    parser.add_argument("--resolutions", default="0.3,0.6,1")
    parser.add_argument("--built-in-only", action="store_true")
    arguments = parser.parse_args()

    print("| prop | friction | resolution | held (built-in, file) | lifted / asked | slip mm | bone mm | penetration % "
          "| closure | ms per frame |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for resolution in arguments.resolutions.split(","):
            file = os.path.join(folder, "hand_%s.glb" % resolution)
            subprocess.run([CUTIS, "make", "hand", "--resolution", resolution, "-q", "-o", file], check=True)
            for prop in arguments.props.split(","):
                kind = "pinch" if prop == "pencil" else "power"
                for friction in arguments.frictions.split(","):
                    # a made file is the built-in hand; a second pass through a file must change nothing
                    hands = [file] if arguments.built_in_only else [file, None]
                    if hands[-1] is None:
                        again = os.path.join(folder, "again.glb")
                        subprocess.run([CUTIS, "convert", file, again, "-q"], check=True)
                        hands = ["hand", file] if resolution == "1" else [file, again]
                    results = [grasp(hand, prop, friction, folder, kind) for hand in hands]
                    if results[0][0] is None:
                        print("| %s | %s | %s | %s |" % (prop, friction, resolution, results[0][1]))
                        continue
                    r = results[0][0]
                    t = r["trial"]
                    held = ", ".join("-" if x is None else "yes" if x["trial"]["held"] else "no" for x, _ in results)
                    metres = 1000 * r["unit"]
                    print("| %s | %s | %s | %s | %.3f | %.2f | %.2f | %.3f | %.3f | %.0f |" % (
                        prop, friction, resolution, held, t["lifted"] / t["lift"], metres * t["slip"],
                        metres * t["bone_depth"], 100 * t["penetration"], r["score"], t["step_ms"]))
                    sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
