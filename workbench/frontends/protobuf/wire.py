"""Reader for the protobuf wire format: tables instead of generated code; lengths in the bytes are not trusted.

The format is a sequence of fields, each a varint key (``field number << 3 | wire type``) and a payload::

    wire type 0  varint            int32 int64 uint64 bool enum
    wire type 1  8 bytes           double fixed64
    wire type 2  varint n, n bytes string bytes message, packed repeated numbers
    wire type 5  4 bytes           float fixed32 (kind "fixed32")

Source: https://protobuf.dev/programming-guides/encoding/. Groups (wire types 3 and 4) were retired before any of
the formats read here existed, so they are an error.

A message is described by a :data:`Table`, and read into a plain dict that holds only the fields that were present.
Every length is checked against the size of the buffer before anything is allocated or read.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import LoadError

#: Maximum nesting depth of messages; protobuf's own readers stop at 100.
MAX_DEPTH = 64
#: Maximum size of a protobuf file.
MAX_BYTES = 2**31 - 1

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
_SCALAR_WIRE = {
    "int": VARINT,
    "uint": VARINT,
    "bool": VARINT,
    "double": FIXED64,
    "float": FIXED32,
    "fixed32": FIXED32,
    "string": LENGTH,
    "bytes": LENGTH,
}
_STRUCT = {"double": struct.Struct("<d"), "float": struct.Struct("<f"), "fixed32": struct.Struct("<I")}
_PACKED_DTYPE: dict[str, np.dtype[Any]] = {
    "double": np.dtype("<f8"),
    "float": np.dtype("<f4"),
    "fixed32": np.dtype("<u4"),
}


class Field(NamedTuple):
    """One entry of a table. ``kind`` is a scalar kind, or the name of another message in the same schema.

    A repeated field may occur at most ``limit`` times in one message; 0 means no limit.
    """

    name: str
    kind: str
    repeated: bool = False
    limit: int = 0


#: field number -> field
Table = Mapping[int, Field]
#: message name -> table
Schema = Mapping[str, Table]


class WireError(LoadError):
    """Bytes that are not a protobuf message of the expected kind.

    ``offset`` counts from the start of the whole input. The slug is ``truncated`` where the input ends inside a
    field of the outermost message, otherwise ``malformed``. ``field`` is the (field number, wire type) at its end.
    """

    slug = "malformed"
    field: tuple[int, int] | None = None

    def __init__(self, message: str, *, offset: int, slug: str | None = None) -> None:
        self.offset = offset
        super().__init__(f"{message} (at byte {offset}).", slug=slug)


class Reader:
    """Reads messages of one schema from one buffer."""

    def __init__(self, data: bytes, schema: Schema) -> None:
        if len(data) > MAX_BYTES:
            raise WireError(f"The input has {len(data)} bytes; protobuf allows {MAX_BYTES}", offset=0, slug="too-large")
        self.data = data
        self.schema = schema

    def message(self, name: str) -> dict[str, Any]:
        """The whole buffer as message ``name``; raises WireError."""
        return self._message(name, 0, len(self.data), 0)

    def _message(self, name: str, start: int, end: int, depth: int) -> dict[str, Any]:
        if depth > MAX_DEPTH:
            raise WireError(f"Messages are nested more than {MAX_DEPTH} deep", offset=start, slug="too-deep")
        table = self.schema[name]
        found: dict[str, Any] = {}
        for number, wire, value, at in fields(self.data, start, end, depth == 0):
            field = table.get(number)
            if field is None:
                continue  # fields of later versions of the format
            if field.repeated:
                into = found.setdefault(field.name, [])
                self._append(field, wire, value, at, into, depth)
                if field.limit and len(into) > field.limit:
                    raise WireError(
                        f"A message has more than {field.limit:,} fields {field.name!r}", offset=at, slug="too-large"
                    )
            else:
                found[field.name] = self._one(field, wire, value, at, depth)
        return found

    def _one(self, field: Field, wire: int, value: Any, at: int, depth: int) -> Any:
        expected = _SCALAR_WIRE.get(field.kind, LENGTH)
        if wire != expected:
            raise WireError(f"Field {field.name!r} has wire type {wire}; expected {expected}", offset=at)
        kind = field.kind
        if kind == "int":
            return value - (1 << 64) if value >> 63 else value
        if kind == "uint":
            return value
        if kind == "bool":
            return value != 0
        if kind in _STRUCT:
            return _STRUCT[kind].unpack_from(self.data, value)[0]
        begin, stop = value
        if kind == "bytes":
            return self.data[begin:stop]
        if kind == "string":
            try:
                return self.data[begin:stop].decode("utf-8")
            except UnicodeDecodeError:
                raise WireError(f"Field {field.name!r} is not UTF-8 text", offset=begin) from None
        return self._message(kind, begin, stop, depth + 1)

    def _append(self, field: Field, wire: int, value: Any, at: int, into: list[Any], depth: int) -> None:
        """Append a repeated field; numbers may be single or packed, even mixed in one message."""
        packable = field.kind not in ("string", "bytes") and field.kind in _SCALAR_WIRE
        if not (packable and wire == LENGTH):
            into.append(self._one(field, wire, value, at, depth))
            return
        begin, stop = value
        if field.kind in _PACKED_DTYPE:
            dtype = _PACKED_DTYPE[field.kind]
            if (stop - begin) % dtype.itemsize:
                raise WireError(f"Packed field {field.name!r} ends inside a number", offset=begin)
            into.extend(np.frombuffer(self.data, dtype, (stop - begin) // dtype.itemsize, begin).tolist())
            return
        position = begin
        while position < stop:
            number, position = _varint(self.data, position, stop, False)
            into.append(self._one(field, VARINT, number, at, depth))


def scan(data: bytes, limit: int = 10_000) -> Iterator[tuple[int, int]]:
    """(field number, wire type) of the outermost fields, without reading their content; used to recognise formats."""
    for count, (number, wire, _, _) in enumerate(fields(data, 0, len(data), True)):
        if count >= limit:
            return
        yield number, wire


def fields(data: bytes, position: int, end: int, outermost: bool) -> Iterator[tuple[int, int, Any, int]]:
    """Yields (number, wire type, value, offset of the key); the value of wire types 1, 2, 5 is a range of ``data``."""
    while position < end:
        at = position
        key, position = _varint(data, position, end, outermost)
        number, wire = key >> 3, key & 7
        if number == 0 or number >= 1 << 29:
            raise WireError(f"{number} is not a field number", offset=at)
        try:
            value, position = _payload(data, position, end, outermost, number, wire, at)
        except WireError as error:
            error.field = (number, wire)
            raise
        yield number, wire, value, at


def _payload(data: bytes, position: int, end: int, outermost: bool, number: int, wire: int, at: int) -> tuple[Any, int]:
    """(value as :func:`_fields` yields it, position after it)."""
    if wire == VARINT:
        return _varint(data, position, end, outermost)
    if wire == LENGTH:
        size, position = _varint(data, position, end, outermost)
        if size > end - position:
            raise _too_short(f"Field {number} claims {size} bytes, {end - position} are left", at, outermost, size)
        return (position, position + size), position + size
    if wire in (FIXED64, FIXED32):
        size = 8 if wire == FIXED64 else 4
        if size > end - position:
            raise _too_short(f"Field {number} needs {size} bytes, {end - position} are left", at, outermost, size)
        return position, position + size
    what = "a group, which this reader rejects" if wire in (3, 4) else "no wire type"
    raise WireError(f"Wire type {wire} of field {number} is {what}", offset=at)


def _varint(data: bytes, position: int, end: int, outermost: bool) -> tuple[int, int]:
    """(unsigned value below 2**64, position after it)."""
    at = position
    value = shift = 0
    while True:
        if position >= end:
            raise _too_short("The input ends inside a number", at, outermost, 0)
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value >> 64:
                raise WireError("A number has more than 64 bits", offset=at)
            return value, position
        shift += 7
        if shift > 63:
            raise WireError("A number has more than ten bytes", offset=at)


def _too_short(message: str, at: int, outermost: bool, size: int) -> WireError:
    # Inside a message whose own length fits, the bytes are complete but inconsistent: the file is not truncated.
    return WireError(message, offset=at, slug="truncated" if outermost and size <= MAX_BYTES else "malformed")
