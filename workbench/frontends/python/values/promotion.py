"""NumPy 2's promotion of Python's numbers with NumPy's arrays and scalars.

A Python number is weak: combined with an array it takes the array's dtype if its kind allows that, and fails if it does
not fit. A bool is not weak. Source: https://numpy.org/neps/nep-0050-scalar-promotion.html
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.errors import GraphError, TypeMismatchError
from workbench.frontends.python.values import foreign
from workbench.frontends.python.values.numbers import PyNumber, is_number, kind_of, python_number
from workbench.ir.builder.builder import GraphBuilder
from workbench.ir.builder.value import Value
from workbench.ir.types import ANY, OPAQUE, STRING, TensorType, dtype_name, numpy_dtype


def is_array(item: Any) -> bool:
    """True if ``item`` follows NumPy's rules: an array or a NumPy scalar, known or a Value."""
    return isinstance(item, (np.ndarray, np.generic)) or (isinstance(item, Value) and not isinstance(item, PyNumber))


def as_array(builder: GraphBuilder, item: Any) -> Value:
    """``np.asarray(item)`` for numbers, arrays, Values and (nested) tuples or lists of them."""
    if isinstance(item, PyNumber):
        return Value(builder, item.ref, item.type, item.context, item.label)
    if isinstance(item, Value):
        return item
    if isinstance(item, (tuple, list)):
        if not holds_value(item):
            foreign.refuse(item)
            return builder.constant(np.asarray(item))
        rows = [as_array(builder, part) for part in item]
        return builder.op("stack", *same_dtype(builder, rows, item), axis=0)
    if is_number(item):
        return as_array(builder, python_number(builder, item))
    if isinstance(item, range):
        return builder.constant(np.asarray(item))
    foreign.refuse((item,))
    if not isinstance(item, (np.ndarray, np.generic)):
        raise TypeMismatchError(
            f"{type(item).__name__} {str(item)[:60]!r} cannot become an array in a graph.",
            slug="bad-constant",
            fix="give numbers, arrays, or tuples of them.",
        )
    return builder.constant(item)


def same_dtype(builder: GraphBuilder, values: Sequence[Value], given: Sequence[Any]) -> list[Value]:
    """Values as NumPy joins them into one array: cast to the common dtype."""
    del given
    names = {v.dtype for v in values}
    if len(names) == 1 or names & {ANY, OPAQUE, STRING}:
        return list(values)
    dtype = dtype_name(np.result_type(*(numpy_dtype(n) for n in sorted(names))))
    return [v if v.dtype == dtype else builder.op("cast", v, dtype=dtype) for v in values]


def holds_value(item: Any) -> bool:
    """True if (nested) tuples, lists, dicts and slices contain a Value."""
    if isinstance(item, (tuple, list)):
        return any(holds_value(i) for i in item)
    if isinstance(item, dict):
        return any(holds_value(i) for i in item.values())
    if isinstance(item, slice):
        return any(isinstance(i, Value) for i in (item.start, item.stop, item.step))
    return isinstance(item, Value)


def together(builder: GraphBuilder, items: Sequence[Any], wide: bool = False) -> list[Value]:
    """Operands of a NumPy function, with Python's numbers as Values of the dtype that they take in it.

    With ``wide``, ints keep 64 bits when combined with integers, because NumPy compares them exactly and divides them
    as floats.
    """
    strong = [
        numpy_dtype(i.dtype) if isinstance(i, Value) else np.asarray(i).dtype
        for i in items
        if not is_number(i) and not _unknown(i)
    ]
    strong += [np.dtype(bool) for i in items if is_number(i) and kind_of(i) is bool]
    if not strong or all(is_number(i) for i in items):
        return [as_array(builder, i) for i in items]
    return [_beside(builder, i, strong, wide) if is_number(i) else as_array(builder, i) for i in items]


def _unknown(item: Any) -> bool:
    return isinstance(item, Value) and item.dtype in (ANY, OPAQUE, STRING)


def _beside(builder: GraphBuilder, item: Any, strong: Sequence[np.dtype], wide: bool) -> Value:
    kind = kind_of(item)
    if kind is bool:
        return as_array(builder, item)
    sample: complex = {int: 1, float: 1.0, complex: 1j}[kind]
    dtype = np.result_type(*strong, sample)
    if wide and kind is int and dtype.kind in "iu":
        if isinstance(item, Value) or -(2**63) <= item < 2**63:
            return as_array(builder, item)
        dtype = np.dtype(np.uint64)
    if not isinstance(item, Value):
        try:
            with np.errstate(over="ignore"):  # NumPy gives inf and a warning
                return builder.constant(dtype.type(item))
        except OverflowError as error:
            raise TypeMismatchError(
                f"The Python number {str(item)[:40]} does not fit {dtype}, the dtype of the array beside it.",
                slug="out-of-range",
                fix="cast the array, or use a number that fits.",
            ) from error
    return cast_number(builder, item, dtype_name(dtype))


def cast_number(builder: GraphBuilder, item: Any, dtype: str) -> Value:
    """A Python number as a NumPy scalar of ``dtype``; ints must fit, and nan and inf cannot become ints."""
    value = python_number(builder, item)
    if value.dtype == dtype:
        return as_array(builder, value)
    wanted = numpy_dtype(dtype).kind
    if value.kind is complex and wanted not in "cb":
        raise TypeMismatchError(f"A complex number cannot become {dtype}.", slug="wrong-dtype", fix="take its .real.")
    if wanted in "iu" and value.kind in (int, float):
        return as_array(builder, builder.op("cast", value, dtype=dtype, checked=True))
    if value.kind is int and dtype in ("float32", "float16"):  # NumPy converts through double, which rounds twice
        value = python_number(builder, builder.op("cast", value, dtype="float64"))
    return as_array(builder, builder.op("cast", value, dtype=dtype))


def known_shape(value: Value, what: str) -> tuple[int | None, ...]:
    """The shape of a value whose rank must be known."""
    if value.shape is None:
        raise GraphError(
            f"{what} needs a value of known rank, but {value.ref} has none.",
            slug="unknown-rank",
            fix="reshape it to a known number of axes first.",
        )
    return value.shape


def type_of(item: Any) -> TensorType:
    """Type of a Value or of a known object."""
    return item.type if isinstance(item, Value) else TensorType.of(np.asarray(item))
