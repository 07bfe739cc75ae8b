"""Live sessions: the flesh follows the timeline.

A session is of one character: all meshes of an armature that are simulated together. It samples the poses of all frames once,
simulates frames in order when they are first asked for, and writes each into .pc2 files, one a mesh, that Mesh Cache
modifiers behind the armature's show. The meshes themselves are never touched. What was
computed stays, so that scrubbing shows what a straight run shows; when the animation changes at some frame, the
simulation goes on from the last snapshot before it. Frames that are not there yet show linear skinning.
"""
import os
import struct
import tempfile
import threading
import time

import bpy
import numpy as np
from bpy.app.handlers import persistent

from . import addon_compat, cutis
from .addon_read import (BACK, MODIFIER, Motion, Problem, Reading, Walk, armature_index, armature_of, bones_now, character_of,
                         check_usable, mates_of, rigid_pieces, sentence)

SNAPSHOT_BYTES = 256e6  # of all snapshots of a session
HANDLER_SECONDS = 0.5  # that a frame change may take in the window before the rest is left to a timer
REST_SECONDS = 0.5  # without a change of the pose before it is read
EDITING = ("EDIT", "WEIGHT_PAINT")  # modes in which a mesh is left alone until its user is done
HEADER = 32  # bytes of a .pc2 file before its positions

sessions = {}  # by the name of the object that keeps the character's settings
_busy = 0
_rendering = False
_pool = None
_drawing = None
errors = {}  # sentences by the name of the object, for the panel


def pool():
    global _pool
    if _pool is None:
        _pool = cutis.Pool(0)
    return _pool


def write_header(path, vertices, start, frames):
    """An empty .pc2 file of full length."""
    with open(path, "wb") as file:
        file.write(struct.pack("<12siiffi", b"POINTCACHE2\0", 1, vertices, float(start), 1.0, frames))
        file.truncate(HEADER + 12 * vertices * frames)


def attach(thing, path, start, name=MODIFIER):
    """A Mesh Cache modifier just behind the armature's, that shows a .pc2 file from a frame on."""
    modifier = thing.modifiers.get(name)
    if modifier is None:
        modifier = thing.modifiers.new(name, "MESH_CACHE")
        index, found = armature_index(thing)
        behind = [index + 1 if found else 0] + [i + 1 for i, m in enumerate(thing.modifiers)
                                                if m.type == "MESH_CACHE" and m.name.startswith(MODIFIER) and m != modifier]
        addon_compat.move_modifier(thing, modifier.name, max(behind))  # live over a bake
    modifier.cache_format = "PC2"
    modifier.filepath = path
    modifier.frame_start = start
    modifier.interpolation = "LINEAR"  # exact at whole frames, smooth in motion blur
    modifier.show_viewport = modifier.show_render = True
    return modifier


def detach(thing, name=MODIFIER):
    modifier = thing.modifiers.get(name)
    if modifier is not None and modifier.type == "MESH_CACHE":
        thing.modifiers.remove(modifier)


def temporary_file():
    handle, path = tempfile.mkstemp(".pc2", "cutis_", bpy.app.tempdir)  # Blender removes it when it ends
    os.close(handle)
    return path


def session_of(context):
    """The session of the character that is selected."""
    lead = character_of(context)
    return sessions.get(lead.name) if lead is not None else None


