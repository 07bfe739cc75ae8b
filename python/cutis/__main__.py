"""python3 -m cutis: the version and where the library is."""
from . import library_path, solvers, version

print("cutis %s" % version())
print("library %s" % library_path())
print("solvers %s" % ", ".join(one.name for one in solvers()))
