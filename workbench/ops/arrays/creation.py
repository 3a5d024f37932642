"""Arrays created from sizes and limits, and positions found by value.

The shape of a result is known only if the sizes are constants of the graph.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.ir.types import ANY, TensorType, dtype_name, numpy_dtype
from workbench.ops.define import NUMPY, REQUIRED, define
from workbench.ops.rules import (
    WRONG_ATTR,
    WRONG_SHAPE,
    RuleError,
    attr_dtype,
    axes_in,
    axis_in,
    dims_of,
    float_dtype,
    need_kinds,
    need_numbers,
    need_rank,
    promote,
    setting,
)
from workbench.ops.strings.basic import as_bytes, map_strings

FAMILY = "array"


def _dims(types, values, i):
    dims = dims_of(setting({}, "dims", types, values, i), types[i])
    if dims is not None and any(d is not None and d < 0 for d in dims):
        raise RuleError(WRONG_ATTR, f"cannot make the shape {dims}.", "Give sizes from 0 up.")
    return dims


def _sizes(array: np.ndarray) -> tuple[int, ...]:
    return tuple(int(d) for d in array.reshape(-1))


def _fill_type(types, attrs, values):
    need_rank(types[1], 0, "value")
    return TensorType(types[1].dtype, _dims(types, values, 0))


def _fill(arrays, attrs):
    return np.full(_sizes(arrays[0]), arrays[1], dtype=arrays[1].dtype)


def _constant_of_shape_type(types, attrs, values):
    return TensorType(dtype_name(_value(attrs).dtype), _dims(types, values, 0))


def _value(attrs) -> np.ndarray:
    value = np.zeros((), np.float32) if attrs.get("value") is None else np.asarray(attrs["value"])
    if value.size != 1:
        raise RuleError(WRONG_ATTR, f"takes one element as 'value', but got {value.size}.", "Give a scalar array.")
    return value.reshape(())


def _like_type(types, attrs, values):
    wanted = types[0].dtype if attrs.get("dtype") is None else attr_dtype(attrs)
    if wanted != ANY:
        need_numbers([TensorType(wanted)])
    return TensorType(wanted, types[0].shape)


def _like(function):
    def evaluate(arrays, attrs):
        wanted = arrays[0].dtype if attrs.get("dtype") is None else numpy_dtype(dtype_name(attrs["dtype"]))
        return function(arrays[0].shape, dtype=wanted)

    return evaluate


def _range_type(types, attrs, values):
    for x, what in zip(types, ("start", "limit", "delta"), strict=False):
        need_kinds(x, "iuf", what, "a real number")
        need_rank(x, 0, what)
    known = None
    if all(v is not None for v in values):
        known = _range_length(values)
    return TensorType(promote(types), (known,))


def _range_length(arrays) -> int:
    start, limit, delta = (*(a.item() for a in arrays), 1)[:3]
    if delta == 0:
        raise RuleError(WRONG_ATTR, "cannot count in steps of 0.", "Give another delta.")
    if any(isinstance(v, float) for v in (start, limit, delta)):
        return max(0, math.ceil((limit - start) / delta))
    return max(0, -((start - limit) // delta))


def _range(arrays, attrs):
    dtype = np.result_type(*arrays)
    steps = np.arange(_range_length(arrays))
    delta = arrays[2].item() if len(arrays) > 2 else 1
    return (arrays[0].item() + steps * delta).astype(dtype)


def _linspace_type(types, attrs, values):
    for x, what in zip(types, ("start", "stop", "num"), strict=True):
        need_kinds(x, "iu" if what == "num" else "biuf", what, "an integer" if what == "num" else "a real number")
        need_rank(x, 0, what)
    dtype = promote(types[:2])
    return TensorType(float_dtype(dtype), (None if values[2] is None else int(values[2]),))


def _linspace(arrays, attrs):
    start, stop, num = arrays
    dtype = numpy_dtype(float_dtype(dtype_name(np.result_type(start, stop))))
    points = np.linspace(start.item(), stop.item(), int(num), endpoint=attrs.get("endpoint", True))
    return points.astype(dtype)


def _eye_type(types, attrs, values):
    n = int(attrs["n"])
    return TensorType(attr_dtype({"dtype": "float64", **attrs}), (n, n if attrs.get("m") is None else int(attrs["m"])))


def _eye(arrays, attrs):
    return np.eye(attrs["n"], attrs.get("m"), attrs.get("k", 0), numpy_dtype(attrs.get("dtype", "float64")))


def _diagonal_type(types, attrs, values):
    x = types[0]
    if x.shape is None:
        return TensorType(x.dtype, None)
    if len(x.shape) < 2:
        raise RuleError(WRONG_SHAPE, f"takes a tensor of rank 2 or more, but got {x}.", "Use diag for vectors.")
    i, j = axes_in((attrs.get("axis1", 0), attrs.get("axis2", 1)), len(x.shape))
    rows, columns, offset = x.shape[i], x.shape[j], attrs.get("offset", 0)
    size = None
    if rows is not None and columns is not None:
        size = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    return TensorType(x.dtype, (*(d for n, d in enumerate(x.shape) if n not in (i, j)), size))


def _diagonal(arrays, attrs):
    return np.diagonal(arrays[0], attrs.get("offset", 0), attrs.get("axis1", 0), attrs.get("axis2", 1))


def _diag_type(types, attrs, values):
    need_rank(types[0], 1, "a vector")
    n = None if types[0].shape is None else types[0].shape[0]
    size = None if n is None else n + abs(attrs.get("k", 0))
    return TensorType(types[0].dtype, (size, size))


def _triangle_type(types, attrs, values):
    need_numbers(types)
    if types[0].rank is not None and types[0].rank < 2:
        raise RuleError(WRONG_SHAPE, f"takes matrices, but got {types[0]}.", "Give it a tensor of rank 2 or more.")
    return types[0]


def _nonzero_type(types, attrs, values):
    need_numbers(types)
    return TensorType("int64", (types[0].rank if types[0].rank != 0 else 0, None))


def _nonzero(arrays, attrs):
    x = arrays[0]
    return np.argwhere(x).T.astype(np.int64)


def _unique_type(types, attrs, values):
    need_kinds(
        types[0], "biufcS" if attrs.get("axis") is None else "biufc", "input", "numbers, or strings without axis"
    )
    x, axis, dtype = types[0], attrs.get("axis"), attr_dtype({"dtype": "int64", **attrs})
    found, length = TensorType(x.dtype, (None,)), _count(x.shape)
    if axis is not None:
        axis = axis_in(axis, x.rank)
        shape = None if x.shape is None else (*x.shape[:axis], None, *x.shape[axis + 1 :])
        found, length = TensorType(x.dtype, shape), None if x.shape is None else x.shape[axis]
    return found, *(TensorType(dtype, (n,)) for n in (None, length, None))


def _count(shape):
    return None if shape is None or None in shape else int(np.prod(shape, dtype=np.int64))


def _unique(arrays, attrs):
    axis, dtype = attrs.get("axis"), numpy_dtype(dtype_name(attrs.get("dtype", "int64")))
    x = arrays[0].reshape(-1) if axis is None else arrays[0]
    if x.dtype == object and len({type(item) for item in x.tolist()}) > 1:
        x = map_strings(x, as_bytes)  # str and bytes have no order
    found, first, inverse, counts = np.unique(x, True, True, True, axis=axis)
    inverse = inverse.reshape(-1)
    if not attrs.get("sorted", True):
        order = np.argsort(first, kind="stable")
        place = np.argsort(order, kind="stable")
        found = np.take(found, order, 0 if axis is None else axis)
        first, counts, inverse = first[order], counts[order], place[inverse]
    return found, first.astype(dtype), inverse.astype(dtype), counts.astype(dtype)


def _define(name, inputs, infer, evaluate, doc, attrs=None, url=None, **more):
    define(
        name,
        inputs,
        infer,
        evaluate,
        doc,
        FAMILY,
        attrs=attrs,
        source=url or f"{NUMPY}generated/numpy.{name}.html",
        **more,
    )


_define(
    "fill",
    "dims value",
    _fill_type,
    _fill,
    "An array of shape `dims`, each element the scalar `value`.",
    url="https://www.tensorflow.org/api_docs/python/tf/fill",
)
_define(
    "constant_of_shape",
    "dims",
    _constant_of_shape_type,
    lambda a, attrs: np.full(_sizes(a[0]), _value(attrs)),
    "An array of shape `dims`, each element the one of the attr `value` (float32 zero).",
    {"value": None},
    "https://onnx.ai/onnx/operators/onnx__ConstantOfShape.html",
)
_define("zeros_like", "x", _like_type, _like(np.zeros), "Zeros in the shape and dtype of x.", {"dtype": None})
_define("ones_like", "x", _like_type, _like(np.ones), "Ones in the shape and dtype of x.", {"dtype": None})
_define(
    "range",
    "start limit delta?",
    _range_type,
    _range,
    "start, start + delta ... before limit, in the common dtype; delta is 1 if not given.",
    url=f"{NUMPY}generated/numpy.arange.html",
    aliases=("arange",),
)
_define(
    "linspace",
    "start stop num",
    _linspace_type,
    _linspace,
    "`num` evenly spaced numbers from start to stop.",
    {"endpoint": True},
)
_define(
    "eye",
    "",
    _eye_type,
    _eye,
    "Ones on the k-th diagonal of an n by m matrix of zeros.",
    {"n": REQUIRED, "m": None, "k": 0, "dtype": "float64"},
)
_define(
    "diagonal",
    "x",
    _diagonal_type,
    _diagonal,
    "The diagonal of the matrices in two axes of x, as the last axis.",
    {"offset": 0, "axis1": 0, "axis2": 1},
    aliases=("diag_part",),
)
_define(
    "diag",
    "x",
    _diag_type,
    lambda a, attrs: np.diag(a[0], attrs.get("k", 0)),
    "The matrix with the vector x on its k-th diagonal.",
    {"k": 0},
)
_define(
    "tril",
    "x",
    _triangle_type,
    lambda a, attrs: np.tril(a[0], attrs.get("k", 0)),
    "x with zeros above the k-th diagonal of its last two axes.",
    {"k": 0},
)
_define(
    "triu",
    "x",
    _triangle_type,
    lambda a, attrs: np.triu(a[0], attrs.get("k", 0)),
    "x with zeros below the k-th diagonal of its last two axes.",
    {"k": 0},
)
_define(
    "nonzero",
    "x",
    _nonzero_type,
    _nonzero,
    "Positions of the elements that are not zero, one row for each axis.",
    url="https://onnx.ai/onnx/operators/onnx__NonZero.html",
)
_define(
    "unique",
    "x",
    _unique_type,
    _unique,
    "The unique elements of x, the index at which each occurs first, for each element of x the index of its unique "
    "element, and the counts. In ascending order, or in order of occurrence without `sorted`. With `axis`, the "
    "unique slices along it; `dtype` is that of positions and counts.",
    {"sorted": True, "axis": None, "dtype": "int64"},
    outputs="values first inverse counts",
)
