"""Arrays whose bytes nobody can change, which a graph holds without a copy, and files that stand for memory.

An array can be held as it is if the memory under it is a ``bytes`` object or a :class:`MappedFile`: NumPy refuses to
make such an array writeable. Everything else is copied when it becomes part of a graph.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import weakref
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from workbench.errors import GraphError

#: smaller arrays are copied: a view of a few numbers would keep a whole file in memory
LEAST_BYTES = 16_384
#: digests of so many bytes and more are computed by several threads
_PARALLEL_BYTES = 1 << 22
#: identity of an array -> the array and its digest; arrays leave it when they die
_DIGESTS: dict[int, tuple[weakref.ref[np.ndarray], str]] = {}


class MappedFile(mmap.mmap):
    """A file in the address space, read-only; its pages are read when they are looked at, and dropped when memory is
    short.

    The bytes are those of the file. Whoever computes with them asks :meth:`check` first, because a file that another
    program writes meanwhile holds other numbers, and one that it cuts short ends the process.
    """

    path: Path
    _signature: tuple[int, ...]

    @classmethod
    def open(cls, path: Path) -> MappedFile:
        """Map the file at ``path``; raises OSError, and ValueError for an empty file."""
        with path.open("rb", buffering=0) as file:
            made = cls(file.fileno(), 0, access=mmap.ACCESS_READ)
            made.path, made._signature = path.absolute(), _signature(os.fstat(file.fileno()))
        return made

    def check(self) -> None:
        """Raise GraphError ``file-changed`` if the file has been written since it was mapped. One that was removed, or
        replaced by another of its name, is still there for the process."""
        try:
            now = _signature(os.stat(self.path))
        except OSError:
            return
        if now[:2] == self._signature[:2] and now != self._signature:
            raise self._changed()

    def read(self, offset: int, length: int) -> bytes:  # type: ignore[override]  # a place instead of a position
        """A part of the file, copied by reading it; raises GraphError ``file-changed``, and OSError."""
        with self.path.open("rb", buffering=0) as file:
            file.seek(offset)
            data = file.read(length)
            if _signature(os.fstat(file.fileno())) != self._signature or len(data) != length:
                raise self._changed()
        return data

    def _changed(self) -> GraphError:
        return GraphError(
            f"The file {str(self.path)!r}, which holds constants of the graph, has changed since it was loaded.",
            slug="file-changed",
            fix="load the model again; write new data to another file, and give that the name.",
        )


def _signature(found: os.stat_result) -> tuple[int, ...]:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def memory_of(array: Any) -> Any:
    """The object that holds the memory of an array: ``bytes``, a :class:`MappedFile`, or the array that owns it."""
    while True:
        below = array.obj if isinstance(array, memoryview) else getattr(array, "base", None)
        if below is None:
            return array
        array = below


def is_frozen(array: np.ndarray) -> bool:
    """True if an array is large, plain and contiguous, and nobody can change its numbers from inside the process."""
    return (
        type(array) is np.ndarray
        and array.nbytes >= LEAST_BYTES
        and not array.dtype.hasobject
        and not array.flags.writeable
        and array.flags.c_contiguous
        and array.flags.aligned
        and isinstance(memory_of(array), (bytes, MappedFile))
    )


def files_of(arrays: Iterable[Any]) -> tuple[MappedFile, ...]:
    """The mapped files that arrays stand in."""
    return tuple({id(m): m for m in map(memory_of, arrays) if isinstance(m, MappedFile)}.values())


def digests_of(arrays: Iterable[np.ndarray]) -> dict[int, str]:
    """SHA-256 of the bytes of contiguous read-only arrays, by identity. Each is computed once, without a copy; several
    large ones by several threads."""
    found: dict[int, str] = {}
    missing: dict[int, np.ndarray] = {}
    for array in arrays:
        known = _DIGESTS.get(id(array))
        if known is not None and known[0]() is array:
            found[id(array)] = known[1]
        else:
            missing[id(array)] = array
    if sum(a.nbytes for a in missing.values()) < _PARALLEL_BYTES:
        made = list(map(_digest, missing.values()))
    else:
        with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
            made = list(pool.map(_digest, missing.values()))
    for (key, array), digest in zip(missing.items(), made, strict=True):
        found[key] = digest
        _DIGESTS[key] = (weakref.ref(array, _forget(key)), digest)
    return found


def _forget(key: int) -> Any:
    def forget(died: Any) -> None:
        known = _DIGESTS.get(key)
        if known is not None and known[0] is died:
            del _DIGESTS[key]

    return forget


def _digest(array: np.ndarray) -> str:
    return hashlib.sha256(array.reshape(-1).view(np.uint8).data).hexdigest()
