"""Decompression of Snappy blocks. Source: https://github.com/google/snappy/blob/main/format_description.txt.

The length comes first, then literals and copies of earlier output; a copy may overlap its own output.
"""

from __future__ import annotations

from workbench.errors import LoadError


class SnappyError(LoadError):
    """Bytes that are not a Snappy block."""

    slug = "bad-compression"


def decompress(data: bytes, limit: int) -> bytes:
    """Decompress ``data``; SnappyError if it is damaged or gives more than ``limit`` bytes."""
    size, position = _length(data)
    # a copy of up to 64 bytes takes at least two
    if size > limit or size > 64 * len(data):
        raise SnappyError(f"A compressed block claims {size:,} bytes, made of {len(data):,}.")
    out = bytearray()
    while position < len(data):
        tag = data[position]
        position += 1
        if tag & 3 == 0:
            position = _literal(data, position, tag >> 2, out)
            continue
        extra = (0, 1, 2, 4)[tag & 3]
        if position + extra > len(data):
            raise SnappyError("A compressed block ends inside a copy.")
        offset = int.from_bytes(data[position : position + extra], "little")
        length = (tag >> 2) + 1
        if tag & 3 == 1:
            offset, length = offset | tag >> 5 << 8, (tag >> 2 & 7) + 4
        position += extra
        if not 0 < offset <= len(out):
            raise SnappyError(f"A compressed block copies from {offset} bytes back, where {len(out)} were written.")
        start = len(out) - offset
        piece = bytes(out[start : start + length])
        out += (piece * (length // len(piece) + 1))[:length]
        if len(out) > size:
            break
    if len(out) != size:
        raise SnappyError(f"A compressed block claims {size:,} bytes but holds {len(out):,}.")
    return bytes(out)


def _length(data: bytes) -> tuple[int, int]:
    value = 0
    for index, byte in enumerate(data[:5]):
        value |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            return value, index + 1
    raise SnappyError("A compressed block does not begin with its length.")


def _literal(data: bytes, position: int, code: int, out: bytearray) -> int:
    length = code + 1
    if code >= 60:
        extra = code - 59
        length = int.from_bytes(data[position : position + extra], "little") + 1
        position += extra
    if length > len(data) - position:
        raise SnappyError("A compressed block ends inside a literal.")
    out += data[position : position + length]
    return position + length
