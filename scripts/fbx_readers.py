"""fbx_readers.py [CUTIS]: the FBX reader of cutis and that of Assimp (program `assimp`), file by file, as a table in Markdown.

Both give a .glb: `cutis convert` and `assimp export`. Columns: points (vertices at the same position count once), faces,
joints that move vertices, clips and length of the first in seconds, morph targets; then the largest distance between the two surfaces'
points, in percent of the size, at rest and in the middle of the first clip under linear skinning. Each surface is scaled to its own
size at rest and centred, because Assimp keeps the file's unit. Needs NumPy. Skips without Assimp or ../shared/models.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy

program = sys.argv[1] if len(sys.argv) > 1 else "build/release/bin/cutis"
models = pathlib.Path("../shared/models")
SAMPLES = 400  # points of a surface whose nearest neighbours are searched

if not shutil.which("assimp") or not models.is_dir():
    print("no assimp or no ../shared/models: skipped")
    sys.exit(77)


def run(*words):
    """Exit code, output and last line of the errors."""
    made = subprocess.run([str(word) for word in words], capture_output=True, timeout=120)
    text = (made.stderr or made.stdout).decode(errors="replace").strip().splitlines()
    return made.returncode, made.stdout.decode(errors="replace"), text[-1] if text else ""


def contents(path):
    code, text, error = run(program, "info", path, "--json")
    return (json.loads(text), "") if code == 0 else (None, error)


def rest_points(path, folder):
    out = folder / "rest.obj"
    if run(program, "convert", path, out)[0] != 0:
        return None
    return numpy.array([line.split()[1:4] for line in out.read_text().splitlines() if line.startswith("v ")], float)


def posed_points(path, info, folder):
    """Points in the middle of the first clip; None without a clip."""
    if not info["clips"]:
        return None
    clip = info["clips"][0]
    middle = clip["start"] + clip["length"] / 2
    out = folder / "posed.npy"
    code, _, _ = run(program, "bake", path, "--solver", "lbs", "--clip", clip["name"], "--start", middle, "--end", middle,
                     "-q", "-o", out)
    return numpy.load(out)[0] if code == 0 else None


def normalised(points, rest):
    low, high = rest.min(0), rest.max(0)
    return (points - (low + high) / 2) / numpy.linalg.norm(high - low)


def apart(a, b):
    """Largest distance from sampled points of either surface to the nearest point of the other."""
    worst = 0
    for x, y in ((a, b), (b, a)):
        for point in x[:: max(1, len(x) // SAMPLES)]:
            worst = max(worst, numpy.sqrt(((y - point) ** 2).sum(1).min()))
    return worst


def described(info):
    clips = info["clips"]
    length = ", %.2f s" % clips[0]["length"] if clips else ""
    return "%d / %d / %d / %d%s / %d" % (info["points"], info["faces"], sum(joint["deforms"] for joint in info["joints"]), len(clips), length,
                                         len(info["morphs"]))


print("| file | cutis | Assimp | apart at rest, in motion |\n|---|---|---|---|")
for path in sorted(models.rglob("*.fbx"), key=str):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        ours, error = contents(path)
        shown = described(ours) if ours else "refused: " + error.split(": ")[-1][:60]
        target = folder / "assimp.glb"
        code, text, error = run("assimp", "export", path, target, "-fglb2")
        theirs, failure = contents(target) if target.exists() else (None, error or text)
        cells = [path.stem, shown, described(theirs) if theirs else "refused: " + failure.split(": ")[-1].split(",")[0][:60], ""]
        if ours and theirs:
            rest = rest_points(path, folder), rest_points(target, folder)
            posed = posed_points(path, ours, folder), posed_points(target, theirs, folder)
            measured = []
            for a, b in (rest, posed):
                known = a is not None and b is not None
                measured.append("%.2g %%" % (100 * apart(normalised(a, rest[0]), normalised(b, rest[1]))) if known else "-")
            cells[3] = ", ".join(measured)
        print("| " + " | ".join(cell.replace("|", " ") for cell in cells) + " |", flush=True)