class Preparation:
    """What comes before the first frame and takes seconds: the model, and the way into the first pose. Made on Blender's thread,
    run on any."""

    def __init__(self, reading, motion, lead_in):
        self.reading, self.motion, self.wanted = reading, motion, lead_in
        self.dancer = reading.dancer(motion.clip("timeline"))
        self.model = self.failure = self.thread = None

    def take(self, session):
        """Use the model that is there."""
        self.character, self.rigid, self.model, self.skinned = session.character, session.rigid, session.model, session.skinned
        self.find_lead_in()

    def find_lead_in(self):
        """Its length, in whole substeps, and the motion with it in front."""
        substep = self.model.substep
        if substep > 0:
            wanted = self.model.clip_lead_in("timeline", character=self.dancer) if self.wanted < 0 else self.wanted
            self.lead_in = int(wanted / substep + 0.5) * substep
        else:
            self.lead_in = max(0.0, self.wanted)
        self.clip = self.dancer.motion("timeline", self.lead_in)

    def run(self):
        try:
            threads = cutis.Pool(0)  # of its own: another session may use the shared one meanwhile
            if self.model is None:
                # with the clip, as a bake makes it
                self.character = self.reading.character(self.motion.clip("timeline"))
                self.rigid = rigid_pieces(self.reading, self.dancer, self.character.triangles)
                self.model = cutis.Model(self.character, self.reading.stack, self.reading.settings, detail=self.reading.detail,
                                         pool=threads)
                self.skinned = cutis.Model(self.character, "lbs").state()
                self.find_lead_in()
            self.state = self.model.state()
            self.run_lead_in(threads)
        except BaseException as failure:
            self.failure = failure

    def run_lead_in(self, threads):
        """From rest to the first pose, in the pieces of a bake; without a lead-in, at rest in the first pose."""
        substep = self.model.substep
        if self.lead_in == 0 and substep > 0:
            self.state.reset(self.clip.pose(0))
        total = (int(self.lead_in / substep + 0.5) if substep > 0 else 1) if self.lead_in > 0 else 0
        done = 0
        while done < total:
            done = min(done + 8, total)
            self.state.run_to(self.lead_in * done / total, self.clip, pool=threads)


