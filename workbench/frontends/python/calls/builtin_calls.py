"""Python's builtin functions on values: len, abs, min, max, sum, round, int, float, bool, complex, divmod, pow ...

Source: https://docs.python.org/3/library/functions.html
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workbench.errors import GraphError, TypeMismatchError
from workbench.frontends.python.values import numbers, operators
from workbench.frontends.python.values.attributes import attribute
from workbench.frontends.python.values.numbers import (
    PyNumber,
    as_kind,
    is_number,
    kind_of,
    python_number,
    to_float,
    to_int,
)
from workbench.frontends.python.values.promotion import as_array, is_array, known_shape, same_dtype, together
from workbench.ir.builder.builder import GraphBuilder
from workbench.ir.builder.value import Value
from workbench.ir.types import numpy_dtype

#: maximum length of arrays over which min and max iterate item by item, as Python does
_MOST_ITEMS = 64


def _len(builder: GraphBuilder, x: Any) -> Any:
    if not is_array(x):
        return len(x)
    shape = known_shape(as_array(builder, x), "len")
    if not shape:
        raise TypeMismatchError("A single number has no len().", slug="wrong-shape", fix="give an array.")
    return attribute(builder, as_array(builder, x), "shape")[0]


def _abs(builder: GraphBuilder, x: Any) -> Any:
    if not is_number(x):
        return builder.op("abs", as_array(builder, x))
    kind = int if kind_of(x) is bool else kind_of(x)
    value = as_kind(builder, x, kind)
    found = builder.op("abs", value) if kind is float else builder.op("abs", value, checked=True)
    return python_number(builder, found)


def _items(builder: GraphBuilder, x: Any, name: str) -> Sequence[Any]:
    """The items of a tuple or of a short array."""
    if not is_array(x):
        return tuple(x)
    array = as_array(builder, x)
    shape = known_shape(array, name)
    if not shape or shape[0] is None or shape[0] > _MOST_ITEMS:
        raise GraphError(
            f"{name}() goes through an array item by item, which needs a known length of at most {_MOST_ITEMS}.",
            slug="unknown-length",
            fix=f"use np.{name}(x) or x.{name}().",
        )
    return [builder.op("getitem", array, index=(("int", k),)) for k in range(shape[0])]


def _extremum(name: str, op: str) -> Callable[..., Any]:
    """Python's max (min), which replaces its candidate only by a greater (smaller) item, so that a leading nan
    stays.
    """

    def call(builder: GraphBuilder, *args: Any) -> Any:
        items = _items(builder, args[0], name) if len(args) == 1 else args
        if not items:
            raise TypeMismatchError(f"{name}() got nothing to choose from.", slug="bad-call", fix="give it an item.")
        best = items[0]
        for item in items[1:]:
            better = operators.truth(builder, operators.compare(builder, op, item, best))
            best = choose(builder, better, item, best, name)
        return best

    return call


def choose(builder: GraphBuilder, better: Any, item: Any, best: Any, name: str) -> Any:
    """``item if better else best`` without a branch."""
    if not isinstance(better, Value):
        return item if better else best
    if is_number(item) and is_number(best):
        kinds = [kind_of(i) for i in (item, best)]
        if kinds[0] is not kinds[1]:
            small = item if kinds[0] is not numbers.common(item, best) else best
            if isinstance(small, Value) or type(small) is not int or abs(small) > 2**53:  # 0 with a float is 0.0
                raise TypeMismatchError(
                    f"{name}() of {kinds[1].__name__} and {kinds[0].__name__} gives one or the other, but a value of a "
                    "graph has one type.",
                    slug="mixed-types",
                    fix=f"convert the operands, as in {name}(float(i), x).",
                )
        kind = numbers.common(item, best) if kinds[0] is not kinds[1] else kinds[0]
        pair = as_kind(builder, item, kind), as_kind(builder, best, kind)
        return python_number(builder, builder.op("where", better, *pair))
    pair_ = together(builder, [item, best])
    return builder.op("where", better, *same_dtype(builder, pair_, pair_))


def _sum(builder: GraphBuilder, x: Any, start: Any = 0) -> Any:
    if is_array(x):
        return _array_sum(builder, as_array(builder, x), start)
    items = list(x)
    if sys.version_info >= (3, 12) and any(is_number(i) and kind_of(i) is float for i in (start, *items)):
        raise GraphError(
            "sum() of floats corrects its rounding from Python 3.12 on, which the graph does not.",
            slug="float-sum",
            fix="add with +, or use np.sum.",
        )
    for item in items:
        start = operators.binary(builder, "Add", start, item)
    return start


def _array_sum(builder: GraphBuilder, x: Value, start: Any) -> Any:
    """The sum of an array's items in Python's order, by cumsum; np.sum adds in a different order."""
    shape = known_shape(x, "sum")
    if not shape:
        raise TypeMismatchError("sum() takes a tuple or an array.", slug="wrong-shape", fix="give an array.")
    if shape[0] == 0:
        return start
    if not (is_number(start) and not isinstance(start, Value) and start == 0 and kind_of(start) is int):
        raise TypeMismatchError("sum() of an array starts at 0.", slug="bad-call", fix="add the start value with +.")
    running = builder.op("cumsum", x, axis=0, dtype=None if x.dtype == "bool" else x.dtype)
    return operators.binary(builder, "Add", 0, builder.op("getitem", running, index=(("int", -1),)))


def _round(builder: GraphBuilder, x: Any, ndigits: Any = None) -> Any:
    if isinstance(ndigits, Value):
        raise TypeMismatchError("round() needs a known number of digits.", slug="bad-call", fix="write it as a number.")
    if not is_number(x):
        array = as_array(builder, x)
        if array.shape != () or ndigits is not None:
            return builder.op("round", array, decimals=int(ndigits or 0))
        return to_int(builder, builder.op("round", array))
    kind = int if kind_of(x) is bool else kind_of(x)
    value = as_kind(builder, x, kind)
    if kind is complex:
        raise TypeMismatchError("round() takes no complex number.", slug="wrong-dtype", fix="round .real and .imag.")
    if kind is int and (ndigits is None or ndigits >= 0):
        return value
    if ndigits is None:
        return to_int(builder, python_number(builder, builder.op("round", value)))
    return python_number(builder, builder.op("round", value, decimals=int(ndigits), checked=True))


def _int(builder: GraphBuilder, x: Any = 0) -> Any:
    return to_int(builder, x if is_number(x) else as_array(builder, x))


def _float(builder: GraphBuilder, x: Any = 0.0) -> Any:
    return to_float(builder, x if is_number(x) else as_array(builder, x))


def _bool(builder: GraphBuilder, x: Any = False) -> Any:
    return operators.truth(builder, x)


def _complex(builder: GraphBuilder, real: Any = 0, imag: Any = 0) -> Any:
    parts = [python_number(builder, p if is_number(p) else as_array(builder, p)) for p in (real, imag)]
    if parts[0].kind is complex and not isinstance(imag, Value) and imag == 0:
        return parts[0]
    return python_number(builder, builder.op("complex", *(to_float(builder, p) for p in parts)))


def _divmod(builder: GraphBuilder, x: Any, y: Any) -> tuple[Any, Any]:
    return operators.binary(builder, "FloorDiv", x, y), operators.binary(builder, "Mod", x, y)


def _pow(builder: GraphBuilder, base: Any, exp: Any, mod: Any = None) -> Any:
    if mod is not None:
        numbers_ = [python_number(builder, i) for i in (base, exp, mod)]
        if any(n.kind not in (int, bool) for n in numbers_):
            raise TypeMismatchError("pow() of three numbers takes ints.", slug="wrong-dtype", fix="convert them first.")
        ints = [as_kind(builder, n, int) for n in numbers_]
        return python_number(builder, builder.op("math", *ints, function="pow_mod", _raises=True))
    return operators.binary(builder, "Pow", base, exp)


def _any(builder: GraphBuilder, x: Any) -> Any:
    if is_array(x):
        return _over_array(builder, "any", x)
    result: Any = False
    for item in x:
        result = operators.either(builder, result, operators.truth(builder, item))
    return result


def _all(builder: GraphBuilder, x: Any) -> Any:
    if is_array(x):
        return _over_array(builder, "all", x)
    result: Any = True
    for item in x:
        result = operators.both(builder, result, operators.truth(builder, item))
    return result


def _over_array(builder: GraphBuilder, op: str, x: Any) -> Any:
    array = as_array(builder, x)
    if len(known_shape(array, op)) != 1:
        raise TypeMismatchError(f"{op}() takes an array of one axis.", slug="wrong-shape", fix=f"use np.{op}(x).")
    return python_number(builder, builder.op(op, array))


def _isinstance(builder: GraphBuilder, x: Any, classes: Any) -> bool:
    if not isinstance(x, Value):
        return isinstance(x, classes)
    found = x.kind if isinstance(x, PyNumber) else numpy_dtype(x.dtype).type if x.shape == () else np.ndarray
    return issubclass(found, classes)


TABLE: dict[Any, Callable[..., Any]] = {
    len: _len,
    abs: _abs,
    min: _extremum("min", "Lt"),
    max: _extremum("max", "Gt"),
    sum: _sum,
    round: _round,
    int: _int,
    float: _float,
    bool: _bool,
    complex: _complex,
    divmod: _divmod,
    pow: _pow,
    any: _any,
    all: _all,
    isinstance: _isinstance,
}
