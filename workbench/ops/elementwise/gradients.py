"""Ops used in the gradients of element-wise ops."""

from __future__ import annotations

import numpy as np

from workbench.ir.types import TensorType
from workbench.ops.define import define
from workbench.ops.rules import WRONG_SHAPE, RuleError, need_kinds, need_rank

FAMILY = "gradients"


def _type(types, attrs, values):
    for x, what in zip(types, ("shape", "other"), strict=True):
        need_kinds(x, "iu", what, "integers")
        need_rank(x, 1, what)
    known = all(v is not None and v.ndim == 1 for v in values)
    counts = [len(axes) for axes in _axes(values, attrs)] if known else [None, None]
    return tuple(TensorType(types[0].dtype, (n,)) for n in counts)


def _axes(arrays, attrs):
    shapes = [a.tolist() for a in arrays]
    rank = max(map(len, shapes))
    one, two = ([1] * (rank - len(s)) + s for s in shapes)
    for a, b in zip(one, two, strict=True):
        if a != b and 1 not in (a, b):
            raise RuleError(
                WRONG_SHAPE,
                f"cannot broadcast the shapes {shapes[0]} and {shapes[1]}.",
                "Make the sizes of each axis equal or 1, counted from the last axis.",
            )
    if shapes[0] == shapes[1]:
        return np.zeros(0, arrays[0].dtype), np.zeros(0, arrays[0].dtype)
    return tuple(np.array([i for i, d in enumerate(s) if d == 1], arrays[0].dtype) for s in (one, two))


define(
    "broadcast_gradient_args",
    "shape other",
    _type,
    _axes,
    "For two shapes that are broadcast: over which axes the "
    "gradient of the result is summed to give that of the first, and of the second.",
    FAMILY,
    outputs="first second",
    source="https://www.tensorflow.org/api_docs/python/tf/raw_ops/BroadcastGradientArgs",
)
