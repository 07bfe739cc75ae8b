#!/bin/sh
# test_convert.sh CUTIS: convert keeps a character, unpacks and compresses it; info names reader and extensions.
. "$(dirname "$0")/shell.sh"

run 0 make arm --resolution 0.3 -o arm.glb
run 0 convert arm.glb same.glb
run 0 info same.glb
shows "read by    glTF reader"
run 0 bake arm.glb --solver lbs -o arm.npy
run 0 bake same.glb --solver lbs -o same.npy
cmp -s arm.npy same.npy || fail "convert changed the motion"
run 0 convert arm.glb arm.obj
shows "arm\.obj: "

# compressed, and back
run 0 convert arm.glb small.glb --compress meshopt
if grep -q "build of cutis has no meshoptimizer" err; then
    echo "no meshoptimizer: skipped"
else
    shows "positions rounded by at most"
    [ "$(wc -c <small.glb)" -lt "$(($(wc -c <arm.glb) / 2))" ] || fail "compressed is not below half"
    run 0 info small.glb
    shows "extensions .*EXT_meshopt_compression"
    run 0 convert small.glb back.glb
    run 0 info back.glb --json
    run 0 bake small.glb --solver lbs -o small.npy
    run 0 bake back.glb --solver lbs -o back.npy
    cmp -s small.npy back.npy || fail "unpacking changed the motion"
    run 0 bake arm.glb --solver dqs -o baked.glb --compress meshopt
    shows "compressed"
fi

# rounded to integers: smaller, within 1e-4 of the size (3) in motion
run 0 convert arm.glb integers.glb --compress quantize
shows "positions rounded by at most"
[ "$(wc -c <integers.glb)" -lt "$(($(wc -c <arm.glb) * 3 / 4))" ] || fail "quantised is not below three quarters"
run 0 info integers.glb
shows "extensions .*KHR_mesh_quantization"
run 0 bake integers.glb --solver lbs -o integers.npy
holds "integers move as floats do" <<'END'
from read_npy import read_npy
(shape, a), (_, b) = read_npy("arm.npy"), read_npy("integers.npy")
size = max(a) - min(a)
assert len(a) == len(b) and max(abs(x - y) for x, y in zip(a, b)) < 1e-4 * size
END

# VRM: all extensions are kept, and a spring bone goes when the bake moves its vertices itself
holds "a .vrm" <<'END'
import json, struct
data = open("arm.glb", "rb").read()
size = struct.unpack("<I", data[12:16])[0]
root = json.loads(data[20:20 + size])
names = [node.get("name") for node in root["nodes"]]
joints = root["skins"][0]["joints"]
last = max(joints)
root["extensionsUsed"] = root.get("extensionsUsed", []) + ["VRM", "VRMC_vrm", "VRMC_springBone"]
root["extensions"] = {
    "VRM": {"meta": {"title": "arm"}, "secondaryAnimation": {"boneGroups": [{"comment": "flesh", "bones": [joints[1]]}]}},
    "VRMC_vrm": {"specVersion": "1.0", "meta": {"name": "arm"}},
    "VRMC_springBone": {"specVersion": "1.0", "springs": [{"joints": [{"node": joints[1]}]}, {"joints": [{"node": len(names) - 1}]}]}}
text = json.dumps(root).encode()
text += b" " * (-len(text) % 4)
rest = data[20 + size:]
open("arm.vrm", "wb").write(struct.pack("<III", 0x46546C67, 2, 20 + len(text) + len(rest)) + struct.pack("<II", len(text), 0x4E4F534A) + text + rest)
END
run 0 bake arm.vrm --solver lattice --clip flex --fps 8 -o flesh.vrm
shows "2 spring bones are not part of the result"
run 0 bake arm.vrm --solver lbs --clip flex --fps 8 -o skin.vrm
run 0 convert arm.vrm kept.vrm
holds "springs are kept where the skeleton moves them" <<'END'
import json, struct
def extensions(path):
    data = open(path, "rb").read()
    return json.loads(data[20:20 + struct.unpack("<I", data[12:16])[0]])["extensions"]
given = extensions("arm.vrm")
assert extensions("skin.vrm") == given and extensions("kept.vrm") == given
flesh = extensions("flesh.vrm")
assert flesh["VRMC_vrm"] == given["VRMC_vrm"] and flesh["VRM"]["meta"] == given["VRM"]["meta"]
assert flesh["VRM"]["secondaryAnimation"]["boneGroups"][0]["bones"] == []
assert flesh["VRMC_springBone"]["springs"] == given["VRMC_springBone"]["springs"][1:]
END
run 2 bake arm.glb --solver lbs -o arm2.vrm
shows "written from a .vrm alone" err

