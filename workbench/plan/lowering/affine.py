"""Instructions for x * s + t with constant s and t: the product is written to the result, then the sum over it."""

from __future__ import annotations

import numpy as np

from workbench.ir.opspec import REGISTRY
from workbench.ir.types import TensorType
from workbench.plan.lowering.array_layout import OWN, ArrayCode, ArrayInstruction, dims_of, loop_over, spread
from workbench.plan.lowering.inner_loops import find_loop


def affine_code(x: TensorType, out: TensorType, scale: np.ndarray, shift: np.ndarray) -> ArrayCode | None:
    """Two steps, each rounded like NumPy's; x is the node's first input."""
    steps = []
    for op, source, constant in (("multiply", 0, scale), ("add", OWN, shift)):
        given = TensorType.of(constant)
        loop = find_loop(REGISTRY[op], [x.dtype, given.dtype], out.dtype)
        if loop is None or x.dtype != out.dtype or np.broadcast_shapes(dims_of(x), constant.shape) != dims_of(out):
            return None
        strides = [spread(t, dims_of(out)) for t in (out if source == OWN else x, given, out)]
        array = loop_over(loop, strides, dims_of(out))
        if array is None:
            return None
        steps.append(ArrayInstruction(array, ((source, 0), (-1, 0)), constant=constant))
    return ArrayCode({0: steps})
