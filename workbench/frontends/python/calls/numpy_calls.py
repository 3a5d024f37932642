"""Calls of NumPy's functions, of its dtypes, and of the methods of arrays.

Functions with a counterpart in the op registry (``workbench.ops.numpy_functions``) are taken from there; the others are
in ``numpy_creation`` and ``numpy_functions``. Arguments that only determine where or how a result is stored (out=,
order="C") must have their default. Source: https://numpy.org/doc/stable/reference/routines.html
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workbench.errors import UnknownOpError
from workbench.frontends.python.calls import (
    numpy_creation,  # noqa: F401  they fill the table
    numpy_functions,  # noqa: F401  they fill the table
    numpy_searching,  # noqa: F401  they fill the table
)
from workbench.frontends.python.calls.numpy_table import TABLE, Handler, integer, no_argument, typed
from workbench.frontends.python.values import products  # noqa: F401  they fill the table
from workbench.frontends.python.values.attributes import METHODS, NUMBER_METHODS, BoundMethod
from workbench.frontends.python.values.indexing import subscript
from workbench.frontends.python.values.numbers import PyNumber, as_kind, is_number, python_number
from workbench.frontends.python.values.promotion import as_array, cast_number, holds_value, together
from workbench.ir.builder.builder import GraphBuilder
from workbench.ir.builder.value import Value
from workbench.ir.types import dtype_name, numpy_dtype
from workbench.ops import numpy_functions as registered
from workbench.ops import ufunc_op

#: functions that take ints unchanged together with arrays of a smaller dtype
_WIDE = frozenset((np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal, np.divide))
_ADDING = frozenset(("sum", "prod", "mean", "var", "std", "cumsum", "cumprod"))


def names() -> list[str]:
    """The names of the supported functions."""
    return sorted({f.__name__ for f in (*TABLE, *registered)})


def find(function: Any) -> Handler | None:
    """The handler that puts a call of a NumPy function into the graph; None if there is none."""
    found = TABLE.get(function)
    if found is not None:
        return found
    if isinstance(function, np.ufunc):
        op = ufunc_op(function)
        return None if op is None else _ufunc(function, op)
    if isinstance(function, type) and issubclass(function, np.generic):
        return _constructor(function)
    entry = registered.get(function)
    return None if entry is None else _registered(function, *entry)


def _ufunc(function: np.ufunc, op: str) -> Handler:
    def call(builder: GraphBuilder, *args: Any, **kwargs: Any) -> Any:
        wanted = kwargs.pop("dtype", None)
        for key in ("out", "where", "casting", "order", "subok"):
            value = kwargs.pop(key, None)
            if value is not None and value is not True:
                raise no_argument(function.__name__, key)
        if kwargs:
            raise no_argument(function.__name__, next(iter(kwargs)))
        if len(args) != function.nin:
            raise TypeError(f"it takes {function.nin} arguments, but got {len(args)}")
        listed = [as_array(builder, a) if isinstance(a, (tuple, list)) else a for a in args]
        values = together(builder, listed, wide=function in _WIDE)
        if wanted is not None:
            values = [builder.op("cast", v, dtype=dtype_name(wanted)) for v in values]
        return builder.op(op, *values)

    return call


def _registered(function: Any, op: str, adapter: Callable[..., Any]) -> Handler:
    def call(builder: GraphBuilder, *args: Any, **kwargs: Any) -> Any:
        kwargs = {k: v for k, v in kwargs.items() if v is not np._NoValue}
        inputs, attrs = adapter([_array(builder, a) for a in args], {k: _array(builder, v) for k, v in kwargs.items()})
        # NumPy's order of evaluation decides between zeros of different sign, and it rounds every float16 sum
        if op in ("max", "min") or (op in _ADDING and inputs[0].dtype == "float16"):
            attrs["_as_numpy"] = True
        return builder.op(op, *inputs, **attrs)

    return call


def _array(builder: GraphBuilder, item: Any) -> Any:
    """An argument as an adapter accepts it: numbers and Values as arrays, tuples of arrays as lists of arrays."""
    if isinstance(item, PyNumber):
        return as_array(builder, item)
    if isinstance(item, (tuple, list)) and holds_value(item):
        return [_array(builder, i) for i in item]
    return item


def _constructor(kind: type) -> Handler:
    """The handler of np.float32(x), np.int64(x) ..."""

    def call(builder: GraphBuilder, x: Any = 0) -> Any:
        try:
            dtype = dtype_name(kind)
        except TypeError:
            raise UnknownOpError(f"np.{kind.__name__} cannot be put into a graph.", fix="use np.float64.") from None
        if is_number(x):
            return cast_number(builder, x, dtype)
        array = as_array(builder, x)
        if array.shape == () and array.dtype == "float64" and numpy_dtype(dtype).kind in "iu":
            return cast_number(builder, python_number(builder, array), dtype)  # np.float64 is a Python float
        return array if array.dtype == dtype else builder.op("cast", array, dtype=dtype)

    return call


def method(builder: GraphBuilder, bound: BoundMethod, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """``value.name(*args, **kwargs)``."""
    value, name = bound.value, bound.name
    if isinstance(value, PyNumber):
        return _number_method(builder, value, name)
    if name == "astype":
        return typed(builder, value, args[0] if args else kwargs["dtype"])
    if name == "item":
        return python_number(builder, _item(builder, value, args))
    if name == "reshape" and len(args) > 1:
        args = (tuple(args),)
    if name == "reshape" and holds_value(args):
        parts = args[0] if isinstance(args[0], (tuple, list)) else args
        return builder.op("reshape", value, builder.op("stack", *(integer(builder, p) for p in parts), axis=0))
    if name == "transpose" and len(args) > 1:
        args = (tuple(args),)
    if name == "flatten" or name == "ravel":
        return builder.op("flatten", value)
    if name in ("conj", "conjugate"):
        return builder.op("conj", value)
    handler = find(getattr(np, name, None)) if name in METHODS else None
    if handler is None:
        raise UnknownOpError(
            f"The method {name!r} of arrays cannot be put into a graph.", fix=f"there are {', '.join(sorted(METHODS))}."
        )
    return handler(builder, value, *args, **kwargs)


def _item(builder: GraphBuilder, value: Value, args: Sequence[Any]) -> Value:
    """One item: the only one, the k-th, or the one at these indices."""
    if not args:
        return value if value.shape == () else builder.op("reshape", value, shape=())
    if len(args) == 1 and not isinstance(args[0], tuple):
        value = builder.op("flatten", value)
    return subscript(builder, value, args[0] if len(args) == 1 else tuple(args))


def _number_method(builder: GraphBuilder, value: PyNumber, name: str) -> Any:
    if name == "conjugate":
        return value if value.kind is not complex else python_number(builder, builder.op("conj", value))
    if name in ("bit_length", "bit_count") and value.kind in (int, bool):
        return python_number(builder, builder.op("math", as_kind(builder, value, int), function=name))
    if name == "is_integer" and value.kind is float:
        whole = builder.op("equal", builder.op("floor", value), value)
        return python_number(builder, builder.op("logical_and", whole, builder.op("isfinite", value)))
    raise UnknownOpError(
        f"The method {name!r} of {value.kind.__name__} cannot be put into a graph.",
        fix=f"there are {', '.join(sorted(NUMBER_METHODS))}.",
    )
