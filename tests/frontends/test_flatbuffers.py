"""The reader of FlatBuffers: every kind of field, and bytes with false claims."""

from __future__ import annotations

import struct

import pytest

from tests.frontends.flatbytes import Table, flatbuffer
from workbench.frontends.flatbuffers.tables import MAX_LEVELS, FlatError, FlatReader, Slot

SCHEMA = {
    "T": {
        0: Slot("flag", "bool"),
        1: Slot("small", "int8"),
        2: Slot("number", "int32"),
        3: Slot("large", "int64"),
        4: Slot("real", "float64"),
        5: Slot("text", "string"),
        6: Slot("raw", "bytes"),
        7: Slot("inner", "T"),
        8: Slot("numbers", "int64", True),
        9: Slot("flags", "bool", True),
        10: Slot("texts", "string", True),
        11: Slot("tables", "T", True),
        12: Slot("reals", "float64", True),
    }
}
FULL = {
    0: ("?", True),
    1: ("b", -5),
    2: ("i", -(2**31)),
    3: ("q", 2**63 - 1),
    4: ("d", -0.5),
    5: ("s", "Grüße"),
    6: ("B", b"\0\1\2"),
    7: ("t", Table({2: ("i", 7)})),
    8: ("q*", [1, -2, 3]),
    9: ("?*", [True, False]),
    10: ("s*", ["", "a"]),
    11: ("t*", [Table({}), Table({5: ("s", "x")})]),
    12: ("d*", []),
    19: ("i", 1),  # of a later version of the format
}


def read(raw: bytes) -> dict:
    return FlatReader(raw, SCHEMA).root("T")


def refused(raw: bytes, slug: str) -> FlatError:
    with pytest.raises(FlatError) as caught:
        read(raw)
    assert caught.value.slug == slug and "byte" in str(caught.value)
    return caught.value


def test_every_kind_of_field():
    assert read(flatbuffer(Table(FULL))) == {
        "flag": True,
        "small": -5,
        "number": -(2**31),
        "large": 2**63 - 1,
        "real": -0.5,
        "text": "Grüße",
        "raw": b"\0\1\2",
        "inner": {"number": 7},
        "numbers": [1, -2, 3],
        "flags": [True, False],
        "texts": ["", "a"],
        "tables": [{}, {"text": "x"}],
        "reals": [],
    }


def test_fields_that_are_left_out():
    assert read(flatbuffer(Table({}))) == {}


def test_a_buffer_that_is_cut_off_anywhere():
    raw = flatbuffer(Table(FULL))
    for end in range(len(raw) - 1):
        with pytest.raises(FlatError):
            read(raw[:end])


def test_offsets_and_sizes_that_are_not_there():
    refused(struct.pack("<I", 2), "malformed")  # into itself
    refused(struct.pack("<I", 400), "truncated")
    refused(struct.pack("<Ii", 4, 100), "malformed")  # the vtable before the beginning
    table = struct.pack("<IHHHxx", 12, 6, 8, 4) + struct.pack("<iI", 8, 4)
    assert FlatReader(table, {"T": {}}).root("T") == {}
    refused(table[:4] + struct.pack("<H", 5) + table[6:], "malformed")  # half an entry
    refused(table[:8] + struct.pack("<H", 8) + table[10:], "malformed")  # after its table
    wide = {"T": {0: Slot("large", "int64")}}
    with pytest.raises(FlatError, match="needs 8 bytes"):
        FlatReader(table, wide).root("T")


def test_text_that_is_not_utf8():
    assert "UTF-8" in refused(flatbuffer(Table({5: ("s", b"\xff\xfe")})), "malformed").message


def test_tables_that_are_nested_too_deep():
    table = Table({})
    for _ in range(MAX_LEVELS + 1):
        table = Table({7: ("t", table)})
    refused(flatbuffer(table), "too-deep")
