#!/usr/bin/env python3
"""reference_tables.py CUTIS FOLDER: write parameters.md and api.md, generated from the program's tables and the headers.

parameters.md lists parameters and outputs of every solver ('cutis solvers NAME --json'); api.md lists every public
function with its comment, by header. `make reference` writes them to build/docs.
"""
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEADERS = ["bake", "distil", "model", "character", "io", "rig", "measure", "texture", "zoo", "base"]


def solvers(program, *name):
    made = subprocess.run([program, "solvers", *name, "--json"], check=True, capture_output=True, text=True)
    table = json.loads(made.stdout)
    return table if name or isinstance(table, list) else table["solvers"]


def cell(value):
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return "%.9g" % value
    return str(value).replace("|", "\\|")


def limits(parameter):
    if parameter.get("choices"):
        return ", ".join(parameter["choices"])
    if parameter.get("min") is not None:
        return "%s to %s" % (cell(parameter["min"]), cell(parameter["max"]))
    return ""


def parameters(program):
    lines = ["# Parameters and outputs of the solvers", "",
             "Generated from the solvers' tables by `scripts/reference_tables.py`. A parameter marked * can be set for one "
             "bone: `--set bones.NAME.PARAMETER=VALUE`.", ""]
    for entry in solvers(program):
        one = solvers(program, entry["name"])
        lines += ["## " + one["name"], "", one["summary"] + (". " + one["paper"] if one["paper"] else "") + ".", ""]
        if one["parameters"]:
            lines += ["| parameter | default | range | unit | bone | meaning |", "|---|---|---|---|---|---|"]
            for p in one["parameters"]:
                lines.append("| `%s` | %s | %s | %s | %s | %s |" % (p["name"], cell(p["default"]), limits(p), p.get("unit") or "",
                                                                  "*" if p.get("per_bone") else "", cell(p["help"])))
            lines.append("")
        if one["outputs"]:
            lines += ["| output | per | numbers | unit | meaning |", "|---|---|---|---|---|"]
            for o in one["outputs"]:
                lines.append("| `%s` | %s | %d | %s | %s |" % (o["name"], o["domain"], o["components"], o["unit"], cell(o["help"])))
            lines.append("")
    return "\n".join(lines)


def words(comment):
    """A C comment as one paragraph."""
    text = re.sub(r"^\s*/\*+|\*/\s*$", "", comment)
    return " ".join(re.sub(r"(?m)^\s*\* ?", "", text).split())


def api():
    lines = ["# Public functions by header", "", "Generated from `include/cutis` by `scripts/reference_tables.py`.", ""]
    for header in HEADERS:
        with open(os.path.join(ROOT, "include/cutis", header + ".h"), encoding="utf-8") as file:
            text = file.read()
        opening = re.match(r"/\*.*?\*/", text, re.S).group(0)
        purpose = words(re.split(r"\n \*\n", opening)[0]).split(": ", 1)[1]
        lines += ["## " + header + ".h", "", purpose, ""]
        pattern = re.compile(r"(/\*(?:(?!\*/).)*\*/\s*)?CUTIS_API\s+([^;]*?);[ \t]*(/\*.*?\*/)?", re.S)
        for found in pattern.finditer(text):
            comment = words(found.group(1) or "") or words(found.group(3) or "")
            lines += ["- `%s`  " % " ".join(found.group(2).split()), "  " + comment if comment else "  "]
        lines.append("")
    return "\n".join(lines)


def main():
    program, folder = sys.argv[1:3]
    os.makedirs(folder, exist_ok=True)
    for name, text in (("parameters.md", parameters(program)), ("api.md", api())):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text.rstrip() + "\n")
        print(os.path.join(folder, name))


if __name__ == "__main__":
    main()
