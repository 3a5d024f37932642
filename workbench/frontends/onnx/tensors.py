"""TensorProto and TypeProto of ONNX -> arrays and types of the graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.errors import LoadError
from workbench.frontends.onnx.library import onnx
from workbench.graph.types import ANY, OPAQUE, STRING, UNKNOWN, TensorType, numpy_dtype

#: TensorProto.DataType -> dtype name
DTYPES: dict[int, str] = {
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 8: STRING, 9: "bool",
    10: "float16", 11: "float64", 12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128", 16: "bfloat16",
}  # fmt: skip


def dtype_of(number: int, what: str) -> str:
    """dtype name of an ONNX element type; LoadError for those that arrays of ours cannot hold (float8, int4 ...)."""
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
    except Exception as error:  # the library raises whatever NumPy raised
        raise LoadError(f"{what} cannot be read: {error}.", slug="bad-tensor") from error
    if dtype == STRING:
        out = np.empty(array.shape, object)
        out[...] = array
        return out
    return np.ascontiguousarray(array).astype(numpy_dtype(dtype), copy=False).reshape(array.shape)


def type_of(proto: Any) -> TensorType:
    """The type that a TypeProto declares; opaque for sequences and optionals, unknown for none."""
    kind = proto.WhichOneof("value")
    if kind is None:
        return UNKNOWN
    if kind != "tensor_type":
        return TensorType(OPAQUE, None)
    dtype = DTYPES.get(proto.tensor_type.elem_type, ANY)
    if not proto.tensor_type.HasField("shape"):
        return TensorType(dtype, None)
    dims = proto.tensor_type.shape.dim
    return TensorType(dtype, tuple(d.dim_value if d.HasField("dim_value") and d.dim_value >= 0 else None for d in dims))
