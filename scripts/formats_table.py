"""formats_table.py [CUTIS [FOLDER...]]: what cutis reads of every file below folders (../shared/models/formats and rigs), as a table.

Columns: file, read by, vertices, joints, clips, result. With folders given, each file is also converted to .glb and its
first clip is baked by linear skinning. Exit code 1 when a file of ../shared/models is refused that is not expected to be,
and wherever the program crashes, does not end within a minute, or says nothing.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

program = sys.argv[1] if len(sys.argv) > 1 else "build/release/bin/cutis"
models = pathlib.Path("../shared/models")
folders = [pathlib.Path(name) for name in sys.argv[2:]]
endings = {".glb", ".gltf", ".vrm", ".fbx", ".dae", ".obj", ".ply", ".stl", ".off"}
# points without faces, a motion without a mesh
expected = {"points.ply", "f_walk_fast_02.max.fbx"}
SECONDS = 60

if not folders and not (models / "formats").is_dir():
    print("no ../shared/models/formats: skipped")
    sys.exit(77)


def run(*words):
    """Exit code, output, and what went wrong in one line ('' when nothing did)."""
    try:
        made = subprocess.run([program, *words], capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return -99, "", "HANGS"
    text = made.stderr.decode(errors="replace").strip()
    if made.returncode < 0:
        return made.returncode, "", "CRASHES by signal %d" % -made.returncode
    if made.returncode:
        return made.returncode, "", text.splitlines()[-1][:160] if text else "SAYS NOTHING"
    return 0, made.stdout.decode(errors="replace"), ""


def tried(path, info, folder):
    """What becomes of a file that is read, when it is converted and baked."""
    out = folder + "/out.glb"
    _, _, wrong = run("convert", str(path), out, "-q")
    if wrong:
        return "convert: " + wrong
    if not info["clips"]:
        return "converted"
    _, _, wrong = run("bake", str(path), "--solver", "lbs", "--fps", "4", "-q", "-o", folder + "/out.npy")
    return "bake: " + wrong if wrong else "converted, baked"


failures = 0
paths = [p for f in folders for p in f.rglob("*")] or [*models.glob("formats/*/*"), *models.glob("rigs/*/*")]
print(f"{'file':66}{'read by':24}{'vertices':>9}{'joints':>7}{'clips':>6}  result")
with tempfile.TemporaryDirectory() as folder:
    for path in sorted(p for p in paths if p.suffix.lower() in endings and p.is_file()):
        name = str(path if folders else path.relative_to(models))[-65:]
        code, text, wrong = run("info", str(path), "--json")
        if wrong:
            fine = path.name in expected if not folders else wrong.upper() != wrong and code > 0
            failures += not fine
            print(f"{name:66}{'':24}{'':>9}{'':>7}{'':>6}  {'refused' if fine else 'FAILED'}: {wrong}")
            continue
        info = json.loads(text)
        result = tried(path, info, folder) if folders else "read"
        failures += any(word in result for word in ("HANGS", "CRASHES", "SAYS NOTHING"))
        print(
            f"{name:66}{info['reader']:24}{info['vertices']:>9}{len(info['joints']):>7}{len(info['clips']):>6}  {result}, "
            f"{len(info['problems'])} problems"
        )
sys.exit(1 if failures else 0)
