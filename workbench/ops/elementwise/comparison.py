"""Comparison, logic, tests for special values, and the element-wise choice ``where``."""

from __future__ import annotations

import numpy as np

from workbench.ir.types import ANY, STRING, TensorType
from workbench.ops.define import NUMPY, as_python, define, define_ufunc
from workbench.ops.rules import broadcast, need_kinds, need_numbers, promote, ufunc_type

FAMILY = "comparison"


def _equality(name: str, ufunc: np.ufunc, doc: str) -> None:
    def infer(types, attrs, values):
        if {t.dtype for t in types} <= {STRING, ANY}:
            return TensorType("bool", broadcast(*(t.shape for t in types)))
        return ufunc_type(ufunc, types, "bool")

    def evaluate(arrays, attrs):
        return np.asarray(ufunc(*arrays)).astype(np.bool_, copy=False)

    rule, compute, attrs = as_python(name, infer, evaluate)
    define(
        name, "x y", rule, compute, doc, FAMILY, attrs=attrs, source=f"{NUMPY}generated/numpy.{name}.html", ufunc=name
    )


_equality("equal", np.equal, "x == y; nan equals nothing. Strings go with strings.")
_equality("not_equal", np.not_equal, "x != y; nan differs from everything. Strings go with strings.")

for _name, _ufunc, _doc in (
    ("less", np.less, "x < y."),
    ("less_equal", np.less_equal, "x <= y."),
    ("greater", np.greater, "x > y."),
    ("greater_equal", np.greater_equal, "x >= y."),
):
    define_ufunc(_name, _ufunc, _doc + " False where either is nan.", FAMILY, result="bool")

for _name, _ufunc, _doc in (
    ("logical_and", np.logical_and, "x and y; numbers other than zero count as true."),
    ("logical_or", np.logical_or, "x or y; numbers other than zero count as true."),
    ("logical_xor", np.logical_xor, "Exactly one of x and y; numbers other than zero count as true."),
    ("logical_not", np.logical_not, "Not x; numbers other than zero count as true."),
):
    define_ufunc(_name, _ufunc, _doc, "logic", result="bool")

for _name, _ufunc, _doc in (
    ("isnan", np.isnan, "True where x is not a number."),
    ("isinf", np.isinf, "True where x is infinite."),
    ("isfinite", np.isfinite, "True where x is neither nan nor infinite."),
    ("signbit", np.signbit, "True where the sign bit is set, also for -0.0."),
):
    define_ufunc(_name, _ufunc, _doc, FAMILY, result="bool")


def _where_type(types, attrs, values):
    cond, x, y = types
    need_kinds(cond, "b", "condition", "bools", "Compare first, for instance with not_equal(x, 0).")
    return TensorType(promote([x, y]), broadcast(cond.shape, x.shape, y.shape))


def _isclose_type(types, attrs, values):
    need_numbers(types)
    return TensorType("bool", broadcast(*(t.shape for t in types)))


def _isclose(arrays, attrs):
    x, y = arrays
    return np.isclose(x, y, attrs.get("rtol", 1e-5), attrs.get("atol", 1e-8), attrs.get("equal_nan", False))


def _approximate_equal_type(types, attrs, values):
    for x in types:
        need_kinds(x, "f", "input", "floats")
    promote(types)
    return TensorType("bool", broadcast(*(t.shape for t in types)))


def _approximate_equal(arrays, attrs):
    distance = np.abs(np.subtract(*arrays))
    return distance <= distance.dtype.type(attrs.get("tolerance", 1e-5))


define(
    "where",
    "condition x y",
    _where_type,
    lambda arrays, attrs: np.where(*arrays),
    "x where the condition holds, else y; broadcast, in the common dtype of x and y. Both are computed.",
    FAMILY,
    source=f"{NUMPY}generated/numpy.where.html",
    aliases=("select",),
)
define(
    "isclose",
    "x y",
    _isclose_type,
    _isclose,
    "abs(x - y) <= atol + rtol * abs(y).",
    FAMILY,
    attrs={"rtol": 1e-5, "atol": 1e-8, "equal_nan": False},
    source=f"{NUMPY}generated/numpy.isclose.html",
)
define(
    "approximate_equal",
    "x y",
    _approximate_equal_type,
    _approximate_equal,
    "abs(x - y) <= tolerance, in the common dtype of x and y. False where either is nan, and for equal infinities.",
    FAMILY,
    attrs={"tolerance": 1e-5},
    source="https://www.tensorflow.org/api_docs/python/tf/raw_ops/ApproximateEqual",
)
