"""clang_warnings.py BUILD: every source that BUILD compiles passes clang's front end without a warning (all warnings we
ask for come from there, so that no code is generated). Uses compile_commands.json of BUILD."""
import json
import os
import shutil
import subprocess
import sys

if not shutil.which("clang"):
    print("skipped: clang is not installed")
    sys.exit(77)

bad = 0
commands = json.load(open(os.path.join(sys.argv[1], "compile_commands.json")))
for entry in commands:
    # the compiler is the first word that is no launcher; the outputs are left out
    words = entry["command"].split()
    first = next(i for i, word in enumerate(words) if not word.endswith("ccache"))
    output = words.index("-o")
    words = ["clang", "-fsyntax-only"] + words[first + 1 : output] + words[output + 2 :]
    result = subprocess.run(words, cwd=entry["directory"], capture_output=True, text=True)
    if result.returncode:
        bad += 1
        print(result.stderr[:2000])
print(f"== clang: {len(commands)} files, {bad} with warnings")
sys.exit(bad > 0)
