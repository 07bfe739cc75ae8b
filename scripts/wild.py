#!/usr/bin/env python3
"""wild.py: bake every character that can be found, judge it, and draw it beside linear skinning.

usage: scripts/wild.py [--program P] [--models DIR] [--output DIR] [--solver A,B] [--only PATTERN] [--clips first|all|WORDS]
                       [--seconds S] [--random DEGREES] [--timeout S] [--jobs N] [--short] [--no-sheets] [--again]
                       [--document FILE]

Every file under DIR (default ../shared/models) with a skeleton and a clip is baked by each solver at its default
settings; one without a clip gets a motion of DIR/cmu-mocap where its joints are recognised. One row each goes to the
console and to OUTPUT/table.md and table.json (default build/wild), a contact sheet each, linear skinning above the
solver, to OUTPUT/*.png, and all sheets to OUTPUT/index.html. Rows of runs that crash or take too long are kept, too.
Lengths are percent of the size, angles degrees. A row is made again only when the program or its arguments changed.

--random plays a motion that no animator made, of one second: every joint of a .glb turns about random axes by up to so
many degrees, there and back four times. It is the same in every run. Clips of the file are left out.

Where ../shared/referee/harm.py is present, it judges the same frames, in a process of its own, under `referee`.

--short bakes a few frames of a few characters, for the tests. The exit code is 1 when a bake crashed, timed out or gave
values that are not finite; a bad verdict alone does not change it unless --strict is given.
"""
import argparse
import concurrent.futures
import fnmatch
import hashlib
import html
import json
import math
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ENDINGS = (".glb", ".gltf", ".vrm", ".fbx", ".dae", ".usd", ".usda")
SHORT = ["*RiggedFigure*", "*khronos-Fox*", "*quaternius-knight*", "*kaykit-knight/Knight.glb"]
FPS = 30
SHEET_FRAMES = 6


def run(arguments, timeout):
    """Exit code (None: timed out), standard output, standard error and seconds of a process."""
    start = time.monotonic()
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        out, err = process.communicate(timeout=timeout)
        code = process.returncode
    except subprocess.TimeoutExpired:
        # asked first, so that no temporary file stays behind
        process.terminate()
        try:
            out, err = process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
        code = None
    return code, out.decode(errors="replace"), err.decode(errors="replace"), time.monotonic() - start


def turned(rotation, axis, angle):
    """A quaternion (x, y, z, w) times a turn about a unit axis."""
    ax, ay, az, aw = rotation
    half = math.sin(angle / 2)
    bx, by, bz, bw = axis[0] * half, axis[1] * half, axis[2] * half, math.cos(angle / 2)
    return (aw * bx + ax * bw + ay * bz - az * by, aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw, aw * bw - ax * bx - ay * by - az * bz)


