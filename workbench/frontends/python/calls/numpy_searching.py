"""NumPy functions whose results are as long as the data makes them: the shape is known when the graph runs.

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
    """Places of what is not zero, one row for each axis, and how many axes there are."""
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
    """``np.nonzero``: one array of places for each axis."""
    found, axes = _places(builder, a, "nonzero")
    return tuple(builder.getitem(found, axis) for axis in range(axes))


@put(np.argwhere)
def argwhere(builder: GraphBuilder, a: Any) -> Value:
    """``np.argwhere``: one row for each place."""
    return builder.op("transpose", _places(builder, a, "argwhere")[0])


@put(np.flatnonzero)
def flatnonzero(builder: GraphBuilder, a: Any) -> Value:
    """``np.flatnonzero``: places in the flat array."""
    flat = builder.op("flatten", as_array(builder, a))
    return builder.getitem(_places(builder, flat, "flatnonzero")[0], 0)


@put(np.count_nonzero)
def count_nonzero(builder: GraphBuilder, a: Any, axis: int | None = None, *, keepdims: bool = False) -> Value:
    """``np.count_nonzero``: how many are not zero, in all or along an axis."""
    value = as_array(builder, a)
    there = value if value.dtype == "bool" else builder.op("not_equal", value, 0)
    return builder.op("sum", builder.op("cast", there, dtype="int64"), axis=axis, keepdims=keepdims)
