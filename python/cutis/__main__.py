"""python3 -m cutis: print the version and the path of the library."""
from . import library_path, solvers, version

print("cutis %s" % version())
print("library %s" % library_path())
print("solvers %s" % ", ".join(one.name for one in solvers()))
