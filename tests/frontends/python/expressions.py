"""Random expressions of Python's numbers, computed by Python and by a graph."""

from __future__ import annotations

import math
import operator
import struct
from typing import Any

import numpy as np
from hypothesis import strategies as st

import workbench as wb
from workbench.frontends.python.calls import library_calls
from workbench.frontends.python.values import operators
from workbench.frontends.python.values.numbers import PyNumber, python_number
from workbench.ir.builder.value import Value

BINARY = {
    "Add": operator.add,
    "Sub": operator.sub,
    "Mult": operator.mul,
    "Div": operator.truediv,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "Pow": operator.pow,
    "BitAnd": operator.and_,
    "BitOr": operator.or_,
    "BitXor": operator.xor,
    "LShift": operator.lshift,
    "RShift": operator.rshift,
}
COMPARE = {
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Eq": operator.eq,
    "NotEq": operator.ne,
}
UNARY = {"USub": operator.neg, "UAdd": operator.pos, "Invert": operator.invert, "Not": operator.not_}
CALLS = {
    "abs": abs,
    "round": round,
    "int": int,
    "float": float,
    "bool": bool,
    "sqrt": math.sqrt,
    "floor": math.floor,
    "ceil": math.ceil,
    "trunc": math.trunc,
    "exp": math.exp,
    "log": math.log,
    "sin": math.sin,
    "atan": math.atan,
    "isnan": math.isnan,
    "fabs": math.fabs,
    "tanh": math.tanh,
    "expm1": math.expm1,
    "isqrt": math.isqrt,
    "factorial": math.factorial,
    "lgamma": math.lgamma,
    "erf": math.erf,
    "degrees": math.degrees,
}
CALLS2 = {
    "min": min,
    "max": max,
    "atan2": math.atan2,
    "gcd": math.gcd,
    "copysign": math.copysign,
    "hypot": math.hypot,
    "fmod": math.fmod,
    "round2": round,
    "pow_mod": lambda x, y: pow(x, y, 7),
    "comb": math.comb,
    "lcm": math.lcm,
    "remainder": math.remainder,
}
DTYPES = {int: "int64", float: "float64", bool: "bool"}

INTS = [
    0,
    1,
    -1,
    2,
    -2,
    3,
    -3,
    5,
    7,
    10,
    62,
    63,
    64,
    100,
    2**31,
    2**53,
    2**53 + 1,
    -(2**53) - 1,
    3037000500,
    2**62,
    2**63 - 1,
    -(2**63),
    -(2**63) + 1,
]
FLOATS = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1.5,
    2.5,
    -2.5,
    0.1,
    1e-310,
    5e-324,
    1e16,
    1e22,
    2.0**53,
    2.0**63,
    1e308,
    -1e308,
    math.inf,
    -math.inf,
    math.nan,
    710.0,
]
numbers = st.one_of(
    st.sampled_from(INTS),
    st.sampled_from(FLOATS),
    st.booleans(),
    st.integers(-20, 20),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.floats(-100, 100),
)


class Beyond(Exception):
    """Python's result is beyond the graph's types: ints of more than 64 bits, complex powers, int ** -n."""


def expressions(arguments: int) -> st.SearchStrategy:
    """Nested tuples (kind, name, *parts) over ("arg", k) and ("const", number)."""
    leaf = st.one_of(
        st.tuples(st.just("arg"), st.integers(0, arguments - 1)),
        st.tuples(st.just("const"), numbers),
        st.tuples(st.just("arg"), st.integers(0, arguments - 1)),
    )

    def grow(inner):
        return st.one_of(
            st.tuples(st.just("binary"), st.sampled_from(list(BINARY)), inner, inner),
            st.tuples(st.just("binary"), st.sampled_from(list(BINARY)[:7]), inner, inner),
            st.tuples(st.just("compare"), st.sampled_from(list(COMPARE)), inner, inner),
            st.tuples(st.just("unary"), st.sampled_from(list(UNARY)), inner),
            st.tuples(st.just("call"), st.sampled_from(list(CALLS)), inner),
            st.tuples(st.just("call2"), st.sampled_from(list(CALLS2)), inner, inner),
        )

    whole = st.recursive(leaf, grow, max_leaves=8).filter(lambda e: e[0] not in ("arg", "const"))
    return st.tuples(whole, st.integers(0, arguments - 1)).map(lambda pair: mixed(*pair))


