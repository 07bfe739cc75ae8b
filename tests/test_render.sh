#!/bin/sh
# test_render.sh PROGRAM: cutis render: sizes, frames, the same bytes for any number of threads, errors.

. "$(dirname "$0")/shell.sh"
subcommand=render

# size FILE "WIDTH HEIGHT": of a PNG.
size() {
    checks=$((checks + 1))
    got=$(od -A n -t u1 -j 16 -N 8 "$1" | awk '{ print $3 * 256 + $4, $7 * 256 + $8 }')
    [ "$got" = "$2" ] || fail "$1 has the size '$got', not '$2'"
}

small="--size 64x48 --style samples:1"

# ---- sizes ----
run 0 arm $small -o rest.png
size rest.png "64 48"
grep -q '^rest.png (64 x 48)$' out || fail "the summary is '$(cat out)'"
run 0 arm --style samples:1 --quiet -o plain.png
size plain.png "640 480"
[ ! -s out ] || fail "--quiet prints something"
run 0 arm lbs dqs --clip flex --frame 20 --size 128x60 --style samples:1 -o pair.png
size pair.png "128 60"
run 0 arm lbs dqs --clip flex --sheet --frame 0:40:20 --size 200x120 --style samples:1 -o sheet.png
size sheet.png "200 120"

# ---- frames, views and colours change the picture; threads and repetition do not ----
run 0 arm lbs --clip flex --frame 0 $small -o f0.png
run 0 arm lbs --clip flex --frame 30 $small -o f30.png
differ f0.png f30.png "two frames"
run 0 arm --clip flex --frame 1s $small -o t1.png
equal f30.png t1.png "frame 30 is 1 s"
run 0 arm lbs --clip flex --frame -49 $small -o back.png
equal f30.png back.png "frames from the end"
run 0 arm lbs --clip flex --frame 30 $small --threads 1 -o one.png
run 0 arm lbs --clip flex --frame 30 $small --threads 2 -o two.png
run 0 arm lbs --clip flex --frame 30 $small --threads 2 -o again.png
equal one.png two.png "one thread and two"
equal two.png again.png "the same again"
run 0 arm --view 90,0 $small -o side.png
run 0 arm --view side $small -o named.png
differ rest.png side.png "another view"
for option in "--style wire" "--style skeleton" "--cut y" "--texture checker" "--color weights" "--style white" "--zoom 2" \
    "--color stretch --style no-legend" "--style no-floor" "--zoom 1@hand" "--cut 0,0,1,0" "hello=rest"; do
    run 0 arm $small $option -o option.png
    differ rest.png option.png "$option"
done
for color in stretch area volume "weights:hand" part; do
    run 0 arm lbs --clip flex --frame 30 $small --color $color -o color.png
    differ f30.png color.png "--color $color"
done
run 0 arm $small --style transparent -o clear.png

# styles add up, also over several options; layout and samples are among them
run 0 arm $small --style wire,no-floor -o both.png
run 0 arm $small --style wire --style no-floor -o each.png
equal both.png each.png "--style given twice"
run 0 arm --size 64x48 --style samples:2 -o samples.png
differ rest.png samples.png "--style samples:2"
run 0 arm $small --style z-up -o up.png
differ rest.png up.png "--style z-up"
run 0 arm rest lbs dqs --size 240x160 --style columns:3 --style samples:1 -o row.png
run 0 arm rest lbs dqs --size 240x160 --style columns:1 --style samples:1 -o column.png
differ row.png column.png "--style columns"
checks=$((checks + 1))
[ "$(od -A n -t u1 -j 25 -N 1 clear.png | tr -d ' ')" = 6 ] || fail "a transparent picture has no alpha"

# ---- caches ----
"$program" bake arm --solver lbs --clip flex --quiet -o lbs.pc2 || fail "the cache cannot be baked"
run 0 arm lbs.pc2 --frame 30 $small -o cache.png
equal f30.png cache.png "a cache and the solver that made it"
"$program" bake torus --solver lbs --quiet -o torus.pc2
run 1 arm torus.pc2 $small -o no.png
arm=$("$program" info arm --json | awk -F '[:,]' '/"vertices"/ { print $2 + 0; exit }')
torus=$("$program" info torus --json | awk -F '[:,]' '/"vertices"/ { print $2 + 0; exit }')
says "'torus.pc2' has $torus vertices, arm has $arm: it was made from another character"
run 1 arm lbs.pc2 --frame 1000 $small -o no.png
says "there is no frame 1000; the frames are 0 to 78"
run 1 arm lbs.pc2 --frame 10:1000 $small -o no.png
says "--frame 10:1000: give N, FIRST:LAST or FIRST:LAST:STEP within 0:78, or seconds: 1.5s, 0.5s:2s"
head -c 1000 lbs.pc2 >short.pc2
run 1 arm short.pc2 $small -o no.png

# ---- values ----
if /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
    /usr/bin/python3 -c "
