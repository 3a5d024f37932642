"""Values of claims compared with values of plain Python: the same number, and the same comparison."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

OPS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne}
OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def number(value: Any) -> Any:
    """A scalar as Python's own number; the words in which JSON has no number are read."""
    if isinstance(value, str):
        return float(value)
    return value.item() if isinstance(value, np.generic | np.ndarray) else value


def equal(a: Any, b: Any) -> bool:
    a, b = number(a), number(b)
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a):
        return math.isnan(b)
    return bool(a == b)


def bits(value: Any) -> Any:
    """A value that is equal for the same bits only."""
    if isinstance(value, np.ndarray | np.generic):
        return (value.dtype.str, value.shape, value.tobytes())
    return (type(value).__name__, repr(value))


def truth(value: Any, item: Any = None) -> bool:
    return bool(np.all(picked(value, item)))


def picked(value: Any, item: Any) -> Any:
    """The item that is paired by broadcasting with ``item`` of the result."""
    array = np.asarray(value)
    if item is None or not array.ndim:
        return value
    own = tuple(item)[len(item) - array.ndim :]
    return array[tuple(i if n > 1 else 0 for i, n in zip(own, array.shape, strict=True))]


def is_nan(value: Any) -> bool:
    array = np.asarray(value)
    return array.dtype.kind == "f" and bool(np.isnan(array).any())


def is_inf(value: Any) -> bool:
    array = np.asarray(value)
    return array.dtype.kind == "f" and bool(np.isinf(array).any())
