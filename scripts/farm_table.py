#!/usr/bin/env python3
"""farm_table.py PROGRAM [CLIPS]: what a large list costs: CPU seconds of one bake of each solver, measured here, and the nodes
of 32 cores that bake CLIPS clips of that kind (default 10,000) in an hour. A bake on one thread is the unit of a cluster:
nothing is lost to waiting, and cores scale by their number."""
import os
import resource
import subprocess
import sys
import tempfile

program = os.path.abspath(sys.argv[1])
clips = int(sys.argv[2]) if len(sys.argv) > 2 else 10000
SCENES = [("man", "walk", solver) for solver in ("lbs", "lattice", "springs", "layers", "layers+slide")]

print("| clip | solver | CPU seconds per clip | CPU hours for %d | nodes of 32 cores for an hour |" % clips)
print("|---|---|---|---|---|")
with tempfile.TemporaryDirectory() as folder:
    for name, clip, solver in SCENES:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([program, "bake", name, "--clip", clip, "--solver", solver, "--fps", "30", "--threads", "1", "-q",
                        "-o", os.path.join(folder, "out.glb")], check=True, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        hours = seconds * clips / 3600
        print("| %s %s, 1.1 s | %s | %.3g | %.3g | %d |" % (name, clip, solver, seconds, hours, max(1, -(-hours // 32))))
