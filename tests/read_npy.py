"""read_npy.py: .npy files of float32 as `cutis bake` writes them, by the standard library alone."""
import ast
import math
import struct


def read_npy(path):
    """The shape and all values, one after the other. Fails when the file is not whole."""
    data = open(path, "rb").read()
    assert data[:8] == b"\x93NUMPY\x01\x00", path
    start = 10 + data[8] + 256 * data[9]
    header = ast.literal_eval(data[10:start].decode())
    assert header["descr"] == "<f4" and not header["fortran_order"], header
    count = math.prod(header["shape"])
    assert len(data) == start + 4 * count, "%s: %d bytes for %d values" % (path, len(data) - start, count)
    return header["shape"], struct.unpack("<%df" % count, data[start:])
