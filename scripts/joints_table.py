#!/usr/bin/env python3
"""joints_table.py: what joints that yield to contact do to bodies with captured motions.

    PYTHONPATH=build/release/python /usr/bin/python3 scripts/joints_table.py [--solver tissue] [--fps 30] [--seconds 3] [--floor]
        [--cutis build/release/bin/cutis] [--body GLB ...] [--motion BVH|CLIP ...]

Without bodies: the MakeHuman bodies under ../shared/models; without motions: every capture in ../shared/models/cmu-mocap. Each
row simulates the body for some seconds and compares the shown pose with the animated one:

    in flesh   frames with a bone inside another limb's flesh, animated and shown
    degrees    largest and 95th percentile of a joint's correction, over frames and joints with a correction
    free       largest correction in degrees of a row whose animated pose has no bone in flesh
    accel      largest acceleration of a joint over that of the same joint in the animated motion
    floor      --floor: deepest point of the drawn skin in a floor, in percent of the height, by `cutis bake`

Bounds: 0 frames, 20 degrees, 3 times, 0.2 degrees where bones are in flesh in no frame, 0.5 percent. The exit code is 1 when
a row exceeds one of them.
"""
import argparse
import ctypes
import glob
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

import cutis
from cutis._library import library
from cutis import _structs as structs

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MODELS = os.path.join(os.path.dirname(ROOT), "shared", "models")
MAX_DEGREES, MAX_FREE, MAX_ACCELERATION, MAX_FLOOR = 20, 0.2, 3, 0.5
COUNTS = 0.2  # degrees
STILL = 0.02  # joints that accelerate by less than this share of the fastest one are not compared


def frames_in_flesh(character, poses):
    """The number of frames with a bone in other flesh."""
    entries = (structs.cutis_bone_in_flesh * 4096)()
    count = ctypes.c_int()
    error = structs.cutis_error()
    frames = 0
    for pose in poses:
        pose = np.ascontiguousarray(pose, np.float32)
        library.cutis_measure_bones(character._handle, pose.ctypes.data_as(ctypes.POINTER(ctypes.c_float)), 1, None, None,
                                    entries, 4096, ctypes.byref(count), ctypes.byref(error))
        frames += count.value > 0
    return frames


def rotations(character, poses):
    """(frames x joints x 3 x 3): rotations against the parents."""
    turns = poses[:, :, :, :3]
    u, _, v = np.linalg.svd(turns)
    turns = u @ v
    local = turns.copy()
    for j, parent in enumerate(character.parents):
        if parent >= 0:
            local[:, j] = np.swapaxes(turns[:, parent], -1, -2) @ turns[:, j]
    return local


def corrections(character, animated, shown):
    """(frames x joints): degrees."""
    relative = np.swapaxes(rotations(character, animated), -1, -2) @ rotations(character, shown)
    return np.degrees(np.linalg.norm(relative - np.eye(3), axis=(-1, -2)) / np.sqrt(2))


def accelerations(poses, fps):
    places = poses[:, :, :, 3]
    return np.linalg.norm(places[2:] - 2 * places[1:-1] + places[:-2], axis=-1).max(0) * fps * fps


def floor_depth(options, body, motion, seconds):
    """The deepest point of the drawn skin in a floor, percent of the height."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        command = [options.cutis, "bake", body, "--solver", options.solver, "--prop", "floor", "--fps", "15", "--start", "0.1",
                   "--end", str(0.1 + seconds), "--report", report, "-o", os.path.join(folder, "out.npy"), "--quiet"]
        command += ["--motion", motion] if os.path.exists(motion) else ["--clip", motion]
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
        with open(report) as file:
            found = json.load(file)
    for prop in found["props"]:
        if prop.get("name") == "floor":
            return 100 * prop["penetration"] / options.height
    return float("nan")


def row(options, body, motion):
    character = cutis.Character.load(body)
    if os.path.exists(motion):
        character = character.with_motion(motion)
        clip = list(character.clips)[-1]
    else:
        clip = motion
    first, last = character.clips[clip]
    start = first + (0.1 if os.path.exists(motion) else 0)
    seconds = min(options.seconds, last - start)

    model = cutis.Model(character, options.solver)
    state = model.state()
    sample = lambda time: character.pose(clip, start + time)
    state.reset(sample(0))
    animated, shown = [sample(0).copy()], [state.joints.copy()]
    for frame in range(int(seconds * options.fps)):
        state.step(1 / options.fps, motion=sample)
        animated.append(sample(state.time).copy())
        shown.append(state.joints.copy())
    animated, shown = np.array(animated, np.float64), np.array(shown, np.float64)

    before, after = frames_in_flesh(character, animated), frames_in_flesh(character, shown)
    degrees = corrections(character, animated, shown)
    counted = degrees[degrees > COUNTS]
    own, now = accelerations(animated, options.fps), accelerations(shown, options.fps)
    moving = own > STILL * own.max()
    ratio = (now[moving] / own[moving]).max() if moving.any() else 1.0
    places = character.positions
    height = places[:, 1].max() - places[:, 1].min()
    options.height = height
    floor = floor_depth(options, body, motion, seconds) if options.floor else None

    wrong = [after > 0, degrees.max() > MAX_DEGREES, ratio > MAX_ACCELERATION,
             before == 0 and degrees.max() > MAX_FREE, floor is not None and not floor <= MAX_FLOOR]
    print("%-18s %-14s %4d  %4d -> %-3d  %5.1f %5.1f  %s  %5.2f  %s%s"
          % (os.path.basename(body)[:18], os.path.basename(motion)[:14], len(animated), before, after, degrees.max(),
             np.percentile(counted, 95) if len(counted) else 0, "%5.2f" % degrees.max() if before == 0 else "    -", ratio,
             "-" if floor is None else "%.2f" % floor, "  <-" if any(wrong) else ""), flush=True)
    return not any(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--solver", default="tissue")
    parser.add_argument("--fps", type=float, default=30)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--floor", action="store_true")
    parser.add_argument("--cutis", default=os.path.join(ROOT, "build/release/bin/cutis"))
    parser.add_argument("--body", nargs="+", default=sorted(
        glob.glob(MODELS + "/makehuman-cmu-*/*.glb") + glob.glob(MODELS + "/rigs/makehuman-*/*.glb")))
    parser.add_argument("--motion", nargs="+", default=sorted(glob.glob(MODELS + "/cmu-mocap/*.bvh")))
    options = parser.parse_args()
    print("body               motion       frames  in flesh      degrees p95  free   accel  floor")
    fine = [row(options, body, motion) for body in options.body for motion in options.motion]
    print("%d of %d rows within the bounds" % (sum(fine), len(fine)))
    sys.exit(not all(fine))


if __name__ == "__main__":
    main()
