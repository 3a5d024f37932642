"""Reads batches of files through memory maps, of which a limited number is open at a time."""

from __future__ import annotations

import os
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np

from workbench.ir.buffers import MappedFile
from workbench.kernels.layout import Place
from workbench.threads import Lock
from workbench.trace.spill.batch import Decoded
from workbench.trace.spill.columns import Columns
from workbench.trace.spill.errors import SpillError, changed, missing, pyarrow
from workbench.trace.spill.segment import Segment

MAX_MAPS = 32


class _Map:
    """One file, mapped up to ``length``."""

    def __init__(self, segment: Segment) -> None:
        self.length = segment.size
        number = _opened(segment.path)
        try:
            found = os.fstat(number)
            if found.st_ino != segment.inode:
                raise changed(segment.path, "it is another file")
            if found.st_size < self.length:
                raise changed(segment.path, f"it has {found.st_size} bytes of {self.length}")
            self.file = MappedFile.of(number, segment.path, self.length)
            self.buffer = pyarrow().py_buffer(self.file)
        finally:
            os.close(number)
        self.decoded: dict[int, Decoded] = {}

    def check(self, path: Path) -> None:
        """SpillError if the file, which only grows, is shorter than it was."""
        if why := self.file.why_changed(may_grow=True):
            raise changed(path, why)


def _opened(path: Path) -> int:
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise missing(path) from error
    except OSError as error:
        raise changed(path, str(error.strerror)) from error


class Maps:
    """Batches of any number of segments; safe on any thread."""

    def __init__(self, limit: int = MAX_MAPS) -> None:
        self._limit = limit
        self._lock = Lock()
        self._maps: OrderedDict[Path, _Map] = OrderedDict()

    def __len__(self) -> int:
        return len(self._maps)

    def batch(self, segment: Segment, number: int, columns: Columns) -> Decoded:
        """Batch ``number`` of a segment; SpillError if its file is gone or differs from what was written."""
        offset, length, rows, first_row = segment.blocks[number]
        with self._lock:
            mapped = self._maps.get(segment.path)
            if mapped is None or mapped.length < offset + length:
                mapped = _Map(segment)
            self._maps.pop(segment.path, None)  # a signal handler may use the maps between any two of these steps
            self._maps[segment.path] = mapped
            while len(self._maps) > self._limit:
                self._maps.popitem(last=False)
        mapped.check(segment.path)
        found = mapped.decoded.get(number)
        if found is None:
            found = mapped.decoded[number] = _decode(segment, mapped, offset, length, rows, first_row, columns)
            mapped.check(segment.path)
        return found

    def items(self, segment: Segment, number: int, columns: Columns, place: Place, at: slice | np.ndarray) -> Any:
        """Values at a place in some rows of a batch, copied from the file."""
        try:
            found = self.batch(segment, number, columns).items(place, at)
            found = _owned(found) if isinstance(found, np.ndarray) else [_owned(item) for item in found]
            with self._lock:
                mapped = self._maps.get(segment.path)
            if mapped is not None:
                mapped.check(segment.path)
            return found
        # raised for single objects, which are checked only here
        except (ValueError, MemoryError, OverflowError) as error:
            raise changed(segment.path, str(error)) from error

    def forget(self, path: Path) -> None:
        """Close the map of a file that is removed."""
        with self._lock:
            self._maps.pop(path, None)

    def clear(self) -> None:
        with self._lock:
            self._maps.clear()


def _owned(item: Any) -> Any:
    """An item that does not refer to a map."""
    if not isinstance(item, np.ndarray) or item.flags.owndata:
        return item
    item = item.copy()
    item.flags.writeable = False
    return item


def _decode(
    segment: Segment, mapped: _Map, offset: int, length: int, rows: int, first_row: int, columns: Columns
) -> Decoded:
    pa = pyarrow()
    try:
        part = mapped.buffer.slice(offset, length)
        if segment.compression is None:
            batch = pa.ipc.read_record_batch(pa.ipc.read_message(pa.BufferReader(part)), segment.schema)
        else:  # as a stream, for which Arrow takes "no threads": the system may refuse new ones
            stream = b"".join([segment.schema.serialize(), part])
            batch = pa.ipc.open_stream(stream, options=pa.ipc.IpcReadOptions(use_threads=False)).read_next_batch()
        return Decoded(columns, batch, rows, first_row)
    except SpillError:
        raise
    except (pa.ArrowException, ValueError, OSError, MemoryError, TypeError, KeyError, OverflowError) as error:
        raise changed(segment.path, str(error)) from error
