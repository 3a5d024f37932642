"""The sorted table with the index of a checkpoint: keys to values, all in memory.

::

    data block ... meta index block, index block, footer
    block   entries, restart offsets (uint32 each), their number (uint32)
    trailer kind of compression (1 byte), masked CRC-32C of block and kind (4 bytes)
    entry   bytes shared with the previous key, further bytes, bytes of value (varints), then key and value
    footer  positions of the two indexes (varint offset and size), padding to 40 bytes, magic number

Source: https://github.com/google/leveldb/blob/main/doc/table_format.md. Every length is checked against the size of the
data, blocks must not overlap, and keys, which can share prefixes, may take at most ``MAX_KEYS`` bytes together.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from workbench.errors import LoadError
from workbench.frontends.tf.checkpoint.crc32c import crc32c, masked
from workbench.frontends.tf.checkpoint.snappy import decompress

MAGIC = 0xDB4775248B80FB57
FOOTER = 48
#: maximum bytes of all keys together, and of all decompressed blocks together
MAX_KEYS = 1 << 26
MAX_BLOCKS = 1 << 28


class TableError(LoadError):
    """Bytes that are not a sorted table, or a damaged table."""

    slug = "bad-checkpoint"


def read_table(data: bytes) -> dict[bytes, bytes]:
    """All entries of a table, in its order; raises TableError."""
    if len(data) < FOOTER or struct.unpack_from("<Q", data, len(data) - 8)[0] != MAGIC:
        raise TableError("The index of the checkpoint does not end as one: it is cut off, or another kind of file.")
    footer = data[-FOOTER:-8]
    _, at = _handle(footer, 0)
    place, _ = _handle(footer, at)
    found: dict[bytes, bytes] = {}
    budget = _Budget()
    end = 0
    for _, pointer in _entries(_block(data, place, budget), budget):
        place, _ = _handle(pointer, 0)
        if place[0] < end:
            raise TableError("The blocks of the checkpoint's index overlap.")
        end = sum(place)
        last = next(reversed(found), None)
        for key, value in _entries(_block(data, place, budget), budget):
            if last is not None and key <= last:
                raise TableError("The keys of the checkpoint's index are not in order.")
            found[key] = value
            last = key
    return found


class _Budget:
    def __init__(self) -> None:
        self.keys, self.blocks = MAX_KEYS, MAX_BLOCKS


def _block(data: bytes, place: tuple[int, int], budget: _Budget) -> bytes:
    """The block at (offset, size), checked and decompressed."""
    offset, size = place
    if offset + size + 5 > len(data) - FOOTER:
        raise TableError(f"A block of the checkpoint's index claims the bytes {offset} to {offset + size + 5}.")
    body = data[offset : offset + size]
    kind, stored = data[offset + size], struct.unpack_from("<I", data, offset + size + 1)[0]
    if masked(crc32c(data[offset : offset + size + 1])) != stored:
        raise TableError("A block of the checkpoint's index does not have its checksum.", slug="bad-checksum")
    if kind > 1:
        raise TableError(f"A block of the checkpoint's index has the unknown compression {kind}.")
    body = decompress(body, budget.blocks) if kind else body
    budget.blocks -= len(body)
    if budget.blocks < 0:
        raise TableError(f"The checkpoint's index unpacks to more than {MAX_BLOCKS:,} bytes.", slug="too-large")
    return body


def _entries(block: bytes, budget: _Budget) -> Iterator[tuple[bytes, bytes]]:
    if len(block) < 4:
        raise TableError("A block of the checkpoint's index is too short.")
    restarts = struct.unpack_from("<I", block, len(block) - 4)[0]
    end = len(block) - 4 - 4 * restarts
    if end < 0:
        raise TableError(f"A block of the checkpoint's index claims {restarts:,} restart points.")
    position, key = 0, b""
    while position < end:
        shared, position = _varint(block, position, end)
        own, position = _varint(block, position, end)
        size, position = _varint(block, position, end)
        if shared > len(key) or own + size > end - position:
            raise TableError("An entry of the checkpoint's index claims more bytes than there are.")
        budget.keys -= shared + own
        if budget.keys < 0:
            raise TableError(f"The keys of the checkpoint's index take more than {MAX_KEYS:,} bytes.", slug="too-large")
        key = key[:shared] + block[position : position + own]
        yield key, block[position + own : position + own + size]
        position += own + size


def _handle(data: bytes, position: int) -> tuple[tuple[int, int], int]:
    offset, position = _varint(data, position, len(data))
    size, position = _varint(data, position, len(data))
    return (offset, size), position


def _varint(data: bytes, position: int, end: int) -> tuple[int, int]:
    value = shift = 0
    while position < end and shift < 64:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
    raise TableError("A number in the checkpoint's index does not end.")
