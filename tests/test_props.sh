#!/bin/sh
# test_props.sh PROGRAM: --prop in bake, render and compare: built-in things, files, places, the report, errors.
# ctest: slow

. "$(dirname "$0")/shell.sh"

# ---- the report ----
bake="bake hand --solver lbs --clip grasp --fps 5 -q"
run 0 $bake --report plain.json -o plain.pc2
tells plain.json "'props' not in r"
run 0 $bake --prop cube --prop ball@0.1,0.2,-0.3 --prop table --prop cube@0,0,1,2 --report props.json -o props.pc2
tells props.json "[p['name'] for p in r['props']] == ['cube', 'ball', 'table', 'cube_2']"
tells props.json "[p['role'] for p in r['props']] == ['soft', 'rigid', 'collider', 'soft']"
tells props.json "all(abs(a - b) < 1e-6 for a, b in zip(r['props'][0]['start'], [0, -0.09, 0.08]))"
tells props.json "all(abs(a - b) < 1e-6 for a, b in zip(r['props'][1]['start'], [0.1, 0.2, -0.3]))"
# Under a solver that moves nothing, nothing moves.
tells props.json "all(p['start'] == p['end'] and p['lift'] == 0 and p['dropped'] is None for p in r['props'])"
tells props.json "set(r['props'][0]) == {'name', 'role', 'start', 'end', 'lift', 'penetration', 'crossings', 'dropped', 'bone', 'bone_depth', 'force'}"
# The table stands below hand and cube: the cube reaches down to -0.12.
tells props.json "r['props'][2]['start'][1] < -0.12"
# An option in a configuration file.
echo '{"prop": ["ball", "table"], "solver": "lbs", "fps": 5}' >config.json
run 0 bake hand --clip grasp --config config.json -q --report config_report.json -o config.pc2
tells config_report.json "[p['name'] for p in r['props']] == ['ball', 'table']"

# ---- files ----
python3 - <<'PYTHON'
import json, struct
points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
faces = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]
data = b''.join(struct.pack('<3f', *p) for p in points) + struct.pack('<12H', *faces)
def write(name, nodes):
    root = {'asset': {'version': '2.0'}, 'scene': 0, 'scenes': [{'nodes': list(range(len(nodes)))}], 'nodes': nodes,
            'meshes': [{'primitives': [{'attributes': {'POSITION': 0}, 'indices': 1}]}],
            'accessors': [{'bufferView': 0, 'componentType': 5126, 'count': 4, 'type': 'VEC3', 'min': [0, 0, 0],
                           'max': [1, 1, 1]}, {'bufferView': 1, 'componentType': 5123, 'count': 12, 'type': 'SCALAR'}],
            'bufferViews': [{'buffer': 0, 'byteLength': 48}, {'buffer': 0, 'byteOffset': 48, 'byteLength': 24}],
            'buffers': [{'byteLength': len(data)}]}
    text = json.dumps(root).encode()
    text += b' ' * (-len(text) % 4)
    body = struct.pack('<II', len(text), 0x4E4F534A) + text + struct.pack('<II', len(data), 0x004E4942) + data
    open(name, 'wb').write(struct.pack('<III', 0x46546C67, 2, 12 + len(body)) + body)
write('things.glb', [{'name': 'rock', 'mesh': 0, 'translation': [1, 2, 3], 'scale': [0.1, 0.1, 0.1]},
                     {'name': 'cup', 'mesh': 0, 'extras': {'cutis': {'role': 'rigid', 'mass': 0.2}}},
                     {'name': 'pea', 'extras': {'cutis': {'role': 'soft', 'shape': 'sphere', 'size': 0.01}}},
                     {'name': 'light'}])
write('odd.glb', [{'mesh': 0, 'extras': {'cutis': {'role': 'hard'}}}])
write('empty.glb', [{'name': 'nothing'}])
open('short.glb', 'wb').write(open('things.glb', 'rb').read()[:200])
PYTHON
run 0 $bake --prop things.glb --prop things.glb@0,0,1,0.5 --report files.json -o files.pc2
tells files.json "[(p['name'], p['role']) for p in r['props'][:3]] == [('rock', 'collider'), ('cup', 'rigid'), ('pea', 'soft')]"
tells files.json "[p['name'] for p in r['props'][3:]] == ['rock_2', 'cup_2', 'pea_2']"
tells files.json "r['props'][0]['start'] == [1, 2, 3] and r['props'][3]['start'] == [0.5, 1, 2.5]"

# ---- a thing lies where the clip reaches for it, in a file too; a clip that reaches for none has it in front ----
run 0 make hand --resolution 0.1 --quiet -o focus.glb
run 0 bake focus.glb --solver lbs --clip grasp --fps 2 --prop cube -q --report focus.json -o focus.pc2
tells focus.json "max(abs(a - b) for a, b in zip(r['props'][0]['start'], [0, -0.09, 0.08])) < 1e-6"
run 0 bake focus.glb --solver lbs --clip fist --fps 2 --prop cube -q --report fist.json -o focus.pc2
tells fist.json "r['props'][0]['start'][2] > 0.15"

# ---- baked into a .glb: nodes with meshes, in the file that was given and in one made from a character ----
run 0 make arm -o arm.glb
run 0 bake arm.glb --solver lbs --clip flex --fps 5 --prop ball@0,1,0 --prop table -q -o source.glb
run 0 bake hand --solver lbs --clip grasp --fps 5 --prop cube -q -o made.glb
run 0 bake source.glb --solver lbs --clip flex --fps 5 -q --report again.json -o again.glb
tells again.json "[(p['name'], p['role']) for p in r['props']] == [('ball', 'rigid'), ('table', 'collider')]"
tells again.json "r['props'][0]['start'] == [0, 1, 0]"
holds "the props are in the baked files" <<'PYTHON'
import json, struct
def nodes(name):
    data = open(name, 'rb').read()
    root = json.loads(data[20:20 + struct.unpack('<I', data[12:16])[0]])
    return {n['name']: n for n in root['nodes'] if 'mesh' in n}
