"""NumPy functions whose arguments differ from those of the op, and functions composed of several ops.

Source: https://numpy.org/doc/stable/reference/routines.html
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.errors import TypeMismatchError
from workbench.frontends.python.calls.numpy_table import TABLE, Handler, floating, integer, listed, no_argument, put
from workbench.frontends.python.values.attributes import attribute
from workbench.frontends.python.values.numbers import python_number
from workbench.frontends.python.values.promotion import as_array, holds_value, same_dtype, together
from workbench.ir.builder.builder import GraphBuilder
from workbench.ir.builder.value import Value


@put(np.where)
def _where(builder: GraphBuilder, condition: Any, x: Any, y: Any) -> Any:
    test = as_array(builder, condition)
    if test.dtype != "bool":
        test = builder.op("not_equal", test, 0)
    pair = together(builder, [listed(builder, x), listed(builder, y)])
    return builder.op("where", test, *same_dtype(builder, pair, pair))


@put(np.clip)
def _clip(builder: GraphBuilder, a: Any, a_min: Any = None, a_max: Any = None, **kwargs: Any) -> Any:
    low, high = kwargs.pop("min", a_min), kwargs.pop("max", a_max)
    if kwargs:
        raise no_argument("clip", next(iter(kwargs)))
    bounds = [(op, v) for op, v in (("maximum", low), ("minimum", high)) if v is not None]
    values = together(builder, [listed(builder, a), *(v for _, v in bounds)])
    if len(bounds) == 2:
        return builder.op("clip", *values, numpy=True)
    return builder.op(bounds[0][0], *values) if bounds else values[0]


def _ordered(op: str) -> Handler:
    """The handler of a sort by NumPy's own algorithm, because the order of equal elements is visible: zeros
    have signs.
    """

    def call(builder: GraphBuilder, a: Any, axis: int | None = -1, kind: str | None = None) -> Any:
        value = as_array(builder, a)
        if axis is None:
            value, axis = builder.op("flatten", value), -1
        return builder.op(op, value, axis=int(axis), kind=kind or "quicksort")

    return call


TABLE[np.sort], TABLE[np.argsort] = _ordered("sort"), _ordered("argsort")


@put(np.concatenate)
def _concatenate(builder: GraphBuilder, arrays: Any, axis: int | None = 0) -> Any:
    parts = _parts(builder, arrays)
    if axis is None:
        parts, axis = [builder.op("flatten", p) for p in parts], 0
    return builder.op("concat", *parts, axis=int(axis))


@put(np.stack)
def _stack(builder: GraphBuilder, arrays: Any, axis: int = 0) -> Any:
    return builder.op("stack", *_parts(builder, arrays), axis=int(axis))


def _parts(builder: GraphBuilder, arrays: Any) -> list[Value]:
    if isinstance(arrays, Value):
        return list(builder.op("unstack", arrays, axis=0)) if arrays.shape != (1,) else [arrays]
    values = [as_array(builder, a) for a in arrays]
    return same_dtype(builder, values, arrays)


@put(np.append)
def _append(builder: GraphBuilder, arr: Any, values: Any, axis: int | None = None) -> Any:
    return _concatenate(builder, (arr, _at_least_1d(builder, values) if axis is None else values), axis)


def _at_least_1d(builder: GraphBuilder, item: Any) -> Value:
    array = as_array(builder, item)
    return builder.op("reshape", array, shape=(1,)) if array.shape == () else array


@put(np.diff)
def _diff(builder: GraphBuilder, a: Any, n: int = 1, axis: int = -1) -> Any:
    x = as_array(builder, a)
    rank = x.type.rank
    if rank is None:
        raise TypeMismatchError("np.diff needs a value of known rank.", slug="unknown-rank", fix="Reshape it first.")
    for _ in range(int(n)):
        at = axis % rank
        later, earlier = (
            builder.op("getitem", x, index=(*((("slice", None, None, None),) * at), ("slice", *ends, None)))
            for ends in ((1, None), (None, -1))
        )
        x = builder.op("not_equal" if x.dtype == "bool" else "subtract", later, earlier)
    return x


@put(np.roll)
def _roll(builder: GraphBuilder, a: Any, shift: Any, axis: Any = None) -> Any:
    x = as_array(builder, a)
    if holds_value(shift):
        return builder.op("roll", x, integer(builder, shift), axis=axis)
    return builder.op("roll", x, shift=shift, axis=axis)


@put(np.trace)
def _trace(builder: GraphBuilder, a: Any) -> Any:
    return builder.op("sum", builder.op("diagonal", as_array(builder, a)), axis=-1)


@put(np.shape)
def _shape(builder: GraphBuilder, a: Any) -> Any:
    return attribute(builder, as_array(builder, a), "shape")


@put(np.array_equal)
def _array_equal(builder: GraphBuilder, a1: Any, a2: Any) -> Any:
    pair = together(builder, [listed(builder, a1), listed(builder, a2)], wide=True)
    if pair[0].shape != pair[1].shape:
        return False
    return python_number(builder, builder.op("all", builder.op("equal", *pair)))


@put(np.allclose)
def _allclose(builder: GraphBuilder, a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8) -> Any:
    pair = together(builder, [listed(builder, a), listed(builder, b)])
    return python_number(builder, builder.op("all", builder.op("isclose", *pair, rtol=float(rtol), atol=float(atol))))


def _matrix(op: str, pick: int | None = None) -> Handler:
    def call(builder: GraphBuilder, a: Any) -> Any:
        found = builder.op(op, floating(builder, a))
        return found if pick is None else found[pick]

    return call


@put(np.linalg.solve)
def _solve(builder: GraphBuilder, a: Any, b: Any) -> Any:
    matrix, right = (floating(builder, i) for i in (a, b))
    if right.type.rank == 1:  # the op takes only matrices
        column = builder.op("solve", matrix, builder.op("expand_dims", right, axis=-1))
        return builder.op("squeeze", column, axis=-1)
    return builder.op("solve", matrix, right)


TABLE[np.linalg.det] = _matrix("determinant")
TABLE[np.linalg.inv] = _matrix("matrix_inverse")
TABLE[np.linalg.cholesky] = _matrix("cholesky")
TABLE[np.linalg.qr] = _matrix("qr")
TABLE[np.linalg.eigh] = _matrix("eigh")
TABLE[np.linalg.eigvalsh] = _matrix("eigh", 0)
