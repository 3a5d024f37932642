"""``lax.scan`` -> a frame with a counter. Source: https://docs.jax.dev/en/latest/_autosummary/jax.lax.scan.html.

In iteration k the body gets element k of each scanned array (counted from the end with ``reverse``); its stacked
results are collected in lists, which become arrays after the loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.frontends.jax.library import argument_names, counts_of_scan, opened
from workbench.frontends.jax.names import distinct, stacked_names, variable_names
from workbench.frontends.jax.types import type_of
from workbench.ir.builder.value import Value

if TYPE_CHECKING:
    from workbench.frontends.jax.lower import JaxLowering


def lower_scan(lowering: JaxLowering, equation: Any, values: Sequence[Value]) -> list[Value]:
    params, b = equation.params, lowering.builder
    length, backward = int(params["length"]), bool(params["reverse"])
    n_consts, n_carry = counts_of_scan(params)
    consts, start, scanned = values[:n_consts], values[n_consts : n_consts + n_carry], values[n_consts + n_carry :]
    body = params["jaxpr"]
    jaxpr, _ = opened(body)
    carried = variable_names(jaxpr, n_consts, n_carry)
    stacked = [type_of(v.aval) for v in jaxpr.outvars[n_carry:]]
    labels = argument_names(jaxpr)[n_consts + n_carry :]
    names = distinct([*carried, *stacked_names(jaxpr, len(stacked))])
    counter = distinct([*names, "iteration" if "i" in names else "i"])[-1]
    variables, lists = names[:n_carry], names[n_carry:]
    happened = distinct([counter, *names, "effects"])[-1]

    def condition(**now: Value) -> Value:
        less: Value = b.op("less", now[counter], b.constant(np.int32(length)), name=lowering.label(None, "go_on"))
        return less

    def step(**now: Value) -> dict[str, Value]:
        at = now[counter]
        if backward:
            at = b.op("subtract", b.constant(np.int32(length - 1)), at, name=lowering.label(None, "index"))
        parts = [
            b.op("gather", x, at, axis=0, name=lowering.label(None, label or "element"))
            for x, label in zip(scanned, labels, strict=True)
        ]
        made = lowering.closed(body, [*consts, *(now[n] for n in variables), *parts], "body")
        following = b.op("add", now[counter], b.constant(np.int32(1)), name=lowering.label(None, "next"))
        grown = [b.op("list_append", now[n], v) for n, v in zip(lists, made[n_carry:], strict=True)]
        after = {happened: lowering.mark()} if equation.effects else {}
        return {counter: following, **dict(zip(names, [*made[:n_carry], *grown], strict=True)), **after}

    begin = dict(zip(names, [*start, *(b.op("list_new") for _ in stacked)], strict=True))
    init = {counter: b.constant(np.int32(0)), **begin}
    if equation.effects:
        init[happened] = b.constant(np.asarray(True))
    final = b.while_loop(condition, step, init, name=lowering.label(equation, "scan"))
    if equation.effects:
        lowering.wait_for(final[happened].ref.node)
    joined = [_joined(lowering, final[n], t, length, backward) for n, t in zip(lists, stacked, strict=True)]
    return [*(final[n] for n in variables), *joined]


def _joined(lowering: JaxLowering, elements: Value, type_: Any, length: int, backward: bool) -> Value:
    b = lowering.builder
    whole = b.op("list_stack", elements, dtype=type_.dtype, shape=type_.shape, axis=0, backward=backward)
    shaped: Value = b.op("reshape", whole, shape=(length, *type_.shape))
    return shaped
