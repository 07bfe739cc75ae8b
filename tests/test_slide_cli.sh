#!/bin/sh
# test_slide_cli.sh PROGRAM: --outputs and --motion CACHE of bake, and parameters of solver slide.

. "$(dirname "$0")/shell.sh"

run 0 make torus --resolution 0.1 -o torus.glb
bake="bake torus.glb --clip squash --fps 5 --lead-in 0 --threads 1 -q"
run 0 $bake --solver lbs -o lbs.npy
run 0 $bake --solver slide --outputs texcoords,sliding,stress,wrinkle -o slide.npy
run 0 $bake --solver slide --set slide.output=vertices -o moved.npy
run 0 $bake --solver slide --set output=vertices -o set.npy
# A body from a cache: the same motion as lbs, but straight between its frames. (.mdd tells its rate, .pc2 does not.)
run 0 bake torus.glb --clip squash --fps 100 --solver lbs --threads 1 -q -o body.mdd
run 0 $bake --solver slide --motion body.mdd --outputs sliding -o given.npy
run 0 $bake --solver slide --set output=texture --outputs texcoords -o slide.usda
holds "outputs, bodies and moved vertices are what they should be" <<'END'
from read_npy import read_npy

def load(name): return read_npy(name + ".npy")

def apart(a, b): return max(abs(x - y) for x, y in zip(a, b))

(frames, vertices, three), lbs = load("lbs")
assert three == 3
shape, slide = load("slide")
assert shape == (frames, vertices, 3) and apart(slide, lbs) < 1e-6, "texture coordinates move, the body does not"
shapes = {"sliding": (frames, vertices, 3), "stress": (frames, vertices, 2)}
for name in shapes: assert load("slide.npy." + name)[0] == shapes[name], name
shape, wrinkle = load("slide.npy.wrinkle")
assert shape[:2] == (frames, vertices) and min(wrinkle) >= 0 and max(wrinkle) > 0
shape, texcoords = load("slide.npy.texcoords")
assert shape[0] == frames and shape[2] == 2 and shape[1] >= vertices
corners = 2 * shape[1]
assert max(apart(texcoords[:corners], texcoords[f * corners:(f + 1) * corners]) for f in range(frames)) > 1e-3, "moved"
_, stress = load("slide.npy.stress")
assert all(stress[i] >= stress[i + 1] - 1e-6 for i in range(0, len(stress), 2)), "the larger stress comes first"

_, sliding = load("slide.npy.sliding")
assert apart(sliding[:3 * vertices], [0] * (3 * vertices)) < 1e-6 < 1e-2 < max(map(abs, sliding))
shape, moved = load("moved")
assert shape == (frames, vertices, 3) and moved == load("set")[1]
assert 1e-2 < apart(moved, lbs) < 1

shape, given = load("given")
assert apart(given, lbs) < 1e-4, "the body is the cache"
near = apart(load("given.npy.sliding")[1], sliding)
assert near < 0.2 * max(map(abs, sliding)), near

text = open("slide.usda").read()
assert "primvars:st.timeSamples" in text and text.count("{") == text.count("}")
END
# The verdict sees skin that slides: half way round a cylinder whose right end is loose.
run 0 bake cylinder --solver slide --clip twist --set zeta=0 --fps 10 --threads 1 -q --outputs sliding --report far.json -o far.npy
tells far.json "r['verdict']['level'] != 'good' and 'the skin slides by' in r['verdict']['text']"
# Textures: a pattern through all islands, the border of an image, wrinkles with their weights.
run 0 texture torus.glb veins@8 --size 128 --border 8 -o veins.png
shows "128 x 128, islands"
run 0 texture torus.glb veins.png --border 8 -q -o padded.png
run 0 $bake --solver slide --outputs folds -o folds.npy
run 0 texture torus.glb --folds folds.npy.folds.npy --size 128 -q -o wrinkles.png
run 0 texture torus.glb veins.png --sliding slide.npy.sliding.npy -o slid.png
shows "slid_0000.png to _00"
[ -e slid_0001.png ] && [ ! -e slid.png ] || fail "--sliding writes a file for each frame"
! cmp -s slid_0000.png slid_0003.png || fail "the texture of slid skin is that of skin at rest"
holds "weights of wrinkles are shares of the strongest" <<'END'
from read_npy import read_npy

