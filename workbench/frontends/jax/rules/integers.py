"""Division, remainders, shifts and signs.

XLA divides integers towards zero, and where the divisor is 0 or the quotient too large it gives a value where other
machines fail; so these have a rule only where the divisor or the count is a constant for which that cannot happen.
An array divided by a single number has none either: XLA multiplies it with the number's reciprocal, which rounds twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.frontends.jax.rules.kinds import FLOAT, INTEGER, known
from workbench.ir.builder.value import Value

if TYPE_CHECKING:
    from workbench.frontends.jax.lower import JaxLowering

Rule = Callable[["JaxLowering", Any, Sequence[Value]], "list[Value] | None"]


def _divided(on_floats: str, on_integers: str) -> Rule:
    def rule(lowering: JaxLowering, equation: Any, values: Sequence[Value]) -> list[Value] | None:
        if values[0].dtype in FLOAT and values[0].shape == values[1].shape:
            return [lowering.op(equation, on_floats, *values)]
        divisor = known(lowering, values[1])
        if values[0].dtype not in INTEGER or divisor is None or np.any(divisor == 0):
            return None
        if values[0].dtype.startswith("int") and np.any(divisor == -1):
            return None
        return [lowering.op(equation, on_integers, *values)]

    return rule


def _shift(op: str, signed: bool | None) -> Rule:
    """``signed`` says for which integers our shift is the one that is meant; None for both."""

    def rule(lowering: JaxLowering, equation: Any, values: Sequence[Value]) -> list[Value] | None:
        x, count = values[0], known(lowering, values[1])
        if x.dtype not in INTEGER or count is None or (signed is not None and x.dtype.startswith("int") != signed):
            return None
        if np.any(count < 0) or np.any(count >= np.iinfo(x.dtype).bits):
            return None
        return [lowering.op(equation, op, *values)]

    return rule


def _sign(lowering: JaxLowering, equation: Any, values: Sequence[Value]) -> list[Value] | None:
    """Of a float -0 JAX keeps the sign, NumPy does not."""
    return [lowering.op(equation, "sign", *values)] if values[0].dtype in INTEGER else None


INTEGERS: dict[str, Rule] = {
    "div": _divided("divide", "truncate_divide"),
    "rem": _divided("fmod", "fmod"),
    "sign": _sign,
    "shift_left": _shift("left_shift", None),
    "shift_right_arithmetic": _shift("right_shift", True),
    "shift_right_logical": _shift("right_shift", False),
}
