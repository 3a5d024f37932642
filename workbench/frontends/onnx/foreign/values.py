"""Converts onnxruntime values (arrays, strings, packed integers, maps, and lists of these) to and from values of
graphs.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping, Sequence
from ctypes import byref, c_char_p, c_int, c_int64, c_size_t, c_void_p
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.errors import ExecutionError
from workbench.frontends.onnx.foreign.runtime import Runtime
from workbench.frontends.onnx.library import onnx
from workbench.frontends.onnx.tensors import DTYPES, NUMBERS, PACKED
from workbench.ir.types import OPAQUE, STRING, TensorType, dtype_name, numpy_dtype
from workbench.ir.values import array_list
from workbench.text import harmless

_SEQUENCE, _MAP = 2, 3


@dataclass(frozen=True, slots=True)
class MapType:
    """The type of a dict whose keys and values have these dtypes."""

    key: str
    value: str
    dtype: str = OPAQUE
    shape: None = None
    is_static: bool = False

    @classmethod
    def of(cls, value: Mapping[Any, Any]) -> MapType:
        """The type of a dict without a declared type."""
        key, item = next(iter(value.items()), ("", 0.0))
        return cls(STRING if isinstance(key, str) else "int64", _DTYPE_OF.get(type(item), "float32"))

    @harmless
    def __str__(self) -> str:
        return f"map({self.key},{self.value})"


def map_type_of(proto: Any) -> MapType:
    """The type that a TypeProto.Map declares."""
    value = proto.value_type.tensor_type.elem_type
    return MapType(DTYPES.get(proto.key_type, STRING), DTYPES.get(value, "float32"))


_DTYPE_OF = {str: STRING, int: "int64", np.str_: STRING, np.int64: "int64", np.float64: "float64"}
#: type of an input of a node
Kind = TensorType | MapType


def dims_of(shape: Sequence[Any]) -> Any:
    return (c_int64 * len(shape))(*shape)


def given(found: Runtime, value: Any, kind: Kind, kept: list[Any]) -> c_void_p:
    """A value for onnxruntime, which the caller must release; ``kept`` receives the objects that must outlive it."""
    if isinstance(kind, MapType):
        return _map(found, value, kind)
    dense = contiguous(value)
    dtype, dims = dtype_name(dense.dtype), dims_of(dense.shape)
    if dtype == STRING:
        return _text(found, dense)
    if dtype in PACKED:
        dense = np.frombuffer(packed(dense), np.uint8)
    kept.append(dense)
    return found.tensor(dense.ctypes.data, dense.nbytes, dims, NUMBERS[dtype])


def contiguous(value: Any) -> np.ndarray:
    """A contiguous array of the same shape; NumPy's ``ascontiguousarray`` turns a scalar into a vector."""
    return np.ascontiguousarray(value).reshape(np.shape(value))


def packed(narrow: np.ndarray) -> bytes:
    """The bytes of an array of a dtype of less than a byte, as onnxruntime packs them."""
    return bytes(onnx().numpy_helper.from_array(narrow).raw_data)


def _text(found: Runtime, items: np.ndarray) -> c_void_p:
    texts = [t if isinstance(t, bytes) else str(t).encode() for t in items.ravel().tolist()]
    if any(b"\0" in t for t in texts):
        raise ExecutionError("The string contains a NUL, where onnxruntime would cut it.", slug="foreign-op-failed")
    value = c_void_p()
    found.CreateTensorAsOrtValue(found.allocator, dims_of(items.shape), items.ndim, NUMBERS[STRING], byref(value))
    found.FillStringTensor(value, (c_char_p * len(texts))(*texts), len(texts))
    return value


def _map(found: Runtime, value: Any, kind: MapType) -> c_void_p:
    if not isinstance(value, Mapping):
        raise ExecutionError(f"A dict is expected, but got {type(value).__name__}.", slug="wrong-dtype")
    kept: list[Any] = []
    parts: list[c_void_p] = []
    made = c_void_p()
    try:
        for items, dtype in ((value.keys(), kind.key), (value.values(), kind.value)):
            column = np.array(list(items), numpy_dtype(dtype))
            parts.append(given(found, column, TensorType(dtype, column.shape), kept))
        found.CreateValue((c_void_p * 2)(*(p.value for p in parts)), 2, _MAP, byref(made))  # a copy
    except (ValueError, TypeError, OverflowError) as error:
        raise ExecutionError(f"The dict does not fit {kind}: {error}.", slug="wrong-dtype") from None
    finally:
        for part in parts:
            found.ReleaseValue(part)
    return made


def taken(found: Runtime, value: c_void_p) -> Any:
    """A copy of the content of an onnxruntime value: an array, a list of arrays, a dict, or a list of dicts."""
    kind, count = c_int(), c_size_t()
    found.GetValueType(value, byref(kind))
    if kind.value not in (_SEQUENCE, _MAP):
        return array(found, value)
    found.GetValueCount(value, byref(count))
    parts: list[Any] = []
    for index in range(count.value):
        part = c_void_p()
        found.GetValue(value, index, found.allocator, byref(part))
        try:
            parts.append(taken(found, part))
        finally:
            found.ReleaseValue(part)
    if kind.value == _MAP:
        keys, values = parts
        return dict(zip(keys.tolist(), values.tolist(), strict=True))
    return parts if any(isinstance(p, dict) for p in parts) else array_list(parts)


def array(found: Runtime, value: c_void_p) -> np.ndarray:
    """A copy of the array in an onnxruntime tensor."""
    address, element, shape = found.described(value)
    dtype = DTYPES[element]
    if dtype == STRING:
        return _texts(found, value, shape)
    if dtype in PACKED:
        library = onnx()
        tensor = library.TensorProto(data_type=element, dims=shape)
        bits = 2 if dtype in ("int2", "uint2") else 4
        tensor.raw_data = ctypes.string_at(address, -(-math.prod(shape) * bits // 8))
        return library.numpy_helper.to_array(tensor)
    made = np.empty(shape, numpy_dtype(dtype))
    if made.nbytes:
        ctypes.memmove(made.ctypes.data, address, made.nbytes)
    return made


def _texts(found: Runtime, value: c_void_p, shape: tuple[int, ...]) -> np.ndarray:
    count, size = math.prod(shape), c_size_t()
    found.GetStringTensorDataLength(value, byref(size))
    data, starts = ctypes.create_string_buffer(size.value + 1), (c_size_t * max(count, 1))()
    found.GetStringTensorContent(value, data, size.value, starts, count)
    ends = [*starts[1:count], size.value]
    out = np.empty(count, object)
    out[:] = [data.raw[a:b].decode("utf-8", "replace") for a, b in zip(starts[:count], ends, strict=False)]
    return out.reshape(shape)