def mixed(expression: Any, argument: int) -> Any:
    """The expression with an argument in each of its parts, because parts known at capture are computed by Python
    anyway.
    """
    if expression[0] in ("arg", "const"):
        return expression
    parts = [mixed(p, argument) for p in expression[2:]]
    if all(p[0] == "const" for p in parts):
        parts[0] = ("arg", argument)
    return (*expression[:2], *parts)


def _unrounded(part: Any) -> Any:
    while part[:2] == ("call2", "round2"):
        part = part[2]
    return part


def in_python(expression: Any, args: list[Any]) -> Any:
    """Python's result; raises as Python does, and Beyond if a value cannot be represented in the graph."""
    kind, *rest = expression
    if kind == "arg":
        return args[rest[0]]
    if kind == "const":
        return rest[0]
    name, *parts = rest
    values = [in_python(p, args) for p in parts]
    if name in ("Pow", "LShift") and all(isinstance(v, int) for v in values):
        if (abs(values[0]) > 1 or (name == "LShift" and values[0])) and values[1] > 64:
            raise Beyond
        if name == "Pow" and values[1] < 0 and values[0] != 0 and parts[1][0] != "const":
            raise Beyond
    if name in ("min", "max") and type(values[0]) is not type(values[1]):
        # a constant stays one when it is rounded: by how much (the other operand) is fixed below
        known = zip(map(_unrounded, parts), values, strict=True)
        small = next((v for p, v in known if p[0] == "const" and type(v) is int), None)
        if small is None or float not in map(type, values) or abs(small) > 2**53:
            raise Beyond  # the result has one type or the other
        return float({"min": min, "max": max}[name](*values))  # a known int combined with a float becomes a float
    if name == "factorial" and type(values[0]) is int and values[0] > 20:
        raise Beyond
    if name == "comb" and all(type(v) is int for v in values) and min(values[1], values[0] - values[1]) > 64:
        raise Beyond  # Python would take long
    if name == "round2":
        values[1] = 1
    table = {"binary": BINARY, "compare": COMPARE, "unary": UNARY, "call": CALLS, "call2": CALLS2}[kind]
    result = table[name](*values)
    if isinstance(result, complex) or (isinstance(result, int) and not -(2**63) <= result < 2**63):
        raise Beyond
    return result


def in_graph(b: wb.GraphBuilder, expression: Any, args: list[PyNumber]) -> Any:
    """The expression evaluated by :mod:`workbench.frontends.python.values.operators`."""
    kind, *rest = expression
    if kind == "arg":
        return args[rest[0]]
    if kind == "const":
        return rest[0]
    name, *parts = rest
    values = [in_graph(b, p, args) for p in parts]
    if name == "round2":
        values[1] = 1
    if name == "pow_mod":
        return library_calls.call(b, pow, (*values, 7), {})
    if kind in ("call", "call2"):
        return library_calls.call(b, {**CALLS, **CALLS2}[name], values, {})
    return getattr(operators, kind)(b, name, *values)


def run_graph(expression: Any, args: list[Any]) -> Any:
    """Build and run; a Python number."""
    b = wb.GraphBuilder("expression")
    values = [python_number(b, b.placeholder(f"x{k}", DTYPES[type(a)], ())) for k, a in enumerate(args)]
    result = in_graph(b, expression, values)
    if not isinstance(result, Value):
        result = python_number(b, result)  # known, but intermediate nodes may fail
    assert isinstance(result, PyNumber)
    feeds = {f"x{k}": np.array(a, DTYPES[type(a)]) for k, a in enumerate(args)}
    return b.build({"result": result}).run(feeds)["result"].item()


def same(a: Any, b: Any) -> bool:
    """Equal types and bits; any nan equals any other."""
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return (a != a and b != b) or struct.pack("d", a) == struct.pack("d", b)
    return a == b
