"""rounding.py CHARACTER CLIP [SOLVER] [FRAMES]: how far rounding of the poses moves the flesh.

    PYTHONPATH=build/release/python python3 scripts/rounding.py mh_heavy.glb walk layers

Frames of a clip (30 a second) with the poses as they are, and with every entry of the skin matrices changed by so much; and both
rounded to a lattice first, which helps where all entries then are equal. Prints the largest and the median distance of a
vertex, of the size, and the share of entries that the lattice does not make equal.
"""
import sys

import numpy as np

import cutis

RATE = 30.0


def full(matrices):
    made = np.zeros(matrices.shape[:-2] + (4, 4))
    made[..., :3, :] = matrices
    made[..., 3, 3] = 1
    return made


def main():
    path, clip = sys.argv[1:3]
    solver = sys.argv[3] if len(sys.argv) > 3 else "layers"
    frames = int(sys.argv[4]) if len(sys.argv) > 4 else 5
    character = cutis.Character.load(path) if "." in path else cutis.Character.make(path)
    model = cutis.Model(character, solver)
    motion = character.motion(clip)
    rest = full(character.rest_pose().astype(float))
    signs = np.random.default_rng(1).uniform(-1, 1, (character.joint_count, 3, 4))
    seen = {}

    def poses(noise, cell):
        """A motion: skin matrices with noise, rounded to cells."""
        def at(time):
            skin = full(motion.pose(time).astype(float)) @ np.linalg.inv(rest)
            skin[:, :3] += noise * signs
            if cell:
                skin[:, :3] = np.round(skin[:, :3] / cell) * cell
            seen.setdefault((noise, cell), {})[time] = skin
            return (skin @ rest)[:, :3]
        return at

    def run(noise, cell):
        sample, state = poses(noise, cell), model.state()
        state.reset(sample(0.0))
        made = []
        for i in range(frames):
            state.step(1 / RATE if i else 0.0, motion=sample)
            made.append(state.positions.copy())
        return np.array(made)

    print("%s, %s, %s, %d frames" % (character.name, clip, solver, frames))
    print("%-10s %-10s %-16s %-10s %-10s" % ("noise", "lattice", "entries differ", "largest", "median"))
    plain = {}
    for noise, cell in ((1e-9, 0), (1e-7, 0), (1e-7, 1e-6), (1e-7, 1e-5), (1e-7, 1e-4), (1e-7, 1e-3)):
        if cell not in plain:
            plain[cell] = run(0, cell)
        apart = np.abs(run(noise, cell) - plain[cell]).max(2) / character.size
        other = [seen[0, cell][t] != seen[noise, cell][t] for t in seen[0, cell]]
        share = "%.2f %%" % (100 * np.mean([entry[:, :3].mean() for entry in other])) if cell else "-"
        print("%-10.0e %-10s %-16s %-10.1e %-10.1e" % (noise, "%.0e" % cell if cell else "-", share, apart.max(), np.median(apart)))


main()
