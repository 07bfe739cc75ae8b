"""web_structs.py HEADERS OUTPUT

Read the public headers as scripts/python_structs.py does and write, into the folder OUTPUT:
    structs.js       layout of every struct in WebAssembly's memory, values of all enums and constants
    layout.c         static assertions that the compiler lays the structs out in the same way
    all.exports, live.exports    the functions that the modules of the npm package export
"""
import json
import os
import re
import sys

from python_structs import ORDER, Headers, strip

# size and letter of ctypes' basic types on wasm32, where pointers and long have 4 bytes
BASIC = {"c_int": (4, "i"), "c_long": (4, "i"), "c_uint": (4, "u"), "c_float": (4, "f"), "c_double": (8, "d"),
         "c_bool": (1, "b"), "c_size_t": (4, "u"), "c_uint64": (8, "U"), "c_int64": (8, "I"), "c_char": (1, "c"),
         "c_char_p": (4, "s"), "c_void_p": (4, "p")}
WITHOUT = ("distil.h", "grasp.h")  # tools of the program: a page neither learns flesh nor plans grasps
LIVE_HEADERS = ("base.h", "character.h", "model.h")  # a character from arrays, models, states
LIVE_WITHOUT = ("cutis_state_find_loop", "cutis_character_topology", "cutis_character_match_joints")
GLUE = {"all": ["cutis_web_progress", "cutis_web_message", "cutis_web_clip_sample"], "live": ["cutis_web_clip_sample"]}


def layout(kind, structs):
    """(size, alignment, description) of a ctypes expression. Descriptions are letters, struct names or [of, count]."""
    array = re.match(r"\((.*) \* (\d+)\)$", kind)
    if array:
        size, alignment, of = layout(array.group(1), structs)
        count = int(array.group(2))
        return size * count, alignment, [of, count]
    if kind.startswith("POINTER(") or kind.startswith("CFUNCTYPE("):
        return 4, 4, "p"
    if kind in BASIC:
        size, letter = BASIC[kind]
        return size, size, letter
    return structs[kind]["size"], structs[kind]["alignment"], kind


def main():
    folder, output = sys.argv[1:3]
    headers = Headers()
    owner = {}
    for name in (name for name in ORDER if name not in WITHOUT):
        before = set(headers.functions)
        with open(os.path.join(folder, name)) as file:
            headers.read(strip(file.read()))
        for function in set(headers.functions) - before:
            owner[function] = name

    # structs, as a compiler lays them out
    structs = {}
    for name, fields in headers.structs.items():
        entry = {"size": 0, "alignment": 1, "fields": {}}
        for field, kind in fields:
            size, alignment, description = layout(kind, structs)
            offset = -(-entry["size"] // alignment) * alignment
            entry["fields"][field] = [offset, description]
            entry["size"] = offset + size
            entry["alignment"] = max(entry["alignment"], alignment)
        entry["size"] = -(-entry["size"] // entry["alignment"]) * entry["alignment"]
        structs[name] = entry

    # the module of JavaScript
    text = ["// The C interface of cutis on wasm32. Made by scripts/web_structs.py from include/cutis: do not edit.",
            "export const structs = {"]
    for name, entry in structs.items():
        fields = ", ".join("%s: %s" % (field, json.dumps(place)) for field, place in entry["fields"].items())
        text.append("  %s: { size: %d, fields: { %s } }," % (name, entry["size"], fields))
    text += ["};", "export const constants = {"]
    text += ["  %s: %s," % (name, value) for name, value in headers.constants.items()]
    text += ["};", ""]
    with open(os.path.join(output, "structs.js"), "w") as file:
        file.write("\n".join(text))

    # the same for the compiler
    text = ["#include <stddef.h>", "", "#include <cutis/cutis.h>", ""]
    for name, entry in structs.items():
        text.append("_Static_assert(sizeof(%s) == %d, \"%s\");" % (name, entry["size"], name))
        for field, (offset, _) in entry["fields"].items():
            text.append("_Static_assert(offsetof(%s, %s) == %d, \"%s.%s\");" % (name, field, offset, name, field))
    with open(os.path.join(output, "layout.c"), "w") as file:
        file.write("\n".join(text) + "\n")

    # functions
    for module, glue in GLUE.items():
        names = [name for name in sorted(headers.functions)
                 if module == "all" or (owner[name] in LIVE_HEADERS and name not in LIVE_WITHOUT)]
        with open(os.path.join(output, module + ".exports"), "w") as file:
            file.write(json.dumps(["_" + name for name in names + glue + ["malloc", "free"]]))


if __name__ == "__main__":
    main()
