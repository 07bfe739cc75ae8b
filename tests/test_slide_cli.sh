#!/bin/sh
# test_slide_cli.sh PROGRAM: --outputs, --body and --slide-output of bake.
set -u
program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
bake() { "$program" bake "$folder/torus.glb" --clip squash --fps 5 --lead-in 0 --threads 1 -q "$@" || exit 1; }
"$program" make torus --resolution 0.1 -o "$folder/torus.glb" > "$folder/out" || exit 1
bake --solver lbs -o "$folder/lbs.npy"
bake --solver slide --outputs texcoords,sliding,stress,wrinkle -o "$folder/slide.npy"
bake --solver slide --slide-output vertices -o "$folder/moved.npy"
bake --solver slide --set output=vertices -o "$folder/set.npy"
# A body from a cache: the same motion as lbs, but straight between its frames. (.mdd tells its rate, .pc2 does not.)
"$program" bake "$folder/torus.glb" --clip squash --fps 100 --solver lbs --threads 1 -q -o "$folder/body.mdd" || exit 1
bake --solver slide --body "$folder/body.mdd" --outputs sliding -o "$folder/given.npy"
bake --solver slide --slide-output texture --outputs texcoords -o "$folder/slide.usda"
python3 - "$folder" <<'END' || exit 1
import struct, sys
folder = sys.argv[1]

def load(name):
    data = open(folder + "/" + name + ".npy", "rb").read()
    start = 10 + data[8] + 256 * data[9]
    shape = eval(data[10:start])["shape"]
    count = 1
    for n in shape: count *= n
    assert len(data) == start + 4 * count, name
    return shape, struct.unpack("<%df" % count, data[start:])

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

text = open(folder + "/slide.usda").read()
assert "primvars:st.timeSamples" in text and text.count("{") == text.count("}")
END
# What cannot be is refused with a sentence.
expect_error() {
    "$program" bake "$folder/torus.glb" -q "$@" -o "$folder/no.npy" > "$folder/out" 2>&1 && { echo "$* is accepted"; exit 1; }
    [ -s "$folder/out" ] && [ ! -e "$folder/no.npy" ] || { echo "$*: no sentence, or a file"; exit 1; }
}
expect_error --solver slide --outputs nothing
expect_error --solver lbs --outputs sliding
expect_error --solver slide --slide-output nowhere
expect_error --solver slide --body "$folder/absent.pc2"
expect_error --solver lbs --slide-output vertices
"$program" make torus --resolution 0.2 -o "$folder/other.glb" > "$folder/out" || exit 1
"$program" bake "$folder/other.glb" --clip squash --fps 5 -q -o "$folder/other.pc2" || exit 1
expect_error --solver slide --body "$folder/other.pc2"
echo "outputs, bodies and moved vertices are what they should be"