# an .obj with a library of materials and an image beside it
holds "an .obj" <<'END'
from odd_fbx import PNG
open("skin.png", "wb").write(PNG)
open("look.mtl", "w").write("newmtl body\nKd 1 0 0\nmap_Kd -bm 1 C:\\art\\skin.png\nnewmtl eye\nKd 0.25 0.5 0.75\n")
open("cube.obj", "w").write("mtllib look.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvt 0 0\n"
                            "usemtl body\nf 1/1 3/1 2/1\nf 1/1 2/1 4/1\nusemtl eye\nf 1/1 4/1 3/1\nf 2/1 3/1 4/1\n")
END
run 0 convert cube.obj cube.glb
holds "its colours and image are in the .glb" <<'END'
import json, struct
data = open("cube.glb", "rb").read()
root = json.loads(data[20:20 + struct.unpack("<I", data[12:16])[0]])
body, eye = (m["pbrMetallicRoughness"] for m in root["materials"])
assert body["baseColorTexture"]["index"] == 0 and body["baseColorFactor"] == [1, 1, 1, 1] and len(root["images"]) == 1
assert "baseColorTexture" not in eye # sRGB in, linear out
assert all(abs(have - ((c + 0.055) / 1.055) ** 2.4) < 1e-6 for c, have in zip((0.25, 0.5, 0.75), eye["baseColorFactor"]))
END

# COLLADA names its image by way of material, effect, sampler and surface
holds "a .dae" <<'END'
open("cube.dae", "w").write("""<COLLADA version="1.4.1"><library_images><image id="i"><init_from>file://skin.png</init_from></image></library_images>
<library_effects><effect id="e"><profile_COMMON><newparam sid="f"><surface type="2D"><init_from>i</init_from></surface></newparam>
<newparam sid="p"><sampler2D><source>f</source></sampler2D></newparam><technique sid="c"><phong><diffuse><texture texture="p" texcoord="u"/>
</diffuse></phong></technique></profile_COMMON></effect><effect id="h"><profile_COMMON><technique sid="c"><lambert><diffuse>
<color>0.25 0.5 0.75 1</color></diffuse></lambert></technique></profile_COMMON></effect></library_effects><library_materials>
<material id="m"><instance_effect url="#e"/></material><material id="n"><instance_effect url="#h"/></material></library_materials>
<library_geometries><geometry id="g"><mesh><source id="s"><float_array count="12">0 0 0 1 0 0 0 1 0 0 0 1</float_array><technique_common>
<accessor source="#a" count="4" stride="3"/></technique_common></source><source id="t"><float_array count="2">0 0</float_array><technique_common>
<accessor source="#b" count="1" stride="2"/></technique_common></source><vertices id="v"><input semantic="POSITION" source="#s"/></vertices>
<triangles material="body" count="2"><input semantic="VERTEX" source="#v" offset="0"/><input semantic="TEXCOORD" source="#t" offset="1"/>
<p>0 0 2 0 1 0 0 0 1 0 3 0</p></triangles><triangles material="eye" count="2"><input semantic="VERTEX" source="#v" offset="0"/><p>0 3 2 1 2 3</p>
</triangles></mesh></geometry></library_geometries><library_visual_scenes><visual_scene id="x"><node id="k"><instance_geometry url="#g">
<bind_material><technique_common><instance_material symbol="body" target="#m"/><instance_material symbol="eye" target="#n"/>
</technique_common></bind_material></instance_geometry></node></visual_scene></library_visual_scenes><scene><instance_visual_scene url="#x"/>
</scene></COLLADA>""")
END
run 0 convert cube.dae dae.glb
holds "its colours and image are in the .glb" <<'END'
import json, struct
def looks(path):
    data = open(path, "rb").read()
    root = json.loads(data[20:20 + struct.unpack("<I", data[12:16])[0]])
    return {m["name"]: m["pbrMetallicRoughness"] for m in root["materials"]}, len(root["images"])
assert looks("dae.glb") == looks("cube.glb")
END

