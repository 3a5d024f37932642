"""Python's truth of values, and ``and`` and ``or`` of computed truths."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from workbench.errors import GraphError
from workbench.frontends.python.values import foreign
from workbench.frontends.python.values.numbers import PyNumber, python_number
from workbench.ir.builder.builder import GraphBuilder
from workbench.ir.builder.value import Value


def truth(builder: GraphBuilder, value: Any) -> Any:
    """Python's truth of ``value``: a bool if it is known, otherwise a bool Value."""
    if not isinstance(value, Value):
        if type(value) not in (bool, int, float, tuple, list, dict):
            foreign.refuse((value,), foreign.TRUTH)
        if isinstance(value, np.ndarray) and value.size != 1:
            raise _array_truth(str(value.shape))
        return bool(value)
    if isinstance(value, PyNumber):
        if value.kind is bool:
            return value
        return python_number(builder, builder.op("not_equal", value, value.kind(0)))
    if value.type.is_static and math.prod(d or 0 for d in value.shape or ()) != 1:
        raise _array_truth(str(value.shape))
    if value.shape != ():
        value = builder.op("reshape", value, shape=())
    if value.dtype != "bool":
        value = builder.op("not_equal", value, 0)
    return python_number(builder, value)


def _array_truth(shape: str) -> GraphError:
    return GraphError(
        f"The truth of an array of shape {shape} is ambiguous: it holds more or fewer than one item.",
        slug="array-truth",
        fix="use np.any(...) or np.all(...).",
    )


def both(builder: GraphBuilder, left: Any, right: Any) -> Any:
    """``left and right`` of two truths, without a short circuit."""
    if left is False or right is False:
        return False
    if left is True or right is True:
        return right if left is True else left
    return python_number(builder, builder.op("logical_and", left, right))


def either(builder: GraphBuilder, left: Any, right: Any) -> Any:
    """``left or right`` of two truths, without a short circuit."""
    if left is True or right is True:
        return True
    if left is False or right is False:
        return right if left is False else left
    return python_number(builder, builder.op("logical_or", left, right))
