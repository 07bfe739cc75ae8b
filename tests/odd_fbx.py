"""odd_fbx.py FOLDER: FBX files as exporters in the wild write them, made by code, as text, and for each NAME.json: where its
vertices are at times of its clip, in metres and y up, from the formulas of Autodesk's documentation.

odd_fbx.py --check FOLDER NAME.npy...: compare bakes of them at 10 frames a second.
"""
import json
import math
import os
import struct
import sys
import zlib

from odd_gltf import invert, multiply, tube, weights_for

SECOND = 46186158000
TIMES = [0, 0.5, 1]


# ---- transforms ----

def diagonal(x, y, z):
    return [[x, 0, 0, 0], [0, y, 0, 0], [0, 0, z, 0], [0, 0, 0, 1]]


def move(v, sign=1):
    return [[1, 0, 0, sign * v[0]], [0, 1, 0, sign * v[1]], [0, 0, 1, sign * v[2]], [0, 0, 0, 1]]


def axis_turn(axis, degrees):
    s, c = math.sin(math.radians(degrees)), math.cos(math.radians(degrees))
    i, j = [(1, 2), (2, 0), (0, 1)][axis]
    m = [[float(a == b) for b in range(4)] for a in range(4)]
    m[i][i], m[i][j], m[j][i], m[j][j] = c, -s, s, c
    return m


def euler(angles, order="XYZ"):
    m = diagonal(1, 1, 1)
    for letter in order:
        axis = "XYZ".index(letter)
        m = multiply(axis_turn(axis, angles[axis]), m)
    return m


ORDERS = ["XYZ", "XZY", "YZX", "YXZ", "ZXY", "ZYX"]


class Model:
    """A node: its properties, and curves {"Lcl Rotation": [[values of x], [of y], [of z]]} at TIMES."""

    def __init__(self, name, kind="LimbNode", parent=None, curves=None, **properties):
        self.name, self.kind, self.parent, self.curves = name, kind, parent, curves or {}
        self.p = {"T": [0, 0, 0], "R": [0, 0, 0], "S": [1, 1, 1], **properties}

    def values(self, key, time):
        label = {"T": "Lcl Translation", "R": "Lcl Rotation", "S": "Lcl Scaling"}[key]
        if label not in self.curves or time is None:
            return self.p[key]
        out = []
        for keys in self.curves[label]:
            for i in range(len(TIMES) - 1):
                if time <= TIMES[i + 1]:
                    share = (time - TIMES[i]) / (TIMES[i + 1] - TIMES[i])
                    break
            out.append(keys[i] + (keys[i + 1] - keys[i]) * share)
        return out

    def rotation(self, time):
        active = self.p.get("RotationActive", 0) and not self.p.get("RotationSpaceForLimitOnly", 0)
        r = euler(self.values("R", time), ORDERS[self.p.get("RotationOrder", 0)] if active else "XYZ")
        if active:
            r = multiply(euler(self.p.get("PreRotation", [0, 0, 0])), r)
            r = multiply(r, invert(euler(self.p.get("PostRotation", [0, 0, 0]))))
        return r

    def world(self, time=None):
        zero = [0, 0, 0]
        steps = [move(self.values("T", time)), move(self.p.get("RotationOffset", zero)), move(self.p.get("RotationPivot", zero)),
                 self.rotation(time), move(self.p.get("RotationPivot", zero), -1), move(self.p.get("ScalingOffset", zero)),
                 move(self.p.get("ScalingPivot", zero)), diagonal(*self.values("S", time)),
                 move(self.p.get("ScalingPivot", zero), -1)]
        if self.parent and self.p.get("InheritType", 1) == 2:
            s = self.parent.values("S", time)
            steps.insert(1, diagonal(*[1 / x for x in s]))
        if self.parent and self.p.get("InheritType", 1) == 0:
            scale, up = [1, 1, 1], self.parent
            while up:
                scale = [a * b for a, b in zip(scale, up.values("S", time))]
                up = up.parent
            steps.insert(1, diagonal(*[1 / x for x in scale]))
            steps.insert(-2, diagonal(*scale))
        m = self.parent.world(time) if self.parent else diagonal(1, 1, 1)
        for step in steps:
            m = multiply(m, step)
        return m

    def geometric(self):
        zero = [0, 0, 0]
        m = multiply(move(self.p.get("GeometricTranslation", zero)), euler(self.p.get("GeometricRotation", zero)))
        return multiply(m, diagonal(*self.p.get("GeometricScaling", [1, 1, 1])))


