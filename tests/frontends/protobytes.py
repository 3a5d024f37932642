"""A minimal writer of protobuf bytes, to build good and bad messages."""

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


# -- functions --------------------------------------------------------------------------------------------------------
def argument(name: str, dtype: int | str, many: str = "") -> bytes:
    """An ArgDef: of a DataType number or of the type attribute of that name; ``many`` is its number attribute."""
    typed = integer(3, dtype) if isinstance(dtype, int) else data(4, dtype)
    return data(1, name) + typed + (data(5, many) if many else b"")


def function(
    name: str, inputs: list[bytes], outputs: list[bytes], nodes: list[bytes], ret: dict[str, str], *effects: str
) -> bytes:
    """A FunctionDef; ``nodes`` are made by :func:`node`."""
    signature = data(1, name) + b"".join(data(2, i) for i in inputs) + b"".join(data(3, o) for o in outputs)
    body = b"".join(key(3, 2) + n[1:] for n in nodes)  # field 3 here, field 1 in a GraphDef
    results = b"".join(data(4, data(1, k) + data(2, v)) for k, v in ret.items())
    return data(1, signature) + body + results + b"".join(data(6, data(1, e) + data(2, e)) for e in effects)


def library(*functions: bytes) -> bytes:
    """The library field of a GraphDef."""
    return data(2, b"".join(data(1, f) for f in functions))


def func(name: str, **attrs: bytes) -> bytes:
    """An AttrValue that names a function."""
    return data(10, data(1, name) + b"".join(data(2, data(1, k) + data(2, v)) for k, v in attrs.items()))


def types(*dtypes: int) -> bytes:
    """An AttrValue that is a list of types."""
    return data(1, data(6, b"".join(varint(d) for d in dtypes)))
