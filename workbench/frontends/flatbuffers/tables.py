"""Reader for FlatBuffers: tables of fields instead of generated code; sizes and offsets in the bytes are not trusted.

A buffer begins with the offset of its root table. Numbers are little-endian; an offset counts from its own
position, and points forward::

    table    int32 distance back to its vtable, then the fields, each at the position given in the vtable
    vtable   uint16 size of the vtable, uint16 size of the table, then a uint16 for each slot: the position of the field
             from the beginning of the table, 0 if it is left out
    vector   uint32 count, then the elements: numbers, or offsets of strings or tables
    string   uint32 length, then UTF-8

Source: https://flatbuffers.dev/internals/. A table is read by a schema into a plain dict that holds only the fields
that were present. Every offset and length is checked against the size of the buffer. Several offsets may point to the
same bytes, so that a small buffer could unfold into any number of tables: a limit on the bytes read prevents this.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import LoadError
from workbench.frontends.protobuf.wire import MAX_BYTES

#: maximum nesting depth of tables
MAX_LEVELS = 32
#: limit of bytes read through shared offsets: a multiple of the buffer's size, and a minimum
SHARING, ALLOWANCE = 8, 1 << 16

_NUMBERS = {
    "bool": struct.Struct("<B"),
    "int8": struct.Struct("<b"),
    "int32": struct.Struct("<i"),
    "int64": struct.Struct("<q"),
    "float64": struct.Struct("<d"),
}
_DTYPES: dict[str, np.dtype[Any]] = {
    "bool": np.dtype("u1"),
    "int8": np.dtype("i1"),
    "int32": np.dtype("<i4"),
    "int64": np.dtype("<i8"),
    "float64": np.dtype("<f8"),
}
_U16, _U32, _I32 = struct.Struct("<H"), struct.Struct("<I"), struct.Struct("<i")


class Slot(NamedTuple):
    """One field of a table. ``kind`` is a numeric type, ``string``, ``bytes`` (a vector of bytes), or the name of
    another table in the same schema.
    """

    name: str
    kind: str
    vector: bool = False


#: table name -> slot number -> slot
Slots = Mapping[str, Mapping[int, Slot]]


class FlatError(LoadError):
    """Bytes that are not a FlatBuffer of the expected kind.

    ``offset`` counts from the beginning of the buffer. The slug is ``truncated`` where a value extends beyond the last
    byte, ``too-large`` or ``too-deep`` where a limit of this reader is exceeded, otherwise ``malformed``.
    """

    slug = "malformed"

    def __init__(self, message: str, *, offset: int, slug: str | None = None) -> None:
        self.offset = offset
        super().__init__(f"{message} (at byte {offset}).", slug=slug)


class Table(NamedTuple):
    """Position of a table: its first byte, its size, and the offsets of its fields."""

    start: int
    size: int
    places: tuple[int, ...]

    def at(self, slot: int) -> int | None:
        """First byte of a field; None if it is left out."""
        place = self.places[slot] if slot < len(self.places) else 0
        return self.start + place if place else None


class FlatReader:
    """Reads tables of one schema from one buffer. ``extent`` is the end of what has been read so far."""

    def __init__(self, data: bytes, schema: Slots) -> None:
        if len(data) > MAX_BYTES:
            raise FlatError(
                f"The input has {len(data)} bytes; a FlatBuffer holds {MAX_BYTES}", offset=0, slug="too-large"
            )
        self.data, self.schema = data, schema
        self.extent = 0
        self._left = SHARING * len(data) + ALLOWANCE

    def root(self, name: str) -> dict[str, Any]:
        """The root table as table ``name``; raises FlatError."""
        return self.fields(name, self.root_table())

    def root_table(self) -> Table:
        """Position of the root table."""
        return self.table(self.target(0))

    def table(self, start: int) -> Table:
        """The table that begins at a byte."""
        back = _I32.unpack_from(self.data, self._take(start, 4, "A table"))[0]
        vtable = start - back
        size, length = struct.unpack_from("<HH", self.data, self._take(vtable, 4, "A vtable"))
        if size < 4 or size % 2 or length < 4:
            raise FlatError(f"A vtable claims {size} bytes for a table of {length}", offset=vtable)
        self._take(vtable, size, "A vtable")
        self._take(start, length, "A table")
        places = struct.unpack_from(f"<{size // 2 - 2}H", self.data, vtable + 4)
        if any(place >= length for place in places):
            raise FlatError(f"A field lies behind the end of its table of {length} bytes", offset=vtable)
        return Table(start, length, places)

    def fields(self, name: str, table: Table, depth: int = 0) -> dict[str, Any]:
        """The fields of a table that the schema knows and that are present."""
        if depth > MAX_LEVELS:
            raise FlatError(f"Tables are nested more than {MAX_LEVELS} deep", offset=table.start, slug="too-deep")
        found: dict[str, Any] = {}
        for number, slot in self.schema[name].items():
            at = table.at(number)
            if at is not None:
                found[slot.name] = self._field(slot, at, table.start + table.size, depth)
        return found

    def _field(self, slot: Slot, at: int, end: int, depth: int) -> Any:
        number = None if slot.vector else _NUMBERS.get(slot.kind)
        width = 4 if number is None else number.size
        if at + width > end:
            raise FlatError(f"Field {slot.name!r} needs {width} bytes, {end - at} are left in its table", offset=at)
        if number is not None:
            value = number.unpack_from(self.data, at)[0]
            return value != 0 if slot.kind == "bool" else value
        start = self.target(at)
        if slot.vector:
            return self._vector(slot, start, depth)
        return self._one(slot, start, depth)

    def _one(self, slot: Slot, start: int, depth: int) -> Any:
        if slot.kind == "bytes":
            count = self.count(start, 1, slot.name)
            return self.data[start + 4 : start + 4 + count]
        if slot.kind == "string":
            count = self.count(start, 1, slot.name)
            try:
                return self.data[start + 4 : start + 4 + count].decode("utf-8")
            except UnicodeDecodeError:
                raise FlatError(f"Field {slot.name!r} is not UTF-8 text", offset=start) from None
        return self.fields(slot.kind, self.table(start), depth + 1)

    def _vector(self, slot: Slot, start: int, depth: int) -> list[Any]:
        dtype = _DTYPES.get(slot.kind)
        if dtype is not None:
            count = self.count(start, dtype.itemsize, slot.name)
            values = np.frombuffer(self.data, dtype, count, start + 4)
            return (values != 0).tolist() if slot.kind == "bool" else values.tolist()
        count = self.count(start, 4, slot.name)
        places = range(start + 4, start + 4 + 4 * count, 4)
        return [self._one(slot, self.target(place), depth) for place in places]

    def count(self, start: int, width: int, what: str) -> int:
        """Number of elements of the vector at a byte; the buffer is checked to hold all of them."""
        found = _U32.unpack_from(self.data, self._take(start, 4, f"Field {what!r}"))[0]
        self._take(start + 4, found * width, f"Field {what!r}")
        return found

    def target(self, at: int) -> int:
        """Position that the offset at a byte points to."""
        distance = _U32.unpack_from(self.data, self._take(at, 4, "An offset"))[0]
        if distance < 4:
            raise FlatError(f"An offset of {distance} points into itself", offset=at)
        return at + distance

    def _take(self, start: int, size: int, what: str) -> int:
        """``start``, if the buffer has that many bytes there and the limit allows them."""
        if start < 0:
            raise FlatError(f"{what} begins {-start} bytes before the beginning", offset=0)
        if start + size > len(self.data):
            raise FlatError(f"{what} ends at byte {start + size}, of {len(self.data)}", offset=start, slug="truncated")
        self._left -= size
        if self._left < 0:
            raise FlatError(
                f"More than {SHARING} times the bytes of the input would be read: too much is shared",
                offset=start,
                slug="too-large",
            )
        self.extent = max(self.extent, start + size)
        return start
