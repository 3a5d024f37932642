"""``while``, ``if`` and ``case`` -> frames and branches.

Source: https://openxla.org/stablehlo/spec#while, #if and #case.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.frontends.jax.names import distinct
from workbench.frontends.stablehlo.places import names_of
from workbench.ir.builder.value import Value

if TYPE_CHECKING:
    from workbench.frontends.stablehlo.lower import StableLowering


def lower_while(lowering: StableLowering, operation: Any, values: Sequence[Value]) -> list[Value]:
    """The operands are the start values; both regions may also use any value defined outside the loop."""
    test, body = (region.blocks[0] for region in operation.regions)
    names = distinct(names_of(body.arguments, "v"))
    start, count = list(values), len(values)
    b = lowering.builder
    if not count:  # a condition that never changes
        names, start = ["unchanged"], [b.constant(np.asarray(True))]

    def condition(**now: Value) -> Value:
        return lowering.block(test, [now[n] for n in names[:count]])[0]

    def step(**now: Value) -> dict[str, Value]:
        old = [now[n] for n in names]
        made = lowering.block(body, old[:count])
        return dict(zip(names, made if count else old, strict=True))

    init = dict(zip(names, start, strict=True))
    final = b.while_loop(condition, step, init, name=lowering.label("while"))
    return [final[n] for n in names[:count]]


def lower_if(lowering: StableLowering, operation: Any, values: Sequence[Value]) -> list[Value]:
    if not len(operation.results):
        return []
    on_true, on_false = (region.blocks[0] for region in operation.regions)
    return list(
        lowering.builder.cond(
            values[0],
            lambda: tuple(lowering.block(on_true, [])),
            lambda: tuple(lowering.block(on_false, [])),
            name=lowering.label("if"),
        )
    )


def lower_case(lowering: StableLowering, operation: Any, values: Sequence[Value]) -> list[Value]:
    """An index out of range, also a negative one, selects the last branch. Two branches become one cond; more are
    halved repeatedly.
    """
    if not len(operation.results):
        return []
    b, index = lowering.builder, values[0]
    blocks = [region.blocks[0] for region in operation.regions]
    last = len(blocks) - 1
    label = lowering.label("case")
    flag = lowering.flags.get(index.ref)
    if flag is not None and last == 1:  # the bool that JAX converts to an index for its cond
        sides = [lambda block=block: tuple(lowering.block(block, [])) for block in blocks]
        return list(b.cond(flag, sides[1], sides[0], name=label))
    if last:
        number = b.constant(np.asarray(last, index.dtype))
        zero = b.constant(np.asarray(0, index.dtype))
        inside = b.op("logical_and", b.op("greater_equal", index, zero), b.op("less_equal", index, number))
        index = b.op("where", inside, index, number, name=f"{label}/index")

    def chosen(first: int, part: Sequence[Any], name: str) -> list[Value]:
        if len(part) == 1:
            return lowering.block(part[0], [])
        half = len(part) // 2
        later = b.op("greater_equal", index, b.constant(np.asarray(first + half, index.dtype)))
        upper, lower = (
            lambda part=part, at=at: tuple(chosen(at, part, f"{name}_{at}"))
            for part, at in ((part[half:], first + half), (part[:half], first))
        )
        return list(b.cond(later, upper, lower, name=name))

    return chosen(0, blocks, label)


CONTROL = {"stablehlo.while": lower_while, "stablehlo.if": lower_if, "stablehlo.case": lower_case}
