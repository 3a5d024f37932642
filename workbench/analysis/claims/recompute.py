"""Nodes recomputed with NumPy from the operands of a firing, and bit-for-bit comparisons of results."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

#: op of a node -> the NumPy function, in the dtype of the operands
NUMPY: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "floor_divide": np.floor_divide,
    "mod": np.mod,
    "remainder": np.remainder,
    "power": np.power,
    "minimum": np.minimum,
    "maximum": np.maximum,
    "negative": np.negative,
    "left_shift": np.left_shift,
}
#: ops that are exact for Python integers, for results that wrapped
EXACT: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "negative": operator.neg,
    "left_shift": operator.lshift,
    "power": pow,
}
COMPARE: dict[str, Callable[..., Any]] = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}


def item_of(value: Any, item: tuple[int, ...] | None) -> Any:
    """The item of an array; for another shape, the item that broadcasting pairs with it; a scalar unchanged."""
    if isinstance(value, np.generic):
        return value
    array = np.asarray(value)
    if item is None or array.ndim == 0:
        return array[()] if array.ndim == 0 else array
    own = item[len(item) - array.ndim :]
    return array[tuple(i if n > 1 else 0 for i, n in zip(own, array.shape, strict=True))]


def same(a: Any, b: Any) -> bool:
    """True if two values have the same dtype, shape and bits."""
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and (a.tobytes() == b.tobytes() or a.dtype == object and a is b)


def recomputed(op: str, operands: list[Any]) -> Any:
    """NumPy's result for the operands; KeyError for an op that is not in the table."""
    with np.errstate(all="ignore"):
        return NUMPY[op](*operands)


def exact(op: str, operands: list[Any]) -> int:
    """The result in unbounded integers; KeyError for an op that is not in the table."""
    return int(EXACT[op](*(int(v) for v in operands)))


def holds(left: Any, op: str, right: Any) -> bool:
    """The truth of a comparison of two scalars; for arrays, of all their items."""
    with np.errstate(all="ignore"):
        return bool(np.all(COMPARE[op](left, right)))


def line_of(source: Any) -> int | None:
    return None if source is None else source.line
