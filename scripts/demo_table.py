#!/usr/bin/env python3
"""demo_table.py FOLDER SOLVER...: one table of what each solver did to the arm, from the JSON of measure and bake."""
import json
import sys

# heading, figure, factor, format, and what it means
COLUMNS = [
    ("volume lost %", "volume_error_max", 100, "%.2f", "largest change of the volume over the clip"),
    ("crossings", "self_intersections_max", 1, "%d", "pairs of triangles that pass through each other, worst frame"),
    ("depth %", "penetration_max", 100, "%.2f", "deepest point of the surface inside the body, of the size"),
    ("narrowest %", "min_section_ratio", 100, "%.1f", "smallest cross-section around a bone, of its rest value"),
    ("stretch", "stretch_p99", 1, "%.3f", "99th percentile of the change of edge lengths"),
    ("jitter", "acceleration_rms", 1, "%.2f", "root mean square acceleration, sizes per second squared"),
]


def main(folder, solvers):
    rows = [["solver"] + [column[0] for column in COLUMNS] + ["ms a frame"]]
    for solver in solvers:
        with open("%s/arm_%s.json" % (folder, solver)) as file:
            quality = json.load(file)
        with open("%s/arm_%s.bake.json" % (folder, solver)) as file:
            report = json.load(file)
        cells = [solver]
        for _, key, factor, text, _ in COLUMNS:
            value = quality.get(key)
            cells.append("-" if value is None else text % (value * factor))
        cells.append("%.2f" % report["timings"]["step_ms"]["median"])
        rows.append(cells)
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    print()
    for row in rows:
        print("  ".join(cell.ljust(width) if i == 0 else cell.rjust(width)
                        for i, (cell, width) in enumerate(zip(row, widths))))
    print()
    for heading, key, _, _, meaning in COLUMNS:
        print("  %-14s %s (%s)" % (heading, meaning, key))
    print()


main(sys.argv[1], sys.argv[2:])
