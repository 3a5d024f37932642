"""Arrays with immutable bytes, which a graph holds without a copy, and files mapped into memory.

An array is held without a copy if its memory is a ``bytes`` object or a :class:`MappedFile`: NumPy refuses to make such
an array writeable. All other arrays are copied when they become part of a graph.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import stat
import weakref
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from workbench.errors import GraphError
from workbench.kernels.mapped import MapGuard

#: smaller arrays are copied: a view of a few numbers would keep a whole file in memory
LEAST_BYTES = 16_384
#: minimum bytes for which digests are computed by several threads
_PARALLEL_BYTES = 1 << 22
#: identity of an array -> the array and its digest; entries are removed with their arrays
_DIGESTS: dict[int, tuple[weakref.ref[np.ndarray], str]] = {}


class MappedFile(mmap.mmap):
    """A file mapped into the address space, read-only; its pages are read on demand, and dropped when memory is short.
    All mapped files have this class: weights, traces, and rows on disk.

    The bytes are those of the file, which stays open: a file that is removed, or replaced by another of the same name,
    still exists. Readers call :meth:`check` before and after, because another program may write the file in the
    meantime. A truncated file has zeros in place of the missing bytes (``kernels.mapped``), which are never shown,
    since :meth:`check` fails from then on.
    """

    path: Path
    #: no other user can write the file
    trusted: bool
    _number: int
    _signature: tuple[int, ...]
    _guard: MapGuard | None

    @classmethod
    def open(cls, path: Path) -> MappedFile:
        """Map the file at ``path``; raises OSError, and ValueError for an empty file."""
        with path.open("rb", buffering=0) as file:
            return cls.of(file.fileno(), path)

    @classmethod
    def of(cls, number: int, path: Path, length: int = 0) -> MappedFile:
        """Map an open file, or its first ``length`` bytes; the caller may close it. Raises like :meth:`open`."""
        found = os.fstat(number)
        if found.st_size < max(length, 1):
            raise ValueError("cannot mmap an empty file, or more than it has")
        made = cls(number, length or found.st_size, access=mmap.ACCESS_READ)
        made.path, made._signature = path.absolute(), _signature(found)
        made._guard, made._number = MapGuard(made), os.dup(number)
        made.trusted = may_be_mapped(number, made.path.parent)
        return made

    def why_changed(self, may_grow: bool = False) -> str:
        """The change of the file since it was mapped, in words; "" for none, or for growth if it ``may_grow``."""
        found = os.fstat(self._number)
        if self._guard is None or self._guard.lost or found.st_size < len(self):
            return f"it has fewer than {len(self)} bytes"
        if may_grow or _signature(found) == self._signature:
            return ""
        return "it was written"

    def check(self) -> None:
        """Raise GraphError ``file-changed`` if the file has been written since it was mapped."""
        if self.why_changed():
            raise GraphError(
                f"The file {str(self.path)!r}, which holds constants of the graph, has changed since it was loaded.",
                slug="file-changed",
                fix="load the model again; write new data to another file, and give that the name.",
            )

    def read(self, offset: int, length: int) -> bytes:  # type: ignore[override]  # a place instead of a position
        """A part of the file, copied by reading it; raises GraphError ``file-changed``, and OSError."""
        pieces, done = [], 0
        while done < length and (piece := os.pread(self._number, length - done, offset + done)):  # 2 GB at most
            pieces.append(piece)
            done += len(piece)
        self.check()
        if done != length:
            raise ValueError(f"{str(self.path)!r} has fewer than {offset + length:,} bytes")
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def close(self) -> None:
        self._guard = None  # before the address space is given back
        super().close()

    def __del__(self) -> None:
        if (number := self.__dict__.pop("_number", -1)) >= 0:
            os.close(number)


def _signature(found: os.stat_result) -> tuple[int, ...]:
    return found.st_size, found.st_mtime_ns


def may_be_mapped(number: int, folder: Path) -> bool:
    """True for an open file that only this user (and root) may write or replace: file and folder belong to one of them,
    and others have no write permission. Files that others can write are copied instead.
    """

    def ours(found: os.stat_result) -> bool:
        shared = stat.S_IWOTH | (0 if found.st_gid == os.getegid() else stat.S_IWGRP)
        return found.st_uid in (0, os.geteuid()) and (not found.st_mode & shared or bool(found.st_mode & stat.S_ISVTX))

    try:
        return ours(os.fstat(number)) and ours(os.stat(folder))
    except OSError:
        return False


def checked(array: Any) -> Any:
    """An array that is about to be read; GraphError ``file-changed`` if it is in a file that was written."""
    memory = memory_of(array) if isinstance(array, np.ndarray) and array.nbytes >= LEAST_BYTES else None
    if isinstance(memory, MappedFile):
        memory.check()
    return array


def memory_of(array: Any) -> Any:
    """The object that holds the memory of an array: ``bytes``, a :class:`MappedFile`, or the owning array."""
    while True:
        below = array.obj if isinstance(array, memoryview) else getattr(array, "base", None)
        if below is None:
            return array
        array = below


def is_frozen(array: np.ndarray) -> bool:
    """True if an array is large, plain and contiguous, and its elements cannot be changed from inside the process."""
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
    """The mapped files that hold arrays."""
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
