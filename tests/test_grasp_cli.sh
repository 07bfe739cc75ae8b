#!/bin/sh
# test_grasp_cli.sh PROGRAM: cutis grasp: plan, report, file, simulated lift, errors.
# ctest: slow

. "$(dirname "$0")/shell.sh"

run 0 make hand --resolution 0.2 -q -o hand.glb

# ---- a plan ----
run 0 grasp hand.glb ball --plan --report ball.json -o ball.glb
shows "hand       'hand', left, 5 fingers by names"
shows "closure    score 0\."
tells ball.json "r['hand']['fingers'] == 5 and r['hand']['side'] == 'left' and r['prop'] == 'ball'"
tells ball.json "r['score'] > 0.1 and r['force_needed'] > 0 and 'trial' not in r"
tells ball.json "len(r['contacts']) >= 3 and all(abs(sum(x * x for x in c['normal']) - 1) < 1e-3 for c in r['contacts'])"
tells ball.json "{'thumb', 'index'} <= {c['finger'] for c in r['contacts']}"
run 0 info ball.glb
shows "prop       ball"
shows "grasp"

# the file holds prop and clip: a bake plays it
run 0 bake ball.glb --solver lbs --clip grasp --fps 5 -q --report bake.json -o ball.npy
tells bake.json "[p['name'] for p in r['props']] == ['ball']"

# from a file as from memory
run 0 grasp hand.glb block --plan -q --report one.json
run 0 convert hand.glb again.glb -q
run 0 grasp again.glb block --plan -q --report two.json
cmp -s one.json two.json || fail "a converted hand grasps differently"

# types, forces, scales
run 0 grasp hand.glb pencil --type pinch --plan -q --report pencil.json
tells pencil.json "{c['finger'] for c in r['contacts']} & {'thumb', 'index', 'middle'}"
run 0 grasp hand.glb capsule@0.7 --type hook --force 2 --friction 0.4 --plan -q --report hook.json
tells hook.json "r['force'] == 2 and abs(r['friction'] - 0.4) < 1e-6 and 'thumb' not in [c['finger'] for c in r['contacts']]"

# ---- the simulated lift ----
run 0 grasp hand.glb ball --lift 0.1 --check --report held.json -o held.glb
shows "lifted by springs"
tells held.json "r['trial']['held'] and abs(r['trial']['lifted'] / r['trial']['lift'] - 1) < 0.05"
run 3 grasp hand.glb block --friction 0 --lift 0.1 --check --report slips.json
tells slips.json "not r['trial']['held']"
grep -q "slips or falls" err || fail "a lost prop is not named"
run 0 grasp hand.glb block --friction 0 --lift 0.1 -q

# ---- errors ----
run 1 grasp arm ball --plan
says "'arm' has no hand with fingers of at least two joints; add fingers with 'cutis rig', or name the joints thumb_1, index_1, ... (see 'cutis info')"
run 1 grasp hand.glb ball --side right --plan
grep -q "no right hand" err || fail "the side is not named"
run 2 grasp hand.glb table --plan
says "prop 'table' is fixed; a hand grasps a rigid or soft prop"
run 1 grasp hand.glb ball@30 --plan -o house.glb
grep -q "another scale" err || fail "a house is grasped"
[ -e house.glb ] && fail "a failed grasp wrote a file"
run 2 grasp hand.glb ball@-1 --plan
says "prop 'ball@-1': after the @ give a scale above 0"
run 2 grasp hand.glb brick --plan
run 2 grasp hand.glb ball --plan --check
run 2 grasp hand.glb ball --plan -o ball.obj
run 1 grasp hand.glb missing.glb --plan
run 2 grasp hand.glb ball --friction 3 --plan
finish