class Session:
    """A character that follows the timeline."""

    def __init__(self, name):
        self.name = name
        self.reading = self.motion = self.model = self.job = None
        self.stale = True
        self.posed = None  # bones of a pose without keys, for which there is no simulation
        self.changed_at = 0.0
        self.paths = {}  # of the .pc2 files, by the name of the mesh object
        self.frames = None  # memory of the files: (frames x vertices x 3) for each part
        self.done = 0  # frames that are simulated
        self.preview = set()  # that show linear skinning meanwhile
        self.seconds = []  # of each frame
        self.overhead = []  # the same, of all but the solver

    @property
    def thing(self):
        return bpy.data.objects.get(self.name)

    def close(self):
        self.frames = None
        for path in self.paths.values():
            if os.path.exists(path):
                os.remove(path)
        self.paths = {}

    def other_range(self, scene):
        """Whether the scene has other frames than those that were read."""
        motion = self.job.motion if self.job else self.motion
        return motion is not None and (motion.start, motion.end, motion.fps) != (
            scene.frame_start, scene.frame_end, scene.render.fps / scene.render.fps_base)

    def objects(self):
        """The mesh objects that are there."""
        return [bpy.data.objects[name] for name in self.paths if name in bpy.data.objects]

    # ---- building ----

    def refresh(self, scene, wait=None, anew=False, keep_pose=True):
        """Read what changed and keep what did not (`anew`: keep nothing). Where the simulation starts anew it is prepared at once with `wait`, as without a
        window, else on a thread: prepared() tells when that is done."""
        global _busy
        thing = self.thing
        _busy += 1
        try:
            check_usable(thing)
            armature = armature_of(thing)
            if armature is None:
                raise Problem("%s has no armature; choose one, or use Rig to make one" % thing.name)
            with Walk(scene, armature, keep_pose) as walk:
                scene.frame_set(scene.frame_start)
                reading = Reading(scene, thing)
                motion = Motion(scene, thing, reading)
            self.posed = bones_now(armature, reading.bones) if walk.loose else None
        finally:
            _busy -= 1
        self.stale = False

        # a new model when a mesh or a setting is another, or other pieces move as one
        made = Preparation(reading, motion, thing.cutis.lead_in)
        same_mesh = self.reading is not None and reading.digest == self.reading.digest and self.model is not None
        if same_mesh and not anew and rigid_pieces(reading, made.dancer, self.character.triangles) == self.rigid:
            made.take(self)
            if made.lead_in == self.lead_in and self.keep_frames(made, thing):
                return
        self.done, self.snapshots = 0, {}

        # from the start
        if bpy.app.background if wait is None else wait:
            made.run()
            self.install(made)
        else:
            self.set_shown(False)  # plain skinning meanwhile
            self.job = made
            made.thread = threading.Thread(target=made.run, daemon=True)
            made.thread.start()

    def prepared(self):
        """Whether frames can be simulated; takes what a thread has prepared."""
        if self.job is None:
            return self.motion is not None
        if self.job.thread.is_alive():
            return False
        made, self.job = self.job, None
        self.install(made)
        return True

    def keep_frames(self, made, thing):
        """Go on from a snapshot, if the motion is the same so far; returns whether it is."""
        motion, before = made.motion, self.motion
        same = motion.same_until(before)

        # frame i needs the poses up to i + 1, as a substep may end behind it
        keep = same if same == before.count == motion.count else max(0, same - 1)
        if thing.cutis.color != "none" or made.reading.props:
            keep = 0  # their values are not kept
        if not any(0 < i <= keep for i in self.snapshots) and not 0 < self.done <= keep:
            return False
        self.reading, self.motion, self.dancer, self.clip = made.reading, motion, made.dancer, made.clip
        self.rewind(min(keep, self.done))
        self.open_files(thing)
        return True

    def install(self, made):
        """Start with what was prepared."""
        if made.failure is not None:
            raise made.failure
        self.reading, self.motion, self.dancer, self.clip = made.reading, made.motion, made.dancer, made.clip
        self.character, self.rigid, self.model, self.skinned = made.character, made.rigid, made.model, made.skinned
        self.state, self.lead_in = made.state, made.lead_in
        self.snapshots, self.done, self.every, self.seconds = {}, 0, 10, []
        self.open_files(self.thing)

    def rewind(self, keep):
        """Forget the frames from `keep` on, and go back to the last snapshot before."""
        self.snapshots = {i: s for i, s in self.snapshots.items() if i <= keep}
        if keep >= self.done and self.done > 0:
            return
        self.done = max(self.snapshots)
        self.state.restore(self.snapshots[self.done])
        self.seconds = self.seconds[:self.done]

    def open_files(self, thing):
        """Files of the right length, with the frames that are kept; meshes that are no longer part of it show their own again."""
        parts = self.reading.parts
        kept = [np.array(own[:self.done]) for own in self.frames] if self.frames is not None and self.done else None
        shapes = [(self.motion.count, part.end - part.first, 3) for part in parts]
        if self.frames is None or [own.shape for own in self.frames] != shapes or list(self.paths) != [part.name for part in parts]:
            self.frames = []
            for name in [n for n in self.paths if n not in [part.name for part in parts]]:
                if name in bpy.data.objects:
                    detach(bpy.data.objects[name])
                os.remove(self.paths.pop(name))
            paths = {}
            for i, (part, shape) in enumerate(zip(parts, shapes)):
                paths[part.name] = self.paths.get(part.name) or temporary_file()
                write_header(paths[part.name], shape[1], self.motion.start, shape[0])
                self.frames.append(np.memmap(paths[part.name], "<f4", "r+", HEADER, shape))
                if kept is not None:  # of the same model, so of the same parts
                    count = min(len(kept[i]), shape[0])
                    self.frames[i][:count] = kept[i][:count]
            self.paths = paths
        self.preview = set()
        colored = thing.cutis.color != "none"
        self.values = np.zeros((self.motion.count, len(self.reading.positions)), np.float32) if colored else None
        self.prop_places = np.zeros((self.motion.count, len(self.reading.props), 3, 4), np.float32)
        for name, path in self.paths.items():
            attach(bpy.data.objects[name], path, self.motion.start)
        self.set_shown(self.posed is None)

    def set_shown(self, shown):
        """Show the simulation, or Blender's own skinning."""
        for part in self.objects():
            modifier = part.modifiers.get(MODIFIER)
            if modifier is not None and modifier.show_viewport != shown:
                modifier.show_viewport = modifier.show_render = shown

    def pose_changed(self, scene):
        """The armature was changed. A pose other than that of the animation is shown by Blender's skinning, and is looked at when the
        hand rests; returns whether it is to be looked at."""
        index = scene.frame_current - self.motion.start
        if self.job is not None or not 0 <= index < self.motion.count or scene.frame_subframe != 0:
            return False
        now = bones_now(armature_of(self.thing), self.reading.bones)

        def same(other):
            return other.shape == now.shape and np.abs(now - other).max() <= 1e-6 * max(1, np.abs(now).max())

        if same(self.motion.bones[index]):
            self.posed = None
            self.set_shown(True)
            return False
        self.set_shown(False)
        if self.posed is not None and same(self.posed):
            return False
        self.changed_at = time.monotonic()
        return True

    def moved_away(self, scene, graph=None):
        """Whether the bones of the frame that is shown are not those that were read: another action, a driver, a script."""
        index = scene.frame_current - self.motion.start
        armature = armature_of(self.thing)
        if not 0 <= index < self.motion.count or scene.frame_subframe != 0 or armature is None:
            return False
        now = bones_now(armature.evaluated_get(graph) if graph else armature, self.reading.bones)
        read = self.motion.bones[index]
        return read.shape != now.shape or np.abs(read - now).max() > 1e-6 * max(1, np.abs(now).max())

    def store(self, index, positions):
        """A frame into the files."""
        for i, part in enumerate(self.reading.parts):
            self.frames[i][index] = self.motion.to_object(index, i, positions[part.first:part.end])

    # ---- frames ----

    def step(self):
        """Simulate the next frame."""
        begin = time.perf_counter()
        index = self.done
        self.state.run_to(self.lead_in + index / self.motion.fps, self.clip, pool=pool())
        solved = time.perf_counter()
        self.store(index, self.state.positions)
        for i in range(len(self.reading.props)):
            self.prop_places[index, i] = self.state.prop(i)
        if self.values is not None:
            self.values[index] = self.color_values()
        self.done = index + 1
        self.preview.discard(index)

        # a snapshot now and then, farther apart when they take too much memory
        if self.done % self.every == 0:
            self.snapshots[self.done] = self.state.copy()
            if len(self.snapshots) * self.model.state_bytes > SNAPSHOT_BYTES:
                self.every *= 2
                self.snapshots = {i: s for i, s in self.snapshots.items() if i % self.every == 0}
        end = time.perf_counter()
        self.seconds.append(end - begin)
        self.overhead.append(end - solved)

    def index(self, frame):
        return min(max(int(frame) - self.motion.start, 0), self.motion.count - 1)

    def show(self, frame, seconds=None):
        """Have a frame in the file: simulated, or, when that takes longer than allowed, as linear skinning for now."""
        index = self.index(frame)
        begin = time.perf_counter()
        while self.done <= index:
            if seconds is not None and time.perf_counter() - begin > seconds:
                break
            self.step()
        if self.done <= index and index not in self.preview:
            pose = self.dancer.pose("timeline", index / self.motion.fps)
            self.skinned.step(0, pose, morphs=self.motion.morphs[index] if self.motion.morphs.shape[1] else None)
            self.store(index, self.skinned.positions)
            self.preview.add(index)
        return self.done > index

    # ---- colours and props ----

    def color_values(self):
        kind = self.thing.cutis.color
        if kind == "stretch":
            a, b = self.edges()
            rest = self.character.positions
            x = self.state.positions
            ratio = np.linalg.norm(x[a] - x[b], axis=1) / np.maximum(np.linalg.norm(rest[a] - rest[b], axis=1), 1e-12)
            total, count = np.zeros(len(x)), np.zeros(len(x))
            for end in (a, b):
                np.add.at(total, end, ratio)
                np.add.at(count, end, 1)
            return total / np.maximum(count, 1) - 1
        names = {"pressure": ("contact", "touch"), "touch": ("touch", "contact")}[kind]
        for name in names:
            found = self.state.output(name)
            if found and found.domain == "vertex":
                return np.linalg.norm(found.values, axis=1)
        return 0

    def edges(self):
        if not hasattr(self, "_edges"):
            triangles = self.character.triangles
            pairs = np.sort(np.concatenate([triangles[:, :2], triangles[:, 1:], triangles[:, ::2]]), 1)
            pairs = np.unique(pairs, axis=0)
            self._edges = pairs[:, 0], pairs[:, 1]
        return self._edges

    def show_extras(self, frame):
        """Colours and free props of a frame, behind its evaluation."""
        index = self.index(frame)
        thing = self.thing
        if index >= self.done:
            return
        if self.values is not None:
            value = self.values[index]
            if thing.cutis.color == "stretch":
                t = np.clip(value / 0.3, -1, 1)
                colors = np.stack([1 - np.maximum(-t, 0), 1 - np.abs(t), 1 - np.maximum(t, 0), np.ones_like(t)], 1)
            else:
                t = np.clip(value / max(float(self.values.max()), 1e-12), 0, 1)
                colors = np.stack([0.7 + 0.3 * t, 0.7 * (1 - t), 0.7 * (1 - t), np.ones_like(t)], 1)
            for part in self.reading.parts:
                mesh = bpy.data.objects[part.name].data
                if len(mesh.vertices) == part.end - part.first:
                    attribute = addon_compat.color_attribute(mesh, "cutis")
                    attribute.data.foreach_set("color", colors[part.first:part.end].astype(np.float32).reshape(-1))
        for i, name in enumerate(self.reading.prop_names):
            prop = bpy.data.objects.get(name)
            if prop is not None and prop.cutis.prop != "collider":
                if "cutis_rest" not in prop:
                    prop["cutis_rest"] = [x for row in prop.matrix_world for x in row]
                place = np.eye(4)
                place[:3] = self.prop_places[index, i]
                prop.matrix_world = (BACK @ place).tolist()


