"""The protobuf reader: fields that it reads, and false claims that it rejects."""

from __future__ import annotations

import struct
import tracemalloc

import pytest

from tests.frontends.protobytes import data, float32, integer, key, varint
from tests.work import Work
from workbench.frontends.protobuf.wire import MAX_DEPTH, Field, Reader, WireError, scan

SCHEMA = {
    "M": {
        1: Field("i", "int"),
        2: Field("s", "string"),
        3: Field("m", "M"),
        4: Field("f", "float"),
        5: Field("ints", "int", True),
        6: Field("floats", "float", True),
        7: Field("b", "bool"),
        8: Field("raw", "bytes", True),
        9: Field("u", "uint"),
        10: Field("doubles", "double", True),
    }
}


def read(raw: bytes) -> dict:
    return Reader(raw, SCHEMA).message("M")


@pytest.mark.parametrize("value", [0, 1, 127, 128, 2**31, 2**63 - 1, -1, -(2**63)])
def test_integers_are_signed(value):
    assert read(integer(1, value)) == {"i": value}


def test_unsigned_integers():
    assert read(integer(9, 2**64 - 1)) == {"u": 2**64 - 1}


def test_scalars_text_and_messages():
    raw = data(2, "grüße") + float32(4, 1.5) + integer(7, 1) + data(3, integer(1, 7) + data(3, b""))
    assert read(raw) == {"s": "grüße", "f": 1.5, "b": True, "m": {"i": 7, "m": {}}}


def test_the_last_of_a_field_that_is_not_repeated_counts():
    assert read(integer(1, 3) + integer(1, 4)) == {"i": 4}


def test_repeated_numbers_packed_one_by_one_and_mixed():
    packed = data(5, varint(1) + varint(300) + varint(-1))
    assert read(packed + integer(5, 9) + packed)["ints"] == [1, 300, -1, 9, 1, 300, -1]
    assert read(data(6, struct.pack("<2f", 1.0, 2.0)) + float32(6, 3.0))["floats"] == [1.0, 2.0, 3.0]
    assert read(data(10, struct.pack("<d", 0.1)))["doubles"] == [0.1]
    assert read(data(5, b""))["ints"] == []


def test_unknown_fields_of_every_kind_are_skipped():
    raw = integer(99, 5) + data(98, "x") + float32(97, 1.0) + key(96, 1) + bytes(8) + integer(1, 3)
    assert read(raw) == {"i": 3}


BAD = {
    "ends in a key": (b"\x88", "truncated"),
    "ends in a number": (b"\x08\x80", "truncated"),
    "ends in a fixed32": (b"\x25\x00\x00", "truncated"),
    "text shorter than it says": (b"\x12\x05ab", "truncated"),
    "a 2 GB claim": (b"\x12" + varint(2**31 - 1) + b"x", "truncated"),
    "an impossible claim": (b"\x12" + varint(2**60) + b"x", "malformed"),
    "message contradicts its own length": (data(3, b"\x12\x05ab") + integer(1, 1), "malformed"),
    "group": (key(3, 3), "malformed"),
    "end of group": (key(3, 4), "malformed"),
    "wire type 6": (key(3, 6), "malformed"),
    "field number 0": (b"\x00\x00", "malformed"),
    "eleven bytes of number": (b"\x08" + b"\xff" * 10 + b"\x01", "malformed"),
    "65 bits": (b"\x08" + b"\xff" * 9 + b"\x7f", "malformed"),
    "wrong wire type": (data(1, "x"), "malformed"),
    "wrong wire type of a message": (integer(3, 1), "malformed"),
    "not UTF-8": (data(2, b"\xff\xfe"), "malformed"),
    "half a packed float": (data(6, b"\x00\x00\x00"), "malformed"),
    "packed number runs out": (data(5, b"\x80"), "malformed"),
}


@pytest.mark.parametrize("raw, slug", BAD.values(), ids=BAD)
def test_bad_bytes(raw, slug):
    with pytest.raises(WireError) as caught:
        read(raw)
    assert caught.value.slug == slug
    assert "at byte" in caught.value.message


def test_nesting_is_bounded():
    raw = b""
    for _ in range(MAX_DEPTH + 1):
        raw = data(3, raw)
    with pytest.raises(WireError) as caught:
        read(raw)
    assert caught.value.slug == "too-deep"


def test_a_huge_claim_costs_nothing():
    """No bytes are read or allocated for a claimed size that is not present."""
    raw = data(3, b"\x42" + varint(2**31 - 1)) + b"\x42" + varint(2**31 - 1)
    tracemalloc.start()
    try:
        with pytest.raises(WireError), Work() as work:
            read(raw)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 1 << 20 and work.calls < 1000


def test_scan_gives_the_outline_only():
    assert list(scan(integer(1, 3) + data(7, b"\xff\xff") + float32(4, 0.0))) == [(1, 0), (7, 2), (4, 5)]
