"""CRC-32C (Castagnoli), the checksum of TensorFlow's checkpoints, and the mask under which they store it.

Sources: RFC 3720, section 12.1 and appendix B.4 (polynomial, test values); the mask is that of
https://github.com/google/leveldb/blob/main/doc/log_format.md.

A checksum is linear over GF(2), so long data are cut into equal rows, NumPy processes all rows at once, and the
remainders of the rows are joined: appending n bytes is one 32 by 32 bit matrix, kept as four tables of 256 entries.
"""

from __future__ import annotations

import functools

import numpy as np

_POLYNOMIAL = 0x82F63B78
_ALL = 0xFFFFFFFF
#: shorter data are processed byte by byte
_SHORT = 2048


def _byte_table() -> np.ndarray:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ np.uint32(_POLYNOMIAL), table >> 1).astype(np.uint32)
    return table


_TABLE = _byte_table()
_LIST: list[int] = _TABLE.tolist()


def crc32c(data: bytes | memoryview, start: int = 0) -> int:
    """The checksum of ``data``, or of the bytes with checksum ``start`` followed by ``data``."""
    crc, view = start ^ _ALL, memoryview(data).cast("B")
    if len(view) >= _SHORT:
        width = 1 << min(12, (len(view).bit_length() + 1) // 2)
        rows = len(view) // width
        crc = _join(crc, np.frombuffer(view[: rows * width], np.uint8).reshape(rows, width))
        view = view[rows * width :]
    for byte in view:
        crc = _LIST[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ _ALL


def _join(crc: int, rows: np.ndarray) -> int:
    remainders = np.zeros(len(rows), np.uint32)
    for column in np.ascontiguousarray(rows.T):
        remainders = _TABLE[(remainders ^ column) & 0xFF] ^ (remainders >> np.uint32(8))
    a, b, c, d = _tables(rows.shape[1])
    for remainder in remainders.tolist():
        crc = a[crc & 0xFF] ^ b[crc >> 8 & 0xFF] ^ c[crc >> 16 & 0xFF] ^ d[crc >> 24] ^ remainder
    return crc


@functools.lru_cache(maxsize=16)
def _tables(count: int) -> tuple[list[int], ...]:
    """The effect of appending ``count`` (a power of two) zero bytes, as a table for each byte of the remainder."""
    bits = np.uint32(1) << np.arange(32, dtype=np.uint32)
    columns = _TABLE[bits & 0xFF] ^ (bits >> np.uint32(8))  # one zero byte
    for _ in range(count.bit_length() - 1):
        columns = _apply(columns, columns)
    values = np.arange(256, dtype=np.uint32)
    return tuple(_apply(columns, values << np.uint32(8 * place)).tolist() for place in range(4))


def _apply(columns: np.ndarray, values: np.ndarray) -> np.ndarray:
    out = np.zeros(len(values), np.uint32)
    for bit, column in enumerate(columns):
        out ^= np.where(values >> np.uint32(bit) & 1, column, np.uint32(0)).astype(np.uint32)
    return out


def masked(crc: int) -> int:
    """A checksum in its stored form: rotated and offset, so that checksums of data with checksums remain effective."""
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & _ALL
