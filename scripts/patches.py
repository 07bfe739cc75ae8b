#!/usr/bin/env python3
"""patches.py: how far patches of skin are turned against dual quaternions where nothing touches them, in motion and at rest.

usage: scripts/patches.py [--slow FACTOR] [--seconds S] [--fps F] [--set KEY=VALUE] [--detail N] NAME:CLIP ...

Each NAME is a built-in character or a file. A clip is played at its own speed, where flesh swings, and FACTOR times
slower (default 10), where it is all but at rest in every frame. A patch is the skin of one cell of 6 % of the size; it
counts as free in a frame while contact has not touched it so far. Printed are, of all free patches in all frames, the
share that is within 3 degrees of solver dqs, and percentiles of the angle. Needs numpy and the package of
`make python` in build/release/python.
"""
import argparse
import os
import sys

import numpy

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CELL, LEAST_POINTS, LEAST_WIDTH = 0.06, 8, 0.15


def patches_find(rest):
    """Lists of vertices, one for each cell whose skin is wide enough to have a direction."""
    size = numpy.linalg.norm(numpy.ptp(rest, axis=0))
    cells = numpy.floor((rest - rest.min(0)) / (CELL * size)).astype(int)
    _, own = numpy.unique(cells, axis=0, return_inverse=True)
    found = []
    for k in range(own.max() + 1):
        points = numpy.where(own.ravel() == k)[0]
        if len(points) < LEAST_POINTS:
            continue
        extents = numpy.linalg.svd(rest[points] - rest[points].mean(0), compute_uv=False)
        if extents[1] >= LEAST_WIDTH * extents[0]:
            found.append(points)
    return found


def angle(a, b):
    """Degrees by which b is turned against a."""
    u, _, v = numpy.linalg.svd((a - a.mean(0)).T @ (b - b.mean(0)))
    sign = numpy.sign(numpy.linalg.det(u @ v))
    trace = numpy.trace(u @ numpy.diag([1, 1, sign]) @ v)
    return numpy.degrees(numpy.arccos(numpy.clip((trace - 1) / 2, -1, 1)))


def angles_measure(cutis, character, clip, slow, options):
    """Angles of the free patches in all frames of a clip, slow times slower."""
    settings = dict(text.split("=", 1) for text in options.set)
    models = cutis.Model(character, "layers", settings or None, detail=options.detail), cutis.Model(character, "dqs")
    states = [model.state() for model in models]
    start, end = character.clips[clip]
    span = min(options.seconds, end - start)
    first = character.pose(clip, start)
    patches = patches_find(numpy.array(character.positions, dtype=float))
    touched = numpy.zeros(character.vertex_count, bool)
    for state in states:
        state.reset(first)

    made = []
    for frame in range(1, int(span * options.fps) + 1):
        for state in states:
            state.step(slow / options.fps,
                       motion=lambda t: character.pose(clip, start + min(t / slow, span)))
        touched |= numpy.array(states[0].output("contact").values)[:, 0] > 0
        flesh, dual = (numpy.array(state.positions, dtype=float) for state in states)
        made += [angle(dual[points], flesh[points]) for points in patches if not touched[points].any()]
    return numpy.array(made)


def main():
    parser = argparse.ArgumentParser(description="patches of skin against dual quaternions")
    parser.add_argument("--slow", type=float, default=10)
    parser.add_argument("--seconds", type=float, default=0.6, help="at most so much of each clip")
    parser.add_argument("--fps", type=float, default=10)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--detail", type=int, default=0, help="points of the simulation body; -1: the drawn mesh itself")
    parser.add_argument("names", nargs="+", metavar="NAME:CLIP")
    options = parser.parse_args()
    sys.path.insert(0, os.path.join(ROOT, "build/release/python"))
    import cutis

    print("character | clip | speed | free patches x frames | within 3 degrees, % | p95 | p99 | largest, degrees")
    for text in options.names:
        name, _, clip = text.rpartition(":")
        character = cutis.Character.make(name) if name in cutis.zoo() else cutis.Character.load(name)
        for slow in (1, options.slow):
            made = angles_measure(cutis, character, clip, slow, options)
            print("%s | %s | 1/%g | %d | %.1f | %.1f | %.1f | %.1f" %
                  (os.path.basename(name), clip, slow, len(made), 100 * (made <= 3).mean(),
                   *numpy.percentile(made, [95, 99]), made.max()), flush=True)


if __name__ == "__main__":
    main()
