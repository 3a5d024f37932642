"""Arrays of a trace file that are mapped instead of read: members that are stored uncompressed, at aligned offsets.

::

    | local header | name | padding | (64 bytes, zip64) | .npy header, a multiple of 64 bytes | numbers |
                                                         ^ a multiple of 64 in the file

Format of the headers: APPNOTE.TXT of PKWARE, 4.3.7 and 4.5; of the numbers: numpy.lib.format. The padding is an extra
field with the id that Android's zipalign uses.
"""

from __future__ import annotations

import math
import struct
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from workbench.errors import TraceError
from workbench.ir.buffers import MappedFile, may_be_mapped

#: offset of the .npy header of a stored member, in bytes
ALIGNED = 64
#: smaller members, in bytes, are read
LEAST = 1 << 20
#: bytes of a local header before the name, and of the extra field in which zipfile stores sizes beyond 4 GiB
HEADER, ZIP64 = 30, 20
#: id of the extra field used for padding
PADDING = 0xD935


def aligned_member(name: str, at: int) -> zipfile.ZipInfo:
    """The entry of a member that is stored uncompressed, with its local header at byte ``at`` of the file."""
    info = zipfile.ZipInfo(name)
    info.compress_type = zipfile.ZIP_STORED
    begin = at + HEADER + len(name.encode()) + ZIP64 + 4
    size = -begin % ALIGNED
    info.extra = struct.pack("<HH", PADDING, size) + bytes(size)
    return info


class MappedMembers:
    """A zip file whose stored members can be mapped. The map stays while its numbers are in use."""

    def __init__(self, file: zipfile.ZipFile) -> None:
        self._file = file
        self._map: MappedFile | None = None

    def numbers(self, name: str, start: int, shape: tuple[int, ...], dtype: np.dtype) -> MappedNumbers | None:
        """The numbers that begin ``start`` bytes into a member; None if they have to be read, because they are
        compressed, small or not aligned, or other users can write the file. ValueError if the checksum differs."""
        info = self._file.getinfo(name)
        if info.compress_type != zipfile.ZIP_STORED or info.file_size < LEAST or info.file_size != info.compress_size:
            return None
        data = self._mapped()
        if data is None or info.header_offset + HEADER > len(data):
            return None
        lengths = struct.unpack_from("<HH", data, info.header_offset + HEADER - 4)
        begin = info.header_offset + HEADER + sum(lengths)
        if (begin + start) % max(1, dtype.alignment) or begin + info.file_size > len(data):
            return None
        with memoryview(data) as whole, whole[begin : begin + info.file_size] as member:
            if zlib.crc32(member) != info.CRC:
                raise ValueError(f"{name} does not match its checksum")
        return MappedNumbers(data, np.frombuffer(data, dtype, math.prod(shape), begin + start).reshape(shape))

    def _mapped(self) -> MappedFile | None:
        if self._map is None and self._file.fp is not None:
            try:
                number, path = self._file.fp.fileno(), Path(self._file.filename or "")
                if may_be_mapped(number, path.absolute().parent):
                    self._map = MappedFile.of(number, path)
            except (OSError, ValueError):  # a file system without maps: everything is read
                return None
        return self._map


class MappedNumbers:
    """An array in a mapped file. Callers never see the map: items are copied from it, and match the file as it was when
    the trace was loaded; otherwise TraceError ``file-changed``."""

    def __init__(self, file: MappedFile, array: np.ndarray) -> None:
        self._file, self._array = file, array
        self.dtype, self.shape = array.dtype, array.shape

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, index: Any) -> np.ndarray:
        self._check()
        found = np.array(self._array[index])
        self._check()
        found.flags.writeable = False
        return found

    def view(self, dtype: np.dtype) -> MappedNumbers:
        return MappedNumbers(self._file, self._array.view(dtype))

    def parts(self) -> list[MappedNumbers]:
        """The arrays along the first axis."""
        return [MappedNumbers(self._file, part) for part in self._array]

    def _check(self) -> None:
        if why := self._file.why_changed():
            raise TraceError(
                f"The trace file {str(self._file.path)!r} has changed since it was loaded: {why}.",
                slug="file-changed",
                fix="load it again; trace.save writes another file, and leaves loaded traces as they are.",
            )


def taken(item: Any) -> Any:
    """An item of a trace that is about to be shown; numbers of a mapped file are copied from it."""
    return item[()] if isinstance(item, MappedNumbers) else item


class HeldItems(Sequence[Any]):
    """Items of a column, some of which stay in a mapped file until they are read."""

    def __init__(self, items: list[Any]) -> None:
        self._items = items

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: Any) -> Any:
        found = self._items[index]
        return [taken(item) for item in found] if isinstance(index, slice) else taken(found)
