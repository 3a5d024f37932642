"""A model's bytes without those of its large tensors, so that the onnx library need not parse and copy them.

::

    ModelProto ── graph ──┬── initializer ── raw_data          each raw_data of ``LEAST_BYTES`` or more is left out,
                          └── node ── attribute ─┬─ t ── raw_data     and a mark (see ``weights``) is put in its place;
                                                 └─ g (a graph)       the enclosing lengths are reduced

All other fields are copied as they are. :mod:`.validate` bounds the nesting beforehand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from workbench.frontends.protobuf.wire import LENGTH, VARINT, fields
from workbench.ir.buffers import LEAST_BYTES

#: message -> field number -> inner message that may hold a large tensor
_WAYS: Mapping[str, Mapping[int, str]] = {
    "ModelProto": {7: "GraphProto"},
    "GraphProto": {1: "NodeProto", 5: "TensorProto"},
    "NodeProto": {5: "AttributeProto"},
    "AttributeProto": {5: "TensorProto", 6: "GraphProto"},
}
#: fields of TensorProto: raw_data is left out only if the others do not mark the tensor as segmented or external
_RAW, _SEGMENT, _EXTERNAL, _LOCATION = 9, 3, 13, 14

#: (offset, length) of some bytes -> the fields of a TensorProto that replace them
Keep = Callable[[int, int], bytes]


def slim(data: Any, keep: Keep) -> bytes:
    """The model in ``data`` (bytes or a mapped file) with ``keep(offset, length)`` in place of each large raw_data."""
    pieces = _message(data, "ModelProto", 0, len(data), keep)
    return bytes(data[:]) if pieces is None else b"".join(pieces)


def _message(data: Any, kind: str, start: int, end: int, keep: Keep) -> list[bytes] | None:
    """The pieces of a message, or None if nothing in it is left out."""
    if kind == "TensorProto":
        return _tensor(data, start, end, keep)
    pieces: list[bytes] = []
    done = start
    for number, wire, value, at in fields(data, start, end, False):
        inner = _WAYS[kind].get(number)
        if inner is None or wire != LENGTH or value[1] - value[0] < LEAST_BYTES:
            continue
        inside = _message(data, inner, value[0], value[1], keep)
        if inside is not None:
            size = sum(map(len, inside))
            pieces += [data[done:at], _varint(number << 3 | LENGTH), _varint(size), *inside]
            done = value[1]
    return [*pieces, data[done:end]] if pieces else None


def _tensor(data: Any, start: int, end: int, keep: Keep) -> list[bytes] | None:
    found: list[tuple[int, int, int]] = []
    for number, wire, value, at in fields(data, start, end, False):
        if number == _RAW and wire == LENGTH:
            found.append((at, *value))
        elif number in (_SEGMENT, _EXTERNAL) or number == _LOCATION and (wire != VARINT or value):
            return None
    if len(found) != 1 or found[0][2] - found[0][1] < LEAST_BYTES:
        return None
    at, begin, stop = found[0]
    return [data[start:at], data[stop:end], keep(begin, stop - begin)]


def _varint(number: int) -> bytes:
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)
