#!/usr/bin/env python3
"""check_layers.py: the rules of the source tree that a compiler does not check.

- Which module may include which: the order of dependence of docs/ARCHITECTURE.md.
- Solvers never include each other; the program (cli) and the examples use only include/cutis; the program may ask
  base/system.h, the one place for what differs between operating systems.
- No module names a solver but its own folder, the table, and benchmarks: what others need is declared in its entry.
- The core needs nothing but libc, libm and threads; jansson stays in io and cli, zlib, Draco and meshoptimizer in io, SuiteSparse in rig, Embree and PNG
  in cli.
- File names are unique in the tree. Intrinsics stay in src/math/simd*.h. Functions of libm whose bits differ between
  libraries are not called outside src/math. The library does not print, exit, abort or read the environment, and
  takes memory through its allocator alone.

Prints one line for each breach and exits with 1 when there is one.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# A module may include itself and those above it.
ORDER = ["base", "math", "mesh", "character", "limbs", "body", "show", "rig", "contact", "articulation", "solvers", "engine", "io",
         "retarget", "measure", "zoo", "grasp", "bake", "distil"]
# Only the engine calls the solver table.
FORBIDDEN = {("io", "solvers"), ("retarget", "solvers"), ("measure", "solvers"), ("zoo", "solvers"), ("bake", "solvers"),
             ("grasp", "solvers"), ("distil", "solvers")}

STANDARD = set(
    "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic "
    "stdbool stddef stdint stdio stdlib stdnoreturn string tgmath time uchar wchar wctype".split())
# Beyond the C standard library, by module.
SYSTEM = {
    "base": ["pthread.h", "sched.h"],
    "math": ["immintrin.h", "wasm_simd128.h"],
    "rig": ["suitesparse/"],
    "io": ["jansson.h", "zlib.h", "draco/", "meshoptimizer.h", "cstdio", "exception", "memory"],
}

LIBM = "sin cos tan sincos asin acos atan atan2 sinh cosh tanh exp exp2 exp10 expm1 log log2 log10 log1p pow cbrt hypot"
LIBM_CALL = re.compile(r"(?<![\w.>])(?:%s)[fl]?\s*\(" % "|".join(LIBM.split()))
NOISE_CALL = re.compile(
    r"(?<![\w.>])(?:printf|vprintf|puts|putchar|perror|exit|_exit|quick_exit|abort|getenv|setlocale|srand|rand|system)"
    r"\s*\(|\b(?:stdout|stderr|stdin)\b")
MEMORY_CALL = re.compile(
    r"(?<![\w.>])(?:malloc|calloc|realloc|free|aligned_alloc|posix_memalign|strdup|strndup|alloca)\s*\(")
INTRINSIC = re.compile(r"\b_mm\d*_\w+|\b__m(?:64|128|256|512)[di]?\b|\bv(?:ld|st)\dq?_\w+\(|\bwasm_\w+\(|\w*intrin\.h")
FAST_MATH = re.compile(r"fast-math|FP_CONTRACT\s+ON|optimize\s*\(")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^">]+)[">]', re.M)
STRING = re.compile(r'"((?:\\.|[^"\\\n])*)"')
CODE = (".c", ".h", ".cpp", ".hpp")

# Folders of solvers; each has the name of its solver.
SOLVERS = sorted(name for name in os.listdir(os.path.join(ROOT, "src/solvers"))
                 if os.path.isdir(os.path.join(ROOT, "src/solvers", name)))
# A word that is a solver's name and means something else: the file, and why.
NAMESAKES = {
    ("cli/options.c", "curves"): "a former option of 'cutis rig': the curves found on the mesh",
    ("src/solvers/lattice/lattice.c", "tissue"): "an output: what kind of flesh",
    ("src/io/gltf/gltf_springs.c", "springs"): "a list of VRM's extension of spring bones",
}

breaches = []


def breach(path, line, text):
    breaches.append("%s:%d: %s" % (path, line, text))


def strip(text, strings=True):
    """Blank out comments (and strings), keeping line numbers."""

    def blank(match):
        part = match.group(0)
        if part[0] in "\"'" and not strings:
            return part
        return re.sub(r"[^\n]", " ", part)

    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


def search(path, code, pattern, text):
    for match in pattern.finditer(code):
        breach(path, code.count("\n", 0, match.start()) + 1, text % match.group(0).rstrip("( \t"))


def files():
    for folder in ("include", "src", "cli", "tests", "bench", "fuzz", "examples"):
        for where, folders, names in os.walk(os.path.join(ROOT, folder)):
            folders.sort()
            for name in sorted(names):
                if name.endswith(CODE):
                    yield os.path.relpath(os.path.join(where, name), ROOT)


def check_include(path, line, kind, name):
    parts = path.split("/")
    if parts[0] == "cli" and name == "base/system.h":
        return
    if parts[0] in ("cli", "examples"):
        local = os.path.exists(os.path.join(ROOT, parts[0], name)) or os.path.exists(
            os.path.join(ROOT, os.path.dirname(path), name))
        inside = os.path.exists(os.path.join(ROOT, "src", name)) or name.startswith("..")
        if kind == '"' and not local and not name.startswith("cutis/") or inside:
            breach(path, line, "%s may include only cutis/*.h, not \"%s\"" % (parts[0], name))
        return
    if parts[0] == "include":
        if kind == "<" and name not in ("stdbool.h", "stddef.h", "stdint.h"):
            breach(path, line, "public headers need only stdbool, stddef and stdint, not <%s>" % name)
        return
    if parts[0] != "src":
        return
    module = parts[1]
    if module not in ORDER:
        breach(path, line, "src/%s is not a module of the order of dependence" % module)
        return
    if kind == "<":
        allowed = name.endswith(".h") and name[:-2] in STANDARD
        allowed = allowed or path.startswith("src/base/system_")
        allowed = allowed or any(name.startswith(prefix) for prefix in SYSTEM.get(module, []))
        if not allowed:
            breach(path, line, "src/%s must not need <%s>" % (module, name))
        return
    if name.startswith("cutis/"):
        if module == "base" and name != "cutis/base.h":
            breach(path, line, "src/base may include only cutis/base.h")
        return
    # The player that hosts copy is also the one by which the library checks what it has learned.
    if module == "distil" and name == "../../players/cutis_live.h":
        return
    # A header of the own folder, or one by its path from src.
    beside = os.path.join(os.path.dirname(path), name)
    if os.path.exists(os.path.join(ROOT, beside)):
        target = os.path.normpath(beside)
    else:
        target = os.path.join("src", name)
        if not os.path.exists(os.path.join(ROOT, target)):
            breach(path, line, "\"%s\" is neither beside the file nor under src" % name)
            return
    other = target.split("/")[1]
    if other not in ORDER or ORDER.index(other) > ORDER.index(module) or (module, other) in FORBIDDEN:
        breach(path, line, "src/%s must not include src/%s (%s)" % (module, other, name))
    if module == other == "solvers":
        mine, its = parts[2:-1], target.split("/")[2:-1]
        if its and mine != its:
            breach(path, line, "a solver must not include another (%s)" % name)


def check_solver_names(path, text):
    """Strings that are a solver's name, or begin as a stack or a setting's key does, and symbols of its entry."""
    parts = path.split("/")
    if parts[0] not in ("src", "cli", "include") or re.match(r"cli/(bench/|bench_|cmd_bench)", path):
        return
    if path == "src/solvers/solver_table.c":
        return
    own = parts[2] if parts[:2] == ["src", "solvers"] and len(parts) > 3 else None
    code = strip(text, strings=False)
    for match in STRING.finditer(code):
        word = re.match(r"(\w+)(?:[.+]\w.*)?$", match.group(1))
        word = word and word.group(1)
        if word in SOLVERS and word != own and (path, word) not in NAMESAKES:
            breach(path, code.count("\n", 0, match.start()) + 1,
                   "names solver %s: declare what is needed in its table entry" % match.group(0))
    for match in re.finditer(r"\bsolver_(\w+)\b", strip(text)):
        if match.group(1) in SOLVERS and match.group(1) != own:
            breach(path, code.count("\n", 0, match.start()) + 1, "names %s" % match.group(0))


def check_file(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        text = file.read()
    for match in INCLUDE.finditer(strip(text, strings=False)):
        check_include(path, text.count("\n", 0, match.start()) + 1, match.group(1), match.group(2))
    check_solver_names(path, text)
    code = strip(text)
    if path not in ("src/math/simd.h", "src/math/simd_double.h"):
        search(path, code, INTRINSIC, "intrinsics belong into src/math/simd*.h: %s")
    if not path.startswith("src/"):
        return
    if not re.match(r"\s*/\*", text):
        breach(path, 1, "a source file opens with a comment that says what it does")
    search(path, code, NOISE_CALL, "the library must not call %s")
    search(path, code, FAST_MATH, "changes floating-point results: %s")
    if not path.startswith("src/math/"):
        search(path, code, LIBM_CALL, "%s of libm differs between systems: use det_* of math3.h")
    if not path.startswith("src/base/"):
        search(path, code, MEMORY_CALL, "%s goes around the allocator: use memory_allocate or an arena")


def main():
    seen = {}
    count = 0
    for path in files():
        count += 1
        name = os.path.basename(path)
        if name in seen:
            breach(path, 1, "the file name is also that of %s" % seen[name])
        seen[name] = path
        check_file(path)
    for line in breaches:
        print(line)
    print("== check_layers: %d files, %d breaches" % (count, len(breaches)))
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
