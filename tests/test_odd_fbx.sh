#!/bin/sh
# test_odd_fbx.sh PROGRAM: FBX files as exporters in the wild write them (tests/odd_fbx.py) stand and move as Autodesk's formulas
# say, and their images come along.
. "$(dirname "$0")/shell.sh"

python3 "$root/tests/odd_fbx.py" . || exit 1
for file in *.fbx; do
    run 0 bake "$file" --solver lbs --fps 10 --threads 1 -q -o "${file%.fbx}.npy"
done
python3 "$root/tests/odd_fbx.py" --check . *.npy >compared.txt || fail "some differ"
grep -v ^same compared.txt
same "$(grep -c ^same compared.txt)" "$(ls *.fbx | wc -l | tr -d ' ')" "files compared"

run 0 convert textures.fbx textures.glb
shows "the image 'gone.tga' of material 'm2' is missing" err
holds "images and colours are in the .glb" <<'END'
import json, struct
from odd_fbx import PNG
data = open("textures.glb", "rb").read()
size = struct.unpack("<I", data[12:16])[0]
root, chunk = json.loads(data[20:20 + size]), data[28 + size:]
looks = {m["name"]: m for m in root["materials"]}
for name in ("m0", "m1"):
    texture = looks[name]["pbrMetallicRoughness"]["baseColorTexture"]["index"]
    image = root["images"][root["textures"][texture]["source"]]
    view = root["bufferViews"][image["bufferView"]]
    assert chunk[view["byteOffset"]:view["byteOffset"] + view["byteLength"]] == PNG and image["mimeType"] == "image/png"
assert len(root["images"]) == 1 # both hold the same bytes
assert looks["m0"]["alphaMode"] == "MASK" and "alphaMode" not in looks["m1"]
assert "baseColorTexture" not in looks["m2"]["pbrMetallicRoughness"]
for shown, linear in zip((0.25, 0.5, 0.75), looks["m3"]["pbrMetallicRoughness"]["baseColorFactor"]): # sRGB in, linear out
    assert abs(linear - ((shown + 0.055) / 1.055) ** 2.4) < 1e-6
END
run 0 info hidden_and_levels.fbx
shows "3 meshes are hidden in the file and are ignored"
finish
