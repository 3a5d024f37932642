"""``lax.cond`` and ``lax.switch`` -> branches. Source: https://docs.jax.dev/en/latest/_autosummary/jax.lax.switch.html.

The first operand is the index of the branch, which is clamped into range. Two branches become one cond; more are halved
repeatedly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.ir.builder.value import Value

if TYPE_CHECKING:
    from workbench.frontends.jax.lower import JaxLowering


def lower_branch(lowering: JaxLowering, equation: Any, values: Sequence[Value]) -> list[Value]:
    index, given = values[0], list(values[1:])
    branches = list(equation.params["branches"])
    label = lowering.label(equation, "cond" if len(branches) <= 2 else "switch")
    effects = bool(equation.effects)
    made = _chosen(lowering, index, branches, 0, given, label, effects)
    if effects:
        lowering.wait_for(made.pop().ref.node)
    return made


def _chosen(
    lowering: JaxLowering,
    index: Value,
    branches: Sequence[Any],
    first: int,
    given: list[Value],
    label: str,
    effects: bool,
) -> list[Value]:
    """The results of ``branches``, the first of which has the index ``first``; with ``effects`` one more result, which
    fires after the effects.
    """
    if len(branches) == 1:
        made = lowering.closed(branches[0], given, first)
        return [*made, lowering.mark()] if effects else made
    b, half = lowering.builder, len(branches) // 2
    later = _is_at_least(lowering, index, first + half)
    sides = [
        lambda part=part, at=at: tuple(_chosen(lowering, index, part, at, given, f"{label}_{at}", effects))
        for part, at in ((branches[half:], first + half), (branches[:half], first))
    ]
    return list(b.cond(later, sides[0], sides[1], name=label))


def _is_at_least(lowering: JaxLowering, index: Value, number: int) -> Value:
    """``index >= number``; the bool itself if the index was converted from a bool."""
    flag = lowering.flags.get(index.ref)
    if flag is not None and number == 1:
        return flag
    if index.dtype == "bool":
        return index
    b = lowering.builder
    reached: Value = b.op("greater_equal", index, b.constant(np.asarray(number, index.dtype)))
    return reached