for name, props in (('source.glb', ['ball', 'table']), ('made.glb', ['cube']), ('again.glb', ['ball', 'table'])):
    found = nodes(name)
    assert all('role' in found[p]['extras']['cutis'] for p in props), found
assert nodes('source.glb')['ball']['translation'] == [0, 1, 0]
PYTHON

# ---- pictures ----
small="--size 64x48 --style samples:1 -q"
run 0 render hand $small -o plain.png
run 0 render hand --prop cube $small -o cube.png
differ plain.png cube.png "the cube is not drawn"
run 0 render hand lbs --clip grasp --frame 1.5s --prop table $small -o table.png
run 0 render hand props.pc2 --prop table --clip grasp --frame 2 $small -o cache.png
run 0 compare hand --clip grasp --solvers lbs,dqs --fps 2 --prop cube -q -o compared
tells compared/compare.json "all(s['props'][0]['name'] == 'cube' for s in r['solvers'].values())"

# A baked file shows the props that the bake had; a cache of the skin says that it cannot.
run 0 render hand made.glb --frame 2 $small -o made.png
run 0 bake hand --solver lbs --clip grasp --fps 5 -q -o bare.glb
run 0 render hand bare.glb --frame 2 $small -o bare.png
differ bare.png made.png "the cube of a baked file is not drawn"
run 0 render hand plain.pc2 --prop ball --clip grasp --frame 2 --size 64x48 --style samples:1 -o cache.png
shows "prop 'ball' is not drawn, because 'plain.pc2' does not contain its motion" err

# ---- a prop without effect, or that does not move, says so once ----
for solver in lbs dqs curves slide; do
    output=moved.npy
    [ $solver = slide ] && output=moved.usda # positions alone cannot hold sliding skin
    run 0 bake arm.glb --solver $solver --clip flex --start 0 --end 0.1 --prop ball -o $output
    [ "$(grep -c "prop 'ball' has no effect under solver $solver" err)" = 1 ] || fail "$solver: no warning, or several"
done
for solver in layers lattice; do
    run 0 bake arm.glb --solver $solver --clip flex --start 0 --end 0.1 --prop cube -o moved.npy
    [ "$(grep -c "prop 'cube' does not move under solver $solver" err)" = 1 ] || fail "$solver: no warning, or several"
done

# ---- a floor at the lowest point at rest, under every solver with contact ----
run 0 bake arm.glb --solver layers --clip flex --start 0 --end 0.1 --prop floor -q --report floor.json -o floor.npy
tells floor.json "abs(r['props'][0]['start'][1] + 0.0565) < 0.01 and r['props'][0]['role'] == 'collider'"

# ---- errors: the output stays as it was ----
cp props.pc2 before.pc2
run 2 $bake --prop cbue -o props.pc2
says "there is no built-in prop 'cbue'; did you mean 'cube'?"
run 2 $bake --prop wardrobe -o props.pc2
says "there is no built-in prop 'wardrobe'; use cube, block, ball, soft_ball, can, capsule, pencil, table, floor or a .glb file"
run 2 $bake --prop cube@1,2 -o props.pc2
says "--prop cube@1,2: after the @ give X,Y,Z or X,Y,Z,SCALE"
run 2 $bake --prop cube@1,2,nan -o props.pc2
says "--prop cube@1,2,nan: after the @ give X,Y,Z or X,Y,Z,SCALE"
run 2 $bake --prop ball@0,0,0,-1 -o props.pc2
says "--prop ball@0,0,0,-1: the scale must be above 0"
run 2 $bake --prop @1,2,3 -o props.pc2
says "--prop '@1,2,3': the name is missing; use a built-in prop, such as cube or ball, or a .glb file"
run 1 $bake --prop missing.glb -o props.pc2
says "cannot open 'missing.glb': No such file or directory"
run 2 $bake --prop thing.obj -o props.pc2
says "'thing.obj' has no extension of a props file: .glb or .gltf"
run 1 $bake --prop empty.glb -o props.pc2
says "'empty.glb' has no mesh that could be a prop"
run 1 $bake --prop odd.glb -o props.pc2
shows "role 'hard' is not one of collider, rigid, soft" err
run 1 $bake --prop short.glb -o props.pc2
run 2 render hand --prop cub $small -o bad.png
says "there is no built-in prop 'cub'; did you mean 'cube'?"
equal props.pc2 before.pc2 "a failed bake changed its output"
# ---- the grasp of the README holds, at the default of everything ----
grasp=$(sed -n 's/^cutis \(bake hand .*--prop cube\)$/\1/p' "$root/README.md")
run 0 $grasp -q --report grasp.json
tells grasp.json "0.285 < r['props'][0]['lift'] < 0.315"
# Without friction it slips.
run 0 make hand --resolution 0.3 --quiet -o coarse.glb
run 0 bake coarse.glb --solver springs --clip grasp --prop cube --set friction=0 -q --report slip.json -o slip.npy
tells slip.json "r['props'][0]['lift'] < 0.1 and r['props'][0]['dropped'] > 60"
tells slip.json "\"prop 'cube' fell out of range\" in r['verdict']['text']"
rm -f grasp.glb grasp.json coarse.glb slip.json slip.npy
tidy
finish
