"""Arithmetic, comparisons and choices, element by element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.frontends.jax.rules.kinds import FLOAT, INTEGER, PLAIN, REAL
from workbench.ir.builder.value import Value
from workbench.ir.types import numpy_dtype

if TYPE_CHECKING:
    from workbench.frontends.jax.lower import JaxLowering

Rule = Callable[["JaxLowering", Any, Sequence[Value]], "list[Value] | None"]


def _same(op: str, dtypes: frozenset[str]) -> Rule:
    """A rule for one workbench op on inputs of these dtypes."""

    def rule(lowering: JaxLowering, equation: Any, values: Sequence[Value]) -> list[Value] | None:
        if any(v.dtype not in dtypes for v in values):
            return None
        return [lowering.op(equation, op, *values)]

    return rule


def _logical(op: str, bits: str) -> Rule:
    def rule(lowering: JaxLowering, equation: Any, values: Sequence[Value]) -> list[Value] | None:
        if values[0].dtype == "bool":
            return [lowering.op(equation, op, *values)]
        return [lowering.op(equation, bits, *values)] if values[0].dtype in INTEGER else None

    return rule


def _integer_pow(lowering: JaxLowering, equation: Any, values: Sequence[Value]) -> list[Value] | None:
    """An integer power by squaring, in the order of JAX's own lowering; a negative power is one over the
    positive one.
    """
    x, y = values[0], int(equation.params["y"])
    if x.dtype not in REAL or y == 0 or abs(y) > 64 or (y < 0 and x.dtype not in FLOAT):
        return None
    left = abs(y)
    factors: list[Value] = []
    while left:
        if left & 1:
            factors.append(x if not factors else lowering.op(equation, "multiply", factors[-1], x))
        left >>= 1
        if left:
            x = lowering.op(equation, "multiply", x, x)
    if y > 0:
        return [factors[-1]]
    one = lowering.builder.constant(np.asarray(1, numpy_dtype(values[0].dtype)))
    return [lowering.op(equation, "divide", one, factors[-1])]


def _select(lowering: JaxLowering, equation: Any, values: Sequence[Value]) -> list[Value] | None:
    """A select by a bool, which comes first and chooses the second case where it is true."""
    if values[0].dtype != "bool" or len(values) != 3 or values[1].dtype not in PLAIN:
        return None
    return [lowering.op(equation, "where", values[0], values[2], values[1])]


def _clamp(lowering: JaxLowering, equation: Any, values: Sequence[Value]) -> list[Value] | None:
    low, x, high = values
    if x.dtype not in REAL:
        return None
    return [lowering.op(equation, "minimum", lowering.op(equation, "maximum", x, low), high)]


def _convert(lowering: JaxLowering, equation: Any, values: Sequence[Value]) -> list[Value] | None:
    """Conversions in which every value has one nearest result; floats to integers saturate in JAX and are left
    to it.
    """
    x, wanted = values[0], np.dtype(equation.params["new_dtype"]).name
    if x.dtype not in PLAIN or wanted not in PLAIN:
        return None
    if x.dtype == wanted:
        return [x]
    if x.dtype in FLOAT and wanted in INTEGER:
        return None
    made = lowering.op(equation, "cast", x, dtype=wanted)
    if x.dtype == "bool" and x.shape == ():
        lowering.flags[made.ref] = x
    return [made]


def _round(lowering: JaxLowering, equation: Any, values: Sequence[Value]) -> list[Value] | None:
    """Rounding of halves to even; rounding away from zero, the default of ``lax.round``, is left to JAX."""
    if values[0].dtype not in FLOAT or equation.params["rounding_method"].name != "TO_NEAREST_EVEN":
        return None
    return [lowering.op(equation, "round", values[0])]


ELEMENTWISE: dict[str, Rule] = {
    "add": _same("add", REAL),
    "add_any": _same("add", REAL),
    "sub": _same("subtract", REAL),
    "mul": _same("multiply", REAL),
    "max": _same("maximum", REAL),
    "min": _same("minimum", REAL),
    "neg": _same("negative", REAL),
    "abs": _same("abs", REAL),
    "square": _same("square", REAL),
    "sqrt": _same("sqrt", FLOAT),
    "floor": _same("floor", FLOAT),
    "ceil": _same("ceil", FLOAT),
    "is_finite": _same("isfinite", FLOAT),
    "round": _round,
    "eq": _same("equal", PLAIN),
    "ne": _same("not_equal", PLAIN),
    "lt": _same("less", PLAIN),
    "le": _same("less_equal", PLAIN),
    "gt": _same("greater", PLAIN),
    "ge": _same("greater_equal", PLAIN),
    "and": _logical("logical_and", "bitwise_and"),
    "or": _logical("logical_or", "bitwise_or"),
    "xor": _logical("logical_xor", "bitwise_xor"),
    "not": _logical("logical_not", "invert"),
    "integer_pow": _integer_pow,
    "select_n": _select,
    "clamp": _clamp,
    "convert_element_type": _convert,
}
