"""Arrays of a trace file that are mapped instead of read: members that are stored as they are, at aligned places.

::

    | local header | name | padding | (64 bytes, zip64) | .npy header, a multiple of 64 bytes | numbers |
                                                         ^ a multiple of 64 in the file

Format of the headers: APPNOTE.TXT of PKWARE, 4.3.7 and 4.5; of the numbers: numpy.lib.format. The padding is an extra
field with the number that Android's zipalign uses.
"""

from __future__ import annotations

import math
import mmap
import os
import struct
import zipfile
import zlib

import numpy as np

#: where the .npy header of a stored member begins, in bytes
ALIGNED = 64
#: members of fewer bytes are read
LEAST = 1 << 20
#: bytes of a local header in front of the name, and of the extra field in which zipfile notes sizes beyond 4 GiB
HEADER, ZIP64 = 30, 20
#: number of the extra field that pads
PADDING = 0xD935


def aligned_member(name: str, at: int) -> zipfile.ZipInfo:
    """The entry of a member that is stored as it is, whose local header will stand at byte ``at`` of the file."""
    info = zipfile.ZipInfo(name)
    info.compress_type = zipfile.ZIP_STORED
    begin = at + HEADER + len(name.encode()) + ZIP64 + 4
    size = -begin % ALIGNED
    info.extra = struct.pack("<HH", PADDING, size) + bytes(size)
    return info


class MappedMembers:
    """A zip file of which stored members can be mapped. The map stays while an array on it is in use."""

    def __init__(self, file: zipfile.ZipFile) -> None:
        self._file = file
        self._map: mmap.mmap | None = None

    def array(self, name: str, start: int, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray | None:
        """The numbers that begin ``start`` bytes behind the beginning of a member, read-only; None if they are to be
        read: they are compressed, small, or not aligned. ValueError if the checksum differs."""
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
                raise ValueError(f"{name} does not have the checksum that it promises")
        return np.frombuffer(data, dtype, math.prod(shape), begin + start).reshape(shape)

    def _mapped(self) -> mmap.mmap | None:
        if self._map is None and self._file.fp is not None:
            try:
                number = self._file.fp.fileno()
                if os.fstat(number).st_size:
                    self._map = mmap.mmap(number, 0, access=mmap.ACCESS_READ)
            except (OSError, ValueError):  # a file system without maps: everything is read
                return None
        return self._map
