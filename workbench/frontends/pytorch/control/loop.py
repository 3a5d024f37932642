"""``while_loop`` -> a frame.

Source: https://docs.pytorch.org/docs/stable/higher_order_ops/while_loop.html. PyTorch does not keep the names of loop
variables; here they are named after their start values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbench.frontends.pytorch.numbers import Number
from workbench.frontends.pytorch.reading.program import SubGraph
from workbench.frontends.pytorch.tensors import Tensor
from workbench.ir.builder.value import Value

if TYPE_CHECKING:
    from workbench.frontends.pytorch.lower import TorchLowering


def lower_while(
    lowering: TorchLowering, cond: SubGraph, body: SubGraph, carried: list[Any], additional: Sequence[Any] = ()
) -> list[Any]:
    b = lowering.builder
    given = [lowering.tensor(a) for a in additional]
    names = variable_names(lowering, carried)
    start = {n: lowering.tensor(c) for n, c in zip(names, carried, strict=True)}

    def test(**now: Value) -> Value:
        return lowering.body(cond, [*(now[n] for n in names), *given])[0]

    def step(**now: Value) -> dict[str, Value]:
        made = lowering.body(body, [*(now[n] for n in names), *given])
        return {n: lowering.cast(v, now[n].dtype) for n, v in zip(names, made, strict=True)}

    final = b.while_loop(test, step, start, name=lowering.label)
    return [Number(final[n]) if isinstance(c, Number) else final[n] for n, c in zip(names, carried, strict=True)]


def lower_stacking_while(
    lowering: TorchLowering, cond: SubGraph, body: SubGraph, carried: list[Any], additional: Sequence[Any] = ()
) -> list[Any]:
    """``while_loop_stack_output`` returns the variables after each iteration, stacked; without iterations the start
    values.
    """
    b = lowering.builder
    given = [lowering.tensor(a) for a in additional]
    names = variable_names(lowering, carried)
    values = {n: lowering.tensor(c) for n, c in zip(names, carried, strict=True)}
    lists = {n: f"{n}_stacked" if f"{n}_stacked" not in names else f"{n}__stacked" for n in names}

    def test(**now: Value) -> Value:
        return lowering.body(cond, [*(now[n] for n in names), *given])[0]

    def step(**now: Value) -> dict[str, Value]:
        made = lowering.body(body, [*(now[n] for n in names), *given])
        new = {n: lowering.cast(v, now[n].dtype) for n, v in zip(names, made, strict=True)}
        return new | {lists[n]: b.op("list_append", now[lists[n]], v) for n, v in new.items()}

    final = b.while_loop(test, step, values | {k: b.op("list_new") for k in lists.values()}, name=lowering.label)
    found = []
    for name, value in values.items():
        shape = tuple(-1 if d is None else d for d in value.shape or ())
        rows = lowering.part("list_stack", final[lists[name]], dtype=value.dtype, shape=shape, axis=0)
        both = lowering.part("concat", lowering.part("expand_dims", value, axis=0), rows, axis=0)
        count = lowering.part("getitem", lowering.part("shape", rows), index=(("int", 0),))
        first = lowering.part("minimum", count, lowering.number(1, count.dtype))
        found.append(lowering.op("getitem", both, first, index=(("slice", ("input", 0), None, None),)))
    return found


def variable_names(lowering: TorchLowering, values: Sequence[Any], other: str = "v") -> list[str]:
    """Unique names for loop variables."""
    found: list[str] = []
    for k, value in enumerate(values):
        name = (lowering.name_of(value) if isinstance(value, Tensor) else None) or f"{other}{k}"
        name = name if name.isidentifier() else f"{other}{k}"
        number, candidate = 1, name
        while candidate in found:
            number, candidate = number + 1, f"{name}_{number + 1}"
        found.append(candidate)
    return found
