"""Division, remainders, shifts and signs.

XLA truncates integer quotients toward zero. The quotient of a division by 0 has all bits set (-1) and the remainder is
the dividend; a Select substitutes these unless the divisor is a constant. A shift has a rule only if the count is a
constant below the number of bits. An array divided by a scalar has none: XLA multiplies it by the reciprocal of the
scalar, which rounds twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.frontends.jax.rules.kinds import FLOAT, INTEGER, known
from workbench.ir.builder.value import Value
from workbench.ir.types import numpy_dtype

if TYPE_CHECKING:
    from workbench.frontends.jax.lower import JaxLowering

Rule = Callable[["JaxLowering", Any, Sequence[Value]], "list[Value] | None"]


def _divided(on_floats: str, on_integers: str) -> Rule:
    def rule(lowering: JaxLowering, equation: Any, values: Sequence[Value]) -> list[Value] | None:
        x, y = values
        if x.dtype in FLOAT and x.shape == y.shape:
            return [lowering.op(equation, on_floats, x, y)]
        if x.dtype not in INTEGER:
            return None
        made, divisor = lowering.op(equation, on_integers, x, y), known(lowering, y)
        if divisor is not None and np.all(divisor != 0):
            return [made]
        none = np.zeros((), numpy_dtype(x.dtype))
        zero = lowering.op(equation, "equal", y, lowering.builder.constant(none))
        instead = x if on_integers == "fmod" else lowering.builder.constant(np.asarray(~none))
        return [lowering.op(equation, "where", zero, instead, made)]

    return rule


def _shift(op: str, signed: bool | None) -> Rule:
    """A rule for a shift; our op is valid for signed or for unsigned integers, or with ``signed`` None for both."""

    def rule(lowering: JaxLowering, equation: Any, values: Sequence[Value]) -> list[Value] | None:
        x, count = values[0], known(lowering, values[1])
        if x.dtype not in INTEGER or count is None or (signed is not None and x.dtype.startswith("int") != signed):
            return None
        if np.any(count < 0) or np.any(count >= np.iinfo(x.dtype).bits):
            return None
        return [lowering.op(equation, op, *values)]

    return rule


def _sign(lowering: JaxLowering, equation: Any, values: Sequence[Value]) -> list[Value] | None:
    """The sign of integers; for a float -0 JAX keeps the sign and NumPy does not."""
    return [lowering.op(equation, "sign", *values)] if values[0].dtype in INTEGER else None


INTEGERS: dict[str, Rule] = {
    "div": _divided("divide", "truncate_divide"),
    "rem": _divided("fmod", "fmod"),
    "sign": _sign,
    "shift_left": _shift("left_shift", None),
    "shift_right_arithmetic": _shift("right_shift", True),
    "shift_right_logical": _shift("right_shift", False),
}
