"""formats_table.py [CUTIS]: what cutis reads of every file of ../shared/models/formats and rigs, as a table.

Columns: file, read by, vertices, joints, clips, result. Exit code 1 when a file is refused that is not expected to be.
"""
import json
import pathlib
import subprocess
import sys

program = sys.argv[1] if len(sys.argv) > 1 else "build/release/bin/cutis"
models = pathlib.Path("../shared/models")
endings = {".glb", ".gltf", ".vrm", ".fbx", ".dae", ".obj", ".ply", ".stl", ".off"}
# points without faces, a motion without a mesh
expected = {"points.ply", "f_walk_fast_02.max.fbx"}

if not (models / "formats").is_dir():
    print("no ../shared/models/formats: skipped")
    sys.exit(77)
failures = 0
print(f"{'file':66}{'read by':24}{'vertices':>9}{'joints':>7}{'clips':>6}  result")
for path in sorted([*models.glob("formats/*/*"), *models.glob("rigs/*/*")]):
    if path.suffix.lower() not in endings:
        continue
    run = subprocess.run([program, "info", str(path), "--json"], capture_output=True, text=True, timeout=120)
    name = str(path.relative_to(models))
    if run.returncode:
        known = path.name in expected
        failures += not known
        print(f"{name:66}{'':24}{'':>9}{'':>7}{'':>6}  {'refused' if known else 'FAILED'}: {run.stderr.strip()[:120]}")
        continue
    info = json.loads(run.stdout)
    print(
        f"{name:66}{info['reader']:24}{info['vertices']:>9}{len(info['joints']):>7}{len(info['clips']):>6}  read, "
        f"{len(info['problems'])} problems"
    )
sys.exit(1 if failures else 0)