def random_clip(path, degrees, to):
    """Write a .glb again with one clip, in which every joint turns at random. Returns whether it has a skeleton."""
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack_from("<I", data, 12)[0]
    document, chunk = json.loads(data[20:20 + length]), data[20 + length:]
    binary = bytearray(chunk[8:])
    joints = sorted({joint for skin in document.get("skins", []) for joint in skin["joints"]})
    joints = [joint for joint in joints if "matrix" not in document["nodes"][joint]]
    if not joints or not document.get("buffers") or "uri" in document["buffers"][0]:
        return False

    def accessor(values, kind, bounds):
        document["bufferViews"].append({"buffer": 0, "byteOffset": len(binary), "byteLength": 4 * len(values)})
        binary.extend(struct.pack("<%df" % len(values), *values))
        width = {"SCALAR": 1, "VEC4": 4}[kind]
        document["accessors"].append(dict(bounds, bufferView=len(document["bufferViews"]) - 1, componentType=5126,
                                          count=len(values) // width, type=kind))
        return len(document["accessors"]) - 1

    # rest, then random turns, the last as the first
    chance = random.Random(os.path.basename(path))
    binary.extend(bytes(-len(binary) % 4))
    times = [k / 4 for k in range(5)]
    time_accessor = accessor(times, "SCALAR", {"min": [times[0]], "max": [times[-1]]})
    clip = {"name": "random %g" % degrees, "samplers": [], "channels": []}
    for joint in joints:
        rest, values = document["nodes"][joint].get("rotation", [0, 0, 0, 1]), []
        for k in range(len(times)):
            axis = [chance.gauss(0, 1) for _ in range(3)]
            norm = math.sqrt(sum(x * x for x in axis)) or 1
            angle = 0 if k in (0, len(times) - 1) else math.radians(chance.uniform(-degrees, degrees))
            values.extend(turned(rest, [x / norm for x in axis], angle))
        clip["samplers"].append({"input": time_accessor, "output": accessor(values, "VEC4", {})})
        clip["channels"].append({"sampler": len(clip["samplers"]) - 1, "target": {"node": joint, "path": "rotation"}})
    document["animations"] = [clip]
    document["buffers"][0]["byteLength"] = len(binary)
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    result = struct.pack("<III", 0x46546C67, 2, 28 + len(text) + len(binary)) + struct.pack("<I", len(text)) + b"JSON"
    result += text + struct.pack("<I", len(binary)) + b"BIN\0" + binary

    # an equal file keeps its date, so that its rows are not made again
    if not os.path.exists(to) or open(to, "rb").read() != result:
        with open(to, "wb") as file:
            file.write(result)
    return True


def first_line(text):
    lines = [line for line in text.splitlines() if "error" in line] or text.splitlines() or [""]
    return lines[0].replace("cutis: error: ", "")[:200]


def find_referee():
    """The independent judge and a Python that can run it, or None."""
    script = os.path.join(ROOT, "..", "shared", "referee", "harm.py")
    if not os.path.exists(script):
        return None
    for python in (sys.executable, "/usr/bin/python3", "python3"):
        if shutil.which(python) and run([python, "-c", "import numpy, scipy"], 60)[0] == 0:
            return [python, script]
    print("wild: numpy or scipy is missing, so the referee does not judge", file=sys.stderr)
    return None


class Wild:
    def __init__(self, options):
        self.options = options
        self.program = os.path.abspath(options.program)
        about = os.stat(self.program)
        self.build = "%d-%d" % (about.st_size, about.st_mtime_ns)
        self.referee = find_referee()

    def files(self):
        """Files that may hold a character, and their names in the table."""
        for where, folders, names in os.walk(self.options.models, followlinks=True):
            folders.sort()
            for name in sorted(names):
                path = os.path.join(where, name)
                label = os.path.relpath(path, self.options.models)
                wanted = self.options.only or (SHORT if self.options.short else None)
                if not name.lower().endswith(ENDINGS):
                    continue
                if wanted and not any(fnmatch.fnmatch(label, "*%s*" % pattern.strip("*")) for pattern in wanted):
                    continue
                yield label, path

    def motions(self):
        folder = os.path.join(self.options.models, "cmu-mocap")
        return sorted(os.path.join(folder, f) for f in os.listdir(folder) if f.endswith(".bvh")) if os.path.isdir(
            folder) else []

    def chosen(self, clips):
        """All clips, the first, or the first that has one of the words asked for in its name, the first word first."""
        if self.options.clips == "all":
            return clips
        for word in [] if self.options.clips == "first" else self.options.clips.lower().split(","):
            named = [clip for clip in clips if word in clip["name"].lower()]
            if named:
                return named[:1]
        return clips[:1]

    def subjects(self):
        """Dictionaries of what is baked: label, path, arguments that choose the motion, seconds of the range."""
        motions = self.motions()
        for label, path in self.files():
            if self.options.random:
                copy = os.path.join(self.options.output, re.sub(r"[^A-Za-z0-9.]+", "_", label))
                if not path.lower().endswith(".glb") or not random_clip(path, self.options.random, copy):
                    continue
                path = copy
            code, out, err, _ = run([self.program, "info", path, "--json"], 120)
            if code != 0:
                yield {"label": label, "path": path, "skip": first_line(err) or "info exits with %s" % code}
                continue
            info = json.loads(out)
            if info.get("influences_max", 0) == 0:
                continue
            clips = info.get("clips", [])
            for clip in self.chosen(clips):
                yield {"label": label, "path": path, "clip": clip["name"], "start": clip["start"], "end": clip["end"],
                       "motion": ["--clip", clip["name"]]}
            if not clips and motions:
                # the first motion whose joints are recognised; an animal has none
                code, _, err, _ = run([self.program, "bake", path, "--motion", motions[0], "--solver", "lbs", "-q",
                                       "--end", "0.1", "-o", os.path.join(self.options.output, "try.npy")], 120)
                if code == 0:
                    yield {"label": label, "path": path, "clip": os.path.basename(motions[0]), "start": 0.0,
                           "end": None, "motion": ["--motion", motions[0]]}

    def range(self, subject):
        if not self.options.seconds:
            return []
        end = subject["start"] + self.options.seconds
        if subject["end"] is not None:
            end = min(end, subject["end"])
        return ["--end", "%.6f" % end]

    def base(self, subject, solver):
        name = re.sub(r"[^A-Za-z0-9]+", "_", "%s_%s" % (os.path.splitext(subject["label"])[0], subject["clip"]))
        return os.path.join(self.options.output, "%s.%s" % (name, solver))

    def key(self, subject, solver):
        about = os.stat(subject["path"])
        parts = [self.build, subject["path"], about.st_size, about.st_mtime_ns, subject["motion"], self.range(subject),
                 solver, self.options.timeout, self.referee is not None, self.options.no_sheets]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]

    def bake(self, subject, solver, path, report):
        return run([self.program, "bake", subject["path"], "--solver", solver, "--fps", str(FPS), "-q", "-o", path,
                    "--report", report, "--threads", str(self.options.threads)] + subject["motion"]
                   + self.range(subject), self.options.timeout)

    def linear(self, subject):
        """The cache of linear skinning, made once for all solvers."""
        base = self.base(subject, "lbs")
        if not os.path.exists(base + ".npy"):
            code, _, err, _ = self.bake(subject, "lbs", base + ".npy", base + ".report.json")
            if code != 0:
                raise RuntimeError("linear skinning: " + (first_line(err) if code is not None else "timed out"))
        return base + ".npy"

    def judge(self, linear, baked):
        if not self.referee:
            return None
        code, out, _, _ = run(self.referee + [linear, baked], 300)
        return json.loads(out) if code == 0 else None

    def sheet(self, subject, linear, baked, solver, path):
        code, _, err, _ = run([self.program, "render", subject["path"], "linear skinning=" + linear, solver + "=" + baked,
                               "--sheet", "--frame", self.frames_shown(linear), "--fps", str(FPS), "--style", "samples:2", "-q", "-o", path], 300)
        return "" if code == 0 else first_line(err) or "render exits with %s" % code

    @staticmethod
    def frames_shown(cache):
        with open(cache, "rb") as file:
            count = int(re.search(rb"'shape': \((\d+)", file.read(200)).group(1))
        step = max(1, (count - 1) // (SHEET_FRAMES - 1)) if count > 1 else 1
        return "0:%d:%d" % (min(count - 1, step * (SHEET_FRAMES - 1)), step)

    def row(self, subject, solver):
        """One bake as a dictionary, read again when nothing changed."""
        base, key = self.base(subject, solver), self.key(subject, solver)
        record = base + ".row.json"
        if os.path.exists(record) and not self.options.again:
            with open(record) as file:
                known = json.load(file)
            if known.get("key") == key:
                return known
        row = {"key": key, "character": subject["label"], "clip": subject["clip"], "solver": solver}
        try:
            linear = self.linear(subject)
            code, _, err, seconds = self.bake(subject, solver, base + ".npy", base + ".report.json")
            row["seconds"] = round(seconds, 2)
            if code != 0:
                row["failed"] = "timed out after %d s" % self.options.timeout if code is None else (
                    "killed by signal %d" % -code if code < 0 else first_line(err) or "exit code %d" % code)
            else:
                with open(base + ".report.json") as file:
                    report = json.load(file)
                verdict = report["verdict"]
                row.update(figures=verdict["figures"], level=verdict["level"], verdict=verdict["text"],
                           intersections=[verdict["intersections"], verdict["intersections_linear"]],
                           volume=[report["volume"]["min_ratio"], report["volume"]["max_ratio"]],
                           frames=report["frames"], ms=report["timings"]["step_ms"]["median"],
                           verdict_ms=verdict["ms"], total_ms=report["timings"]["total_ms"],
                           referee=self.judge(linear, base + ".npy"))
                if not self.options.no_sheets:
                    row["sheet"] = self.sheet(subject, linear, base + ".npy", solver, base + ".png")
                os.remove(base + ".npy")
        except (RuntimeError, OSError, ValueError, KeyError) as problem:
            row["failed"] = str(problem)[:200]
        with open(record + ".tmp", "w") as file:
            json.dump(row, file, indent=1)
        os.replace(record + ".tmp", record)
        return row


HEADS = ["character", "clip", "solver", "off p99", "off max", "turned p95", "torn", "bone out", "pairs (linear)",
         "volume", "ms", "referee: p99, max, turned, torn", "verdict"]


def cells(row):
    if "failed" in row:
        return [row["character"], row["clip"], row["solver"]] + ["-"] * 9 + ["FAILED: " + row["failed"]]
    f = row["figures"]
    volume = "%.1f..%.1f" % tuple(100 * v for v in row["volume"]) if row["volume"][0] is not None else "open"
    r = row.get("referee")
    referee = "%.1f %.1f %.0f %.2f" % (100 * r["disp_p99"], 100 * r["disp_max"], r["angle_p95"],
                                       100 * r["torn"]) if r else "-"
    return [row["character"], row["clip"], row["solver"], "%.1f" % (100 * f["displacement_p99"]),
            "%.1f" % (100 * f["displacement_max"]), "%.0f" % f["patch_angle_p95"], "%.2f" % (100 * f["torn"]),
            "%.1f" % (100 * f["bone_outside"]), "%d (%d)" % tuple(row["intersections"]), volume, "%.0f" % row["ms"],
            referee, row["verdict"]]


TABLE = """| character | clip | p99 | largest | turned | torn | at rest | fallback | bone out | pairs (linear) | volume | verdict |
|---|---|---|---|---|---|---|---|---|---|---|---|
"""


def write_document(rows, command, path):
    """The table without its long columns, in place of the one below the command's line in a document."""
    table = TABLE
    for row in rows:
        if "failed" in row:
            continue
        text, r = cells(row), row.get("referee")
        name = os.path.splitext(os.path.basename(row["character"]))[0]
        named = (row["clip"] or "").split("|")[-1]
        figures = ["%.1f" % (100 * r["disp_p99"]), "%.1f" % (100 * r["disp_max"]), "%.0f" % r["angle_p95"],
                   "%.2f" % (100 * r["torn"])] if r else text[3:7]
        figures += ["%.2f" % (100 * row["figures"][key]) for key in ("torn", "fallback")]
        table += "| %s |\n" % " | ".join([name, named] + figures + text[7:10] + [row["level"]])
    levels = [row.get("level") for row in rows if "failed" not in row]
    table += "\n%d rows: %d good, %d to look at, %d bad.\n" % (
        len(levels), levels.count("good"), levels.count("look"), levels.count("bad"))

    with open(path) as file:
        document = file.read()
    line = "    " + command + "\n"
    if line not in document:
        print("wild: %s has no line '%s', so its table stays" % (path, line.strip()), file=sys.stderr)
        return
    before, after = document.split(line, 1)
    after = re.sub(r"(?s)\| character \|.*? bad\.\n", lambda _: table, after, count=1)
    with open(path, "w") as file:
        file.write(before + line + after)


def write_tables(rows, output):
    with open(os.path.join(output, "table.json"), "w") as file:
        json.dump(rows, file, indent=1)
    with open(os.path.join(output, "table.md"), "w") as file:
        file.write("| %s |\n|%s\n" % (" | ".join(HEADS), "---|" * len(HEADS)))
        for row in rows:
            file.write("| %s |\n" % " | ".join(text.replace("|", "/") for text in cells(row)))
    with open(os.path.join(output, "index.html"), "w") as file:
        file.write("<!doctype html><meta charset=utf-8><title>wild</title><style>body{font:14px sans-serif}"
                   "img{max-width:100%}</style>\n")
        for row in rows:
            name = re.sub(r"[^A-Za-z0-9]+", "_", "%s_%s" % (os.path.splitext(row["character"])[0], row["clip"]))
            picture = "%s.%s.png" % (name, row["solver"])
            file.write("<h3>%s</h3><p>%s</p>\n" % (
                html.escape("%(character)s, %(clip)s, %(solver)s" % row),
                html.escape(row.get("verdict") or "FAILED: " + row.get("failed", ""))))
            if os.path.exists(os.path.join(output, picture)):
                file.write("<img loading=lazy src=\"%s\">\n" % picture)


def main():
    parser = argparse.ArgumentParser(description="bake every character that can be found, judge and draw it")
    parser.add_argument("--program", default=os.path.join(ROOT, "build/release/bin/cutis"))
    parser.add_argument("--models", default=os.path.join(ROOT, "..", "shared", "models"))
    parser.add_argument("--output", default=os.path.join(ROOT, "build/wild"))
    parser.add_argument("--solver", default="layers,lattice,springs", help="solvers or stacks, separated by commas")
    parser.add_argument("--only", action="append", metavar="PATTERN", help="part of a path, * and ? allowed")
    parser.add_argument("--clips", default="first", metavar="first|all|WORDS",
                        help="words: of each character the clip that has the first of them in its name, run,walk for one")
    parser.add_argument("--seconds", type=float, default=0, help="at most so much of each clip; 0 for all")
    parser.add_argument("--random", type=float, default=0, metavar="DEGREES",
                        help="a second of random turns of every joint, by up to so much, in place of the file's clips")
    parser.add_argument("--timeout", type=float, default=900, help="seconds for one bake")
    parser.add_argument("--jobs", type=int, default=1, help="bakes at a time")
    parser.add_argument("--threads", type=int, default=0, help="of each bake; 0: its share of the processors")
    parser.add_argument("--short", action="store_true", help="a few frames of a few characters")
    parser.add_argument("--no-sheets", action="store_true", help="no pictures")
    parser.add_argument("--again", action="store_true", help="make every row again")
    parser.add_argument("--document", metavar="FILE", help="replace the table below the line with this command in this document")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a verdict is bad")
    options = parser.parse_args()
    options.models = os.path.abspath(options.models)
    options.threads = options.threads or max(1, (os.cpu_count() or 1) // options.jobs)
    if options.short:
        options.seconds = options.seconds or 0.3
        options.timeout = min(options.timeout, 120)
    if not os.path.isdir(options.models):
        print("wild: there are no models in %s; skipped" % options.models)
        return 77
    if not os.path.exists(options.program):
        sys.exit("wild: there is no program %s; build it first" % options.program)
    os.makedirs(options.output, exist_ok=True)

    # the command as a document has it: what is baked, not where or how many at a time
    asked = []
    for key in ("solver", "random", "seconds", "clips"):
        if getattr(options, key) != parser.get_default(key):
            value = getattr(options, key)
            asked.append("--%s %s" % (key, "%g" % value if isinstance(value, float) else value))
    asked += ["--only " + pattern for pattern in options.only or []]
    wild = Wild(options)
    rows = []

    # all solvers of a character in one job, because they share the cache of linear skinning
    def work(subject):
        if "skip" in subject:
            return [{"character": subject["label"], "clip": "", "solver": "", "failed": subject["skip"]}]
        linear = wild.base(subject, "lbs") + ".npy"
        if os.path.exists(linear):
            os.remove(linear)
        made = [wild.row(subject, solver) for solver in options.solver.split(",")]
        if os.path.exists(linear):
            os.remove(linear)
        return made

    print(" | ".join(HEADS))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for made in pool.map(work, wild.subjects()):
            for row in made:
                rows.append(row)
                print(" | ".join(cells(row)), flush=True)
            write_tables(rows, options.output)
            if options.document:
                write_document(rows, "scripts/wild.py " + " ".join(asked), options.document)
    counts = {level: sum(row.get("level") == level for row in rows) for level in ("good", "look", "bad")}
    failed = [row for row in rows if "failed" in row and row["solver"]]
    unread = [row for row in rows if "failed" in row and not row["solver"]]
    broken = [row for row in rows if row.get("figures", {}).get("non_finite")]
    print("== wild: %d rows: %d good, %d to look at, %d bad, %d failed, %d files not read: %s" % (
        len(rows), counts["good"], counts["look"], counts["bad"], len(failed), len(unread),
        os.path.join(options.output, "table.md")))
    return 1 if failed or broken or (options.strict and counts["bad"]) else 0


if __name__ == "__main__":
    sys.exit(main())
