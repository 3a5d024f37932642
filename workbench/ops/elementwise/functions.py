"""Functions of one number: roots, exponentials, logarithms, trigonometry, and the activations of neural networks.

Integers and bools become floats as in ``np.exp``; floats keep their dtype.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from workbench.ir.types import TensorType
from workbench.ops.define import define, define_ufunc
from workbench.ops.rules import float_dtype, need_kinds, need_numbers, widened

FAMILY = "functions"

for _name, _ufunc, _doc in (
    ("sqrt", np.sqrt, "The square root; nan below zero."),
    ("cbrt", np.cbrt, "The cube root."),
    ("exp", np.exp, "e to the power x."),
    ("exp2", np.exp2, "2 to the power x."),
    ("expm1", np.expm1, "exp(x) - 1, exact near zero."),
    ("log", np.log, "The natural logarithm; -inf at zero, nan below."),
    ("log1p", np.log1p, "log(1 + x), exact near zero."),
    ("log2", np.log2, "The logarithm to base 2."),
    ("log10", np.log10, "The logarithm to base 10."),
    ("sin", np.sin, "The sine of x in radians."),
    ("cos", np.cos, "The cosine of x in radians."),
    ("tan", np.tan, "The tangent of x in radians."),
    ("asin", np.arcsin, "The angle in radians whose sine is x; nan outside -1 to 1."),
    ("acos", np.arccos, "The angle in radians whose cosine is x; nan outside -1 to 1."),
    ("atan", np.arctan, "The angle in radians whose tangent is x."),
    ("atan2", np.arctan2, "The angle in radians of the point with ordinate x and abscissa y."),
    ("sinh", np.sinh, "The hyperbolic sine."),
    ("cosh", np.cosh, "The hyperbolic cosine."),
    ("tanh", np.tanh, "The hyperbolic tangent."),
    ("asinh", np.arcsinh, "The inverse hyperbolic sine."),
    ("acosh", np.arccosh, "The inverse hyperbolic cosine; nan below 1."),
    ("atanh", np.arctanh, "The inverse hyperbolic tangent; nan outside -1 to 1."),
    ("logaddexp", np.logaddexp, "log(exp(x) + exp(y)) without overflow."),
):
    define_ufunc(_name, _ufunc, _doc, FAMILY)


def _smooth(types, attrs, values):
    need_numbers(types)
    return TensorType(float_dtype(types[0].dtype), types[0].shape)


def _smooth_real(types, attrs, values):
    need_kinds(types[0], "biuf", "input", "real numbers")
    return TensorType(float_dtype(types[0].dtype), types[0].shape)


def _same_real(types, attrs, values):
    need_kinds(types[0], "biuf", "input", "real numbers")
    return types[0]


def as_float(x: np.ndarray) -> np.ndarray:
    """``x`` in the float dtype of a smooth function's result."""
    return x if x.dtype.kind not in "biu" else x.astype(np.exp(x.reshape(-1)[:0]).dtype)


def sigmoid(x: np.ndarray) -> np.ndarray:
    # exp of a negative number only, so that large arguments cannot overflow
    e = np.exp(-np.abs(x))
    return np.where(x >= 0, e.dtype.type(1), e) / (1 + e)


def relu(x: np.ndarray) -> np.ndarray:
    """max(x, 0), which keeps -0 as libraries for neural networks do.

    For two equal numbers NumPy's maximum returns the second, except the first for float16.
    """
    zero = np.zeros((), x.dtype)
    return np.maximum(x, zero) if x.dtype == np.float16 else np.maximum(zero, x)


def softplus(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def erf(x: np.ndarray) -> np.ndarray:
    from scipy import special  # a large import, and few graphs need it

    if x.dtype == np.float32:  # its loop computes in float64 too
        return np.asarray(special.erf(x))
    return np.asarray(special.erf(np.asarray(x, np.float64))).astype(x.dtype, copy=False)


def _gelu(x: np.ndarray, approximate: str) -> np.ndarray:
    if approximate == "tanh":
        return x * sigmoid(math.sqrt(8 / math.pi) * (x + 0.044715 * x * x * x))  # (1 + tanh(u)) / 2 is sigmoid(2 u)
    from scipy import special

    # 1 + erf(x / sqrt(2)) would cancel for x far below zero
    return 0.5 * x * special.erfc(x.astype(np.float64) * -math.sqrt(0.5)).astype(x.dtype)


def _function(
    name: str, function: Callable[..., np.ndarray], doc: str, attrs: Mapping[str, Any] | None = None, infer=_smooth_real
) -> None:
    defaults = dict(attrs or {})
    keep = infer is _same_real

    def evaluate(arrays, given):
        x = arrays[0] if keep else as_float(arrays[0])
        result = function(x if keep else widened(x), *(given.get(k, v) for k, v in defaults.items()))
        # Python floats are weak in NumPy's promotion but not everywhere (rank 0, where): keep the inferred dtype
        return np.asarray(result).astype(x.dtype, copy=False)

    define(name, "x", infer, evaluate, doc, FAMILY, attrs=defaults, source="https://onnx.ai/onnx/operators/")


_function("rsqrt", lambda x: 1 / np.sqrt(x), "1 / sqrt(x).", infer=_smooth)
_function("sigmoid", sigmoid, "1 / (1 + exp(-x)), without overflow.")
_function("relu", relu, "max(x, 0); -0 and the dtype stay.", infer=_same_real)
_function("relu6", lambda x: np.clip(x, 0, 6), "min(max(x, 0), 6).")
_function("softplus", softplus, "log(1 + exp(x)), without overflow.")
_function("softsign", lambda x: x / (1 + np.abs(x)), "x / (1 + abs(x)).")
_function(
    "elu",
    lambda x, a: np.where(x >= 0, x, a * np.expm1(x)),
    "x from zero on, alpha * (exp(x) - 1) below.",
    {"alpha": 1.0},
)
_function(
    "celu",
    lambda x, a: np.where(x >= 0, x, a * np.expm1(x.astype(np.float64) / a)),
    "x from zero on, alpha * (exp(x / alpha) - 1) below.",
    {"alpha": 1.0},
)
_function(
    "selu",
    lambda x, a, g: g * np.where(x > 0, x, a * np.expm1(x)),
    "gamma * elu(x, alpha), with the constants of self-normalising networks.",
    {"alpha": 1.6732632423543772, "gamma": 1.0507009873554805},
)
_function("leaky_relu", lambda x, a: np.where(x >= 0, x, a * x), "x above zero, alpha * x below.", {"alpha": 0.01})
_function(
    "hard_sigmoid",
    lambda x, a, b: np.clip(a * x + b, 0, 1),
    "alpha * x + beta, cut to 0 .. 1.",
    {"alpha": 0.2, "beta": 0.5},
)
_function(
    "gelu",
    _gelu,
    "x times the normal distribution function of x; approximate is 'none' or 'tanh'.",
    {"approximate": "none"},
)
_function("swish", lambda x, b: x * sigmoid(b * x), "x * sigmoid(beta * x).", {"beta": 1.0})
_function("erf", erf, "The error function.")
