"""odd_gltf.py FOLDER: glTF files as exporters in the wild write them, made by code, and FOLDER/list.txt: one line a file with its
name, the clip, and the vertices' share of the size by which three.js may differ.

Each is a tube along y, bent by a chain of joints, with one oddity. test_odd_files.sh compares what cutis and three.js show.
"""
import base64
import json
import math
import os
import struct
import sys

BYTE, UBYTE, SHORT, USHORT, UINT, FLOAT = 5120, 5121, 5122, 5123, 5125, 5126
FORMATS = {BYTE: "b", UBYTE: "B", SHORT: "h", USHORT: "H", UINT: "I", FLOAT: "f"}
KINDS = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}


# ---- matrices, row by row, and quaternions ----

def multiply(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(4)) for j in range(4)] for i in range(4)]


def invert(m):
    a = [list(row) + [float(i == j) for j in range(4)] for i, row in enumerate(m)]
    for c in range(4):
        p = max(range(c, 4), key=lambda r: abs(a[r][c]))
        a[c], a[p] = a[p], a[c]
        a[c] = [x / a[c][c] for x in a[c]]
        for r in range(4):
            if r != c:
                a[r] = [x - a[r][c] * y for x, y in zip(a[r], a[c])]
    return [row[4:] for row in a]


def turn(axis, degrees):
    s, c = math.sin(math.radians(degrees) / 2), math.cos(math.radians(degrees) / 2)
    length = math.sqrt(sum(x * x for x in axis))
    return [x / length * s for x in axis] + [c]


