"""Parts of checkpoints: checksums, compression and sorted tables, compared with published values."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from tests.frontends.protobytes import varint
from workbench.errors import LoadError
from workbench.frontends.tf.checkpoint.crc32c import crc32c, masked
from workbench.frontends.tf.checkpoint.snappy import SnappyError, decompress
from workbench.frontends.tf.checkpoint.sstable import MAGIC, TableError, read_table

# -- checksums ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "raw, expected",
    [
        (b"123456789", 0xE3069283),
        (bytes(32), 0x8A9136AA),  # this and the next four: RFC 3720, appendix B.4
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
        (bytes(range(31, -1, -1)), 0x113FDB5C),
        (
            bytes.fromhex(
                "01c00000" + "00" * 12 + "14000000"
                "00000400"
                "00000014"
                "00000018"
                "28000000" + "00000000" + "02000000" + "00000000"
            ),
            0xD9963A56,
        ),
        (b"", 0),
    ],
)
def test_published_checksums(raw, expected):
    assert crc32c(raw) == expected


def bit_by_bit(raw: bytes) -> int:
    """Division by the polynomial, straight from its definition."""
    crc = 0xFFFFFFFF
    for byte in raw:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


@pytest.mark.parametrize("size", [1, 255, 2047, 2048, 2049, 4096, 10_007, 70_001])
def test_long_data_and_data_in_pieces(size):
    raw = np.random.default_rng(size).integers(0, 256, size, np.uint8).tobytes()
    assert crc32c(raw) == bit_by_bit(raw) == crc32c(raw[size // 3 :], crc32c(raw[: size // 3]))


# -- snappy -------------------------------------------------------------------------------------------------------

SNAPPY = {
    "nothing": (b"\x00", b""),
    "a literal": (b"\x03\x08abc", b"abc"),
    "a literal with its length in one byte": (b"\x46\xf0\x45" + b"x" * 70, b"x" * 70),
    "a literal with its length in two bytes": (b"\xac\x02\xf4\x2b\x01" + b"y" * 300, b"y" * 300),
    "a copy with one byte of offset": (b"\x08\x0cabcd\x01\x04", b"abcdabcd"),
    "a copy of its own output": (b"\x0b\x00a\x19\x01", b"a" * 11),
    "a copy with two bytes of offset": (b"\x08\x0cabcd\x0e\x04\x00", b"abcdabcd"),
    "a copy with four bytes of offset": (b"\x06\x0cabcd\x07\x03\x00\x00\x00", b"abcdbc"),
    "a copy of 64": (b"\x41\x00z\xfe\x01\x00", b"z" * 65),
}


@pytest.mark.parametrize("raw, expected", SNAPPY.values(), ids=SNAPPY)
def test_snappy(raw, expected):
    assert decompress(raw, 1000) == expected
    for end in range(len(raw)):
        with pytest.raises(SnappyError):
            decompress(raw[:end], 1000)


BAD_SNAPPY = {
    "too much": b"\xe9\x07" + b"\x00a" * 500,
    "a claim without bytes": b"\xff\xff\xff\xff\x0f",
    "a copy from before the start": b"\x08\x0cabcd\x01\x05",
    "a copy from here": b"\x08\x0cabcd\x01\x00",
    "more than it claims": b"\x03\x0cabcd",
    "less than it claims": b"\x09\x0cabcd\x01\x04",
    "a length that does not end": b"\xff" * 6,
}


@pytest.mark.parametrize("raw", BAD_SNAPPY.values(), ids=BAD_SNAPPY)
def test_bad_snappy(raw):
    with pytest.raises(SnappyError):
        decompress(raw, 1000)


# -- tables -------------------------------------------------------------------------------------------------------


def block(entries, compressed: bool = False, restarts: bytes = struct.pack("<2I", 0, 1)) -> bytes:
    """A block with its trailer; ``entries`` are (shared, own part of the key, value)."""
    raw = b"".join(varint(s) + varint(len(k)) + varint(len(v)) + k + v for s, k, v in entries) + restarts
    if compressed:
        raw = varint(len(raw)) + b"\xf0" + bytes((len(raw) - 1,)) + raw
    raw += bytes((compressed,))
    return raw + struct.pack("<I", masked(crc32c(raw)))


def table(*blocks: bytes, pointers=None) -> bytes:
    """A whole table; the pointers of its index are (offset, size) of each block."""
    out, places = b"", []
    for one in blocks:
        places.append((len(out), len(one) - 5))
        out += one
    meta, out = (len(out), 8), out + block([])
    index = block([(0, b"k%d" % i, varint(a) + varint(n)) for i, (a, n) in enumerate(pointers or places)])
    footer = varint(meta[0]) + varint(meta[1]) + varint(len(out)) + varint(len(index) - 5)
    return out + index + footer.ljust(40, b"\0") + struct.pack("<Q", MAGIC)


ONE = block([(0, b"", b"head"), (0, b"abc", b"1"), (2, b"d", b"22"), (0, b"b", b"")])
TWO = block([(0, b"c", b"x" * 20), (1, b"c", b"y")], compressed=True)


def test_a_table():
    assert read_table(table(ONE, TWO)) == {
        b"": b"head",
        b"abc": b"1",
        b"abd": b"22",
        b"b": b"",
        b"c": b"x" * 20,
        b"cc": b"y",
    }
    assert read_table(table()) == {}


def test_every_cut_and_every_flip_of_a_table_is_an_error():
    raw = table(ONE, TWO)
    for end in range(len(raw)):
        with pytest.raises(TableError):
            read_table(raw[:end])
    unread = range(len(ONE) + len(TWO), len(ONE) + len(TWO) + 13)  # the meta index, which is empty
    for at in range(len(raw)):
        broken = bytearray(raw)
        broken[at] ^= 0x10
        try:
            assert read_table(bytes(broken)) == read_table(raw)
            assert at in unread or at >= len(raw) - 48
        except LoadError as error:
            assert error.slug in ("bad-checkpoint", "bad-checksum")


BAD_TABLES = {
    "a block of 2 GB": table(ONE, pointers=[(0, 2**31)]),
    "a block beyond all numbers": table(ONE, pointers=[(2**63, 2**63)]),
    "one block twice": table(ONE, pointers=[(0, len(ONE) - 5)] * 2),
    "keys out of order": table(block([(0, b"b", b""), (0, b"a", b"")])),
    "a key twice": table(block([(0, b"a", b""), (0, b"a", b"")])),
    "shared bytes that are not there": table(block([(0, b"a", b""), (2, b"b", b"")])),
    "restarts beyond the block": table(block([(0, b"a", b"")], restarts=struct.pack("<I", 2**30))),
    "unknown compression": table(
        (raw := block([])[:-5] + b"\x07") + struct.pack("<I", masked(crc32c(raw)))  # noqa: F821 - bound just here
    ),
    "a block of two bytes": table((raw := b"\0\0\0") + struct.pack("<I", masked(crc32c(raw)))),  # noqa: F821
    "another format": b"PK\x03\x04" * 30,
}


@pytest.mark.parametrize("raw", BAD_TABLES.values(), ids=BAD_TABLES)
def test_bad_tables(raw):
    with pytest.raises(TableError):
        read_table(raw)


def test_keys_that_share_all_their_bytes_are_bounded():
    """Each entry repeats a key of a megabyte for a few bytes of file."""
    long = [(0, b"a" * 2**20, b"")] + [(2**20 + i, b"a", b"") for i in range(200)]
    with pytest.raises(TableError) as caught:
        read_table(table(block(long)))
    assert caught.value.slug == "too-large"
