"""Members of a trace file: text and arrays, written and read within size limits. Nothing is ever unpickled.

A file may come from an untrusted source, and a zip of 3 MB can unpack to gigabytes. A reader therefore checks the
directory of the file first and refuses a file that unpacks to more than ::

    floor + ratio * bytes of the file        (once for all members together, once for text alone)

Text has the lower limit, because JSON takes many times its length as Python objects. A writer observes the same limits:
a member that would exceed them is stored uncompressed, so that every file it writes can be read.
"""

from __future__ import annotations

import json
import math
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, NamedTuple

import numpy as np

from workbench.errors import TraceError
from workbench.trace.saved.mapping import MappedMembers, MappedNumbers, aligned_member, taken

#: maximum unpacked bytes of all members of a file
MAX_BYTES = 8 << 30
#: suffixes of members that become Python objects
TEXT = (".json", ".txt")
#: bytes read at a time
PIECE = 1 << 20
#: larger arrays, in bytes, are compressed only if a piece of them shrinks by this factor: compression takes twenty
#: times as long as writing, and most numbers of a run hardly shrink
LARGE, SAMPLE, SHRINKS = 1 << 18, 1 << 15, 4
#: advice for a file that cannot be read
NO_TRACE = "give a file that trace.save wrote; if it is one, it was truncated or changed in transfer: get it again."


class SizeLimit(NamedTuple):
    """Size limit of unpacked members: ``floor`` bytes, and ``ratio`` for each byte of the file."""

    floor: int
    ratio: int

    def of(self, packed: int) -> int:
        return self.floor + self.ratio * packed


ALL, TEXTS = SizeLimit(256 << 20, 100), SizeLimit(4 << 20, 10)


def _is_text(name: str) -> bool:
    return name.endswith(TEXT)


class MemberWriter:
    """Writes the members of one file."""

    def __init__(self, file: zipfile.ZipFile) -> None:
        self._file = file
        self._all, self._texts = [0, 0], [0, 0]  # unpacked, packed

    def text(self, name: str, text: str) -> None:
        """Write a member of UTF-8 text; ``name`` ends with .json or .txt."""
        data = text.encode()
        self._file.writestr(name, data, self._method(name, len(data)))
        self._count(name)

    def json(self, name: str, value: Any) -> None:
        self.text(name, json.dumps(value))

    def array(self, name: str, array: np.ndarray) -> None:
        """Write a member of numbers at once."""
        array = np.ascontiguousarray(array).reshape(array.shape)
        with self.numbers(name, array.dtype, array.shape, array) as member:
            member.write(raw_bytes(array))

    @contextmanager
    def numbers(
        self, name: str, dtype: np.dtype, shape: tuple[int, ...], first: np.ndarray | None = None
    ) -> Iterator[IO[bytes]]:
        """A context that gives the file for a member's numbers, to be written in C order; ``first`` is a sample of
        them, which shows whether compression is worthwhile."""
        size = math.prod(shape) * dtype.itemsize
        hardly = size >= LARGE and first is not None and not _shrinks(first)
        self._file.compression = zipfile.ZIP_STORED if hardly else self._method(name, size)
        entry: str | zipfile.ZipInfo = name
        if self._file.compression == zipfile.ZIP_STORED and self._file.fp is not None:
            entry = aligned_member(name, self._file.fp.tell())  # so that a reader can map it
        with self._file.open(entry, "w", force_zip64=True) as member:
            described = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(member, described)
            yield member
        self._count(name)

    def _method(self, name: str, size: int) -> int:
        """The compression of a member of this size: none if a reader might otherwise have to refuse the file."""
        within = self._all[0] + size <= ALL.of(self._all[1])
        if _is_text(name):
            within = within and self._texts[0] + size <= TEXTS.of(self._texts[1])
        return zipfile.ZIP_DEFLATED if within else zipfile.ZIP_STORED

    def _count(self, name: str) -> None:
        info = self._file.infolist()[-1]
        for sums in (self._all, self._texts) if _is_text(name) else (self._all,):
            sums[0] += info.file_size
            sums[1] += info.compress_size