class Mesh:
    def __init__(self, model, points, faces, names=None, shares=None, bones=(), bound=None, materials=()):
        self.model, self.points, self.faces, self.names, self.shares = model, points, faces, names, shares
        self.bones, self.materials = list(bones), list(materials)
        self.placed = bound or model.world()  # of the mesh's node when it was bound
        self.links = [b.world() for b in self.bones]

    def at(self, time):
        out = []
        for v, p in enumerate(self.points):
            if not self.bones:
                m = multiply(self.model.world(time), self.model.geometric())
                out.append([sum(m[i][k] * p[k] for k in range(3)) + m[i][3] for i in range(3)])
                continue
            place = [0, 0, 0]
            for bone, weight in zip(self.names[v], self.shares[v]):
                if weight == 0:
                    continue
                m = multiply(self.bones[bone].world(time), multiply(invert(self.links[bone]), multiply(self.placed, self.model.geometric())))
                place = [place[i] + weight * (sum(m[i][k] * p[k] for k in range(3)) + m[i][3]) for i in range(3)]
            out.append(place)
        return out


# ---- files ----

class Scene:
    def __init__(self, up="Y", unit=1.0, version=7400, inherit_template=None):
        self.models, self.meshes, self.up, self.unit, self.version = [], [], up, unit, version
        self.template, self.extra_objects, self.extra_links, self.hidden = inherit_template, "", "", []

    def model(self, *arguments, **properties):
        m = Model(*arguments, **properties)
        self.models.append(m)
        return m

    def truth(self, time):
        """Metres, y up, facing z."""
        places = []
        for mesh in self.meshes:
            if mesh in self.hidden:
                continue
            for x, y, z in mesh.at(time):
                if self.up == "Z":
                    y, z = z, -y
                places.append([c * self.unit / 100 for c in (x, y, z)])
        return places

    def text(self):
        ids = {m: 1000 + i for i, m in enumerate(self.models)}
        out = ["; FBX 7.4.0 project file", "FBXHeaderExtension:  {", f"\tFBXVersion: {self.version}", "}", "GlobalSettings:  {",
               "\tProperties70:  {", f'\t\tP: "UpAxis", "int", "Integer", "",{2 if self.up == "Z" else 1}',
               '\t\tP: "UpAxisSign", "int", "Integer", "",1', f'\t\tP: "FrontAxis", "int", "Integer", "",{1 if self.up == "Z" else 2}',
               f'\t\tP: "FrontAxisSign", "int", "Integer", "",{-1 if self.up == "Z" else 1}', '\t\tP: "CoordAxis", "int", "Integer", "",0',
               '\t\tP: "CoordAxisSign", "int", "Integer", "",1', f'\t\tP: "UnitScaleFactor", "double", "Number", "",{self.unit}', "\t}", "}"]
        if self.template is not None:
            out += ["Definitions:  {", '\tObjectType: "Model" {', '\t\tPropertyTemplate: "FbxNode" {', "\t\t\tProperties70:  {",
                    f'\t\t\t\tP: "InheritType", "enum", "", "",{self.template}', "\t\t\t}", "\t\t}", "\t}", "}"]
        out.append("Objects:  {")
        links = []
        labels = {"T": "Lcl Translation", "R": "Lcl Rotation", "S": "Lcl Scaling"}
        for m, id in ids.items():
            out += [f'\tModel: {id}, "Model::{m.name}", "{m.kind}" {{', "\t\tProperties70:  {"]
            for key, value in m.p.items():
                if key == "InheritType" and self.template is not None:
                    continue
                numbers = ",".join(repr(x) for x in (value if isinstance(value, list) else [value]))
                out.append(f'\t\t\tP: "{labels.get(key, key)}", "", "", "A",{numbers}')
            out += ["\t\t}", "\t}"]
            links.append(f'"OO",{id},{ids[m.parent] if m.parent else 0}')
        for i, mesh in enumerate(self.meshes):
            g = 5000 + 100 * i
            flat = [x for p in mesh.points for x in p]
            corners = [(-1 - c if k % 3 == 2 else c) for k, c in enumerate(mesh.faces)]
            uv = [x for p in mesh.points for x in (p[0], p[1])]
            out += [f'\tGeometry: {g}, "Geometry::", "Mesh" {{', array("Vertices", flat), array("PolygonVertexIndex", corners),
                    "\t\tLayerElementUV: 0 {", '\t\t\tMappingInformationType: "ByVertice"', '\t\t\tReferenceInformationType: "Direct"',
                    array("UV", uv), "\t\t}"]
            if mesh.materials:
                out += ["\t\tLayerElementMaterial: 0 {", '\t\t\tMappingInformationType: "AllSame"', array("Materials", [0]), "\t\t}"]
            out.append("\t}")
            links.append(f'"OO",{g},{ids[mesh.model]}')
            links += [f'"OO",{material},{ids[mesh.model]}' for material in mesh.materials]
            if not mesh.bones:
                continue
            out.append(f'\tDeformer: {g + 1}, "Deformer::", "Skin" {{\n\t}}')
            links.append(f'"OO",{g + 1},{g}')
            for b, bone in enumerate(mesh.bones):
                pairs = [(v, w) for v in range(len(mesh.points)) for k, w in zip(mesh.names[v], mesh.shares[v]) if k == b and w]
                transform = multiply(invert(mesh.links[b]), mesh.placed)
                out += [f'\tDeformer: {g + 2 + b}, "SubDeformer::", "Cluster" {{']
                if pairs:
                    out += [array("Indexes", [v for v, _ in pairs]), array("Weights", [w for _, w in pairs])]
                out += [array("Transform", flatten(transform)), array("TransformLink", flatten(mesh.links[b])), "\t}"]
                links += [f'"OO",{g + 2 + b},{g + 1}', f'"OO",{ids[bone]},{g + 2 + b}']
        out += ['\tAnimationStack: 1, "AnimStack::mixamo.com", "" {\n\t}', '\tAnimationLayer: 2, "AnimLayer::BaseLayer", "" {\n\t}']
        links.append('"OO",2,1')
        next_id = 20000
        for m, id in ids.items():
            for label, curves in m.curves.items():
                node, next_id = next_id, next_id + 1
                out.append(f'\tAnimationCurveNode: {node}, "AnimCurveNode::{label[4]}", "" {{\n\t}}')
                links += [f'"OO",{node},2', f'"OP",{node},{id}, "{label}"']
                for axis, keys in zip("XYZ", curves):
                    out += [f'\tAnimationCurve: {next_id}, "AnimCurve::", "" {{', array("KeyTime", [int(t * SECOND) for t in TIMES]),
                            array("KeyValueFloat", keys), array("KeyAttrFlags", [4]), array("KeyAttrDataFloat", [0, 0, 0, 0]),
                            array("KeyAttrRefCount", [len(TIMES)]), "\t}"]
                    links.append(f'"OP",{next_id},{node}, "d|{axis}"')
                    next_id += 1
        out += [self.extra_objects + "}", "Connections:  {"] + [f"\tC: {link}" for link in links] + [self.extra_links + "}"]
        return "\n".join(out) + "\n"


