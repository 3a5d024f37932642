"""``lax.while_loop`` -> a frame.

Source: https://docs.jax.dev/en/latest/_autosummary/jax.lax.while_loop.html.

Under ``vmap`` the condition is one bool for each of the loops side by side: they go on while one of them does, and
those that have ended keep their values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.frontends.jax.library import opened
from workbench.frontends.jax.names import distinct, variable_names
from workbench.ir.builder.value import Value

if TYPE_CHECKING:
    from workbench.frontends.jax.lower import JaxLowering


def lower_while(lowering: JaxLowering, equation: Any, values: Sequence[Value]) -> list[Value]:
    """The operands are the constants of the condition, those of the body, and the start values."""
    params, b = equation.params, lowering.builder
    tests, extra = params["cond_nconsts"], params["body_nconsts"]
    test_consts, body_consts, start = values[:tests], values[tests : tests + extra], values[tests + extra :]
    body, test = params["body_jaxpr"], params["cond_jaxpr"]
    names = variable_names(opened(body)[0], extra, len(start), (opened(test)[0], tests))
    count = len(start)
    if equation.effects or not count:  # one more variable: effects happened, or a condition that never changes
        names = distinct([*names, "effects" if equation.effects else "unchanged"])
        start = [*start, b.constant(np.asarray(True))]
    batched = bool(opened(test)[0].outvars[0].aval.shape)

    def tested(now: dict[str, Value]) -> Value:
        return lowering.after_effects(lowering.closed(test, [*test_consts, *_of(now, names[:count])], "cond"))[0]

    def condition(**now: Value) -> Value:
        go_on = tested(now)
        return go_on if go_on.shape == () else b.op("any", go_on, axis=None, name=lowering.label(None, "any"))

    def step(**now: Value) -> dict[str, Value]:
        old = _of(now, names)
        made = lowering.closed(body, [*body_consts, *old[:count]], "body")
        if len(names) > count:
            made.append(lowering.mark() if equation.effects else old[-1])
        go_on = tested(now) if batched else None
        if go_on is not None:
            made = [_kept_where(lowering, go_on, new, before) for new, before in zip(made, old, strict=True)]
        return dict(zip(names, made, strict=True))

    init = dict(zip(names, start, strict=True))
    final = b.while_loop(condition, step, init, name=lowering.label(equation, "while"))
    if equation.effects:
        lowering.wait_for(final[names[-1]].ref.node)
    return [final[n] for n in names[:count]]


def _kept_where(lowering: JaxLowering, go_on: Value, new: Value, before: Value) -> Value:
    """Of loops that run side by side, those that have ended keep their values."""
    if new.ref == before.ref:
        return before
    b, rank = lowering.builder, len(new.shape or ())
    if rank > len(go_on.shape or ()):
        go_on = b.op("reshape", go_on, shape=(*(go_on.shape or ()), *(1,) * (rank - len(go_on.shape or ()))))
    kept: Value = b.op("where", go_on, new, before, name=lowering.label(None, "kept"))
    return kept


def _of(variables: dict[str, Value], names: Sequence[str]) -> list[Value]:
    return [variables[n] for n in names]