def raw_bytes(array: np.ndarray) -> memoryview:
    """The bytes of a contiguous array, without a copy."""
    return memoryview(array.reshape(-1).view(np.uint8).data) if array.size else memoryview(b"")


def _shrinks(numbers: np.ndarray) -> bool:
    """True if a piece from the middle of the numbers shrinks enough."""
    flat = raw_bytes(np.ascontiguousarray(numbers))
    start = max(0, len(flat) // 2 - SAMPLE // 2)
    piece = flat[start : start + SAMPLE]
    return len(zlib.compress(piece, 1)) * SHRINKS <= len(piece)


class MemberReader:
    """Reads the members of one file, whose directory has been checked.

    TraceError with slug ``too-large`` for a file that unpacks to more than the limit; ValueError for members whose
    content contradicts their header.
    """

    def __init__(self, file: zipfile.ZipFile, trusted: bool = False) -> None:
        self._file, self._mapped = file, MappedMembers(file)
        found = file.infolist()
        self.names = {member.filename for member in found}
        if len(self.names) < len(found):
            raise ValueError("two members have the same name")
        if any(m.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for m in found):
            raise ValueError("a member is compressed in a way that trace.save does not use")
        packed, limit = _length(file), min(MAX_BYTES, _memory())
        for what, bound, members in (("", ALL, found), (" of text", TEXTS, [m for m in found if _is_text(m.filename)])):
            size, most = sum(m.file_size for m in members), limit if trusted else min(limit, bound.of(packed))
            if size > most:
                own = "if you made this file yourself, wb.Trace.load(path, trusted=True) reads it; if not, leave it."
                raise TraceError(
                    f"{file.filename} has {_size(packed)} and unpacks to {_size(size)}{what}; at most {_size(most)} "
                    "of that are read.",
                    slug="too-large",
                    fix=NO_TRACE if trusted or size > limit else own,
                )

    def text(self, name: str) -> str:
        return self._file.read(name).decode()

    def json(self, name: str) -> Any:
        return json.loads(self._file.read(name))

    def array(self, name: str) -> np.ndarray:
        """The numbers of a member, read-only, in memory."""
        return np.asarray(taken(self.held(name)))

    def held(self, name: str) -> np.ndarray | MappedNumbers:
        """The numbers of a member: mapped if they are stored uncompressed, else read; memory is allocated only if its
        header and its size agree."""
        readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        with self._file.open(name) as member:
            shape, fortran, dtype = readers[np.lib.format.read_magic(member)](member)
            size = math.prod(shape) * dtype.itemsize
            if dtype.hasobject or fortran or size != self._file.getinfo(name).file_size - member.tell():
                raise ValueError(f"{name} does not contain the declared numbers")
            if (mapped := self._mapped.numbers(name, member.tell(), shape, dtype)) is not None:
                return mapped
            array = np.empty(shape, dtype)
            into = memoryview(array.reshape(-1).view(np.uint8).data) if size else memoryview(b"")
            for start in range(0, size, PIECE):
                self._fill(member, into[start : start + PIECE], name)
            if member.read(1):  # reading to the end checks the checksum
                raise ValueError(f"{name} does not contain the declared numbers")
        array.flags.writeable = False
        return array

    @staticmethod
    def _fill(member: IO[bytes], into: memoryview, name: str) -> None:
        done = 0
        while done < len(into):
            piece = member.read(len(into) - done)
            if not piece:
                raise ValueError(f"{name} is truncated")
            into[done : done + len(piece)] = piece
            done += len(piece)


def _length(file: zipfile.ZipFile) -> int:
    """Bytes of an open archive."""
    return 0 if file.fp is None else file.fp.seek(0, os.SEEK_END)


def _memory() -> int:
    """Memory of this machine, in bytes."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):  # some systems do not report it
        return MAX_BYTES


def _size(count: int) -> str:
    return f"{count / (1 << 20):,.1f} MiB"
