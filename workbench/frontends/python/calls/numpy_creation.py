"""NumPy functions that create arrays from sizes, which may be computed, from numbers and from other arrays.

Source: https://numpy.org/doc/stable/reference/routines.array-creation.html
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.errors import TypeMismatchError
from workbench.frontends.python.calls.numpy_table import TABLE, Handler, integer, put, typed
from workbench.frontends.python.values.promotion import as_array, holds_value, together
from workbench.ir.builder.builder import GraphBuilder
from workbench.ir.builder.value import Value
from workbench.ir.types import dtype_name, numpy_dtype


def filled(builder: GraphBuilder, shape: Any, value: Value) -> Value:
    """An array of ``shape``, which may be computed, filled with ``value``."""
    if holds_value(shape):
        parts = shape if isinstance(shape, (tuple, list)) else (shape,)
        sizes = [builder.op("cast", integer(builder, p), dtype="int64") for p in parts]
        if len(sizes) == 1 and sizes[0].shape == (1,):
            return builder.op("fill", sizes[0], value)
        return builder.op("fill", builder.op("stack", *sizes, axis=0), value)
    dims = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(int(d) for d in shape)
    return builder.op("fill", builder.constant(np.asarray(dims, np.int64)), value)


def _constant_array(value: float) -> Handler:
    def call(builder: GraphBuilder, shape: Any, dtype: Any = float, order: str = "C") -> Any:
        del order
        return filled(builder, shape, builder.constant(np.asarray(value, numpy_dtype(dtype_name(dtype or float)))))

    return call


TABLE[np.zeros] = TABLE[np.empty] = _constant_array(0)
TABLE[np.ones] = _constant_array(1)


@put(np.full)
def _full(builder: GraphBuilder, shape: Any, fill_value: Any, dtype: Any = None, order: str = "C") -> Any:
    del order
    return filled(builder, shape, typed(builder, fill_value, dtype))


@put(np.full_like)
def _full_like(builder: GraphBuilder, a: Any, fill_value: Any, dtype: Any = None) -> Any:
    array = as_array(builder, a)
    zeros = builder.op("zeros_like", array, dtype=dtype_name(dtype or numpy_dtype(array.dtype)))
    return builder.op("add" if zeros.dtype != "bool" else "logical_or", zeros, typed(builder, fill_value, zeros.dtype))


@put(np.empty_like)
def _empty_like(builder: GraphBuilder, prototype: Any, dtype: Any = None) -> Any:
    attrs = {} if dtype is None else {"dtype": dtype_name(dtype)}
    return builder.op("zeros_like", as_array(builder, prototype), **attrs)


@put(np.array, np.asarray, np.ascontiguousarray)
def _asarray(builder: GraphBuilder, a: Any, dtype: Any = None, *, copy: Any = None, order: Any = None) -> Any:
    del copy, order
    return typed(builder, a, dtype)


@put(np.arange)
def _arange(builder: GraphBuilder, start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Any:
    if stop is None:
        start, stop = 0, start
    parts = together(builder, [start, stop, step])
    if any("int" not in p.dtype for p in parts):
        raise TypeMismatchError(
            "np.arange in a graph takes computed ints, but not computed floats.",
            slug="wrong-dtype",
            fix="write start + step * np.arange(n).",
        )
    found = builder.op("range", *(builder.op("cast", p, dtype="int64") for p in parts))
    return found if dtype is None else builder.op("cast", found, dtype=dtype_name(dtype))


@put(np.linspace)
def _linspace(builder: GraphBuilder, start: Any, stop: Any, num: Any = 50, endpoint: bool = True) -> Any:
    ends = [builder.op("cast", v, dtype="float64") for v in together(builder, [start, stop])]
    return builder.op("linspace", *ends, integer(builder, num), endpoint=bool(endpoint))
