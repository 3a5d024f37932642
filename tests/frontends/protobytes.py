"""The smallest writer of protobuf bytes, to build good and bad messages by hand."""

from __future__ import annotations

import struct


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def key(number: int, wire: int) -> bytes:
    return varint(number << 3 | wire)


def integer(number: int, value: int) -> bytes:
    return key(number, 0) + varint(value)


def data(number: int, payload: bytes | str) -> bytes:
    raw = payload.encode() if isinstance(payload, str) else payload
    return key(number, 2) + varint(len(raw)) + raw


def float32(number: int, value: float) -> bytes:
    return key(number, 5) + struct.pack("<f", value)


def shape(*dims: int) -> bytes:
    """A TensorShapeProto."""
    return b"".join(data(2, integer(1, d)) for d in dims)


def tensor(dtype: int, dims: tuple[int, ...] = (), *fields: bytes) -> bytes:
    """A TensorProto."""
    return integer(1, dtype) + data(2, shape(*dims)) + b"".join(fields)


def attr(name: str, value: bytes) -> bytes:
    """One entry of NodeDef.attr; ``value`` is an AttrValue."""
    return data(5, data(1, name) + data(2, value))


def node(name: str, op: str, *inputs: str, **attrs: bytes) -> bytes:
    """One node field of a GraphDef."""
    body = data(1, name) + data(2, op) + b"".join(data(3, i) for i in inputs)
    return data(1, body + b"".join(attr(k, v) for k, v in attrs.items()))


def const(name: str, value: bytes, *inputs: str) -> bytes:
    """A Const node; ``value`` is a TensorProto."""
    return node(name, "Const", *inputs, value=data(8, value))


def placeholder(name: str, dtype: int = 1, *dims: int) -> bytes:
    return node(name, "Placeholder", dtype=integer(6, dtype), shape=data(7, shape(*dims)))
