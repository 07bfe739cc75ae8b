"""python_structs.py HEADERS OUTPUT.py [LAYOUT.c]

Write the ctypes declarations of every struct, enum and function of the public headers (a folder), and with a third
argument a C program that prints the size of each struct and the offset of each field, against which the tests hold
what was written. The headers are read in the order in which they include each other.
"""
import os
import re
import sys

ORDER = ("base.h", "character.h", "model.h", "io.h", "measure.h", "rig.h", "zoo.h", "texture.h", "bake.h", "distil.h",
         "grasp.h")
BASIC = {"int": "c_int", "long": "c_long", "float": "c_float", "double": "c_double", "bool": "c_bool",
         "size_t": "c_size_t", "uint64_t": "c_uint64", "int64_t": "c_int64", "unsigned": "c_uint", "char": "c_char"}
IDENTIFIER = r"[A-Za-z_]\w*"


def strip(text):
    """C without comments, preprocessor lines and the linkage of C++."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"^#ifdef __cplusplus.*?^#endif", " ", text, flags=re.S | re.M)
    return text


class Headers:
    def __init__(self):
        self.constants, self.enums, self.structs, self.opaque, self.functions = {}, {}, {}, [], {}
        self.lines = []  # of the output, in the order of the headers

    # ---- types ----

    def type_of(self, base, stars):
        """ctypes expression of a base type with so many stars."""
        base = re.sub(r"\b(const|struct|enum)\b", "", base).strip()
        if base == "void":
            if stars == 0:
                return "None"
            name, stars = "c_void_p", stars - 1
        elif base == "char" and stars:
            name, stars = "c_char_p", stars - 1
        elif base in self.enums:
            name = "c_int"
        elif base in self.structs or base in self.opaque:
            name = base
        elif base in BASIC:
            name = BASIC[base]
        else:
            raise SystemExit("python_structs.py: unknown type '%s'; teach the script" % base)
        for _ in range(stars):
            name = "POINTER(%s)" % name
        return name

    def arguments_of(self, text):
        kinds = []
        for argument in split_commas(text):
            argument = argument.strip()
            if argument == "void" or not argument:
                continue
            pointer = re.match(r"(.*)\(\s*\*\s*(%s)?\s*\)\s*\((.*)\)$" % IDENTIFIER, argument, re.S)
            if pointer:
                kinds.append(self.callback_of(pointer.group(1), pointer.group(3)))
                continue
            match = re.match(r"((?:const\s+)?(?:unsigned|%s)(?:\s+const)?)\s*((?:\*\s*(?:const\s*)?)*)(%s)?\s*((?:\[\w*\])*)$"
                             % (IDENTIFIER, IDENTIFIER), argument)
            if not match:
                raise SystemExit("python_structs.py: cannot read argument '%s'" % argument)
            stars = match.group(2).count("*") + (1 if match.group(4) else 0)
            kinds.append(self.type_of(match.group(1), stars))
        return kinds

    def callback_of(self, result, arguments):
        result = result.strip()
        stars = result.count("*")
        return "CFUNCTYPE(%s)" % ", ".join([self.type_of(result.replace("*", ""), stars)] + self.arguments_of(arguments))

    def fields_of(self, body):
        fields = []
        for statement in body.split(";"):
            statement = " ".join(statement.split())
            if not statement:
                continue
            pointer = re.match(r"(.*?)\(\s*\*\s*(%s)\s*\)\s*\((.*)\)$" % IDENTIFIER, statement)
            if pointer:
                fields.append((pointer.group(2), self.callback_of(pointer.group(1), pointer.group(3))))
                continue
            match = re.match(r"((?:const\s+)?%s)\s*(.*)$" % IDENTIFIER, statement)
            base, rest = match.group(1), match.group(2)
            if rest.startswith("const "):
                rest = rest[6:]
            for declarator in split_commas(rest):
                declarator = re.sub(r"\bconst\b", "", declarator)
                stars = declarator.count("*")
                match = re.match(r"[\s*]*(%s)((?:\s*\[\s*\w+\s*\])*)\s*$" % IDENTIFIER, declarator)
                kind = self.type_of(base, stars)
                for size in reversed(re.findall(r"\[\s*(\w+)\s*\]", match.group(2))):
                    kind = "(%s * %d)" % (kind, int(self.constants.get(size, size)))
                fields.append((match.group(1), kind))
        return fields

    # ---- declarations, in order ----

    def add_enum(self, name, body):
        value = -1
        if name:
            self.enums[name] = []
        for entry in split_commas(body):
            entry = entry.strip()
            if not entry:
                continue
            key, _, given = (part.strip() for part in entry.partition("="))
            value = int(given, 0) if given else value + 1
            self.constants[key] = value
            self.lines.append("%s = %d" % (key, value))
            if name:
                self.enums[name].append(key)

    def add_struct(self, name, body):
        self.structs[name] = None  # a field may point to its own struct
        fields = self.fields_of(body)
        self.structs[name] = fields
        self.lines.append("\n\nclass %s(Structure):\n    _fields_ = [" % name)
        for field, kind in fields:
            self.lines.append("        (\"%s\", %s)," % (field, kind))
        self.lines.append("    ]\n\n")

    def add_function(self, result, name, arguments):
        stars = result.count("*")
        self.functions[name] = (self.type_of(result.replace("*", ""), stars), self.arguments_of(arguments))

    def read(self, text):
        for name, value in re.findall(r"^#define (CUTIS_\w+) (-?[\d.e-]+)\s*$", text, re.M):
            self.constants[name] = float(value) if re.search(r"[.e]", value) else int(value)
            self.lines.append("%s = %s" % (name, value))
        text = re.sub(r"^#.*(?:\\\n.*)*$", " ", text, flags=re.M)
        pattern = re.compile(
            r"typedef\s+enum\s+(?P<enum>\w+)\s*\{(?P<enum_body>.*?)\}\s*\w+\s*;"
            r"|\benum\s*\{(?P<loose>.*?)\}\s*;"
            r"|typedef\s+struct\s+(?P<struct>\w+)\s*\{(?P<struct_body>.*?)\}\s*\w+\s*;"
            r"|typedef\s+struct\s+(?P<opaque>\w+)\s+\w+\s*;"
            r"|CUTIS_API\s+(?P<result>[\w\s*]+?)(?P<function>cutis_\w+)\s*\((?P<arguments>.*?)\)\s*;", re.S)
        for found in pattern.finditer(text):
            if found["enum"]:
                self.add_enum(found["enum"], found["enum_body"])
            elif found["loose"]:
                self.add_enum(None, found["loose"])
            elif found["struct"]:
                self.add_struct(found["struct"], found["struct_body"])
            elif found["opaque"]:
                self.opaque.append(found["opaque"])
                self.lines.append("\n\nclass %s(Structure):\n    pass\n\n" % found["opaque"])
            else:
                self.add_function(found["result"], found["function"], found["arguments"])


def split_commas(text):
    """Split at the commas that are in no bracket."""
    parts, depth, last = [], 0, 0
    for i, letter in enumerate(text):
        depth += letter in "([{"
        depth -= letter in ")]}"
        if letter == "," and depth == 0:
            parts.append(text[last:i])
            last = i + 1
    return parts + [text[last:]]


def main():
    folder, output = sys.argv[1:3]
    headers = Headers()
    for name in ORDER:
        with open(os.path.join(folder, name)) as file:
            headers.read(strip(file.read()))

    # the module
    text = ['"""The C interface of libcutis. Made by scripts/python_structs.py from include/cutis: do not edit."""',
            "from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_float, c_int, c_int64,",
            "                    c_long, c_size_t, c_uint, c_uint64, c_void_p)", ""]
    text += headers.lines + ["", "FUNCTIONS = {"]
    for name, (result, arguments) in sorted(headers.functions.items()):
        text.append("    \"%s\": (%s, [%s])," % (name, result, ", ".join(arguments)))
    text += ["}", ""]
    with open(output, "w") as file:
        file.write("\n".join(text))

    # the C program
    if len(sys.argv) > 3:
        text = ["#include <cutis/cutis.h>", "#include <stdio.h>", "int main(void)", "{"]
        for name, fields in headers.structs.items():
            text.append("    printf(\"%s %%zu\\n\", sizeof(%s));" % (name, name))
            for field, _ in fields:
                text.append("    printf(\"%s.%s %%zu %%zu\\n\", offsetof(%s, %s), sizeof(((%s *)0)->%s));"
                            % (name, field, name, field, name, field))
        text += ["    return 0;", "}", ""]
        with open(sys.argv[3], "w") as file:
            file.write("\n".join(text))


if __name__ == "__main__":
    main()
