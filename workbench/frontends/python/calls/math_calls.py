"""The module math on Python's numbers: the same library functions, and so the same bits and errors.

Source: https://docs.python.org/3/library/math.html
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from workbench.errors import TypeMismatchError
from workbench.frontends.python.values import operators
from workbench.frontends.python.values.numbers import PyNumber, as_kind, is_number, python_number, to_float, to_int
from workbench.frontends.python.values.promotion import is_array
from workbench.ir.builder.builder import GraphBuilder
from workbench.ir.builder.value import Value
from workbench.ops.elementwise.python_math import FUNCTIONS

#: functions from floats to floats: name in math -> op with the attribute ``checked``
_FLOATS = {
    math.sqrt: "sqrt",
    math.cbrt: "cbrt",
    math.exp: "exp",
    math.exp2: "exp2",
    math.expm1: "expm1",
    math.log1p: "log1p",
    math.sin: "sin",
    math.cos: "cos",
    math.tan: "tan",
    math.asin: "asin",
    math.acos: "acos",
    math.atan: "atan",
    math.sinh: "sinh",
    math.cosh: "cosh",
    math.tanh: "tanh",
    math.asinh: "asinh",
    math.acosh: "acosh",
    math.atanh: "atanh",
    math.atan2: "atan2",
    math.fmod: "fmod",
    math.nextafter: "nextafter",
}


def number_argument(builder: GraphBuilder, item: Any) -> Any:
    """An argument of math as a number; arrays of one item are accepted, as in Python."""
    if isinstance(item, Value) and not isinstance(item, PyNumber):
        return python_number(builder, item)
    if is_array(item):
        return item.item()
    if not is_number(item):
        raise TypeMismatchError(
            f"A function of math takes numbers, but got {type(item).__name__}.",
            slug="wrong-dtype",
            fix="use NumPy's function of that name for arrays.",
        )
    return item


def _float_function(op: str) -> Callable[..., Any]:
    def call(builder: GraphBuilder, *args: Any) -> Any:
        values = [to_float(builder, python_number(builder, number_argument(builder, a))) for a in args]
        return python_number(builder, builder.op(op, *values, checked=True))

    return call


def _other(name: str, rule: str) -> Callable[..., Any]:
    letters = rule.partition(">")[0]

    def call(builder: GraphBuilder, *args: Any) -> Any:
        if name in ("gcd", "lcm") and len(args) != 2:
            return _folded(builder, name, args)
        if name == "perm" and len(args) == 1:
            name_, given = "factorial", args
        else:
            name_, given = name, args
        if len(given) != len(letters) and name_ == name:
            raise TypeError(f"{name} takes {len(letters)} arguments, but got {len(args)}")
        values = []
        for letter, item in zip(letters, given, strict=False):
            number = python_number(builder, number_argument(builder, item))
            if letter == "i" and number.kind not in (int, bool):
                raise TypeMismatchError(f"math.{name} takes ints, not a {number.kind.__name__}.", slug="wrong-dtype")
            values.append(as_kind(builder, number, int) if letter == "i" else to_float(builder, number))
        return python_number(builder, builder.op("math", *values, function=name_, _raises=True))

    return call


def _folded(builder: GraphBuilder, name: str, args: tuple[Any, ...]) -> Any:
    result: Any = 0 if name == "gcd" else 1
    for item in args:
        result = TABLE[getattr(math, name)](builder, result, item)
    return result


def _log(builder: GraphBuilder, x: Any, base: Any = None) -> Any:
    top = _logarithm(builder, "log", x)
    if base is None:
        return top
    bottom = _logarithm(builder, "log", base)
    return python_number(builder, builder.op("divide", top, bottom, checked=True))


def _logarithm(builder: GraphBuilder, op: str, x: Any) -> PyNumber:
    number = python_number(builder, number_argument(builder, x))
    number = as_kind(builder, number, int) if number.kind is bool else number
    return python_number(builder, builder.op(op, number, checked=True))


def _rounded(op: str) -> Callable[..., Any]:
    def call(builder: GraphBuilder, x: Any) -> Any:
        number = python_number(builder, number_argument(builder, x))
        return to_int(builder, builder.op(op, number) if number.kind is float else number)

    return call


def _test(op: str) -> Callable[..., Any]:
    def call(builder: GraphBuilder, x: Any) -> Any:
        number = to_float(builder, python_number(builder, number_argument(builder, x)))
        return python_number(builder, builder.op(op, number))

    return call


def _prod(builder: GraphBuilder, items: Any, *, start: Any = 1) -> Any:
    for item in items:
        start = operators.binary(builder, "Mult", start, item)
    return start


def _fabs(builder: GraphBuilder, x: Any) -> Any:
    return python_number(
        builder, builder.op("abs", to_float(builder, python_number(builder, number_argument(builder, x))))
    )


def _hypot(builder: GraphBuilder, *args: Any) -> Any:
    if len(args) != 2:
        raise TypeMismatchError("math.hypot takes two numbers here.", slug="bad-call", fix="use np.linalg.norm.")
    return _float_function("hypot")(builder, *args)


TABLE: dict[Any, Callable[..., Any]] = {
    **{f: _float_function(op) for f, op in _FLOATS.items()},
    **{getattr(math, n): _other(n, rule) for n, rule in FUNCTIONS.items() if hasattr(math, n)},
    math.log: _log,
    math.log2: lambda b, x: _logarithm(b, "log2", x),
    math.log10: lambda b, x: _logarithm(b, "log10", x),
    math.floor: _rounded("floor"),
    math.ceil: _rounded("ceil"),
    math.trunc: _rounded("trunc"),
    math.isnan: _test("isnan"),
    math.isinf: _test("isinf"),
    math.isfinite: _test("isfinite"),
    math.fabs: _fabs,
    math.hypot: _hypot,
    math.prod: _prod,
}