# ---- switching on and off ----


def report_error(name, failure):
    errors[name] = sentence(failure)


def start(thing, scene=None):
    """A live session for an object; raises Problem or cutis.Error."""
    scene = scene or bpy.context.scene
    stop(thing, keep_modifier=True)
    session = Session(thing.name)
    try:
        session.refresh(scene)
        if session.prepared():
            session.show(scene.frame_current, None if bpy.app.background else HANDLER_SECONDS)
    except Exception:
        session.close()
        for mate in mates_of(scene, thing):
            detach(mate)
        raise
    sessions[thing.name] = session
    errors.pop(thing.name, None)
    update_view(thing)
    wake()
    return session


def stop(thing, keep_modifier=False):
    session = sessions.pop(thing.name, None)
    parts = [thing]
    if session:
        parts += session.objects()
        session.close()
        for name in session.reading.prop_names if session.reading and not keep_modifier else ():
            prop = bpy.data.objects.get(name)
            if prop is not None and "cutis_rest" in prop:
                prop.matrix_world = np.array(prop["cutis_rest"]).reshape(4, 4).tolist()
                del prop["cutis_rest"]
    for part in parts if not keep_modifier else ():
        detach(part)


def live_switched(thing):
    if _busy:
        return
    errors.pop(thing.name, None)
    if not thing.cutis.live:
        stop(thing)
        return
    try:
        start(thing)
    except (Problem, cutis.Error) as failure:
        report_error(thing.name, failure)
        thing.cutis["live"] = False


