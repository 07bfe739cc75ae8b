#!/usr/bin/env python3
"""check_readme.py: the README's example is examples/readme.c, and every file the documents link to is there, as are
the tests that docs/notes/claims.md names."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
code = 0


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


blocks = re.findall(r"```c\n(.*?)```", read("README.md"), re.S)
example = re.sub(r"^/\*.*?\*/\n", "", read("examples/readme.c"), flags=re.S)  # without its opening comment
if example.strip() not in [block.strip() for block in blocks]:
    print("README.md holds no block of C equal to examples/readme.c")
    code = 1

links = 0
documents = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
for where, _, names in os.walk(os.path.join(ROOT, "docs")):
    documents += [os.path.relpath(os.path.join(where, name), ROOT) for name in sorted(names) if name.endswith(".md")]
for document in documents:
    for target in re.findall(r"\]\(([^)#\s]+)", read(document)):
        if re.match(r"[a-z]+:", target):
            continue
        links += 1
        if not os.path.exists(os.path.join(ROOT, os.path.dirname(document), target)):
            print("%s: link to %s, which does not exist" % (document, target))
            code = 1
# the tests that hold the claims
for name in re.findall(r"`([a-z0-9_]+\.(?:c|sh|py))`", read("docs/notes/claims.md")):
    if not os.path.exists(os.path.join(ROOT, "tests", name)):
        print("docs/notes/claims.md: there is no tests/%s" % name)
        code = 1
print("== check_readme: example and %d links checked" % links)
sys.exit(code)
