"""TensorProto, TensorShapeProto and AttrValue of TensorFlow -> arrays and plain Python values."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.errors import LoadError
from workbench.frontends.tf.schema import DTYPES, FOREIGN_DTYPES
from workbench.ir.types import STRING, numpy_dtype

#: A few bytes can describe a huge constant ("this value a billion times"); all constants of one graph together may
#: exceed the size of the file by this many bytes.
MAX_EXPANSION = 1 << 28

#: maximum rank of a shape (as in TensorFlow) and of an array (as in NumPy 2)
MAX_RANK, MAX_ARRAY_RANK = 254, 64

_FIELD = {
    "float32": "float_val",
    "float64": "double_val",
    "int32": "int_val",
    "uint8": "int_val",
    "int16": "int_val",
    "int8": "int_val",
    "uint16": "int_val",
    "string": "string_val",
    "complex64": "scomplex_val",
    "int64": "int64_val",
    "bool": "bool_val",
    "complex128": "dcomplex_val",
    "float16": "half_val",
    "bfloat16": "half_val",
    "uint32": "uint32_val",
    "uint64": "uint64_val",
}


class Budget:
    """Number of bytes by which the constants of one graph may still exceed the size of the file."""

    def __init__(self, limit: int = MAX_EXPANSION) -> None:
        self.left = limit

    def take(self, size: int, what: str) -> None:
        self.left -= size
        if self.left < 0:
            raise LoadError(
                f"{what} needs {size:,} bytes that are not in the file (one value repeated); constants may grow by "
                f"{MAX_EXPANSION:,} bytes in all.",
                slug="too-large",
                fix="make the constant in the graph with Fill instead.",
            )


@dataclass(frozen=True, slots=True)
class DTypeAttr:
    """A DataType attribute; ``name`` is the graph's dtype name."""

    number: int

    @property
    def name(self) -> str:
        name = DTYPES.get(self.number - 100 if self.number > 100 else self.number)
        if name is None:
            shown = FOREIGN_DTYPES.get(self.number, f"number {self.number}")
            raise LoadError(f"The TensorFlow data type {shown} has no counterpart here.", slug="unknown-dtype")
        return name


@dataclass(frozen=True, slots=True)
class Function:
    """A function attribute: name and attributes of the call."""

    name: str
    attrs: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AttrName:
    """A reference in the body of a function to the attribute ``name`` of the call."""

    name: str


def shape_of(message: Mapping[str, Any]) -> tuple[int | None, ...] | None:
    """Dimensions, None for unknown ones; None for an unknown rank."""
    if message.get("unknown_rank"):
        return None
    dims = [d.get("size", 0) for d in message.get("dim", ())]
    if len(dims) > MAX_RANK:
        raise LoadError(f"A shape has {len(dims):,} dimensions; TensorFlow allows {MAX_RANK}.", slug="bad-shape")
    if any(d < -1 for d in dims):
        raise LoadError(f"A shape has the dimensions {dims}.", slug="bad-shape")
    return tuple(None if d == -1 else d for d in dims)


def tensor_of(message: Mapping[str, Any], budget: Budget, what: str = "A constant") -> np.ndarray:
    """The array of a TensorProto; raises LoadError.

    Values come as ``tensor_content`` (little-endian bytes) or in a field for the dtype. If that field holds fewer
    values than the shape requires, the last one is repeated; if it is empty, all are zero.
    """
    dtype_name = DTypeAttr(message.get("dtype", 0)).name
    if dtype_name not in _FIELD:
        raise LoadError(f"{what} has the data type {dtype_name}, which has no constants.", slug="unknown-dtype")
    dtype = numpy_dtype(dtype_name)
    shape = shape_of(message.get("tensor_shape", {}))
    if shape is None or None in shape:
        raise LoadError(f"{what} has no definite shape.", slug="bad-shape")
    dims = tuple(d for d in shape if d is not None)
    if len(dims) > MAX_ARRAY_RANK:
        raise LoadError(f"{what} has {len(dims)} dimensions; NumPy allows {MAX_ARRAY_RANK}.", slug="bad-shape")
    count = math.prod(dims)
    if count == 0 and math.prod(max(d, 1) for d in dims) * dtype.itemsize >= 1 << 63:
        raise LoadError(f"{what} has the shape {list(dims)}, which no array can have.", slug="bad-shape")
    content = message.get("tensor_content", b"")
    if content:
        if dtype_name == STRING or len(content) != count * dtype.itemsize:
            raise LoadError(
                f"{what} holds {len(content)} bytes; {dtype_name}{list(dims)} needs {count * dtype.itemsize}.",
                slug="bad-tensor",
            )
        return _from_bytes(content, dtype).reshape(dims)
    raw = message.get(_FIELD[dtype_name], [])
    given = _values(raw, dtype_name, dtype, what)
    if len(given) > count:
        raise LoadError(f"{what} holds {len(given)} values; its shape {list(dims)} has {count}.", slug="bad-tensor")
    if len(given) == count:
        return given.reshape(dims)
    budget.take((count - len(given)) * dtype.itemsize, what)
    fill: Any = given[-1] if len(given) else (b"" if dtype_name == STRING else dtype.type(0))
    full = np.empty(count, dtype)
    full[: len(given)] = given
    full[len(given) :] = fill
    return full.reshape(dims)


def _from_bytes(content: bytes, dtype: np.dtype) -> np.ndarray:
    if dtype == np.bool_:  # a byte other than 0 and 1 would become a NumPy bool that equals neither
        return np.frombuffer(content, np.uint8) != 0
    array = np.frombuffer(content, dtype)
    return array if sys.byteorder == "little" else array.byteswap()


def _values(raw: list[Any], dtype_name: str, dtype: np.dtype, what: str) -> np.ndarray:
    if dtype_name == STRING:
        out = np.empty(len(raw), object)
        out[:] = raw
        return out
    if dtype_name in ("complex64", "complex128"):
        parts = np.asarray(raw, np.float32 if dtype_name == "complex64" else np.float64)
        if len(parts) % 2:
            raise LoadError(f"{what} holds half a complex number.", slug="bad-tensor")
        return parts.view(dtype)
    if dtype_name in ("float16", "bfloat16"):  # the low 16 bits of each integer are the bits of the number
        return (np.asarray([v & 0xFFFF for v in raw], np.uint16)).view(dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        bits = info.bits
        mask = (1 << bits) - 1
        unsigned = np.asarray([v & mask for v in raw], np.dtype(f"u{bits // 8}"))
        return unsigned.view(dtype)
    return np.asarray(raw, dtype)


def attr_of(message: Mapping[str, Any], budget: Budget, what: str) -> Any:
    """The value of an AttrValue: bytes, int, float, bool, DType, shape, array, Function, a list of them, or None."""
    if "list" in message:
        return [v for key, values in message["list"].items() for v in (_plain(key, x, budget, what) for x in values)]
    for key, value in message.items():
        return _plain(key, value, budget, what)
    return None


def _plain(key: str, value: Any, budget: Budget, what: str) -> Any:
    if key == "type":
        return DTypeAttr(value)
    if key == "shape":
        return shape_of(value)
    if key == "tensor":
        return tensor_of(value, budget, what)
    if key == "func":
        attrs = {e.get("key", ""): attr_of(e.get("value", {}), budget, what) for e in value.get("attr", ())}
        return Function(value.get("name", ""), attrs)
    return AttrName(value) if key == "placeholder" else value