shape, weights = read_npy("wrinkles.png.weights.npy")
_, folds = read_npy("folds.npy.folds.npy")
assert shape[0] * shape[1] * 3 == len(folds) and 0 <= min(weights) and max(weights) == 1, shape
END

# A .glb moves its texture coordinates; what holds positions only is refused, unless the sliding goes somewhere.
run 0 $bake --solver slide --report slide.json -o slide.glb
differ torus.glb slide.glb "skin that slides is written into a .glb"
tells slide.json "r['morphs']['texcoord_targets'] > 0 and r['morphs']['texcoord_max_error'] < 1.1e-3 < 1e-2 < r['morphs']['texcoord_residual']"
run 0 $bake --solver slide --targets exact --report slide.json -o exact.glb
tells slide.json "r['morphs']['texcoord_targets'] == r['morphs']['targets'] and r['morphs']['texcoord_max_error'] < 1e-5"
run 0 $bake --solver slide --set output=vertices --report slide.json -o vertices.glb
tells slide.json "r['morphs']['texcoord_targets'] == 0 and r['morphs']['residual'] > 1e-2"
run 1 $bake --solver slide --targets safe -o safe.glb
shows "cannot hold how the skin slides in targets of positions alone" err
for ending in pc2 mdd npy vat obj; do
    run 1 $bake --solver slide -o "only.$ending"
    says "'only.$ending' holds positions only, which sliding skin does not move; write .glb or .usda, or set output=vertices, or add --outputs texcoords or sliding"
    [ ! -e "only.$ending" ] || fail "a file is written"
    run 0 $bake --solver lbs+slide --end 0.2 --outputs wrinkle -o "beside.$ending"
    run 0 $bake --solver lbs+slide --end 0.2 --set slide.output=vertices -o "moved.$ending"
done
run 0 make torus --resolution 0.1 -o torus.obj
sed -e '/^vt/d' -e 's|/[0-9]*||g' torus.obj >bare.obj
run 0 bake bare.obj --solver lbs -q -o bare.npy
run 1 bake bare.obj --solver slide --motion bare.npy -q -o bare.glb
shows "cannot hold how the skin slides, because bare has no texture coordinates; unwrap it" err
tidy

# What cannot be is refused with a sentence, and nothing is written: refuses COMMAND ENDING CODE [arguments].
refuses() {
    command=$1 ending=$2 code=$3
    shift 3
    run "$code" "$command" torus.glb -q "$@" -o "no.$ending"
    shows "^cutis: error: " err
    [ ! -e "no.$ending" ] || fail "$*: a file is written"
}
refuses texture png 1 absent.png
refuses texture png 1 --folds absent.npy
refuses texture png 1 --folds lbs.npy.absent
refuses texture png 1 veins --size 64 --sliding slide.npy.stress.npy
refuses texture png 2 --folds folds.npy.folds.npy --sliding slide.npy.sliding.npy
refuses texture png 2 nothing
refuses texture png 2 veins@none
refuses texture png 2
refused() { refuses bake npy "$@"; }
refused 1 --solver slide --outputs nothing
refused 1 --solver lbs --outputs sliding
refused 2 --solver slide --set output=nowhere
refused 1 --solver slide --motion absent.pc2
refused 2 --solver lbs --set slide.output=vertices
run 0 make torus --resolution 0.2 -o other.glb
run 0 bake other.glb --clip squash --fps 5 -q -o other.pc2
refused 1 --solver slide --motion other.pc2
finish
