"""The gradients of activations in training graphs: the incoming gradient times the slope.

Some take the input x of the activation, some its result y, whichever TensorFlow keeps for them.
Source: https://www.tensorflow.org/api_docs/python/tf/raw_ops (ReluGrad and so on).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from workbench.ir.types import TensorType
from workbench.ops.define import define
from workbench.ops.elementwise.functions import sigmoid
from workbench.ops.neural.convolution import common_dtype
from workbench.ops.neural.windows import checked
from workbench.ops.rules import WRONG_SHAPE, RuleError, axis_in, need_kinds, need_numbers, working

FAMILY = "gradients"
SOURCE = "https://www.tensorflow.org/api_docs/python/tf/raw_ops/"
ALPHA, GAMMA = 1.6732632423543772, 1.0507009873554805


def _type(types, attrs, values):
    for t in types:
        need_kinds(t, "f", "input", "real numbers")
    gradient, x = types
    dtype = common_dtype(types)
    if not TensorType(x.dtype, gradient.shape).accepts(x):
        raise RuleError(WRONG_SHAPE, f"takes inputs of one shape, but got {gradient} and {x}.", "Check the gradient.")
    shape = gradient.shape if x.shape is None else x.shape
    if gradient.shape is not None and x.shape is not None:
        shape = tuple(b if a is None else a for a, b in zip(gradient.shape, x.shape, strict=True))
    return TensorType(dtype, shape)


def _gradient(
    name: str,
    theirs: str,
    what: str,
    slope: Callable[..., np.ndarray],
    doc: str,
    attrs: Mapping[str, Any] | None = None,
) -> None:
    defaults = dict(attrs or {})

    def compute(arrays, given):
        gradient, x = (a.astype(working(a.dtype), copy=False) for a in arrays)
        factor = slope(x, *(given.get(k, v) for k, v in defaults.items()))
        # avoids 0 * inf: if the slope is 0, so is the result
        return np.where(factor == 0, 0, gradient * factor).astype(arrays[0].dtype, copy=False)

    define(
        f"{name}_gradient",
        f"gradient {what}",
        _type,
        checked(_type, compute),
        f"The gradient times {doc}.",
        FAMILY,
        attrs=defaults,
        source=f"{SOURCE}{theirs}Grad",
    )


_gradient("relu", "Relu", "x", lambda x: np.where(x > 0, x.dtype.type(1), x.dtype.type(0)), "1 where x > 0, else 0")
_gradient("relu6", "Relu6", "x", lambda x: ((x > 0) & (x < 6)).astype(x.dtype), "1 where 0 < x < 6, else 0")
_gradient(
    "leaky_relu",
    "LeakyRelu",
    "x",
    lambda x, a: np.where(x > 0, x.dtype.type(1), x.dtype.type(a)),
    "1 where x > 0, else alpha",
    {"alpha": 0.2},
)
_gradient("elu", "Elu", "y", lambda y: np.where(y < 0, y + 1, y.dtype.type(1)), "y + 1 where y < 0, else 1")
_gradient(
    "selu",
    "Selu",
    "y",
    lambda y: np.where(y < 0, y + y.dtype.type(ALPHA * GAMMA), y.dtype.type(GAMMA)),
    "y + alpha * gamma where y < 0, else gamma",
)
_gradient("softplus", "Softplus", "x", sigmoid, "sigmoid(x)")
_gradient("softsign", "Softsign", "x", lambda x: 1 / np.square(1 + np.abs(x)), "1 / (1 + abs(x)) ** 2")
_gradient("sigmoid", "Sigmoid", "y", lambda y: y * (1 - y), "y * (1 - y)")
_gradient("tanh", "Tanh", "y", lambda y: 1 - np.square(y), "1 - y ** 2")


def _bias_type(types, attrs, values):
    x = types[0]
    need_numbers(types)
    if x.rank == 0:
        raise RuleError(WRONG_SHAPE, f"takes a tensor with an axis of channels, but got {x}.", "Add an axis.")
    return TensorType(x.dtype, (None if x.shape is None else x.shape[axis_in(attrs.get("axis", -1), x.rank)],))


def _bias(arrays, attrs):
    x = arrays[0]
    axis = axis_in(attrs.get("axis", -1), x.ndim)
    wide = x.astype(working(x.dtype), copy=False)
    return wide.sum(axis=tuple(i for i in range(x.ndim) if i != axis), dtype=wide.dtype).astype(x.dtype, copy=False)


define(
    "bias_gradient",
    "gradient",
    _bias_type,
    checked(_bias_type, _bias),
    "The sum of the gradient over all axes but that of the channels.",
    FAMILY,
    attrs={"axis": -1},
    source=f"{SOURCE}BiasAddGrad",
)
