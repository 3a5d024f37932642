"""NumPy functions whose result sizes depend on the data: the shape is known only when the graph runs.

Source: https://numpy.org/doc/stable/reference/routines.sort.html
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.errors import TypeMismatchError
from workbench.frontends.python.calls.numpy_table import put
from workbench.frontends.python.values.promotion import as_array
from workbench.ir.builder.builder import GraphBuilder
from workbench.ir.builder.value import Value


def _places(builder: GraphBuilder, a: Any, name: str) -> tuple[Value, int]:
    """Indices of the nonzero elements, one row for each axis, and the number of axes."""
    value = as_array(builder, a)
    if value.shape is None or not value.shape:
        raise TypeMismatchError(
            f"np.{name} takes an array with a known number of axes, got {value.type}.",
            slug="wrong-shape",
            fix="reshape it before.",
        )
    return builder.op("nonzero", value), len(value.shape)


@put(np.nonzero)
def nonzero(builder: GraphBuilder, a: Any) -> tuple[Value, ...]:
    """``np.nonzero``: one array of indices for each axis."""
    found, axes = _places(builder, a, "nonzero")
    return tuple(builder.getitem(found, axis) for axis in range(axes))


@put(np.argwhere)
def argwhere(builder: GraphBuilder, a: Any) -> Value:
    """``np.argwhere``: one row for each nonzero element."""
    return builder.op("transpose", _places(builder, a, "argwhere")[0])


@put(np.flatnonzero)
def flatnonzero(builder: GraphBuilder, a: Any) -> Value:
    """``np.flatnonzero``: indices in the flattened array."""
    flat = builder.op("flatten", as_array(builder, a))
    return builder.getitem(_places(builder, flat, "flatnonzero")[0], 0)


@put(np.count_nonzero)
def count_nonzero(builder: GraphBuilder, a: Any, axis: int | None = None, *, keepdims: bool = False) -> Value:
    """``np.count_nonzero``: number of nonzero elements, in total or along an axis."""
    value = as_array(builder, a)
    there = value if value.dtype == "bool" else builder.op("not_equal", value, 0)
    return builder.op("sum", builder.op("cast", there, dtype="int64"), axis=axis, keepdims=keepdims)