def color_switched(thing):
    session = sessions.get(thing.name)
    if session:
        session.stale = True
        session.frames = None
        wake()


def settings_changed():
    for session in sessions.values():
        session.stale = True
    wake()


def update_view(thing):
    session = sessions.get(thing.name)
    for name in session.paths if session else [thing.name]:
        if name in bpy.data.objects:
            bpy.data.objects[name].update_tag(refresh={"DATA"})
    redraw(("UI", "WINDOW"), ("VIEW_3D", "DOPESHEET_EDITOR", "PROPERTIES"))


def redraw(regions, areas):
    """Have parts of the window drawn again: counts and bars follow the simulation in playback, too."""
    for window in bpy.context.window_manager.windows if not bpy.app.background else ():
        for area in window.screen.areas:
            for region in area.regions if area.type in areas else ():
                if region.type in regions:
                    region.tag_redraw()


# ---- handlers ----


@persistent
def before_frame(scene, *_):
    if _busy:
        return
    adopt(scene)
    for name, session in list(sessions.items()):
        thing = session.thing
        if thing is None:
            sessions.pop(name).close()
            continue
        try:
            session.stale |= session.other_range(scene)
            if session.motion is not None and session.job is None:
                session.posed = None  # a new frame has its own pose
                session.set_shown(session.motion.start <= scene.frame_current <= session.motion.end)
            if session.stale and may_read(scene):
                session.refresh(scene, wait=True, keep_pose=False)  # that of the frame before
            if not session.prepared():
                wake()
                continue
            before = session.done
            allowed = -1 if session.stale else None if waits() else HANDLER_SECONDS
            if not session.show(scene.frame_current, allowed) or session.stale:
                wake()
            if session.done != before:
                redraw(("UI", "WINDOW"), ("VIEW_3D", "DOPESHEET_EDITOR"))
        except (Problem, cutis.Error) as failure:
            report_error(name, failure)
            thing.cutis.live = False