def array(name, values):
    return f"\t\t{name}: *{len(values)} {{\n\t\t\ta: {','.join(repr(v) for v in values)}\n\t\t}}"


def flatten(m):
    return [m[i][j] for j in range(4) for i in range(4)]


def scaled(points, factor):
    return [[x * factor for x in p] for p in points]


def chain(s, count, parent=None, length=66.0, names="mixamorig:bone{}", axis=(0, 1, 0), **properties):
    bones = []
    for j in range(count):
        own = {"T": [length * a for a in axis] if j else [0, 0, 0], **properties}
        if j:
            own["curves"] = {"Lcl Rotation": [[own.get("R", [0, 0, 0])[k]] + [own.get("R", [0, 0, 0])[k] + a for a in turns]
                                             for k, turns in enumerate([(10, -5), (0, 30), (40, -20)])]}
        bones.append(s.model(names.format(j), parent=bones[-1] if bones else parent, **own))
    return bones


def skinned(s, model, bones, factor=100.0, up="Y", **more):
    points, faces = tube()
    names, shares = weights_for(points, len(bones))
    points = scaled(points, factor)
    if up == "Z":
        points = [[x, -z, y] for x, y, z in points]
    mesh = Mesh(model, points, faces, names, shares, bones, **more)
    s.meshes.append(mesh)
    return mesh


FILES = []


def file(make):
    FILES.append(make)
    return make


@file
def mixamo():
    """Centimetres, y up, joint orientations in the pre-rotation."""
    s = Scene()
    bones = chain(s, 3, RotationActive=1, PreRotation=[5, 20, -10], InheritType=1)
    skinned(s, s.model("Beta_Surface", "Mesh"), bones)
    return s


