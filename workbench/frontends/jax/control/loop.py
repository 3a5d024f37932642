"""``lax.while_loop`` -> a frame.

Source: https://docs.jax.dev/en/latest/_autosummary/jax.lax.while_loop.html.

The upper bound that ``lax.fori_loop`` carries is not a loop variable here, because it never changes.

Under ``vmap`` the condition has one bool for each of the batched loops: the loop continues while any of them does, and
those that have ended keep their values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.frontends.jax.library import function_place, opened
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
    bound = _upper_bound(opened(test)[0], opened(body)[0], extra)
    fixed = {} if bound is None else {bound: start[bound]}
    carried = [k for k in range(len(start)) if k not in fixed]
    first = {names[k]: start[k] for k in carried}
    happened = None
    if equation.effects or not carried:  # an extra variable, for effects or for a loop without variables
        happened = distinct([*names, "effects" if equation.effects else "unchanged"])[-1]
        first[happened] = b.constant(np.asarray(True))
    batched = bool(opened(test)[0].outvars[0].aval.shape)

    def state(now: dict[str, Value]) -> list[Value]:
        return [fixed[k] if k in fixed else now[name] for k, name in enumerate(names)]

    def tested(now: dict[str, Value]) -> Value:
        return lowering.after_effects(lowering.closed(test, [*test_consts, *state(now)], "cond"))[0]

    def condition(**now: Value) -> Value:
        go_on = tested(now)
        return go_on if go_on.shape == () else b.op("any", go_on, axis=None, name=lowering.label(None, "any"))

    def step(**now: Value) -> dict[str, Value]:
        results = lowering.closed(body, [*body_consts, *state(now)], "body")
        made = {names[k]: results[k] for k in carried}
        if happened is not None:
            made[happened] = lowering.mark() if equation.effects else now[happened]
        go_on = tested(now) if batched else None
        if go_on is not None:
            made = {name: _kept_where(lowering, go_on, new, now[name]) for name, new in made.items()}
        return made

    final = b.while_loop(condition, step, first, name=lowering.label(equation, "while"))
    if happened is not None and equation.effects:
        lowering.wait_for(final[happened].ref.node)
    return state(final)


def _upper_bound(test: Any, body: Any, first: int) -> int | None:
    """The position of the bound that a ``fori_loop`` carries; None for other loops."""
    if not function_place(test).startswith("_fori_cond_fun ") or len(body.outvars) < 2:
        return None
    return 1 if body.outvars[1] is body.invars[first + 1] else None


def _kept_where(lowering: JaxLowering, go_on: Value, new: Value, before: Value) -> Value:
    """``new`` for batched loops that continue; those that have ended keep ``before``."""
    if new.ref == before.ref:
        return before
    b, rank = lowering.builder, len(new.shape or ())
    if rank > len(go_on.shape or ()):
        go_on = b.op("reshape", go_on, shape=(*(go_on.shape or ()), *(1,) * (rank - len(go_on.shape or ()))))
    kept: Value = b.op("where", go_on, new, before, name=lowering.label(None, "kept"))
    return kept
