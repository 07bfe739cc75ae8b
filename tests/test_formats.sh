#!/bin/sh
# test_formats.sh PROGRAM: .usda and .vat hold what .npy holds.

. "$(dirname "$0")/shell.sh"

for ending in npy usda vat; do run 0 bake arm --solver dqs --clip flex --fps 3 -q -o arm.$ending; done
holds ".usda and .vat hold what .npy holds" <<'END'
import json, re, struct, zlib
from read_npy import read_npy
(frames, vertices, _), values = read_npy("arm.npy")

def png(path):
    """Rows of 16-bit numbers; every chunk's check sum is checked."""
    data, at, packed = open(path, "rb").read(), 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0] == zlib.crc32(kind + body)
        if kind == b"IHDR": width, height, depth, color = struct.unpack(">IIBB", body[:10])
        if kind == b"IDAT": packed += body
        at += 12 + size
    assert (depth, color) == (16, 2)
    raw = zlib.decompress(packed)
    row = 1 + 6 * width
    assert len(raw) == row * height
    return width, height, [struct.unpack(">%dH" % (3 * width), raw[y * row + 1:(y + 1) * row]) for y in range(height)]

about = json.load(open("arm.vat"))
assert about["vertices"] == vertices and about["frames"] == frames and about["fps"] == 3
width, height, rows = png(about["positions"])
assert (width, height) == (about["width"], about["height"])
_, _, normals = png(about["normals"])
worst = 0
for f in range(frames):
    for i in range(vertices):
        y, x = f * about["rows_per_frame"] + i // width, i % width
        for k in range(3):
            extent = about["high"][k] - about["low"][k]
            shown = about["low"][k] + rows[y][3 * x + k] / 65535 * extent
            worst = max(worst, abs(shown - values[(f * vertices + i) * 3 + k]) / extent)
        n = [normals[y][3 * x + k] / 65535 * 2 - 1 for k in range(3)]
        assert abs(sum(c * c for c in n) - 1) < 1e-3
assert worst < 0.6 / 65535, worst

text = open("arm.usda").read()
assert text.startswith("#usda 1.0") and text.count("{") == text.count("}") and text.count("[") == text.count("]")
block = re.search(r"points.timeSamples = \{(.*?)\n        \}", text, re.S).group(1)
samples = re.findall(r"(\d+): \[(.*?)\],", block)
assert [int(code) for code, _ in samples] == list(range(frames))
for f, (_, body) in enumerate(samples):
    numbers = [struct.unpack("f", struct.pack("f", float(x)))[0] for x in re.findall(r"[-+0-9.e]+", body)]
    assert numbers == list(values[f * vertices * 3:(f + 1) * vertices * 3]), f
assert len(re.findall(r"\n            \d+: ", re.search(r"normals.timeSamples = \{(.*?)\n        \}", text, re.S).group(1))) == frames
counts = re.search(r"faceVertexCounts = \[(.*?)\]", text).group(1).split(",")
indices = re.search(r"faceVertexIndices = \[(.*?)\]", text).group(1).split(",")
assert sum(map(int, counts)) == len(indices) and max(map(int, indices)) < vertices
END
finish