@file
def blender():
    """Metres written as centimetres: objects turned and a hundred times as large, bones below them small."""
    s = Scene()
    armature = s.model("Armature", "Null", None, None, R=[-90, 0, 0], S=[100, 100, 100], InheritType=1)
    bones = chain(s, 3, armature, 0.66, "Bone.{}", axis=(0, 0, 1), InheritType=1)
    skinned(s, s.model("Body", "Mesh", None, None, R=[-90, 0, 0], S=[100, 100, 100], InheritType=1), bones, 1.0, "Z")
    return s


@file
def max_biped():
    """Z up, inches, a mesh with geometric transforms, moved apart from its bones."""
    s = Scene(up="Z", unit=2.54)
    bones = chain(s, 3, None, 66, "Bip01 Spine{}", axis=(0, 0, 1), R=[3, 4, 5], InheritType=1)
    body = s.model("Body", "Mesh", None, None, T=[4, 5, -6], R=[10, 20, 30], S=[1.1, 0.9, 1.3], GeometricTranslation=[1, 2, 3],
                   GeometricRotation=[0, 0, 90], GeometricScaling=[1, 2, 1], InheritType=1)
    skinned(s, body, bones, 100, "Z")
    return s


@file
def maya():
    """Joint orientations, rotation orders, pivots, segment scale compensation."""
    s = Scene()
    bones = chain(s, 3, RotationActive=1, PreRotation=[0, 0, 15], RotationOrder=4, PostRotation=[0, 10, 0], RotationPivot=[1, 2, 3],
                  RotationOffset=[0, 1, 0], ScalingPivot=[2, 0, 1], ScalingOffset=[0, 0, 2], S=[1.1, 1.1, 1.1], InheritType=2)
    bones[1].curves["Lcl Scaling"] = [[1.1, 1.5, 1]] * 3
    skinned(s, s.model("body", "Mesh"), bones)
    return s


@file
def maya_squash():
    """Squash and stretch with segment scale compensation: each bone undoes its parent's uneven scale."""
    s = Scene()
    bones = chain(s, 3, RotationActive=1, PreRotation=[0, 0, 15], InheritType=2, S=[1, 1.3, 0.8])
    for i, bone in enumerate(bones):
        bone.curves["Lcl Scaling"] = [[1, 0.7, 1.2], [1.3, 1.6 - 0.2 * i, 1], [0.8, 1, 0.6]]
    skinned(s, s.model("body", "Mesh"), bones)
    return s


@file
def uneven_behind_rotation():
    """The same under InheritType 0, turned about all axes."""
    s = Scene(inherit_template=0)
    bones = chain(s, 3, R=[10, 20, 30], S=[1.2, 0.9, 1], InheritType=0)
    skinned(s, s.model("body", "Mesh", InheritType=0), bones)
    return s


@file
def even_scales_default():
    """No InheritType anywhere: the template's 0, which even scales do not show."""
    s = Scene(inherit_template=0)
    bones = chain(s, 3, S=[1.2, 1.2, 1.2], InheritType=0)
    skinned(s, s.model("body", "Mesh", InheritType=0), bones)
    return s


@file
def scale_behind_rotation():
    """InheritType 0 by the template, uneven scales about one axis of rotation, so that no shear comes in."""
    s = Scene(inherit_template=0)
    bones = []
    for j in range(3):
        bones.append(s.model(f"b{j}", "LimbNode", bones[-1] if bones else None, {"Lcl Scaling": [[1, 1.3, 0.8], [1, 0.7, 1.2], [1, 1.3, 0.8]]},
                             T=[0, 66 if j else 0, 0], R=[0, 25 * j, 0], InheritType=0))
    skinned(s, s.model("body", "Mesh", InheritType=0), bones)
    return s


@file
def pose_is_not_bind():
    """The nodes stand otherwise than when they were bound."""
    s = Scene()
    bones = chain(s, 3, InheritType=1)
    skinned(s, s.model("body", "Mesh"), bones)
    bones[1].p["R"] = [0, 0, 60]
    bones[1].curves = {}
    bones[0].p["T"] = [10, 20, 30]
    return s


@file
def bound_elsewhere():
    """The mesh's node was moved after it was bound; its skin does not follow it."""
    s = Scene()
    bones = chain(s, 3, InheritType=1)
    body = s.model("body", "Mesh", None, None, T=[500, 0, 0], R=[0, 90, 0])
    skinned(s, body, bones, bound=diagonal(1, 1, 1))
    return s


