"""Ops along one axis: positions of extrema, running sums and products, softmax, sorting.

The axis is the attr ``axis`` or, if the op has the input ``axis?``, a scalar integer input.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.ir.types import TensorType, dtype_name, numpy_dtype
from workbench.ops.define import NUMPY, define
from workbench.ops.elementwise.functions import as_float
from workbench.ops.reductions.reduction import _result_dtype, _sum_dtype, reduced
from workbench.ops.rules import (
    UNSEEN,
    WRONG_ATTR,
    RuleError,
    attr_dtype,
    axis_in,
    element_count,
    float_dtype,
    need_kinds,
    need_numbers,
    need_rank,
    setting,
    setting_at_run,
    widened,
    working,
)

FAMILY = "reduction"


def _axis(attrs, types, values, default=None):
    """The axis as an int, None or UNSEEN."""
    axes = setting(attrs, "axis", types, values, 1)
    if axes is None or axes is UNSEEN:
        return default if axes is None else UNSEEN
    if len(axes) != 1:
        raise RuleError(WRONG_ATTR, f"takes one axis, but got {axes}.", "Give one integer.")
    return axis_in(axes[0], types[0].rank)


def _axis_at_run(attrs, arrays, default=None):
    axes = setting_at_run(attrs, "axis", arrays, 1)
    return default if axes is None else axes[0]


def _arg_type(types, attrs, values):
    need_numbers(types[:1])
    axis = _axis(attrs, types, values)
    axes = axis if axis is None or axis is UNSEEN else (axis,)
    dtype = attr_dtype(attrs) if attrs.get("dtype") is not None else "int64"
    return TensorType(dtype, reduced(types[0].shape, axes, bool(attrs.get("keepdims", False)), 1))


def _arg(name: str, function: Callable, doc: str) -> None:
    def evaluate(arrays, attrs):
        x, axis, keepdims = arrays[0], _axis_at_run(attrs, arrays), bool(attrs.get("keepdims", False))
        if x.size == 0 and axis is not None and (empty := _empty(x.shape, axis, keepdims)) is not None:
            index = empty
        elif attrs.get("select_last", False):
            size = x.size if axis is None else x.shape[axis]
            index = size - 1 - function(np.flip(x, axis), axis=axis, keepdims=keepdims)
        else:
            index = function(x, axis=axis, keepdims=keepdims)
        return np.asarray(index).astype(numpy_dtype(dtype_name(attrs.get("dtype") or "int64")), copy=False)

    define(
        name,
        "x axis?",
        _arg_type,
        evaluate,
        doc + " Without an axis, in the flattened tensor; the first of equals, or the last with `select_last`.",
        FAMILY,
        attrs={"axis": None, "keepdims": False, "select_last": False, "dtype": "int64"},
        source=f"{NUMPY}generated/numpy.{name}.html",
    )


def _empty(shape, axis, keepdims):
    """The empty result for an array that is empty along another axis; None if the result would not be empty."""
    rest = shape[:axis] + ((1,) if keepdims else ()) + shape[axis:][1:]
    return np.empty(rest, np.int64) if 0 in rest else None


_arg("argmax", np.argmax, "The position of the greatest element.")
_arg("argmin", np.argmin, "The position of the smallest element.")


def _cumulative_type(types, attrs, values):
    need_numbers(types[:1])
    dtype = _result_dtype(attrs, types[0].dtype, _sum_dtype)
    axis = _axis(attrs, types, values)
    if axis is None and types[0].rank != 1:
        return TensorType(dtype, (element_count(types[0].shape),))
    return TensorType(dtype, types[0].shape)


def _cumulative(name: str, function: Callable, neutral: int, doc: str) -> None:
    def evaluate(arrays, attrs):
        x, axis = arrays[0], _axis_at_run(attrs, arrays)
        wanted = numpy_dtype(_result_dtype(attrs, dtype_name(x.dtype), _sum_dtype))
        if axis is None:
            x, axis = x.reshape(-1), 0
        x = np.flip(x, axis) if attrs.get("reverse", False) else x
        work = wanted if attrs.get("_as_numpy") else working(wanted)
        out = function(x, axis=axis, dtype=work).astype(wanted, copy=False)
        if attrs.get("exclusive", False):
            moved = np.full_like(out, neutral)
            lead = (slice(None),) * (axis % out.ndim)
            moved[(*lead, slice(1, None))] = out[(*lead, slice(None, -1))]
            out = moved
        return np.flip(out, axis) if attrs.get("reverse", False) else out

    define(
        name,
        "x axis?",
        _cumulative_type,
        evaluate,
        doc + " `exclusive` leaves the element itself out; `reverse` goes from the end. Without an axis, flattened.",
        FAMILY,
        attrs={"axis": None, "exclusive": False, "reverse": False, "dtype": None},
        source=f"{NUMPY}generated/numpy.{name}.html",
    )


_cumulative("cumsum", np.cumsum, 0, "The running sum.")
_cumulative("cumprod", np.cumprod, 1, "The running product.")


def _softmax_type(types, attrs, values):
    need_kinds(types[0], "biuf", "input", "real numbers")
    axis_in(attrs.get("axis", -1), types[0].rank)
    return TensorType(float_dtype(types[0].dtype), types[0].shape)


# Without NumPy's wrappers, and in place: most of these arrays are small, and in models these ops are called often.
def _shifted(x: np.ndarray, axis: int) -> np.ndarray:
    """A new array: ``x`` minus its maximum along an axis."""
    return x - np.maximum.reduce(x, axis=axis, keepdims=True) if x.size else x.copy()


def _softmax(arrays, attrs):
    x, axis = as_float(arrays[0]), attrs.get("axis", -1)
    e = _shifted(widened(x), axis)
    np.exp(e, out=e)
    np.divide(e, np.add.reduce(e, axis=axis, keepdims=True), out=e)
    return e.astype(x.dtype, copy=False)


def _log_softmax(arrays, attrs):
    x, axis = as_float(arrays[0]), attrs.get("axis", -1)
    y = _shifted(widened(x), axis)
    np.subtract(y, np.log(np.add.reduce(np.exp(y), axis=axis, keepdims=True)), out=y)
    return y.astype(x.dtype, copy=False)


def _logs_type(types, attrs, values):
    need_kinds(types[0], "biuf", "input", "real numbers")
    axis = _axis(attrs, types, values, 0)
    if axis is not UNSEEN:
        axis_in(axis, types[0].rank)
    return TensorType(float_dtype(types[0].dtype), types[0].shape)


def _logs(arrays, attrs):
    x, axis = as_float(arrays[0]), _axis_at_run(attrs, arrays, 0)
    work = np.flip(widened(x), axis) if attrs.get("reverse", False) else widened(x)
    out = np.logaddexp.accumulate(work, axis=axis).astype(x.dtype, copy=False)
    if attrs.get("exclusive", False):
        moved, lead = np.full_like(out, -np.inf), (slice(None),) * (axis % out.ndim)
        moved[(*lead, slice(1, None))] = out[(*lead, slice(None, -1))]
        out = moved
    return np.flip(out, axis) if attrs.get("reverse", False) else out


define(
    "cumlogsumexp",
    "x axis?",
    _logs_type,
    _logs,
    "The running log(sum(exp(x))) along `axis` (0), without overflow; `exclusive` and `reverse` as in cumsum.",
    FAMILY,
    attrs={"axis": None, "exclusive": False, "reverse": False},
    source="https://www.tensorflow.org/api_docs/python/tf/math/cumulative_logsumexp",
)
define(
    "softmax",
    "x",
    _softmax_type,
    _softmax,
    "exp(x) / sum(exp(x)) along `axis`, without overflow.",
    FAMILY,
    attrs={"axis": -1},
    source="https://onnx.ai/onnx/operators/onnx__Softmax.html",
)
define(
    "log_softmax",
    "x",
    _softmax_type,
    _log_softmax,
    "The logarithm of softmax along `axis`.",
    FAMILY,
    attrs={"axis": -1},
    source="https://onnx.ai/onnx/operators/onnx__LogSoftmax.html",
)


def _sort_type(types, attrs, values):
    need_numbers(types[:1])
    axis_in(attrs.get("axis", -1), types[0].rank)
    return types[0]


def _argsort(arrays, attrs):
    x, axis = arrays[0], attrs.get("axis", -1)
    if not attrs.get("descending", False):
        return np.argsort(x, axis=axis, kind=attrs.get("kind", "stable"))
    # flipped twice, so that the descending sort is stable too
    return np.flip(x.shape[axis] - 1 - np.argsort(np.flip(x, axis), axis=axis, kind="stable"), axis)


def _sort(arrays, attrs):
    if attrs.get("kind", "stable") != "stable" and not attrs.get("descending", False):
        return np.sort(arrays[0], axis=attrs.get("axis", -1), kind=attrs["kind"])
    return np.take_along_axis(arrays[0], _argsort(arrays, attrs), attrs.get("axis", -1))


def _top_k_type(types, attrs, values):
    need_numbers(types[:1])
    given, dtype = setting(attrs, "k", types, values, 1), attr_dtype({"dtype": attrs.get("dtype") or "int64"})
    if given is None:
        raise RuleError(WRONG_ATTR, "needs 'k', as an attr or as the second input.", "Say how many elements.")
    if len(types) > 1 and types[1].rank not in (None, 0) and types[1].shape not in ((1,), (None,)):
        need_rank(types[1], 0, "k")
    x, k = types[0], None if given is UNSEEN else given[0]
    if x.shape is None:
        return x, TensorType(dtype, None)
    axis = axis_in(attrs.get("axis", -1), len(x.shape))
    size = x.shape[axis]
    if k is not None and size is not None and k > size:
        raise RuleError(WRONG_ATTR, f"cannot give {k} of {size} elements.", "Lower k.")
    shape = (*x.shape[:axis], k, *x.shape[axis + 1 :])
    return TensorType(x.dtype, shape), TensorType(dtype, shape)


def _top_k(arrays, attrs):
    x, k, axis = arrays[0], setting_at_run(attrs, "k", arrays, 1)[0], attrs.get("axis", -1)
    order = _argsort([x], {"axis": axis, "descending": attrs.get("largest", True)})
    index = np.take(order, np.arange(k), axis=axis)
    return np.take_along_axis(x, index, axis), index.astype(attrs.get("dtype") or np.int64, copy=False)


define(
    "sort",
    "x",
    _sort_type,
    _sort,
    "Sorted along `axis`, equal elements in their order; nan last. Other kinds of NumPy may order them otherwise.",
    FAMILY,
    attrs={"axis": -1, "descending": False, "kind": "stable"},
    source=f"{NUMPY}generated/numpy.sort.html",
)
define(
    "argsort",
    "x",
    lambda t, a, v: TensorType("int64", _sort_type(t, a, v).shape),
    _argsort,
    "The positions that would sort x along `axis`, equal elements in their order.",
    FAMILY,
    attrs={"axis": -1, "descending": False, "kind": "stable"},
    source=f"{NUMPY}generated/numpy.argsort.html",
)
define(
    "top_k",
    "x k?",
    _top_k_type,
    _top_k,
    "The k greatest (or smallest) elements in order, and their positions.",
    FAMILY,
    outputs="values indices",
    attrs={"axis": -1, "largest": True, "k": None, "dtype": "int64"},
    source="https://onnx.ai/onnx/operators/onnx__TopK.html",
)