import numpy
numpy.save('values.npy', numpy.linspace(0, 1, 79 * $arm).reshape(79, $arm).astype('float32'))
numpy.save('wrong.npy', numpy.zeros((79, 5)))
broken = numpy.zeros((5, $arm, 3), 'float32')
broken[1] = numpy.nan
broken[2] = numpy.random.default_rng(1).normal(size=($arm, 3))
broken[3] = broken[2] * 1e30
broken[4] = broken[2] * 1e-30
numpy.save('broken.npy', broken)"
    for frame in 0 1 2 3 4; do
        run 0 arm broken.npy --frame $frame --color stretch --cut x $small -o broken.png
    done
    head -c 5000 values.npy >short.npy
    run 1 arm lbs.pc2 --color short.npy $small -o no.png
    says "short.npy ends before its last number"
    run 0 arm lbs.pc2 --frame 30 --color values.npy $small -o values.png
    differ f30.png values.png "values colour the surface"
    run 1 arm lbs.pc2 --color wrong.npy $small -o no.png
    says "wrong.npy must hold one number for each vertex (frames x $arm), but it has 5 numbers in a row"
fi
cp lbs.pc2 wrong.npy
run 1 arm --color wrong.npy $small -o no.png
says "wrong.npy is not a NumPy file (.npy)"

# ---- what a bake wrote beside a cache ----
"$program" bake torus --solver slide --end 0.5 --outputs texcoords,sliding --quiet -o torus_slide.pc2
run 0 torus torus_slide.pc2 --frame -1 --texture checker@20 $small -o moved.png
rm torus_slide.pc2.texcoords.npy
run 0 torus torus_slide.pc2 --frame -1 --texture checker@20 $small -o still.png
differ moved.png still.png "texture coordinates beside a cache"
run 0 torus torus_slide.pc2 --frame -1 --color sliding@0,0.1 $small -o sliding.png
differ still.png sliding.png "an output beside a cache"

# ---- ranges of seconds ----
run 0 arm lbs --clip flex --sheet --frame 0.5s:1.5s --size 200x120 --style samples:1 -o range.png
run 0 arm lbs --clip flex --sheet --frame 15:45:15 --size 200x120 --style samples:1 -o steps.png
run 0 arm lbs --clip flex --sheet --frame 0.5s:1.5s:15 --size 200x120 --style samples:1 -o seconds.png
equal steps.png seconds.png "a range in seconds"
differ range.png seconds.png "steps of a range"

# ---- video ----
if command -v ffmpeg >/dev/null; then
    for ending in mp4 gif webm; do
        run 0 arm lbs --clip flex --frame 0:30:15 $small -o "film.$ending"
        checks=$((checks + 1))
        [ -s "film.$ending" ] || fail "film.$ending is empty"
    done
fi
mkdir empty
checks=$((checks + 1))
PATH=$folder/empty "$program" render arm --clip flex --frame 0:1 $small -o film2.mp4 >out 2>err
[ $? -eq 1 ] || fail "a missing ffmpeg is not an error"
says "videos need the program ffmpeg, which was not found; install it, or write a .png with --sheet"
[ ! -e film2.mp4 ] || fail "a film without ffmpeg"

# ---- what cannot be drawn ----
run 2 arm
run 2 arm -o picture.jpg
says "cannot detect the format of 'picture.jpg' from its extension; use one of .png, .mp4, .webm, .gif"
run 1 arm lb -o no.png
says "'lb' is neither a cache nor a solver; did you mean 'lbs'?"
run 2 amr -o no.png
run 2 arm --view fornt -o no.png
says "unknown view 'fornt'; did you mean 'front'?"
run 2 arm --color strech -o no.png
says "unknown colouring 'strech'; did you mean 'stretch'?"
run 2 arm --size 5x5 -o no.png
run 2 arm --cut w -o no.png
run 2 arm --clip flx -o no.png
run 2 arm lbs --clip flex --set stiffnes=1 -o no.png
says "--set stiffnes=1: none of the solvers drawn has this parameter"
run 2 arm --color weights:hnad -o no.png
run 2 arm --style wirre -o no.png
says "--style has no value 'wirre'; did you mean wire?"
run 2 arm --zoom 2@ -o no.png
run 2 arm --texture checker@x -o no.png
run 2 arm --color volume@2,1 -o no.png
run 1 arm --frame 9s --clip flex -o no.png
says "--frame 9s is out of range: the motion runs from 0 to 2.6 s"
run 2 arm --wire -o no.png
says "--wire is now --style wire"
run 2 arm --columns 3 -o no.png
says "--columns is now --style columns:N"
run 2 arm --quality=2 -o no.png
says "--quality is now --style samples:N"
run 2 arm --up z -o no.png
says "--up is now --style z-up"
run 2 arm --style columns:0 -o no.png
says "--style columns:0: give a whole number from 1 to 100"
run 1 arm -o missing/no.png
checks=$((checks + 1))
[ ! -e no.png ] || fail "a failed run left a picture"
tidy
run 0 --help
grep -q '^example' out || fail "--help has no example"

# ---- materials: colour, image, hole, opacity; plain clay beside; PNG and JPEG ----
cat >plates.py <<'END'
"""Two plates, one behind the other, as plates.glb (PNG) and plates_jpeg.glb: the front one red where its texture is
opaque, with a hole on the right through which the green one is seen."""
import json, os, struct, subprocess, zlib

