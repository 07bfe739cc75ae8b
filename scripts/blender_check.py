"""blender -b --factory-startup -noaudio -P scripts/blender_check.py -- BAKED.glb CACHE.pc2 POSITIONS.npy CLIP FPS TOLERANCE

What Blender shows of a baked .glb, and of the same bake's .pc2 through the Mesh Cache modifier, against its positions.
Vertices are compared as Blender's importer leaves them, which joins those that differ in normals or texture only; each
is looked for by its rest position.
"""
import sys

import bpy
import numpy

numpy.bool = bool  # Blender 3.4's importer was written for an older numpy
glb, pc2, npy, clip, fps, tolerance = sys.argv[sys.argv.index("--") + 1:]
fps, tolerance = float(fps), float(tolerance)
expected = numpy.load(npy).astype(float)

bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.render.fps = round(fps)
bpy.ops.import_scene.gltf(filepath=glb, merge_vertices=False)
bodies = [thing for thing in scene.objects if thing.type == "MESH" and thing.vertex_groups]
assert len(bodies) == 1, [thing.name for thing in scene.objects]
body = bodies[0]
rest = numpy.array([vertex.co for vertex in body.data.vertices])
assert len(rest) == expected.shape[1], (len(rest), expected.shape)
size = numpy.linalg.norm(rest.max(0) - rest.min(0))


def choose(thing):
    """Let an object, and its shape keys, play the clip from frame 0."""
    for holder in (thing, getattr(thing.data, "shape_keys", None)):
        if holder is None or not holder.animation_data:
            continue
        data = holder.animation_data
        action = None
        for track in data.nla_tracks:
            if track.name == clip:
                action = track.strips[0].action
            track.mute = True
        data.action = action


for thing in scene.objects:
    choose(thing)


def shown(thing, frame):
    scene.frame_set(frame)
    real = thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = numpy.array(real.matrix_world)
    at = numpy.array([vertex.co for vertex in real.data.vertices])
    at = at @ matrix[:3, :3].T + matrix[:3, 3]
    return numpy.stack([at[:, 0], at[:, 2], -at[:, 1]], 1)  # Blender's up is Z


frames = sorted({0, expected.shape[0] // 3, expected.shape[0] // 2, expected.shape[0] - 1})
worst = max(numpy.abs(shown(body, frame) - expected[frame]).max() for frame in frames) / size
print("blender %s, .glb: %d frames, off by at most %.4f %% of the size" % (bpy.app.version_string, len(frames), 100 * worst))
assert worst <= tolerance

# The same through a cache: a plain mesh of the same vertices.
mesh = bpy.data.meshes.new("cached")
mesh.from_pydata([tuple(p) for p in expected[0]], [], [tuple(face.vertices) for face in body.data.polygons])
cached = bpy.data.objects.new("cached", mesh)
scene.collection.objects.link(cached)
modifier = cached.modifiers.new("cache", "MESH_CACHE")
modifier.cache_format = "PC2"
modifier.filepath = pc2
modifier.frame_start = 0
modifier.interpolation = "NONE"
worst = 0
for frame in frames:
    scene.frame_set(frame)
    real = cached.evaluated_get(bpy.context.evaluated_depsgraph_get())
    at = numpy.array([vertex.co for vertex in real.data.vertices])
    worst = max(worst, numpy.abs(at - expected[frame]).max() / size)
print("blender %s, .pc2: off by at most %.2g of the size" % (bpy.app.version_string, worst))
assert worst < 1e-6
print("as baked")
