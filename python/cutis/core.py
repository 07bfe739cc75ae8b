"""Errors, arrays and thread pools, shared by the other modules."""
import ctypes
import operator
from ctypes import POINTER, byref
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from . import _library, _structs as c

library = _library.library


class Error(Exception):
    """An error of the library: one sentence that names the cause and the remedy."""


class ArgumentError(Error, ValueError):
    """A name, option or value that is not valid."""


class MemoryError(Error):  # noqa: A001 (the library's own word)
    """No memory."""


class FileError(Error, OSError):
    """A file cannot be opened, read or written."""


class FormatError(Error, ValueError):
    """A file is damaged or breaks its format's rules."""


class UnsupportedError(Error):
    """Valid, but it needs a feature that cutis does not have."""


class DataError(Error, ValueError):
    """Well formed, but not usable as a character."""


class Interrupted(Error):
    """The caller asked to stop."""


_ERRORS = {c.CUTIS_ERROR_ARGUMENT: ArgumentError, c.CUTIS_ERROR_MEMORY: MemoryError, c.CUTIS_ERROR_FILE: FileError,
           c.CUTIS_ERROR_FORMAT: FormatError, c.CUTIS_ERROR_UNSUPPORTED: UnsupportedError,
           c.CUTIS_ERROR_DATA: DataError, c.CUTIS_ERROR_INTERRUPTED: Interrupted}


def call(name: str, *arguments: Any) -> None:
    """Call a function that returns a cutis_result and takes a cutis_error last; raise when it fails."""
    error = c.cutis_error()
    code = getattr(library, name)(*arguments, byref(error))
    if code:
        raise _ERRORS.get(code, Error)(error.text.decode("utf-8", "replace"))


def encode_optional(text: Optional[str], what: str) -> Optional[bytes]:
    """The same; None stays None."""
    return None if text is None else encode(text, what)


def encode(text: str, what: str = "a name") -> bytes:
    """Encode text (or a path) for the library."""
    if hasattr(text, "__fspath__"):
        text = text.__fspath__()
    if not isinstance(text, str):
        raise TypeError("%s must be text, not %s" % (what, type(text).__name__))
    if "\0" in text:
        raise ValueError("%s holds a NUL character" % what)
    return text.encode("utf-8")


def decode(text: Optional[bytes]) -> str:
    return text.decode("utf-8", "replace") if text else ""


def number(what: str, value: Any) -> float:
    """A number, or an exception that names it."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError("%s must be a number, not %s" % (what, type(value).__name__)) from None


def whole(what: str, value: Any) -> int:
    """A whole number within the range of the library, or an exception that names it."""
    try:
        made = operator.index(value)
    except TypeError:
        raise TypeError("%s must be a whole number, not %s" % (what, type(value).__name__)) from None
    if not -2**31 <= made < 2**31:
        raise ValueError("%s is too large: %d" % (what, made))
    return made


def vector(what: str, values: Any) -> List[float]:
    """Three numbers, or an exception that names them."""
    return array(what, values, np.float32, (3,)).tolist()


def table(what: str, values: Any) -> Dict[Any, Any]:
    """A dictionary (None: empty), or an exception that names it."""
    if values is None:
        return {}
    if not hasattr(values, "items"):
        raise TypeError("%s must be a dictionary, not %s" % (what, type(values).__name__))
    return dict(values)


def array(what: str, values: Any, dtype: Any, shape: Sequence[Optional[int]]) -> np.ndarray:
    """A contiguous array of that type and shape (None: any length), or an exception that names it."""
    try:
        made = np.asarray(values)
        if made.dtype == object or made.dtype.kind not in "fiub":
            raise TypeError
    except (TypeError, ValueError):
        raise TypeError("%s must be an array of numbers" % what) from None
    if made.size == 0 and len(shape) > 1 and made.ndim != len(shape):
        made = made.reshape([0 if s is None else s for s in shape])
    if made.ndim != len(shape) or any(s is not None and s != n for s, n in zip(shape, made.shape)):
        wanted = " x ".join("n" if s is None else str(s) for s in shape)
        raise ValueError("%s must have the shape %s, not %s" % (what, wanted, " x ".join(map(str, made.shape)) or "()"))
    if np.issubdtype(dtype, np.integer):
        if made.dtype.kind == "f":
            raise TypeError("%s must be whole numbers" % what)
        if made.size and (made.max() > np.iinfo(dtype).max or made.min() < np.iinfo(dtype).min):
            raise ValueError("%s holds numbers that are too large" % what)
    return np.ascontiguousarray(made, dtype)


def pointer(values: Optional[np.ndarray], kind: Any) -> Any:
    """Pointer to an array's numbers; NULL for none. The array must outlive its use."""
    return None if values is None or values.size == 0 else values.ctypes.data_as(POINTER(kind))


class _View:
    """Memory of the library as a NumPy array, with its owner."""

    def __init__(self, address: int, shape: Tuple[int, ...], kind: str, owner: Any):
        self.__array_interface__ = {"data": (address, True), "shape": shape, "typestr": kind, "version": 3}
        self.owner = owner


def view(at: Any, shape: Tuple[int, ...], owner: Any, kind: str = "<f4") -> np.ndarray:
    """A read-only array over the library's memory, which keeps the owner alive."""
    if not at or 0 in shape:
        return np.zeros(shape, kind)
    return np.asarray(_View(ctypes.cast(at, ctypes.c_void_p).value, shape, kind, owner))


def settings_array(settings: Any) -> Tuple[Any, int, list]:
    """{"fat_stiffness": 10, "bones.Spine.skin_stiffness": "20"} as cutis_setting, and the objects that must stay alive."""
    pairs = list(settings.items() if hasattr(settings, "items") else settings or ())
    if any(isinstance(pair, (str, bytes)) or not hasattr(pair, "__len__") or len(pair) != 2 for pair in pairs):
        raise TypeError("settings must be a dictionary, or pairs of a key and a value")
    made = (c.cutis_setting * max(1, len(pairs)))()
    for i, (key, value) in enumerate(pairs):
        if isinstance(value, (bool, np.bool_)):
            value = "on" if value else "off"
        elif isinstance(value, (float, np.floating)):
            value = "%.9g" % value
        elif not isinstance(value, (int, np.integer, str)):
            raise TypeError("the value of setting %r must be a number or text, not %s" % (key, type(value).__name__))
        made[i].key = encode(key, "the key of a setting")
        made[i].value = encode(str(value))
    return made, len(pairs), [made]


class Pool:
    """Threads for models and states; only one thread may use a pool at a time. 0: one thread per processor."""

    def __init__(self, threads: int = 0):
        self._pool = POINTER(c.cutis_pool)()
        call("cutis_pool_create", whole("threads", threads), None, byref(self._pool))

    @property
    def threads(self) -> int:
        """Number of threads."""
        return library.cutis_pool_thread_count(self._pool)

    @property
    def jobs(self) -> Any:
        """The pool as a cutis_jobs."""
        return library.cutis_pool_jobs(self._pool)

    def __del__(self):
        if getattr(self, "_pool", None):
            library.cutis_pool_destroy(self._pool)
            self._pool = None


def jobs_of(pool: Optional[Pool]) -> Any:
    if pool is not None and not isinstance(pool, Pool):
        raise TypeError("pool must be a cutis.Pool, not %s" % type(pool).__name__)
    return pool.jobs if pool else None


def version() -> str:
    """Version of the loaded library."""
    return decode(library.cutis_version())


def library_path() -> str:
    """Path of the loaded library."""
    return _library.path