@persistent
def after_frame(scene, graph=None):
    if _busy:
        return
    for name, session in list(sessions.items()):
        if session.motion is None or session.job is not None or session.thing is None:
            continue
        try:
            # scripts and renders read the frame at once: nothing may be shown that the pose has left
            if may_read(scene) and not session.stale and session.moved_away(scene, graph):
                session.refresh(scene, wait=True, keep_pose=False)
                session.show(scene.frame_current)
                update_view(session.thing)
            if not session.stale:
                session.show_extras(scene.frame_current)
        except (Problem, cutis.Error) as failure:
            report_error(name, failure)
            session.thing.cutis.live = False


def waits():
    """Whether frames are read as soon as they are set: without a window, and by renders."""
    return bpy.app.background or _rendering


def may_read(scene):
    """Whether the timeline may be walked over within a frame change. A render of the window runs on a thread: Blender allows it
    to move the scene only while the interface is locked."""
    return waits() and (threading.current_thread() is threading.main_thread() or scene.render.use_lock_interface)


@persistent
def before_render(*_):
    global _rendering
    _rendering = True


@persistent
def after_render(*_):
    global _rendering
    _rendering = False


def adopt(scene):
    """Sessions of objects that are live in a file that was opened, or after an undo."""
    for thing in scene.objects:
        if thing.type == "MESH" and thing.cutis.live and thing.name not in sessions:
            sessions[thing.name] = Session(thing.name)
            wake()


@persistent
def after_change(scene, graph):
    """The user changed something: the animation, the mesh in an edit or paint mode, a prop."""
    if _busy or not sessions:
        return
    for update in graph.updates:
        real = update.id
        for session in sessions.values():
            thing = session.thing
            if thing is None or session.reading is None:
                continue
            armature = armature_of(thing)
            mine = isinstance(real, bpy.types.Action) or (
                armature and isinstance(real, bpy.types.Object) and real.name == armature.name and not playing()
                and (session.motion is None or session.pose_changed(scene)))
            prop = isinstance(real, bpy.types.Object) and real.name in session.reading.prop_names and update.is_updated_transform \
                and real.cutis.prop == "collider"
            edited = isinstance(real, (bpy.types.Mesh, bpy.types.Object)) and any(
                part.mode in EDITING and real.name in (part.name, part.data.name) for part in session.objects())
            if ((mine or prop or session.other_range(scene)) and not playing()) or edited:
                session.stale = True
                wake()


