#!/usr/bin/env python3
"""check_steps.py [--list] [FOLDER or FILE]...: how the bodies of functions read.

A function longer than 20 lines is told in steps: a blank line and a short comment before each, so that its outline can be
read from the comments. Counts, for each folder, the functions longer than that without one step, and the shares of
blank lines and comment lines in all bodies; --list names the functions. Lines that join assignments with commas are
counted too. Default folders: src and cli.

Exits with 1 when there are functions without steps, or joined assignments.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LONG = 20
# a = b, c = d; outside of declarations, initializers and the heads of loops
JOINED = re.compile(r"^\s+(?:(?:else )?(?:if|while) \(.*\) )?(?!if\b|while\b|for\b|int\b|float\b|double\b|const\b|size_t\b|u?int\w+_t\b|char\b|bool\b|static\b|unsigned\b"
                    r"|[.\[])[\w.>\[\]*+-]+ [-+*/|]?= [^=;\"'{]+, [*\w.>\[\]+-]+ [-+*/|]?= [^;]+;")


def functions(path):
    """(name, first line, body lines) of each function: clang-format puts its braces into the first column."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        lines = file.read().split("\n")
    start = None
    for number, line in enumerate(lines):
        if line == "{":
            start = number
        elif line == "}" and start is not None:
            head = start - 1
            while head > 0 and (lines[head].startswith((" ", "\t")) or "(" not in lines[head]):
                head -= 1
            name = re.search(r"(\w+)\s*\(", lines[head])
            yield name.group(1) if name else "?", head + 1, lines[start + 1:number]
            start = None


def comments(body):
    """For each line whether it belongs to a comment that has the line for itself."""
    marks, inside = [], False
    for line in body:
        text = line.strip()
        opens = text.startswith("/*") or text.startswith("//")
        marks.append(inside or opens)
        if text.startswith("/*") or inside:
            inside = "*/" not in text
    return marks


def has_step(body):
    """A blank line with a comment behind it; the cases of a switch are steps by themselves."""
    if sum(line.lstrip().startswith("case ") for line in body) >= 4:
        return True
    marks = comments(body)
    return any(marks[i] and not marks[i - 1] and not body[i - 1].strip() for i in range(1, len(body)))


def sources(where):
    if os.path.isfile(os.path.join(ROOT, where)):
        yield where
    for folder, folders, names in os.walk(os.path.join(ROOT, where)):
        folders.sort()
        for name in sorted(names):
            if name.endswith((".c", ".h")):
                yield os.path.relpath(os.path.join(folder, name), ROOT)


def group(path):
    """The folder in whose row a file is counted: solvers have one each."""
    parts = path.split("/")
    depth = 3 if parts[:2] == ["src", "solvers"] and len(parts) > 3 else 2 if parts[0] == "src" else 1
    return "/".join(parts[:depth])


def main():
    arguments = [a for a in sys.argv[1:] if a != "--list"]
    listed = "--list" in sys.argv
    rows, code = {}, 0
    for where in arguments or ["src", "cli"]:
        for path in sources(os.path.relpath(os.path.abspath(where), ROOT)):
            row = rows.setdefault(group(path), {"long": 0, "bare": 0, "lines": 0, "blank": 0, "comment": 0, "joined": 0})
            for name, line, body in functions(path):
                row["lines"] += len(body)
                row["blank"] += sum(not text.strip() for text in body)
                row["comment"] += sum(comments(body))
                joined = [line + 1 + i for i, text in enumerate(body)
                          if JOINED.match(text) and not (i and body[i - 1].endswith(","))]
                row["joined"] += len(joined)
                row["long"] += len(body) > LONG
                bare = len(body) > LONG and not has_step(body)
                row["bare"] += bare
                if listed and bare:
                    print("%s:%d: %s, %d lines without a step" % (path, line, name, len(body)))
                if listed and joined:
                    print("%s:%d: %s joins assignments with commas" % (path, joined[0], name))
    print("%-22s %9s %12s %8s %9s %7s" % ("folder", "functions", "without", "blank %", "comment %", "joined"))
    print("%-22s %9s %12s" % ("", "> %d" % LONG, "steps"))
    total = {}
    for name, row in sorted(rows.items()) + [("all", total)]:
        for key, value in row.items():
            total[key] = total.get(key, 0) + (value if row is not total else 0)
        lines = max(row.get("lines", 0), 1)
        print("%-22s %9d %12d %8.1f %9.1f %7d" % (name, row["long"], row["bare"], 100 * row["blank"] / lines,
                                                100 * row["comment"] / lines, row["joined"]))
        if name != "all" and row["bare"]:
            print("  functions longer than %d lines need a blank line and a comment before each step: --list" % LONG)
            code = 1
        if name != "all" and row["joined"]:
            print("  assignments stand one a line: --list")
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main())
