"""TensorProto and TypeProto of ONNX -> arrays and types of the graph."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from workbench.errors import LoadError
from workbench.frontends.onnx.library import onnx
from workbench.ir.types import ANY, OPAQUE, STRING, UNKNOWN, TensorType, numpy_dtype

#: A few bytes of a file can declare a sparse tensor of any size, so growth is limited for a model as a whole: bytes in
#: total, and bytes for each stored byte of values.
FREE_BYTES, MAX_GROWTH = 1 << 24, 256


class Expansion:
    """Number of bytes by which the sparse tensors of one model may still grow."""

    def __init__(self) -> None:
        self._left = FREE_BYTES

    def take(self, size: int, stored: int) -> bool:
        """True if ``stored`` bytes of values may expand to an array of ``size`` bytes."""
        self._left -= max(0, size - MAX_GROWTH * stored)
        return self._left >= 0


#: TensorProto.DataType -> dtype name
DTYPES: dict[int, str] = {
    1: "float32",
    2: "uint8",
    3: "int8",
    4: "uint16",
    5: "int16",
    6: "int32",
    7: "int64",
    8: STRING,
    9: "bool",
    10: "float16",
    11: "float64",
    12: "uint32",
    13: "uint64",
    14: "complex64",
    15: "complex128",
    16: "bfloat16",
    17: "float8_e4m3fn",
    18: "float8_e4m3fnuz",
    19: "float8_e5m2",
    20: "float8_e5m2fnuz",
    21: "uint4",
    22: "int4",
    23: "float4_e2m1fn",
    24: "float8_e8m0fnu",
    25: "uint2",
    26: "int2",
}
#: dtype name -> TensorProto.DataType
NUMBERS = {name: number for number, name in DTYPES.items()}
#: dtypes of which onnxruntime stores several elements in a byte, and the workbench one
PACKED = frozenset(("int4", "uint4", "float4_e2m1fn", "int2", "uint2"))
#: dtypes with the same bytes in our arrays and in onnxruntime tensors
SAME = frozenset(DTYPES.values()) - PACKED - {STRING, "complex64", "complex128"}


def dtype_of(number: int, what: str) -> str:
    """dtype name of an ONNX element type; LoadError for types that our arrays cannot hold (float6 ...)."""
    if number not in DTYPES:
        names = {v: k for k, v in onnx().TensorProto.DataType.items()}
        raise LoadError(
            f"{what} has the ONNX element type {names.get(number, number)}, which has no counterpart here.",
            slug="unknown-dtype",
        )
    return DTYPES[number]


def array_of(tensor: Any, what: str) -> np.ndarray:
    """The array of a TensorProto; raises LoadError."""
    dtype = dtype_of(tensor.data_type, what)
    try:
        array = onnx().numpy_helper.to_array(tensor)
    except Exception as error:  # the library passes on any exception of NumPy
        raise LoadError(f"{what} cannot be read: {error}.", slug="bad-tensor") from error
    if dtype == STRING:
        out = np.empty(array.shape, object)
        out[...] = array
        return out
    return np.ascontiguousarray(array).astype(numpy_dtype(dtype), copy=False).reshape(array.shape)


def dense_of(sparse: Any, what: str, expansion: Expansion) -> np.ndarray:
    """The array of a SparseTensorProto: zeros except for its values; raises LoadError.

    The indices are positions in the flattened array, or one row of positions for each value. Source:
    https://onnx.ai/onnx/api/classes.html#sparsetensorproto.
    """
    values = array_of(sparse.values, what)
    dims = tuple(int(d) for d in sparse.dims)
    size = math.prod(dims) * values.dtype.itemsize
    if min(dims, default=0) < 0 or size > 1 << 40 or not expansion.take(size, values.nbytes):
        raise LoadError(
            f"{what} is a sparse tensor of shape {list(dims)}, which is too large to be written out.",
            slug="too-large",
            fix="use a smaller one: arrays here are dense.",
        )
    indices = array_of(sparse.indices, f"The positions of {what}").astype(np.int64)
    out = np.zeros(dims, values.dtype)
    try:
        if indices.min(initial=0) < 0:
            raise IndexError("a position is below 0")
        at = (indices,) if indices.ndim == 1 else tuple(indices.T)
        (out.reshape(-1) if indices.ndim == 1 else out)[at] = values
    except (IndexError, ValueError) as error:
        raise LoadError(
            f"{what} is a sparse tensor that makes no sense: {error}.",
            slug="bad-tensor",
            fix="give one position inside its dims for each value.",
        ) from error
    return out


def type_of(proto: Any) -> TensorType:
    """The type that a TypeProto declares; opaque for sequences, unknown for optionals, which may hold a tensor."""
    kind = proto.WhichOneof("value")
    if kind is None or kind == "optional_type" and proto.optional_type.elem_type.WhichOneof("value") == "tensor_type":
        return UNKNOWN
    if kind != "tensor_type":
        return TensorType(OPAQUE, None)
    dtype = DTYPES.get(proto.tensor_type.elem_type, ANY)
    if not proto.tensor_type.HasField("shape"):
        return TensorType(dtype, None)
    dims = proto.tensor_type.shape.dim
    return TensorType(dtype, tuple(d.dim_value if d.HasField("dim_value") and d.dim_value >= 0 else None for d in dims))


def dims_of(proto: Any) -> tuple[str | None, ...]:
    """The names that a TypeProto gives to its dynamic dimensions; () if there are none."""
    if proto.WhichOneof("value") != "tensor_type":
        return ()
    names = tuple(
        (d.dim_param[:200] or None) if not d.HasField("dim_value") else None for d in proto.tensor_type.shape.dim
    )
    return names if any(names) else ()