def playing():
    screen = getattr(bpy.context, "screen", None)
    return bool(screen and screen.is_animation_playing)


@persistent
def after_load(*_):
    for session in sessions.values():
        session.close()
    sessions.clear()
    errors.clear()
    for scene in bpy.data.scenes:
        adopt(scene)


@persistent
def after_undo(scene, *_):
    for name, session in list(sessions.items()):
        if session.thing is None or not session.thing.cutis.live:
            sessions.pop(name).close()
        else:
            session.stale = True
    adopt(scene)
    wake()


def wake():
    """Let a timer do what a frame change must not wait for. Without a window frame changes do it all."""
    if not bpy.app.background and not bpy.app.timers.is_registered(work):
        bpy.app.timers.register(work, first_interval=0.05)


def work():
    """Timer: refresh and catch up, a twentieth of a second at a time."""
    scene = bpy.context.scene
    again = False
    for name, session in list(sessions.items()):
        thing = session.thing
        if thing is None or any(part.mode in EDITING for part in [thing, *session.objects()]):
            again = thing is not None
            continue
        try:
            if session.stale and session.job is None:
                if time.monotonic() - session.changed_at < REST_SECONDS:
                    again = True
                    continue
                session.refresh(scene)
            if session.prepared() and session.show(scene.frame_current, 0.05):
                session.show_extras(scene.frame_current)
            else:
                again = True
            update_view(thing)
        except (Problem, cutis.Error) as failure:
            report_error(name, failure)
            thing.cutis.live = False
    return 0.1 if again else None


def draw_timeline():
    """A bar over the frames that are simulated, in the timeline and the dope sheet."""
    import gpu
    from gpu_extras.batch import batch_for_shader
    session = session_of(bpy.context)
    if not session or session.motion is None or not session.done:
        return
    view = bpy.context.region.view2d
    left, _ = view.view_to_region(session.motion.start - 0.5, 0, clip=False)
    right, _ = view.view_to_region(session.motion.start + session.done - 0.5, 0, clip=False)
    scale = bpy.context.preferences.system.ui_scale
    low, high = 19 * scale, 24 * scale  # above the scroll bar
    shader = addon_compat.flat_shader()
    batch = batch_for_shader(shader, "TRI_STRIP", {"pos": [(left, low), (right, low), (left, high), (right, high)]})
    shader.bind()
    shader.uniform_float("color", (0.9, 0.45, 0.35, 1))
    batch.draw(shader)


HANDLERS = ((bpy.app.handlers.frame_change_pre, before_frame), (bpy.app.handlers.frame_change_post, after_frame),
            (bpy.app.handlers.depsgraph_update_post, after_change), (bpy.app.handlers.load_post, after_load),
            (bpy.app.handlers.undo_post, after_undo), (bpy.app.handlers.redo_post, after_undo),
            (bpy.app.handlers.render_init, before_render), (bpy.app.handlers.render_complete, after_render),
            (bpy.app.handlers.render_cancel, after_render))


def register():
    global _drawing
    for chain, function in HANDLERS:
        chain.append(function)
    if not bpy.app.background:
        _drawing = bpy.types.SpaceDopeSheetEditor.draw_handler_add(draw_timeline, (), "WINDOW", "POST_PIXEL")


def unregister():
    if _drawing:
        bpy.types.SpaceDopeSheetEditor.draw_handler_remove(_drawing, "WINDOW")
    for chain, function in HANDLERS:
        chain.remove(function)
    for session in sessions.values():
        session.close()
    sessions.clear()