# images of other kinds are kept as they are
holds "images of extensions" <<'END'
from odd_gltf import Document, bend, character
d = Document()
d.clip(bend(character(d)))
d.root["images"] = [{"uri": "one.webp"}, {"uri": "two.ktx2", "mimeType": "image/ktx2"}]
d.root["textures"] = [{"extensions": {"EXT_texture_webp": {"source": 0}}}, {"extensions": {"KHR_texture_basisu": {"source": 1}}}]
d.root["materials"] = [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0, "extensions": {"KHR_texture_transform": {"scale": [2, 2]}}}}}]
d.root["extensionsUsed"] = d.root["extensionsRequired"] = ["EXT_texture_webp", "KHR_texture_basisu", "KHR_texture_transform"]
open("one.webp", "wb").write(b"RIFF....WEBP")
open("two.ktx2", "wb").write(b"\xabKTX 20\xbb")
d.save("looks.gltf")
END
run 0 convert looks.gltf looks.glb
run 0 bake looks.gltf --solver dqs --fps 4 -q -o looks_baked.glb
holds "they are in the .glb" <<'END'
import json, struct
for path in ("looks.glb", "looks_baked.glb"):
    data = open(path, "rb").read()
    size = struct.unpack("<I", data[12:16])[0]
    root = json.loads(data[20:20 + size])
    for image, kind, content in zip(root["images"], ("image/webp", "image/ktx2"), (b"RIFF....WEBP", b"\xabKTX 20\xbb")):
        view = root["bufferViews"][image["bufferView"]]
        assert image["mimeType"] == kind and data[28 + size + view["byteOffset"]:][:view["byteLength"]] == content
    assert root["textures"] == [{"extensions": {"EXT_texture_webp": {"source": 0}}}, {"extensions": {"KHR_texture_basisu": {"source": 1}}}]
    assert len(root["extensionsRequired"]) == 3
END

# images of the kind TGA become PNG: plain and run-length packed, upside down or not, with and without opacity
holds "TGA files" <<'END'
import random, struct
random.seed(1)
def pixel(x, y, n): return bytes([(x * 5 + y) % 256, x // 9 * 20 % 256, random.randrange(256) if x > 60 else y // 8, 200][:n])
for name, n, packed, top in (("a", 3, False, False), ("b", 4, True, True), ("c", 3, True, False)):
    rows = [[pixel(x, y, n) for x in range(70)] for y in range(50)]
    open(name + ".rgb", "wb").write(b"".join(bytes([p[2], p[1], p[0]]) + p[3:] for row in rows for p in row))
    body = b""
    for row in rows if top else reversed(rows):
        at = 0
        while packed and at < 70:
            run = 1
            while at + run < 70 and run < 128 and row[at + run] == row[at]: run += 1
            body += bytes([127 + run]) + row[at] if run > 1 else bytes([0]) + row[at]
            at += run
        if not packed: body += b"".join(row)
    head = struct.pack("<BBBHHBHHHHBB", 3, 0, 10 if packed else 2, 0, 0, 0, 0, 0, 70, 50, 8 * n, 0x20 if top else 0)
    open(name + ".tga", "wb").write(head + b"abc" + body)
    open(name + ".mtl", "w").write("newmtl body\nmap_Kd %s.tga\n" % name)
    open(name + ".obj", "w").write(open("cube.obj").read().replace("look", name))
END
for name in a b c; do run 0 convert $name.obj $name.glb; done
holds "TGA is PNG then" <<'END'
import json, struct, zlib
for name, n in (("a", 3), ("b", 4), ("c", 3)):
    data = open(name + ".glb", "rb").read()
    size = struct.unpack("<I", data[12:16])[0]
    root = json.loads(data[20:20 + size])
    view = root["bufferViews"][root["images"][0]["bufferView"]]
    png = data[28 + size + view["byteOffset"]:][:view["byteLength"]]
    at, packed = 8, b""
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + length]
        assert struct.unpack(">I", png[at + 8 + length:at + 12 + length])[0] == zlib.crc32(kind + body)
        if kind == b"IHDR": assert struct.unpack(">IIBBBBB", body) == (70, 50, 8, 2 if n == 3 else 6, 0, 0, 0)
        if kind == b"IDAT": packed += body
        at += 12 + length
    plain, out = bytearray(zlib.decompress(packed)), b""
    for y in range(50):
        row = plain[y * (70 * n + 1):(y + 1) * (70 * n + 1)]
        assert row[0] == 1
        for x in range(1 + n, len(row)): row[x] = (row[x] + row[x - n]) % 256
        out += row[1:]
    assert out == open(name + ".rgb", "rb").read(), name
END

# mistakes
run 2 convert arm.glb arm.fbx
shows "must end in" err
run 2 convert arm.glb x.glb --compress zip
shows "none, quantize or meshopt" err
run 1 convert nothing.glb x.glb
shows "there is no file" err
run 1 convert arm.glb arm.glb
shows "is the input itself" err
run 2 bake arm.glb -o x.pc2 --compress meshopt
shows "for a .glb output" err
printf 'solid a\n' >bad.stl
run 1 convert bad.stl x.glb
[ ! -e x.glb ] || fail "a file was written"
finish
