"""Reductions over axes.

The axes are the attr ``axis`` (None for all, an int or a tuple) or a second input, a list of integers, for graphs whose
source passes axes as tensors. ``keepdims`` keeps them with size 1. An empty list of axes reduces nothing, as in NumPy
and TensorFlow; with ``noop_with_empty_axes=False`` it means all axes, as in ONNX.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.ir.types import ANY, TensorType, dtype_name, numpy_dtype
from workbench.ops.define import NUMPY, define
from workbench.ops.elementwise.functions import as_float
from workbench.ops.rules import (
    UNSEEN,
    WRONG_ATTR,
    RuleError,
    Shape,
    attr_dtype,
    axes_in,
    count_of,
    float_dtype,
    highest,
    kind_of,
    lowest,
    need_numbers,
    setting,
    setting_at_run,
    widened,
    working,
)

FAMILY = "reduction"
ATTRS = {"axis": None, "keepdims": False, "noop_with_empty_axes": True}


def reduced(shape: Shape, axes, keepdims: bool, count: int | None = None) -> Shape:
    """Shape after a reduction over ``axes`` (None for all, UNSEEN for ``count`` unknown ones)."""
    if axes is None:
        return () if not keepdims else None if shape is None else (1,) * len(shape)
    if shape is None:
        return None
    if axes is UNSEEN:
        if keepdims:
            return (None,) * len(shape)
        return None if count is None or count > len(shape) else (None,) * (len(shape) - count)
    drop = axes_in(axes, len(shape))
    if keepdims:
        return tuple(1 if i in drop else d for i, d in enumerate(shape))
    return tuple(d for i, d in enumerate(shape) if i not in drop)


def reduced_type(types, attrs, values) -> Shape:
    axes = setting(attrs, "axis", types, values, 1)
    all_if_empty = not attrs.get("noop_with_empty_axes", True)
    if axes == () and all_if_empty:
        axes = None
    count = count_of(types[1]) if len(types) > 1 else None
    # an unseen list whose length may be 0 could mean all axes
    if axes is UNSEEN and all_if_empty and not count:
        count = None
    return reduced(types[0].shape, axes, bool(attrs.get("keepdims", False)), count)


def axes_at_run(arrays, attrs) -> tuple[int, ...] | None:
    axes = setting_at_run(attrs, "axis", arrays, 1)
    return None if axes == () and not attrs.get("noop_with_empty_axes", True) else axes


def _sum_dtype(dtype: str) -> str:
    kind = kind_of(dtype)
    return "uint64" if kind == "u" else "int64" if kind in "bi" else dtype


def _mean_dtype(dtype: str) -> str:
    return "float64" if kind_of(dtype) in "biu" else dtype


def _result_dtype(attrs, dtype: str, rule: Callable[[str], str]) -> str:
    """The attr ``dtype`` (a name, or "same" for the input's), otherwise the dtype of the rule."""
    wanted = attrs.get("dtype")
    if wanted is None or wanted == "same":
        return dtype if wanted == "same" else rule(dtype) if dtype != ANY else ANY
    return attr_dtype(attrs)


def _accumulated(ufunc_reduce: Callable, rule: Callable[[str], str]) -> Callable:
    def evaluate(arrays, attrs):
        x, axes = arrays[0], axes_at_run(arrays, attrs)
        wanted = numpy_dtype(_result_dtype(attrs, dtype_name(x.dtype), rule))
        work = wanted if attrs.get("_as_numpy") else working(wanted)
        result = ufunc_reduce(x, axis=axes, keepdims=bool(attrs.get("keepdims", False)), dtype=work)
        return np.asarray(result).astype(wanted, copy=False)

    return evaluate


def _mean(x, axis, keepdims, dtype):
    if dtype.kind in "biu":  # TensorFlow's mean of integers: rounded toward zero
        if x.dtype.kind in "iu" and x.size:
            return _whole_mean(x, axis, keepdims)
        return np.trunc(np.mean(x, axis=axis, keepdims=keepdims, dtype=np.float64))
    if not x.size:  # nan, without NumPy's warning
        return np.sum(x, axis=axis, keepdims=keepdims, dtype=dtype) * dtype.type(np.nan)
    return np.mean(x, axis=axis, keepdims=keepdims, dtype=dtype)


def _whole_mean(x, axis, keepdims):
    """The exact mean of integers, without computing their sum, which may not fit 64 bits, or a float64, which may be
    inexact.
    """
    wide = np.dtype(f"{x.dtype.kind}8").type
    n = wide(x.size // np.any(x, axis=axis).size)
    quotient, rest = np.divmod(x.astype(wide, copy=False), n)
    total, left = (np.sum(part, axis=axis, keepdims=keepdims) for part in (quotient, rest))
    mean = total + left // n  # rounded down
    return mean + ((mean < 0) & (left % n != 0))


def _accumulation(name: str, function: Callable, rule: Callable[[str], str], doc: str) -> None:
    def infer(types, attrs, values):
        need_numbers(types[:1])
        return TensorType(_result_dtype(attrs, types[0].dtype, rule), reduced_type(types, attrs, values))

    define(
        name,
        "x axes?",
        infer,
        _accumulated(function, rule),
        doc + ' `dtype` names the dtype of the result; "same" keeps that of x.',
        FAMILY,
        attrs={**ATTRS, "dtype": None},
        source=f"{NUMPY}generated/numpy.{name}.html",
    )


_accumulation("sum", np.sum, _sum_dtype, "The sum; integers are added as 64-bit ones.")
_accumulation("prod", np.prod, _sum_dtype, "The product; integers are multiplied as 64-bit ones.")
_accumulation("mean", _mean, _mean_dtype, "The mean; integers give float64.")


def _reduction(
    name: str, function: Callable, rule: Callable[[str], str], doc: str, attrs=None, url=None, plain=None
) -> None:
    """Define a reduction; ``plain`` is NumPy's function, for nodes that must give NumPy's bits."""

    def infer(types, given, values):
        need_numbers(types[:1])
        dtype = types[0].dtype
        out = "bool" if rule is _bool else ANY if dtype == ANY else rule(dtype)
        return TensorType(out, reduced_type(types, given, values))

    def evaluate(arrays, given):
        x, keepdims = arrays[0], bool(given.get("keepdims", False))
        extra = {k: given.get(k, v) for k, v in (attrs or {}).items()}
        result = (plain if plain and given.get("_as_numpy") else function)(
            x, axis=axes_at_run(arrays, given), keepdims=keepdims, **extra
        )
        return np.asarray(result).astype(numpy_dtype(rule(dtype_name(x.dtype))), copy=False)

    define(
        name,
        "x axes?",
        infer,
        evaluate,
        doc,
        FAMILY,
        attrs={**ATTRS, **(attrs or {})},
        source=url or f"{NUMPY}generated/numpy.{name}.html",
        aliases={"max": ("amax",), "min": ("amin",)}.get(name, ()),
    )


def _bool(dtype: str) -> str:
    return "bool"


def _same(dtype: str) -> str:
    return dtype


def _real(dtype: str) -> str:
    return {"complex64": "float32", "complex128": "float64"}.get(dtype, float_dtype(dtype))


def _real_mean(dtype: str) -> str:
    return _real(_mean_dtype(dtype))


def _numpy_extreme(function: Callable, limit: Callable[[np.dtype], np.ndarray]) -> Callable:
    def call(x, axis, keepdims, of_none):
        if of_none == "limit" and not x.size:  # used only here, because an initial value causes a copy
            return function(x, axis=axis, keepdims=keepdims, initial=limit(x.dtype))
        return function(x, axis=axis, keepdims=keepdims)

    return call


def _extreme(function: Callable, limit: Callable[[np.dtype], np.ndarray], largest: bool) -> Callable:
    """NumPy's extremum, except that -0 is smaller than 0, as in compiled code; NumPy may return either zero."""
    of_numpy = _numpy_extreme(function, limit)

    def call(x, axis, keepdims, of_none):
        found = np.asarray(of_numpy(x, axis, keepdims, of_none))
        zeros = found == 0 if kind_of(dtype_name(x.dtype)) == "f" else np.False_
        if not np.any(zeros):
            return found
        below = np.signbit(x) & (x == 0)
        above = (x == 0) & ~below
        some = np.any(above if largest else below, axis=axis, keepdims=keepdims)
        zero, minus = x.dtype.type(0.0), x.dtype.type(-0.0)
        return np.where(zeros, np.where(some, *((zero, minus) if largest else (minus, zero))), found)

    return call


def _norm(x, axis, keepdims, ord):
    size = np.abs(widened(as_float(x)))
    if ord == 1:
        return np.sum(size, axis=axis, keepdims=keepdims)
    if ord == 2:
        return np.sqrt(np.sum(np.square(size), axis=axis, keepdims=keepdims))
    if ord == float("inf"):
        return np.max(size, axis=axis, keepdims=keepdims)
    raise RuleError(WRONG_ATTR, f"has no order {ord!r}.", "Give 1, 2 or inf.")


def _logsumexp(x, axis, keepdims):
    x = widened(as_float(x))
    top = np.max(x, axis=axis, keepdims=True, initial=-np.inf)
    # an infinite maximum would give inf - inf; a shift by 0 keeps the infinity
    top = np.where(np.isfinite(top), top, np.zeros_like(top))
    total = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
    return total if keepdims else np.sum(total, axis=axis)


def _spread(function):
    def call(x, axis, keepdims, ddof):
        return function(widened(x), axis=axis, keepdims=keepdims, ddof=ddof)

    return call


_OF_NONE = {"of_none": "fail"}
_reduction(
    "max",
    _extreme(np.max, lowest, True),
    _same,
    "The greatest element; nan wins, and 0 over -0; fails over no elements, or with "
    "of_none='limit' gives the smallest number of the dtype.",
    _OF_NONE,
    plain=_numpy_extreme(np.max, lowest),
)
_reduction(
    "min",
    _extreme(np.min, highest, False),
    _same,
    "The smallest element; nan wins, and -0 over 0; fails over no elements, or with "
    "of_none='limit' gives the greatest number of the dtype.",
    _OF_NONE,
    plain=_numpy_extreme(np.min, highest),
)
_reduction("any", np.any, _bool, "True where any element is true (or not zero).")
_reduction("all", np.all, _bool, "True where all elements are true (or not zero).")
_reduction("var", _spread(np.var), _real_mean, "The variance, divided by n - ddof.", {"ddof": 0}, plain=np.var)
_reduction("std", _spread(np.std), _real_mean, "The standard deviation, with n - ddof.", {"ddof": 0}, plain=np.std)
_reduction(
    "norm",
    _norm,
    _real,
    "The norm of the elements as one vector; ord is 1, 2 or inf.",
    {"ord": 2},
    url=f"{NUMPY}generated/numpy.linalg.norm.html",
)
_reduction(
    "logsumexp",
    _logsumexp,
    float_dtype,
    "log(sum(exp(x))) without overflow.",
    url="https://onnx.ai/onnx/operators/onnx__ReduceLogSumExp.html",
)
