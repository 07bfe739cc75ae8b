#!/bin/sh
# test_toy_solver.sh PROGRAM: a solver that is only added to the table appears everywhere. The program cutis_toy beside
# PROGRAM is the same program with the table of tests/toy_solver.

set -- "$(dirname "$1")/cutis_toy"
. "$(dirname "$0")/shell.sh"

# Help and lists.
run 0 solvers
shows "^toy  *1  *skin that follows linear skinning with a lag"
run 0 solvers toy
shows "^following  *number  *20  *0.1 to 1000  *1/s"
shows "^lag  *vertex  *3  *m"
run 0 solvers toy --json
shows '"name": *"following"'
run 2 bake arm --solver toi -o x.npy
shows "did you mean 'toy'" err

# Bake: settings of the whole, of one bone, of a stack; outputs beside it; errors that name its parameters.
run 0 make arm --resolution 0.1 -o arm.glb
bake="bake arm.glb --clip flex --fps 10 --detail drawn --threads 1 -q" # the toy's lag itself, without bounds
run 0 $bake --solver lbs -o lbs.npy
run 0 $bake --solver toy --outputs lag -o toy.npy
run 0 $bake --solver toy --set following=1000 -o fast.npy
run 0 $bake --solver toy --set toy.bones.forearm.following=1000 -o bone.npy
run 0 $bake --solver toy+slide --outputs lag,sliding -o stack.npy
run 0 $bake --solver toy -o toy.glb
run 2 $bake --solver toy --set folowing=3 -o no.npy
says "solver toy has no parameter 'folowing'; did you mean 'following'?"
run 2 $bake --solver toy --set following=0 -o no.npy
shows "0.1 to 1000 1/s" err
holds "the toy lags behind, less where it follows faster, and says by how much" <<'END'
from read_npy import read_npy

def load(name): return read_npy(name + ".npy")
def apart(a, b): return max(abs(x - y) for x, y in zip(a, b))

shape, lbs = load("lbs")
toy, fast, bone = (load(name)[1] for name in ("toy", "fast", "bone"))
lag = load("toy.npy.lag")[1]
assert apart(toy, lbs) > 1e-3, apart(toy, lbs)
assert apart(fast, lbs) < 0.1 * apart(toy, lbs)
assert apart(bone, lbs) <= apart(toy, lbs) and apart(bone, toy) > 1e-3
assert max(abs(t - l - d) for t, l, d in zip(toy, lbs, lag)) < 1e-5
END

# Bench, comparison, picture by its output, frame rates.
run 0 bench solvers --seconds 0 --json
shows '"name": *"toy'
run 0 compare arm.glb --clip flex --fps 5 --solvers lbs,toy --threads 1 -q -o compared
shows "^toy " out
run 0 render arm.glb toy --clip flex --frame 3 --color lag --size 64x64 --style samples:1 -o toy.png
run 0 rates arm.glb toy --clip flex
finish
