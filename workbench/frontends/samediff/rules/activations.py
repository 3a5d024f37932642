"""Activations. The parameters of some are the op's scalar argument."""

from __future__ import annotations

import numpy as np

from workbench.frontends.samediff.rules.base import (
    FlatRule,
    Parts,
    as_result,
    dtype_attr,
    elementwise,
    is_float,
    number_of,
)


def _relu(p: Parts) -> bool:
    """Relu with a cutoff, which is nearly always 0: x above the cutoff, 0 elsewhere."""
    if not p.has(1):
        return False
    x = as_result(p, p.inputs[0], p.dtypes[0])
    cutoff = p.node.scalar
    if cutoff is None or not np.any(cutoff):
        return p.result("Relu", x)
    number = number_of(p)
    if number is None or p.has(2):
        return False
    return p.result("SelectV2", p.add("above", "Greater", x, number[0]), x, p.add("zeros", "ZerosLike", x))


def _relu6(p: Parts) -> bool:
    return p.has(1) and not np.any(p.node.scalar if p.node.scalar is not None else 0) and p.result("Relu6", p.inputs[0])


def _leaky(p: Parts) -> bool:
    """Leaky relu; the slope is the op's scalar argument, or its first float."""
    found = p.node.scalar
    slope = float(found.reshape(())) if found is not None and found.size == 1 and found.dtype != object else None
    alpha = slope if slope is not None else p.float_at(0, float(p.prop("alpha", 0.01) or 0.01))
    return p.has(1) and p.result("LeakyRelu", as_result(p, p.inputs[0], p.dtypes[0]), alpha=alpha)


def _elu(p: Parts) -> bool:
    alpha = p.float_at(0, 1.0) if p.node.scalar is None else float(np.asarray(p.node.scalar).reshape(-1)[0])
    return alpha == 1.0 and elementwise("Elu")(p)


def _step(p: Parts) -> bool:
    """The step function: 1 above the cutoff, otherwise 0."""
    number = number_of(p)
    dtype = p.out_dtype()
    if number is None or dtype is None:
        return False
    return p.result("Cast", p.add("above", "Greater", p.inputs[0], number[0]), DstT=dtype_attr(dtype))


def _gelu(p: Parts) -> bool:
    """Gelu as in ND4J: x * sigmoid(1.702 x)."""
    dtype = p.out_dtype("float32")
    if not p.has(1) or not is_float(dtype):
        return False
    x = as_result(p, p.inputs[0], p.dtypes[0])
    return p.result(
        "Mul", x, p.add("sigmoid", "Sigmoid", p.add("steep", "Mul", x, p.value("slope", 1.702, str(dtype))))
    )


def _prelu(p: Parts) -> bool:
    if not p.has(2) or p.node.ints:
        return False
    x = p.inputs[0]
    below = p.add("below", "Minimum", x, p.add("zeros", "ZerosLike", x))
    return p.result("AddV2", p.add("above", "Relu", x), p.add("sloped", "Mul", p.inputs[1], below))


def _crelu(p: Parts) -> bool:
    """The relu of x and -x, concatenated."""
    if not p.has(1):
        return False
    x = p.inputs[0]
    both = p.add("both", "ConcatV2", x, p.add("neg", "Neg", x), p.value("axis", -1))
    return p.result("Relu", both)


RULES: dict[str, FlatRule] = {
    "relu": _relu,
    "relu6": _relu6,
    "leakyrelu": _leaky,
    "lrelu": _leaky,
    "elu": _elu,
    "step": _step,
    "swish": elementwise("workbench.op.swish"),
    "gelu": _gelu,
    "hard_sigmoid": elementwise("workbench.op.hard_sigmoid"),
    "hardsigmoid": elementwise("workbench.op.hard_sigmoid"),
    "prelu": _prelu,
    "crelu": _crelu,
}
