"""Find libcutis, load it and declare its functions."""
import ctypes
import glob
import os
import sys

from . import _structs

_HERE = os.path.dirname(os.path.abspath(__file__))
_NAMES = {"win32": ("libcutis.dll", "cutis.dll"), "darwin": ("libcutis.dylib",)}.get(sys.platform, ("libcutis.so",))


def _candidates():
    """Paths to try, in this order: of the user, of the package, of the system."""
    if os.environ.get("CUTIS_LIBRARY"):
        return [os.environ["CUTIS_LIBRARY"]]
    held = [os.path.join(_HERE, "lib", name) for name in _NAMES]
    return [path for path in held if os.path.exists(path)] + [name + end for name in _NAMES for end in ("", ".0")]


def _load():
    failures = []
    for path in _candidates():
        # the libraries that it needs lie beside it, in the order in which they need each other
        order = os.path.join(os.path.dirname(path), "order.txt")
        try:
            if os.path.isabs(path) and os.path.exists(order):
                with open(order) as file:
                    for name in file.read().split():
                        ctypes.CDLL(os.path.join(os.path.dirname(path), name), mode=ctypes.RTLD_GLOBAL)
            return ctypes.CDLL(path), path
        except OSError as failure:
            failures.append(str(failure))
    raise ImportError("the library of cutis cannot be loaded (%s); install the cutis wheel for this system, or build it "
                      "(make) and set CUTIS_LIBRARY to the path of %s" % ("; ".join(failures), _NAMES[0]))


library, path = _load()
for _name, (_result, _arguments) in _structs.FUNCTIONS.items():
    try:
        _function = getattr(library, _name)
    except AttributeError:
        raise ImportError("%s is another version of cutis: it has no function %s; install package and library of one "
                          "version" % (path, _name)) from None
    _function.restype = _result
    _function.argtypes = _arguments