def local(node):
    if "matrix" in node:
        return [[node["matrix"][4 * j + i] for j in range(4)] for i in range(4)]
    x, y, z, w = node.get("rotation", [0, 0, 0, 1])
    r = [[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
         [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
         [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]]
    s, t = node.get("scale", [1, 1, 1]), node.get("translation", [0, 0, 0])
    return [[r[i][j] * s[j] for j in range(3)] + [t[i]] for i in range(3)] + [[0, 0, 0, 1]]


def columns(m):
    return [m[i][j] for j in range(4) for i in range(4)]


# ---- a document ----

class Document:
    def __init__(self):
        self.root = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": []}], "nodes": [], "meshes": [],
                     "accessors": [], "bufferViews": []}
        self.bytes = bytearray()

    def list(self, key, value):
        self.root.setdefault(key, []).append(value)
        return len(self.root[key]) - 1

    def view(self, data, **more):
        while len(self.bytes) % 4:
            self.bytes.append(0)
        offset = len(self.bytes)
        self.bytes += data
        return self.list("bufferViews", {"buffer": 0, "byteOffset": offset, "byteLength": len(data), **more})

    def accessor(self, rows, type=FLOAT, normalized=False, bounds=False):
        """Rows of numbers, or plain numbers; normalized: floats that become integers."""
        rows = [list(r) if isinstance(r, (list, tuple)) else [r] for r in rows]
        width = len(rows[0])
        object = {"componentType": type, "count": len(rows), "type": KINDS[width]}
        if bounds:
            object["min"] = [min(r[k] for r in rows) for k in range(width)]
            object["max"] = [max(r[k] for r in rows) for k in range(width)]
            if type == FLOAT:
                for key in ("min", "max"):
                    object[key] = [struct.unpack("f", struct.pack("f", x))[0] for x in object[key]]
        if normalized:
            object["normalized"] = True
            top = {BYTE: 127, UBYTE: 255, SHORT: 32767, USHORT: 65535}[type]
            rows = [[round(x * top) for x in r] for r in rows]
        # elements of vertices start at multiples of four bytes
        size = width * struct.calcsize(FORMATS[type])
        pad = -size % 4 if width > 1 else 0
        data = b"".join(struct.pack(f"<{width}{FORMATS[type]}", *r) + bytes(pad) for r in rows)
        object["bufferView"] = self.view(data, **({"byteStride": size + pad} if pad else {}))
        return self.list("accessors", object)

    def node(self, parent=None, **object):
        index = self.list("nodes", object)
        if parent is None:
            self.root["scenes"][0]["nodes"].append(index)
        else:
            self.root["nodes"][parent].setdefault("children", []).append(index)
        return index

    def world(self, index):
        m = local(self.root["nodes"][index])
        for i, other in enumerate(self.root["nodes"]):
            if index in other.get("children", []):
                return multiply(self.world(i), m)
        return m

    def skin(self, joints, placed=None, **more):
        """Bound as the joints stand; placed: the matrix that takes the mesh to the scene then."""
        rows = []
        for j in joints:
            m = invert(self.world(j))
            rows.append(columns(multiply(m, placed) if placed else m))
        return self.list("skins", {"joints": joints, "inverseBindMatrices": self.accessor(rows), **more})

    def clip(self, channels, name="move"):
        """channels: (node, path, times, values[, interpolation])"""
        animation = {"name": name, "samplers": [], "channels": []}
        for node, path, times, values, *rest in channels:
            given = values if isinstance(values, int) else self.accessor(values)
            animation["samplers"].append({"input": self.accessor(times, bounds=True), "output": given,
                                          "interpolation": rest[0] if rest else "LINEAR"})
            animation["channels"].append({"sampler": len(animation["samplers"]) - 1, "target": {"node": node, "path": path}})
        return self.list("animations", animation)

    def save(self, path):
        while len(self.bytes) % 4:
            self.bytes.append(0)
        root = {k: v for k, v in self.root.items() if v != []}
        root.setdefault("buffers", [{"byteLength": len(self.bytes)}])
        if path.endswith(".gltf"):
            if "uri" not in root["buffers"][0]:
                root["buffers"][0]["uri"] = "data:application/octet-stream;base64," + base64.b64encode(self.bytes).decode()
            with open(path, "w") as file:
                json.dump(root, file)
            return
        text = json.dumps(root).encode()
        text += b" " * (-len(text) % 4)
        with open(path, "wb") as file:
            file.write(struct.pack("<III", 0x46546C67, 2, 28 + len(text) + len(self.bytes)))
            file.write(struct.pack("<II", len(text), 0x4E4F534A) + text)
            file.write(struct.pack("<II", len(self.bytes), 0x004E4942) + self.bytes)


# ---- the tube ----

SIDES = 8


def tube(rings=9, radius=0.2, height=2.0):
    """Positions, triangles."""
    points, faces = [], []
    for r in range(rings):
        for s in range(SIDES):
            a = 2 * math.pi * s / SIDES
            points.append([radius * math.cos(a), height * r / (rings - 1), radius * math.sin(a)])
    for r in range(rings - 1):
        for s in range(SIDES):
            a, b = r * SIDES + s, r * SIDES + (s + 1) % SIDES
            faces += [a, a + SIDES, b, b, a + SIDES, b + SIDES]
    low, high = len(points), len(points) + 1
    points += [[0, 0, 0], [0, height, 0]]
    for s in range(SIDES):
        t = (s + 1) % SIDES
        faces += [low, s, t, high, (rings - 1) * SIDES + t, (rings - 1) * SIDES + s]
    return points, faces


def weights_for(points, joints, height=2.0, sum=1.0):
    """Two joints a vertex, linear along y."""
    names, shares = [], []
    for p in points:
        place = min(max(p[1] / height * joints - 0.5, 0), joints - 1)
        low = min(int(place), joints - 2)
        share = place - low
        names.append([low, low + 1, 0, 0])
        shares.append([(1 - share) * sum, share * sum, 0, 0])
    return names, shares


def moved(points, matrix):
    return [[sum(matrix[i][k] * p[k] for k in range(3)) + matrix[i][3] for i in range(3)] for p in points]


def chain(d, count=3, parent=None, height=2.0, name="bone", **first):
    joints = []
    for j in range(count):
        joints.append(d.node(joints[-1] if joints else parent, name=f"{name}_{j}",
                             **(first if j == 0 else {"translation": [0, height / count, 0]})))
    return joints


def mesh(d, points, faces, names, shares, index_type=USHORT, joint_type=UBYTE, weight_type=FLOAT, **more):
    attributes = {"POSITION": d.accessor(points, bounds=True)}
    if names:
        attributes["JOINTS_0"] = d.accessor(names, joint_type)
        attributes["WEIGHTS_0"] = d.accessor(shares, weight_type, normalized=weight_type != FLOAT)
    primitive = {"attributes": attributes, **more}
    if faces:
        primitive["indices"] = d.accessor(faces, index_type)
    return d.list("meshes", {"primitives": [primitive]})


def bend(joints, degrees=50, axis=(0, 0, 1), times=(0, 0.5, 1), amount=(0, 1, -0.4)):
    return [(j, "rotation", list(times), [turn(axis, degrees * a) for a in amount]) for j in joints[1:]]


def character(d, count=3, parent=None, bound=None, sum=1.0, placed=None, mesh_options={}, **first):
    """A skinned tube on a chain. bound: the points as they are stored."""
    joints = chain(d, count, parent, **first)
    points, faces = tube()
    names, shares = weights_for(points, count, sum=sum)
    m = mesh(d, bound(points) if bound else points, faces, names, shares, **mesh_options)
    d.node(name="body", mesh=m, skin=d.skin(joints, placed))
    return joints


# ---- the files ----

FILES = []


def file(tolerance=1e-5, ending="glb", clip="move"):
    def add(make):
        FILES.append((make.__name__, ending, clip, tolerance, make))
        return make
    return add


@file()
def plain(d):
    d.clip(bend(character(d)))


@file()
def weights_077(d):
    d.clip(bend(character(d, sum=0.77)))


@file()
def weights_175(d):
    d.clip(bend(character(d, sum=1.75)))


@file(2e-3)  # three.js keeps the sum of a byte's weights, cutis makes it 1
def weights_bytes(d):
    d.clip(bend(character(d, mesh_options={"weight_type": UBYTE})))


@file(1e-4)
def weights_shorts(d):
    d.clip(bend(character(d, mesh_options={"weight_type": USHORT, "joint_type": USHORT})))


def under(d, **node):
    """The skeleton below a node, the mesh stored in the space of that node."""
    top = d.node(name="Armature", **node)
    d.clip(bend(character(d, parent=top, placed=d.world(top))))


@file()
def scale_hundredth(d):
    under(d, scale=[0.01, 0.01, 0.01])


@file()
def scale_hundred(d):
    under(d, scale=[100, 100, 100])


@file()
def scale_negative(d):
    under(d, scale=[-1, 1, 1])


@file()
def scale_negative_all(d):
    under(d, scale=[-1, -1, -1], rotation=turn((1, 2, 3), 40))


@file()
def scale_uneven(d):
    under(d, scale=[0.5, 2, 1.2])


@file()
def scale_uneven_turned(d):
    """Sketchfab: a matrix of a scale and a turn above, joints turned below: their worlds hold shear."""
    top = d.node(name="Sketchfab_model", scale=[1, 2, 0.7])
    joints = character(d, parent=top, placed=d.world(top), rotation=turn((1, 0, 1), 35))
    d.clip(bend(joints))


@file()
def joint_scale_animated(d):
    joints = character(d)
    d.clip(bend(joints) + [(joints[1], "scale", [0, 0.5, 1], [[1, 1, 1], [1.5, 0.6, 1.2], [0.8, 1.1, 2]])])


@file()
def joint_mirrored_in_bind(d):
    joints = chain(d)
    d.root["nodes"][joints[1]]["scale"] = [1, 1, -1]
    points, faces = tube()
    names, shares = weights_for(points, 3)
    d.node(name="body", mesh=mesh(d, points, faces, names, shares), skin=d.skin(joints))
    d.clip(bend(joints))


@file()
def mixamo(d):
    """Centimetres below a node of a hundredth and a quarter turn; bound in centimetres, z up."""
    top = d.node(name="Armature", scale=[0.01, 0.01, 0.01], rotation=turn((1, 0, 0), 90))
    joints = [d.node(top, name="mixamorig:Hips", rotation=turn((1, 0, 0), -90))]
    for j in range(1, 3):
        joints.append(d.node(joints[-1], name=f"mixamorig:Spine{j}", translation=[0, 200 / 3, 0]))
    points, faces = tube()
    names, shares = weights_for(points, 3)
    stored = moved(points, invert(d.world(top)))
    d.node(name="body", mesh=mesh(d, stored, faces, names, shares), skin=d.skin(joints, d.world(top)))
    d.clip(bend(joints) + [(joints[0], "translation", [0, 1], [[0, 0, 0], [10, 5, -30]])])


@file()
def joints_shared(d):
    """Body and cloth on the same joints, bound apart, the cloth in another space."""
    joints = character(d)
    points, faces = tube(radius=0.25)
    names, shares = weights_for(points, 3)
    space = local({"translation": [3, 1, -2], "rotation": turn((1, 1, 0), 70), "scale": [0.1, 0.1, 0.1]})
    m = mesh(d, moved(points, invert(space)), faces, names, shares)
    d.node(name="cloth", mesh=m, skin=d.skin(list(reversed(joints))[::-1][:3], space))
    d.clip(bend(joints))


@file()
def joints_shared_in_part(d):
    """The second skin holds some of the joints in another order, and one of its own."""
    joints = character(d)
    extra = d.node(joints[2], name="extra", translation=[0, 0.3, 0])
    points, faces = tube(radius=0.25)
    names, shares = weights_for(points, 3)
    d.node(name="cloth", mesh=mesh(d, points, faces, names, shares), skin=d.skin([joints[2], extra, joints[1]]))
    d.clip(bend(joints + [extra]))


@file()
def skins_84(d):
    """A skeleton whose bones carry skinned meshes, whose skeletons carry others ... (RecursiveSkeletons)."""
    points, faces = tube(rings=4, height=2)
    names, shares = weights_for(points, 2)
    shared = mesh(d, points, faces, names, shares)
    channels, parents = [], [None]
    for s in range(84):
        parent = parents[(s + 2) // 3] if s else None
        joints = chain(d, 2, parent, name=f"s{s}", translation=[0.7 * (s % 3), 1, 0.4], scale=[0.8, 0.8, 0.8],
                       rotation=turn((s % 2, 1, s % 5), 20 * s))
        bind = [local({"translation": [0, 0, 0]}), local({"translation": [0, -1, 0]})]
        skin = d.list("skins", {"joints": joints, "inverseBindMatrices": d.accessor([columns(b) for b in bind])})
        d.node(joints[0], name=f"mesh{s}", mesh=shared, skin=skin)
        channels += bend(joints, 20 + s % 7 * 5)
        parents.append(joints[1])
    d.clip(channels)


@file()
def node_above_animated(d):
    top = d.node(name="root", translation=[0, 0.3, 0])
    joints = character(d, parent=top)
    d.clip(bend(joints) + [(top, "translation", [0, 1], [[0, 0.3, 0], [4, 0, 1]]),
                           (top, "rotation", [0, 0.5, 1], [turn((0, 1, 0), a) for a in (0, 90, 170)]),
                           (top, "scale", [0, 1], [[1, 1, 1], [2, 2, 2]])])


@file()
def cubic(d):
    joints = character(d)
    rotations, moves, sizes = [], [], []
    for a in (0, 1, -0.5):
        rotations += [[0.1, 0, 0.5, 0], turn((0, 0.3, 1), 60 * a), [0, 0.2, 1, 0.1]]
        moves += [[0, 1, 0], [0.2 * a, 2 / 3, 0], [0.5, 0, 1]]
        sizes += [[0, 0, 0.4], [1, 1 + 0.3 * a, 1], [0.5, 0, 0]]
    times = [0, 0.4, 1]
    d.clip([(joints[1], "rotation", times, rotations, "CUBICSPLINE"), (joints[2], "translation", times, moves, "CUBICSPLINE"),
            (joints[0], "scale", times, sizes, "CUBICSPLINE")])


@file()
def steps(d):
    joints = character(d)
    d.clip([(j, "rotation", [0, 0.3, 0.61], [turn((0, 0, 1), a) for a in (0, 40, -30)], "STEP") for j in joints[1:]])


@file(1e-3)  # three.js leaves the length of a byte's quaternion, cutis makes it 1
def rotations_of_shorts(d):
    joints = character(d)
    values = [turn((0, 0, 1), a) for a in (0, 50, -20)]
    d.clip([(joints[1], "rotation", [0, 0.5, 1], d.accessor(values, SHORT, normalized=True)),
            (joints[2], "rotation", [0, 0.5, 1], d.accessor(values, BYTE, normalized=True))])


@file(1e-4)  # a chain of 161 matrices in floats
def joints_161(d):
    """161 joints, eight influences a vertex."""
    joints = chain(d, 161)
    points, faces = tube(rings=30)
    names, shares = [[], []], [[], []]
    for v, p in enumerate(points):
        first = min(max(int(p[1] / 2 * 161) - 4, 0), 153)
        raw = [1 + (v * 7 + i * 3) % 5 for i in range(8)]
        for s in range(2):
            names[s].append([first + 4 * s + i for i in range(4)])
            shares[s].append([raw[4 * s + i] / sum(raw) for i in range(4)])
    attributes = {"POSITION": d.accessor(points, bounds=True)}
    for s in range(2):
        attributes[f"JOINTS_{s}"] = d.accessor(names[s], USHORT)
        attributes[f"WEIGHTS_{s}"] = d.accessor(shares[s])
    m = d.list("meshes", {"primitives": [{"attributes": attributes, "indices": d.accessor(faces, USHORT)}]})
    d.node(name="body", mesh=m, skin=d.skin(joints))
    d.clip(bend(joints, 2))


@file()
def morphs_and_skin(d):
    joints = chain(d)
    points, faces = tube()
    names, shares = weights_for(points, 3)
    wide = [[p[0], 0, p[2]] for p in points]
    tall = [[0, 0.5 * p[1] ** 2, 0] for p in points]
    targets = [{"POSITION": d.accessor(wide, bounds=True)}, {"POSITION": d.accessor(tall, bounds=True)}]
    m = mesh(d, points, faces, names, shares, targets=targets)
    d.root["meshes"][m]["weights"] = [0.25, 0]
    node = d.node(name="body", mesh=m, skin=d.skin(joints), weights=[0.25, 0.1])
    d.clip(bend(joints) + [(node, "weights", [0, 0.6, 1], [0.25, 0.1, 1, 0, -0.3, 0.7])])


@file()
def attached_meshes(d):
    """Meshes without a skin: below a joint, below an animated node, and still ones."""
    joints = character(d)
    points, faces = tube(rings=3, radius=0.1, height=0.6)
    ball = mesh(d, points, faces, None, None)
    d.node(joints[2], name="sword", mesh=ball, translation=[0.3, 0, 0], rotation=turn((1, 0, 0), 80), scale=[1, -2, 0.5])
    lamp = d.node(name="lamp", translation=[2, 0, 0])
    d.node(lamp, name="bulb", mesh=ball, scale=[0.2, 3, 1])
    d.node(name="floor", mesh=ball, matrix=columns(local({"translation": [-2, 0, 0], "scale": [1, 1, 4]})))
    d.clip(bend(joints) + [(lamp, "rotation", [0, 1], [turn((0, 0, 1), a) for a in (0, 80)])])


@file()
def one_mesh_two_skins(d):
    left, right = chain(d, name="l", translation=[-1, 0, 0]), chain(d, name="r", translation=[1, 0, 0], scale=[1, 1.5, 1])
    points, faces = tube()
    names, shares = weights_for(points, 3)
    m = mesh(d, points, faces, names, shares)
    d.node(name="left", mesh=m, skin=d.skin(left, local({"translation": [-1, 0, 0]})))
    d.node(name="right", mesh=m, skin=d.skin(right, d.world(right[0])))
    d.clip(bend(left) + bend(right, -40, (1, 0, 0)))


@file()
def sparse_positions(d):
    joints = chain(d)
    points, faces = tube()
    names, shares = weights_for(points, 3)
    m = mesh(d, points, faces, names, shares)
    accessor = d.root["accessors"][d.root["meshes"][m]["primitives"][0]["attributes"]["POSITION"]]
    at = list(range(5, 40, 3))
    values = b"".join(struct.pack("<3f", points[i][0] * 1.7, points[i][1], points[i][2]) for i in at)
    accessor["sparse"] = {"count": len(at), "values": {"bufferView": d.view(values)}, "indices": {
        "bufferView": d.view(struct.pack(f"<{len(at)}H", *at)), "componentType": USHORT}}
    accessor.pop("min"), accessor.pop("max")
    d.node(name="body", mesh=m, skin=d.skin(joints))
    d.clip(bend(joints))


@file()
def interleaved(d):
    joints = chain(d)
    points, faces = tube()
    names, shares = weights_for(points, 3)
    rows = b"".join(struct.pack("<3f3f4H4f2f", *p, 0, 1, 0, *n, *s, 0.5, 0.25) for p, n, s in zip(points, names, shares))
    view = d.view(rows, byteStride=56)
    def part(offset, type, kind):
        return d.list("accessors", {"bufferView": view, "byteOffset": offset, "componentType": type, "type": kind,
                                    "count": len(points)})
    attributes = {"POSITION": part(0, FLOAT, "VEC3"), "NORMAL": part(12, FLOAT, "VEC3"), "JOINTS_0": part(24, USHORT, "VEC4"),
                  "WEIGHTS_0": part(32, FLOAT, "VEC4"), "TEXCOORD_0": part(48, FLOAT, "VEC2")}
    m = d.list("meshes", {"primitives": [{"attributes": attributes, "indices": d.accessor(faces, UINT)}]})
    d.node(name="body", mesh=m, skin=d.skin(joints))
    d.clip(bend(joints))


@file()
def quantized(d):
    """KHR_mesh_quantization: positions as shorts, the way back in the inverse bind matrices."""
    joints = chain(d)
    points, faces = tube()
    names, shares = weights_for(points, 3)
    grid = [[round(x / 2 * 32767) for x in p] for p in points]
    m = mesh(d, points, faces, names, shares)
    attributes = d.root["meshes"][m]["primitives"][0]["attributes"]
    attributes["POSITION"] = d.accessor(grid, SHORT, bounds=True)
    step = 2 / 32767
    d.node(name="body", mesh=m, skin=d.skin(joints, local({"scale": [step, step, step]})))
    d.root["extensionsUsed"] = d.root["extensionsRequired"] = ["KHR_mesh_quantization"]
    d.clip(bend(joints))


@file()
def scenes(d):
    """The second of three scenes is the active one; the others hold meshes too."""
    joints = character(d)
    points, faces = tube()
    other = d.list("nodes", {"name": "other", "mesh": mesh(d, points, faces, None, None), "translation": [50, 0, 0]})
    d.root["scenes"] = [{"nodes": [other]}, d.root["scenes"][0], {}]
    d.root["scene"] = 1
    d.clip(bend(joints))


@file(ending="gltf")
def data_uri(d):
    d.clip(bend(character(d)))


@file(ending="gltf")
def buffer_beside(d):
    d.clip(bend(character(d)))
    while len(d.bytes) % 4:
        d.bytes.append(0)
    d.root["buffers"] = [{"byteLength": len(d.bytes), "uri": "some%20buffer.bin"}]
    d.beside = "some buffer.bin"


def indices(d, type=USHORT, count=9):
    joints = chain(d)
    points, faces = tube(count)
    names, shares = weights_for(points, 3)
    d.node(name="body", mesh=mesh(d, points, faces, names, shares, index_type=type), skin=d.skin(joints))
    d.clip(bend(joints))


@file()
def indices_bytes(d):
    indices(d, UBYTE)


@file()
def indices_long(d):
    indices(d, UINT)


@file()
def no_indices(d):
    joints = chain(d)
    points, faces = tube()
    points = [points[i] for i in faces]
    names, shares = weights_for(points, 3)
    d.node(name="body", mesh=mesh(d, points, None, names, shares), skin=d.skin(joints))
    d.clip(bend(joints))


@file()
def strips_and_fans(d):
    joints = chain(d)
    points, _ = tube()
    names, shares = weights_for(points, 3)
    strip = []
    for r in range(8):
        ring = [x for s in range(SIDES + 1) for x in (r * SIDES + s % SIDES, (r + 1) * SIDES + s % SIDES)]
        strip += ([strip[-1], ring[0]] if strip else []) + ring
    skin = d.skin(joints)
    d.node(name="side", mesh=mesh(d, points, strip, names, shares, mode=5), skin=skin)
    d.node(name="bottom", mesh=mesh(d, points, [72] + [s % SIDES for s in range(SIDES + 1)], names, shares, mode=6), skin=skin)
    d.clip(bend(joints))


@file()
def other_primitives(d):
    """Points and lines beside the triangles, in the same mesh and in one of their own."""
    joints = character(d)
    body = d.root["meshes"][d.root["nodes"][-1]["mesh"]]["primitives"]
    for mode in range(4):
        body.append({"attributes": dict(body[0]["attributes"]), "mode": mode})
    d.node(name="dots", mesh=d.list("meshes", {"primitives": [{"attributes": {"POSITION": d.accessor([[9, 9, 9]] * 3)}, "mode": 0}]}))
    d.clip(bend(joints))


@file()
def no_inverse_binds(d):
    """Without inverse bind matrices a joint at the origin carries what is stored."""
    points, faces = tube()
    names, shares = weights_for(points, 2)
    joints = [d.node(name="a"), None]
    joints[1] = d.node(joints[0], name="b")
    d.node(name="body", mesh=mesh(d, points, faces, names, shares), skin=d.list("skins", {"joints": joints}))
    d.clip(bend(joints))


@file()
def mesh_below_joint(d):
    """A skinned mesh below its own joint and below a scaled node: glTF leaves its node's place out."""
    joints = chain(d, translation=[0.4, 0, 0])
    points, faces = tube()
    names, shares = weights_for(points, 3)
    m = mesh(d, points, faces, names, shares)
    d.node(joints[1], name="body", mesh=m, skin=d.skin(joints), translation=[7, 0, 0], scale=[3, 3, 3])
    d.clip(bend(joints))


@file()
def pose_is_not_bind(d):
    """The nodes stand otherwise than when they were bound (arms down, T in the bind pose)."""
    joints = character(d)
    d.root["nodes"][joints[1]]["rotation"] = turn((0, 0, 1), 70)
    d.root["nodes"][joints[2]]["scale"] = [1.2, 0.9, 1]
    d.clip([(joints[2], "rotation", [0, 1], [turn((1, 0, 0), a) for a in (0, 60)])])


@file()
def late_clip(d):
    """Keys from 1.5 s on, another length for each joint, one with a single key."""
    joints = character(d)
    d.clip([(joints[1], "rotation", [1.5, 2, 2.5], [turn((0, 0, 1), a) for a in (0, 40, 10)]),
            (joints[2], "rotation", [1.75, 2.25], [turn((1, 0, 0), a) for a in (10, 50)]),
            (joints[0], "translation", [2], [[0.3, 0, 0]])])


@file()
def two_clips(d):
    joints = character(d)
    d.clip(bend(joints, 20), "rest")
    d.clip(bend(joints, -70, (1, 0, 0)))


@file()
def no_names(d):
    joints = character(d)
    d.clip(bend(joints))
    for node in d.root["nodes"]:
        node.pop("name", None)


@file()
def same_names(d):
    left = character(d)
    right = chain(d, translation=[1.5, 0, 0])
    points, faces = tube()
    names, shares = weights_for(points, 3)
    place = local({"translation": [1.5, 0, 0]})
    d.node(name="body", mesh=mesh(d, moved(points, place), faces, names, shares), skin=d.skin(right))
    d.clip(bend(left) + bend(right, -40))


@file()
def required_extensions(d):
    """Extensions that are required and change neither shape nor motion, and one that nothing in the file uses."""
    joints = character(d)
    d.root["materials"] = [{"extensions": {"KHR_materials_unlit": {}, "KHR_materials_specular": {}}}]
    d.root["meshes"][0]["primitives"][0]["material"] = 0
    d.root["extensionsUsed"] = ["KHR_materials_unlit", "KHR_materials_specular", "KHR_texture_transform", "KHR_texture_basisu",
                                "EXT_texture_webp", "ACME_never_used"]
    d.root["extensionsRequired"] = ["KHR_materials_unlit", "KHR_texture_transform", "ACME_never_used"]
    d.clip(bend(joints))


@file()
def skeleton_outside(d):
    """Joints that no scene lists, a skin.skeleton that is not their root, a camera and a light between them."""
    joints = chain(d)
    d.root["scenes"][0]["nodes"].clear()
    points, faces = tube()
    names, shares = weights_for(points, 3)
    holder = d.node(name="holder", translation=[0, 0, 1], children=[joints[0]])
    body = d.node(name="body", mesh=mesh(d, points, faces, names, shares), skin=d.skin(joints, skeleton=joints[1]))
    d.root["cameras"] = [{"type": "perspective", "perspective": {"yfov": 1, "znear": 0.1}}]
    d.node(joints[1], name="camera", camera=0)
    d.root["nodes"][body]["translation"] = [5, 5, 5]
    assert holder >= 0
    d.clip(bend(joints))


@file()
def tangents_and_colours(d):
    """Attributes that cutis does not need: colours of bytes, tangents, second texture coordinates, ids, targets of normals."""
    joints = character(d)
    attributes = d.root["meshes"][0]["primitives"][0]["attributes"]
    count = len(tube()[0])
    attributes["COLOR_0"] = d.accessor([[1, 0.5, 0, 1]] * count, UBYTE, normalized=True)
    attributes["TANGENT"] = d.accessor([[1, 0, 0, 1]] * count)
    attributes["TEXCOORD_0"] = d.accessor([[0.5, 0.5]] * count, USHORT, normalized=True)
    attributes["TEXCOORD_1"] = d.accessor([[0, 0]] * count)
    attributes["_FEATURE_ID_0"] = d.accessor([0] * count)
    d.clip(bend(joints))


@file()
def texcoords_nan(d):
    """Texture coordinates that are no numbers, as unwrapping degenerate faces leaves them."""
    joints = character(d)
    d.root["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_0"] = d.accessor([[float("nan"), 0.5]] * len(tube()[0]))
    d.clip(bend(joints))


@file()
def joints_of_floats(d):
    """JOINTS_0 as floats, which glTF does not allow and players read."""
    d.clip(bend(character(d, mesh_options={"joint_type": FLOAT})))


@file()
def tiny(d):
    top = d.node(name="root", scale=[1e-4, 1e-4, 1e-4])
    d.clip(bend(character(d, parent=top, placed=d.world(top))))


@file(1e-4)  # floats at 500 units
def far_away(d):
    top = d.node(name="root", translation=[300, 20, -500])
    d.clip(bend(character(d, parent=top, placed=d.world(top))))


def main():
    folder = sys.argv[1]
    with open(os.path.join(folder, "list.txt"), "w") as out:
        for name, ending, clip, tolerance, make in FILES:
            d = Document()
            make(d)
            d.save(os.path.join(folder, f"{name}.{ending}"))
            if hasattr(d, "beside"):
                with open(os.path.join(folder, d.beside), "wb") as file:
                    file.write(d.bytes)
            print(f"{name}.{ending}", clip, tolerance, file=out)


if __name__ == "__main__":
    main()