@file
def body_and_cloth():
    """Two skins on the same bones, bound in two spaces, a sword below a bone, mirrored, and a prop that stands still."""
    s = Scene()
    bones = chain(s, 3, InheritType=1)
    skinned(s, s.model("body", "Mesh"), bones)
    skinned(s, s.model("cloth", "Mesh", None, None, T=[0, 10, 0], S=[2, 1, 2], InheritType=1), bones)
    points, faces = tube(rings=3, height=0.5)
    stand = s.model("stand", "Mesh", None, None, T=[-100, 0, 0], InheritType=1)
    s.meshes.append(Mesh(stand, scaled(points, 100), faces))
    sword = s.model("sword", "Mesh", bones[2], None, T=[20, 0, 0], R=[0, 0, 90], S=[-1, 1, 1], InheritType=1)
    s.meshes.append(Mesh(sword, scaled(points, 100), faces))
    return s


@file
def hidden_and_levels():
    """A hidden mesh, and three levels of detail of which the first counts."""
    s = Scene()
    bones = chain(s, 3, InheritType=1)
    group = s.model("levels", "LodGroup", None, None)
    for level in range(3):
        mesh = skinned(s, s.model(f"body_LOD{level}", "Mesh", group, None), bones, 100 - level)
        if level:
            s.hidden.append(mesh)
    s.hidden.append(skinned(s, s.model("control", "Mesh", None, None, Visibility=0), bones, 300))
    return s


PNG = b"\x89PNG\r\n\x1a\n" + b"".join(
    struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in (
        (b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(b"\0\x20\x60\xa0")), (b"IEND", b"")))


@file
def textures():
    """One image in the file, one beside it under a path of another machine, one that is gone, one colour."""
    import base64
    s = Scene()
    bones = chain(s, 3, InheritType=1)
    for i in range(4):
        skinned(s, s.model(f"body{i}", "Mesh"), bones, 100 + i, materials=[300 + i])
        color = '\t\tProperties70:  {\n\t\t\tP: "DiffuseColor", "Color", "", "A",0.25,0.5,0.75\n\t\t}\n'
        s.extra_objects += f'\tMaterial: {300 + i}, "Material::m{i}", "" {{\n{color}\t}}\n'
    content = base64.b64encode(PNG).decode()
    paths = ["inside.png", "..\\\\elsewhere\\\\beside.png", "C:\\\\gone\\\\gone.tga"]
    for i in range(3):
        path = paths[i].replace("\\\\", "\\")
        s.extra_objects += f'\tTexture: {310 + i}, "Texture::t", "" {{\n\t\tFileName: "C:\\x\\{path}"\n\t\tRelativeFilename: "{path}"\n\t}}\n'
        s.extra_links += f'\tC: "OP",{310 + i},{300 + i}, "DiffuseColor"\n'
    s.extra_objects += f'\tVideo: 320, "Video::v", "Clip" {{\n\t\tContent: , "{content[:40]}", "{content[40:]}"\n\t}}\n'.replace(": ,", ":")
    s.extra_links += '\tC: "OO",320,310\n\tC: "OP",310,300, "TransparentColor"\n'
    return s


def check(folder, files):
    from read_npy import read_npy
    failures = 0
    for path in files:
        name = os.path.basename(path).removesuffix(".npy")
        with open(os.path.join(folder, name + ".json")) as given:
            truth = json.load(given)
        (frames, vertices, _), values = read_npy(path)
        worst, low, high = 0, [1e30] * 3, [-1e30] * 3
        if vertices != len(truth[0]):
            print(f"DIFFERS {name}: {vertices} vertices instead of {len(truth[0])}")
            failures += 1
            continue
        for f, places in enumerate(truth):
            for v, place in enumerate(places):
                for k in range(3):
                    worst = max(worst, abs(place[k] - values[(f * vertices + v) * 3 + k]))
                    low[k], high[k] = min(low[k], place[k]), max(high[k], place[k])
        worst /= math.dist(low, high)
        print(f"{'same' if worst < 1e-4 else 'DIFFERS'} {name}: {frames} frames, off by at most {worst:.1e} of the size")
        failures += not worst < 1e-4
    return failures


def main():
    if sys.argv[1] == "--check":
        sys.exit(1 if check(sys.argv[2], sys.argv[3:]) else 0)
    folder = sys.argv[1]
    for make in FILES:
        s = make()
        with open(os.path.join(folder, make.__name__ + ".fbx"), "w") as out:
            out.write(s.text())
        with open(os.path.join(folder, make.__name__ + ".json"), "w") as out:
            json.dump([s.truth(i / 10) for i in range(11)], out)
    with open(os.path.join(folder, "beside.png"), "wb") as out:
        out.write(PNG)


if __name__ == "__main__":
    main()