def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

def png(width, height, pixel):
    rows = b"".join(b"\0" + b"".join(bytes(pixel(x, y)) for x in range(width)) for y in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))

def glb(path, image, kind, extra):
    buffers, views, accessors = b"", [], []
    def put(data):
        nonlocal buffers
        views.append({"buffer": 0, "byteOffset": len(buffers), "byteLength": len(data)})
        buffers += data + b"\0" * (-len(data) % 4)
        return len(views) - 1
    def plate(z):
        corners = [(-1, -1, z), (1, -1, z), (1, 1, z), (-1, 1, z)]
        accessors.append({"bufferView": put(b"".join(struct.pack("<3f", *c) for c in corners)), "componentType": 5126,
                          "count": 4, "type": "VEC3", "min": [-1, -1, z], "max": [1, 1, z]})
        accessors.append({"bufferView": put(struct.pack("<8f", 0, 1, 1, 1, 1, 0, 0, 0)), "componentType": 5126,
                          "count": 4, "type": "VEC2"})
        accessors.append({"bufferView": put(struct.pack("<6H", 0, 1, 2, 0, 2, 3)), "componentType": 5123, "count": 6,
                          "type": "SCALAR"})
        n = len(accessors)
        return {"attributes": {"POSITION": n - 3, "TEXCOORD_0": n - 2}, "indices": n - 1}
    front, back = plate(0.1), plate(-0.1)
    front["material"], back["material"] = 0, 1
    view = put(image)
    doc = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
           "meshes": [{"primitives": [front, back]}], "accessors": accessors, "bufferViews": views,
           "images": [{"bufferView": view, "mimeType": kind}], "textures": [{"source": 0}],
           "materials": [{"name": "front", "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}, **extra},
                         {"name": "back", "pbrMetallicRoughness": {"baseColorFactor": [0, 1, 0, 1]}}],
           "buffers": [{"byteLength": len(buffers)}]}
    text = json.dumps(doc).encode()
    text += b" " * (-len(text) % 4)
    with open(path, "wb") as f:
        f.write(struct.pack("<III", 0x46546C67, 2, 28 + len(text) + len(buffers)))
        f.write(struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(buffers), 0x004E4942) + buffers)

holed = png(16, 16, lambda x, y: (230, 20, 20, 255 if x < 8 else 0))
glb("plates.glb", holed, "image/png", {"alphaMode": "MASK"})
glb("opaque.glb", holed, "image/png", {})
glb("broken.glb", holed[:40], "image/png", {})
open("red.png", "wb").write(png(16, 16, lambda x, y: (230, 20, 20, 255)))
subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", "red.png", "red.jpg"], check=True)
glb("jpeg.glb", open("red.jpg", "rb").read(), "image/jpeg", {})
END
cat >pixel.py <<'END'
"""pixel(path, x, y): red, green, blue of a place (shares of width and height) of a PNG of 8 bits."""
import struct, zlib

def pixel(path, x, y):
    data = open(path, "rb").read()
    width, height, depth, kind = struct.unpack(">IIBB", data[16:26])
    at, packed, size = 8, b"", 4 if kind == 6 else 3
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at:at + 8])
        packed += data[at + 8:at + 8 + length] if name == b"IDAT" else b""
        at += length + 12
    raw, before = zlib.decompress(packed), bytearray(width * size)
    for row in range(int(y * height) + 1):
        begin = row * (width * size + 1)
        line = bytearray(raw[begin + 1:begin + 1 + width * size])
        for i in range(len(line)):
            a, b = (line[i - size] if i >= size else 0), before[i]
            c = before[i - size] if i >= size else 0
            near = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            line[i] = (line[i] + (0, a, b, (a + b) // 2, near)[raw[begin]]) & 255
        before = line
    return tuple(before[int(x * width) * size:][:3])
END
python3 plates.py || fail "the plates cannot be made"
for name in plates opaque jpeg; do run 0 $name.glb --view 0,0 --style samples:1,no-floor --size 64x64 -o $name.png; done
run 0 plates.glb --view 0,0 --style samples:1,no-floor --size 64x64 --color clay -o clay.png
holds "materials show as the file has them" <<'END'
from pixel import pixel
def shown(name, x, what):
    r, g, b = pixel(name + ".png", x, 0.5)
    good = {"red": r > 1.5 * max(g, b), "green": g > 1.5 * max(r, b), "clay": r > g > b and r < 1.5 * g}[what]
    assert good, (name, x, what, (r, g, b))
shown("plates", 0.3, "red"), shown("plates", 0.7, "green")
shown("opaque", 0.3, "red"), shown("opaque", 0.7, "red")
shown("jpeg", 0.3, "red"), shown("jpeg", 0.7, "red")
shown("clay", 0.3, "clay"), shown("clay", 0.7, "clay")
END
run 0 broken.glb --view 0,0 --style samples:1 --size 64x64 -o broken.png
shows "the image of front" err

finish
