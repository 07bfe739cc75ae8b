"""test_python.py: the Python package, as staged in a folder that PYTHONPATH names. Usage: /usr/bin/python3 test_python.py"""
import ctypes
import gc
import inspect
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
import unittest

try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is not installed")
    sys.exit(77)

import cutis
from cutis import _structs

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def small(clip=True):
    """A bar of three rings of four vertices, with two joints."""
    positions = np.array([[x, y, z] for x in (0.0, 1.0, 2.0) for y, z in ((0, 0), (1, 0), (1, 1), (0, 1))], np.float32)
    faces = [[4 * r + i, 4 * r + (i + 1) % 4, 4 * r + 4 + (i + 1) % 4, 4 * r + 4 + i] for r in (0, 1) for i in range(4)]
    faces += [[3, 2, 1, 0], [8, 9, 10, 11]]
    weights = np.array([[1, 0]] * 4 + [[0.5, 0.5]] * 4 + [[0, 1]] * 4)
    elbow = np.eye(4)
    elbow[0, 3] = 1
    joints = [cutis.Joint("root"), cutis.Joint("elbow", 0, elbow)]
    keys = np.stack([np.stack([np.eye(4)[:3], elbow[:3]])] * 3)
    for i, angle in enumerate((0, 0.5, 1.0)):
        keys[i, 1, :2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    clips = [cutis.Clip("bend", [0, 0.5, 1], keys)] if clip else []
    return cutis.Character.from_arrays(positions, faces, weights=weights, joints=joints, clips=clips, name="bar")


class Structs(unittest.TestCase):
    def test_sizes_and_offsets_are_those_of_c(self):
        folder = os.path.dirname(os.path.dirname(os.path.abspath(cutis.__file__)))
        with tempfile.TemporaryDirectory() as place:
            program = os.path.join(place, "layout")
            subprocess.run(["cc", "-std=c17", "-I", os.path.join(ROOT, "include"), os.path.join(folder, "layout.c"), "-o",
                            program], check=True)
            lines = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
        self.assertGreater(len(lines), 400)
        for line in lines:
            name, *numbers = line.split()
            kind, _, field = name.partition(".")
            kind = getattr(_structs, kind)
            if field:
                self.assertEqual((getattr(kind, field).offset, getattr(kind, field).size), tuple(map(int, numbers)), name)
            else:
                self.assertEqual(ctypes.sizeof(kind), int(numbers[0]), name)

    def test_every_function_of_the_library_is_declared(self):
        text = subprocess.run(["nm", "-D", "--defined-only", cutis.library_path()], capture_output=True, text=True,
                              check=True).stdout
        exported = {line.split()[-1] for line in text.splitlines() if " T cutis_" in line}
        self.assertEqual(exported, set(_structs.FUNCTIONS))

    def test_the_module_says_what_it_is(self):
        text = subprocess.run([sys.executable, "-m", "cutis"], capture_output=True, text=True, check=True).stdout
        self.assertIn("cutis " + cutis.version(), text)
        self.assertIn(cutis.library_path(), text)


class Characters(unittest.TestCase):
    def test_arrays_become_a_character(self):
        bar = small()
        self.assertEqual((bar.vertex_count, bar.joint_count, bar.joints), (12, 2, ["root", "elbow"]))
        self.assertAlmostEqual(bar.topology()["volume"], 2, places=5)
        self.assertEqual(bar.clips, {"bend": (0, 1)})
        self.assertAlmostEqual(float(bar.pose("bend", 0.25)[1, 1, 0]), np.sin(0.25), places=5)

    def test_linear_skinning_equals_numpy(self):
        bar = small()
        state = cutis.Model(bar, "lbs").state()
        pose = bar.pose("bend", 0.7)
        state.step(1 / 30, pose)
        bind = np.linalg.inv(np.concatenate([bar.rest_pose(), np.tile([[[0, 0, 0, 1]]], (2, 1, 1))], 1))
        skin = pose @ bind
        points = np.concatenate([bar.positions, np.ones((12, 1))], 1)
        first, joints, weights = bar.weights
        dense = np.zeros((12, 2))
        dense[np.repeat(np.arange(12), np.diff(first)), joints] = weights
        expected = np.einsum("vj,jik,vk->vi", dense, skin, points)
        self.assertLess(np.abs(state.positions - expected).max(), 1e-6)

    def test_maps_morphs_and_props_arrive(self):
        positions, faces = small().positions, small().faces
        cube = cutis.Prop("box", "rigid", "box", (0.1, 0.2, 0.3), friction=0.7)
        made = cutis.Character.from_arrays(positions, faces, maps={"freeze": np.ones(12)}, props=[cube],
                                           morphs={"fat": np.full((12, 3), 0.5)})
        self.assertEqual((list(made.maps), list(made.morphs), made.props), (["freeze"], ["fat"], ["box"]))
        self.assertTrue((made.morphs["fat"] == 0.5).all())

    def test_files_go_out_and_come_back(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "bar.glb")
            small().save(path)
            again = cutis.Character.load(path)
            with open(path, "rb") as file:
                third = cutis.Character.load("bar.glb", file.read())
        self.assertTrue((again.positions[:12] == small().positions).all())
        self.assertEqual(third.clips, again.clips)

    def test_views_keep_their_owner(self):
        positions = small().positions
        expected = positions.copy()
        gc.collect()
        self.assertTrue((positions == expected).all())
        self.assertFalse(positions.flags.writeable)

    def test_wrong_input_is_a_python_error(self):
        positions, faces = small().positions, np.array(small().triangles)
        make = cutis.Character.from_arrays
        nan = np.full_like(positions, np.nan)
        for error, attempt in (
                (ValueError, lambda: make(positions[:, :2], faces)),
                (TypeError, lambda: make("abc", faces)),
                (TypeError, lambda: make(positions, faces.astype(float))),
                (cutis.DataError, lambda: make(positions, faces + 100)),
                (cutis.DataError, lambda: make(nan, faces)),
                (cutis.DataError, lambda: make(np.zeros((0, 3)), np.zeros((0, 3), int))),
                (ValueError, lambda: make(positions, faces, weights=np.ones((5, 1)), joints=[cutis.Joint("a")])),
                (ValueError, lambda: make(positions, faces, joints=[cutis.Joint("a", 3)])),
                (ValueError, lambda: make(positions, faces, weights=([0] * 12 + [9], [0], [1.0]), joints=[cutis.Joint("a")])),
                (ValueError, lambda: make(positions, faces, joints=[cutis.Joint("a", -1, np.zeros((4, 4)))])),
                (ValueError, lambda: make(positions, faces, texcoords=np.zeros((3, 2)))),
                (TypeError, lambda: cutis.Character(None)), (TypeError, lambda: cutis.Character(5)),
                (TypeError, lambda: cutis.Character.load(5)), (ValueError, lambda: cutis.Character.load("a\0b.glb")),
                (cutis.FileError, lambda: cutis.Character.load("/nowhere/hero.glb")),
                (cutis.FormatError, lambda: cutis.Character.load("hero.glb", b"nonsense")),
                (cutis.ArgumentError, lambda: cutis.Character.make("nobody")),
                (ValueError, lambda: small().pose("nothing")),
                (TypeError, lambda: cutis.Model("bar")), (TypeError, lambda: cutis.State("bar")),
                (cutis.ArgumentError, lambda: cutis.Model(small(), "nothing")),
                (cutis.ArgumentError, lambda: cutis.Model(small(), "layers", {"iteration": 3})),
                (TypeError, lambda: cutis.bake(5)), (cutis.FileError, lambda: cutis.bake("/nowhere/hero.glb")),
                (ValueError, lambda: cutis.measure(small(), np.zeros((2, 5, 3)))),
                (TypeError, lambda: cutis.rig(None))):
            with self.assertRaises(error) as caught:
                attempt()
            self.assertTrue(str(caught.exception))
        self.assertRaisesRegex(cutis.ArgumentError, "did you mean 'iterations'", cutis.Model, small(), "layers",
                               {"iteration": 3})

    def test_none_and_other_types_are_python_errors(self):
        """Wherever text, a number, a list or a table is wanted: TypeError or ValueError, and the process lives."""
        bar = small()
        model = cutis.Model(bar, "lbs")
        state = model.state()
        pose = bar.rest_pose()
        square = np.eye(3), [[0, 1, 2]]
        for attempt in (
                lambda: cutis.Character.make(None), lambda: cutis.Character.make("arm", "big"), lambda: cutis.Character.load(None),
                lambda: cutis.Character.load("x.glb", "text"), lambda: cutis.Character(), lambda: bar.save(None),
                lambda: bar.pose("bend", "now"), lambda: bar.motion(3), lambda: bar.motion("bend", None),
                lambda: bar.with_motion(None), lambda: bar.with_motion("x.bvh", [1]), lambda: cutis.read_cache(None),
                lambda: cutis.solver(None), lambda: cutis.Pool("two"), lambda: cutis.Pool(None),
                lambda: cutis.Model(bar, 3), lambda: cutis.Model(bar, "lattice", {"fat_stiffness": None}),
                lambda: cutis.Model(bar, "lattice", "fat_stiffness=3"), lambda: cutis.Model(bar, "lattice", [1, 2]),
                lambda: cutis.Model(bar, "lbs", detail="fine"), lambda: cutis.Model(bar, "lbs", substep="short"),
                lambda: cutis.Model(bar, "lbs", pool=2), lambda: model.parameter(None), lambda: model.find_output("touch"),
                lambda: state.output(None), lambda: state.output_role(None), lambda: state.prop("ball"), lambda: state.prop(0.5),
                lambda: state.step("long", pose), lambda: state.step(float("inf"), pose), lambda: state.step(0, pose, acceleration=None),
                lambda: state.step(0, pose, wind=(1, 2)), lambda: state.step(0, pose, drags=[(0, 0)]),
                lambda: state.step(0, pose, drags=[(0.5, (0, 0, 0), 1)]), lambda: state.step(0, pose, drags=[(0, (0, 0), 1)]),
                lambda: state.step(0, pose, impulses=[(0, 0)]), lambda: state.run_to(1, None),
                lambda: state.run_to(float("nan"), bar.motion("bend")), lambda: state.teleport(None),
                lambda: cutis.bake(None), lambda: cutis.bake(bar, fps="a"), lambda: cutis.bake(bar, props="cube"),
                lambda: cutis.bake(bar, props=[1]), lambda: cutis.bake(bar, detail="draft"), lambda: cutis.bake(bar, joint_map=[1]),
                lambda: cutis.bake(bar, progress=4), lambda: cutis.bake(bar, message=4), lambda: cutis.bake(bar, clip=3),
                lambda: cutis.bake(bar, threads=2.5), lambda: cutis.rig(bar, 5), lambda: cutis.rig(bar, landmarks={"x": (1, 2)}),
                lambda: cutis.rig(bar, landmarks=[1]), lambda: cutis.measure(bar, None), lambda: cutis.measure(bar, np.zeros((1, 12, 3)), "a"),
                lambda: cutis.Character.from_arrays(*square, joints=[("a", -1)]),
                lambda: cutis.Character.from_arrays(*square, joints=[cutis.Joint(None)]),
                lambda: cutis.Character.from_arrays(*square, joints=[cutis.Joint("a", "root")]),
                lambda: cutis.Character.from_arrays(*square, joints=[cutis.Joint("a", inverse_bind=np.eye(2))]),
                lambda: cutis.Character.from_arrays(*square, maps=[1]), lambda: cutis.Character.from_arrays(*square, clips=["walk"]),
                lambda: cutis.Character.from_arrays(*square, props=["ball"]), lambda: cutis.Character.from_arrays(square[0], None),
                lambda: cutis.Character.from_arrays(square[0], np.array([[0, 1, 2**40]])),
                lambda: cutis.Character.from_arrays(*square, props=[cutis.Prop("p", shape="sphere", size=(1,))]),
                lambda: cutis.Character.from_arrays(*square, props=[cutis.Prop("p", shape="sphere", size=(1, 0, 0), joint=9)])):
            with self.assertRaises((TypeError, ValueError)) as caught:
                attempt()
            self.assertTrue(str(caught.exception))

    def test_everything_public_is_documented(self):
        for name in cutis.__all__:
            one = getattr(cutis, name)
            members = [(name, one)]
            if inspect.isclass(one):
                members += [(name + "." + k, v) for k, v in vars(one).items() if not k.startswith("_") and (
                    inspect.isfunction(v) or isinstance(v, (property, classmethod)))]
            for path, member in members:
                self.assertTrue(inspect.getdoc(member), path)

    def test_wrong_steps_are_python_errors(self):
        state = cutis.Model(small(), "lbs").state()
        for error, attempt in (
                (ValueError, lambda: state.step(-1, small().rest_pose())),
                (ValueError, lambda: state.step(0.1, np.zeros((5, 3, 4)))),
                (TypeError, lambda: state.step(0.1)), (TypeError, lambda: state.step(0.1, motion=5)),
                (ValueError, lambda: state.step(0.1, small().rest_pose(), drags=[(99, (0, 0, 0), 1)])),
                (ZeroDivisionError, lambda: state.step(0.1, motion=lambda time: 1 / 0)),
                (ValueError, lambda: state.step(0.1, motion=cutis.Character.make("arm", 0.2).motion())),
                (TypeError, lambda: state.restore(cutis.Model(small(), "lbs").state())), (IndexError, lambda: state.prop(0))):
            self.assertRaises(error, attempt)
        self.assertTrue(np.isfinite(state.positions).all())


class Solvers(unittest.TestCase):
    def test_tables_tell_all(self):
        names = [one.name for one in cutis.solvers()]
        self.assertIn("layers", names)
        self.assertTrue(any(one.preferred for one in cutis.solvers()))
        stiffness = cutis.solver("layers").parameter("fat_stiffness")
        self.assertEqual((stiffness.type, stiffness.per_bone), ("float", True))
        for one in cutis.solvers():
            for parameter in one.parameters:
                self.assertTrue(parameter.help and parameter.min <= parameter.max, (one.name, parameter))

    def test_every_solver_runs_and_replays(self):
        arm = cutis.Character.make("arm", 0.3)
        clip = next(iter(arm.clips))
        for solver in cutis.solvers():
            try:
                model = cutis.Model(arm, solver.name)
            except cutis.DataError:
                self.assertEqual(solver.name, "curves")  # needs examples
                continue
            motion = arm.motion(clip)
            state = model.state()
            state.step(1 / 30, motion=motion)
            snapshot = state.copy()
            state.step(1 / 30, motion=motion)
            one = state.positions.copy()
            state.restore(snapshot)
            state.step(1 / 30, motion=motion)
            self.assertTrue(np.isfinite(one).all() and (one == state.positions).all(), solver.name)
            self.assertGreater(np.abs(one - arm.positions).max(), 0)
            self.assertLess(np.abs(np.linalg.norm(state.normals, axis=1) - 1).max(), 1e-5)
            for output in solver.outputs:
                got = state.output(output.name)
                self.assertEqual(got.values.shape[1], output.components, output.name)

    def test_a_python_motion_equals_the_clip(self):
        bar = small()
        model = cutis.Model(bar, "lattice")
        one, two = model.state(), model.state()
        for _ in range(3):
            one.step(1 / 30, motion=bar.motion("bend"))
            two.step(1 / 30, motion=lambda time: bar.pose("bend", time))
        self.assertTrue((one.positions == two.positions).all())

        # arrays that nobody else holds, and memory that is used again at once
        man = cutis.Character.make("man", 0.4)
        clip = man.motion("walk")
        model = cutis.Model(man, "lbs")
        one, two = model.state(), model.state()
        for _ in range(5):
            one.step(1 / 30, motion=clip)
            two.step(1 / 30, motion=lambda time: clip.pose(time).astype(float).tolist())
            self.assertTrue((one.positions == two.positions).all())

    def test_model_and_bake_take_the_same_solver(self):
        arm = cutis.Character.make("arm", 0.3)
        preferred = next(one.name for one in cutis.solvers() if one.preferred)
        self.assertEqual(cutis.Model(arm).solver, preferred)
        self.assertEqual(cutis.bake(arm, clip="flex", fps=4, end=0.25).solver, preferred)
        bare = cutis.Character.from_arrays(arm.positions, np.array(arm.triangles))
        self.assertEqual(cutis.Model(bare).solver, cutis.bake(bare).solver)

    def test_presets_have_the_values_that_models_use(self):
        arm = cutis.Character.make("arm", 0.3)
        for solver in (one for one in cutis.solvers() if any(p.name == "anatomy" for p in one.parameters)):
            for preset in cutis.presets():
                model = cutis.Model(arm, solver.name, {"preset": preset.name})
                for parameter in solver.parameters:
                    value = preset.value(solver.name, parameter.name)
                    expected = parameter.default if value is None else value
                    self.assertAlmostEqual(model.parameter(parameter.name), expected, 5, (preset.name, parameter.name))
        self.assertIsNone(cutis.presets()[0].value("lbs", "gravity"))

    def test_an_interrupted_run_continues_with_the_same_bits(self):
        arm = cutis.Character.make("arm", 0.3)
        model, motion = cutis.Model(arm, "lattice"), arm.motion("flex")
        one, two, calls = model.state(), model.state(), []
        self.assertTrue(one.run_to(0.3, motion))
        self.assertFalse(two.run_to(0.3, motion, interrupted=lambda: calls.append(1) or len(calls) > 2))
        self.assertLess(two.time, 0.3)
        self.assertTrue(two.run_to(0.3, motion))
        self.assertEqual(one.hash, two.hash)

    def test_steps_release_the_interpreter(self):
        arm = cutis.Character.make("arm")
        model = cutis.Model(arm, "layers", detail=-1)
        ticks = []
        done = threading.Event()

        def tick():
            while not done.is_set():
                ticks.append(time.perf_counter())
                time.sleep(0.001)

        clock = threading.Thread(target=tick)
        clock.start()
        state = model.state()
        begin = time.perf_counter()
        state.step(0.2, motion=arm.motion("flex"))
        end = time.perf_counter()
        done.set()
        clock.join()
        self.assertGreater(sum(begin < at < end for at in ticks), 5)


class Bakes(unittest.TestCase):
    def test_a_bake_equals_a_run_by_hand(self):
        arm = cutis.Character.make("arm", 0.3)
        for solver in ("lattice", "layers", "lbs"):
            result = cutis.bake(arm, solver=solver, clip="flex", fps=24, threads=1)
            model = cutis.Model(arm, solver)
            self.assertEqual(model.clip_lead_in("flex"), result.lead_in)
            self.assertEqual(model.clip_lead_in("shake"), model.lead_in)
            motion = arm.motion("flex", result.lead_in)
            state = model.state()
            for frame in range(0, 8):
                state.run_to(result.lead_in + frame / 24, motion)
                self.assertTrue((state.positions == result.positions[frame]).all(), (solver, frame))

    def test_figures_files_and_reports(self):
        arm = cutis.Character.make("arm", 0.3)
        result = cutis.bake(arm, solver="dqs", clip="flex", fps=12, measure=True, keep_frames=True, format=".glb",
                            checks="volume_error_max<0.5")
        self.assertEqual(result.report["frames"] if "frames" in result.report else result.frame_count, result.frame_count)
        self.assertEqual([check[4] for check in result.checks], [True])
        again = cutis.measure(arm, result.positions, 12)
        self.assertEqual(again.volume_error_max, result.quality.volume_error_max)
        self.assertEqual(cutis.measure_frames(arm, result.positions)["volume_ratios"].shape, (result.frame_count,))
        self.assertTrue(result.files["bake.glb"].startswith(b"glTF"))

    def test_output_goes_to_a_file_that_reads_back(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "arm.pc2")
            result = cutis.bake(cutis.Character.make("arm", 0.3), path, solver="lbs", clip="flex", fps=12, keep_frames=True)
            positions, _, _ = cutis.read_cache(path)
            self.assertTrue((positions == result.positions).all())

    def test_progress_and_cancel(self):
        arm = cutis.Character.make("arm", 0.3)
        seen = []
        cutis.bake(arm, solver="lattice", clip="shake", fps=12, progress=lambda *at: seen.append(at[0]))
        self.assertLessEqual({"build", "lead_in", "frames"}, set(seen))
        with self.assertRaises(cutis.Interrupted):
            cutis.bake(arm, solver="lattice", clip="flex", progress=lambda stage, done, total: stage != "frames")

        def fail(*_):
            raise KeyError("mine")

        self.assertRaises(KeyError, cutis.bake, arm, solver="lbs", clip="flex", progress=fail)

    def test_pip_installs_the_wheel_offline(self):
        with tempfile.TemporaryDirectory() as folder:
            environment = dict(os.environ, CUTIS_LIBRARY=cutis.library_path(), PIP_NO_INDEX="1", PYTHONPATH="")
            made = subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", folder,
                                   os.path.join(ROOT, "python")], env=environment, capture_output=True, text=True)
            if "No module named pip" in made.stderr:
                self.skipTest("pip is not installed")
            self.assertEqual(made.returncode, 0, made.stderr)
            environment = dict(os.environ, PYTHONPATH=folder)
            text = subprocess.run([sys.executable, "-m", "cutis"], env=environment, capture_output=True, text=True, cwd="/")
            self.assertIn(folder, text.stdout, text.stderr)

    def test_rigs(self):
        bare = cutis.Character.make("cat", 0.5)
        bare = cutis.Character.from_arrays(bare.positions, bare.faces, name="bare")
        made = cutis.rig(bare)
        self.assertGreater(made.character.joint_count, 10)
        self.assertTrue(made.sentences)
        character = made.character
        del made
        gc.collect()
        self.assertGreater(len(character.joints[1]), 0)  # the rig lives as long as its character
        first, _, weights = character.weights
        sums = np.add.reduceat(weights, first[:-1])
        self.assertLess(np.abs(sums - 1).max(), 1e-5)
        self.assertRaises(cutis.ArgumentError, cutis.rig, bare, "octopus")

    def test_nothing_grows(self):
        def round_trip(count):
            for i in range(count):
                state = cutis.Model(bar, "lbs").state()
                state.step(0.01, pose)
                state.positions.sum()
                if i % 10 == 0:
                    small()

        bar = small()
        pose = bar.rest_pose()
        round_trip(500)
        gc.collect()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        round_trip(10000)
        gc.collect()
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self.assertLess(after - before, 2000, "kB")


if __name__ == "__main__":
    unittest.main()
