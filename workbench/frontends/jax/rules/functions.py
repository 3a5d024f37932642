"""Exponentials, logarithms, trigonometric functions and powers.

Some give the bits of JAX: XLA takes them from the C library, as NumPy does, or composes them of operations that are
rounded once. In a graph made with ``rounded=True``, others are computed in float64 and rounded once to the dtype of the
input, which is within one unit in the last place of JAX. XLA's own polynomials for tanh, expm1, log1p, logistic and
others in float32, and for exp in float64, are less accurate and are always left to JAX.

XLA's exp of float32 loses its last digits if the result is close to the largest finite number. A branch leaves these
inputs to JAX.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.frontends.jax.rules.kinds import DOUBLE, FLOAT, NARROW
from workbench.ir.builder.value import Value

if TYPE_CHECKING:
    from workbench.frontends.jax.lower import JaxLowering

Rule = Callable[["JaxLowering", Any, Sequence[Value]], "list[Value] | None"]
#: dtypes for which functions may be computed in float64 and rounded
SINGLE = NARROW | {"float32"}
#: from this input on, XLA's exp of float32 is off by up to 6 units in the last place
LARGE = np.float32(88.37)


def _in_c_library() -> bool:
    """True if NumPy takes sines, logarithms and the like from the C library, as XLA does. On processors with AVX-512
    NumPy has its own (in its folder svml), with different last bits.
    """
    found = np.show_config(mode="dicts").get("SIMD Extensions", {})
    return not any(name.startswith(("AVX512", "X86_V4")) for name in found.get("found", ()))


def _function(op: str, exact: frozenset[str], rounded: frozenset[str] = SINGLE) -> Rule:
    """A rule for one workbench op: for dtypes in ``exact`` with the bits of the C library and of XLA; on other
    processors, and for dtypes in ``rounded`` if the graph allows it, in float64.
    """

    def rule(lowering: JaxLowering, equation: Any, values: Sequence[Value]) -> list[Value] | None:
        dtype = values[0].dtype
        if any(v.dtype != dtype for v in values):
            return None
        if dtype in exact and IN_C_LIBRARY:
            return [lowering.op(equation, op, *values)]
        return [_rounded(lowering, equation, op, values)] if lowering.rounded and dtype in rounded else None

    return rule


def _rounded(lowering: JaxLowering, equation: Any, op: str, values: Sequence[Value]) -> Value:
    """The function in float64, rounded once, in a separate region."""
    with lowering.region(equation.primitive.name):
        wide = [lowering.op(equation, "cast", v, dtype="float64") for v in values]
        return lowering.op(equation, "cast", lowering.op(equation, op, *wide), dtype=values[0].dtype)


def _exp(lowering: JaxLowering, equation: Any, values: Sequence[Value]) -> list[Value] | None:
    (x,) = values
    if not lowering.rounded or x.dtype not in SINGLE:
        return None
    if x.dtype != "float32":
        return [_rounded(lowering, equation, "exp", values)]
    b = lowering.builder
    with lowering.region("exp"):
        large: Value = b.op("greater", x, b.constant(LARGE), name=lowering.label(equation, "large"))
        if x.shape != ():
            large = b.op("any", large, axis=None, name=lowering.label(equation, "any_large"))
        sides = (
            lambda: tuple(lowering.by_jax(equation, values)),
            lambda: (_rounded(lowering, equation, "exp", values),),
        )
        return list(b.cond(large, *sides, name=lowering.label(equation, "exp")))


def _reciprocal_root(lowering: JaxLowering, equation: Any, values: Sequence[Value]) -> list[Value] | None:
    (x,) = values
    if x.dtype not in DOUBLE or not IN_C_LIBRARY:  # with AVX-512 XLA starts from the processor's estimate of the root
        return None
    one = lowering.builder.constant(np.float64(1))
    return [lowering.op(equation, "divide", one, lowering.op(equation, "sqrt", x))]


IN_C_LIBRARY = _in_c_library()
FUNCTIONS: dict[str, Rule] = {
    "cbrt": _function("cbrt", FLOAT),
    "tan": _function("tan", FLOAT),
    "pow": _function("power", FLOAT),
    "sin": _function("sin", DOUBLE),
    "cos": _function("cos", DOUBLE),
    "log": _function("log", DOUBLE),
    "exp": _exp,
    "rsqrt": _reciprocal_root,
    **{
        name: _function(name, frozenset(), NARROW)
        for name in ("log1p", "tanh", "acos", "sinh", "cosh", "asinh", "atanh")
    },
}
