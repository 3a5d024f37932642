"""``cond`` -> a branch. Source: https://docs.pytorch.org/docs/stable/cond.html."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbench.frontends.pytorch.reading.program import SubGraph

if TYPE_CHECKING:
    from workbench.frontends.pytorch.lower import TorchLowering


def lower_cond(
    lowering: TorchLowering, pred: Any, on_true: SubGraph, on_false: SubGraph, operands: Sequence[Any] = ()
) -> list[Any]:
    given = [lowering.tensor(o) for o in operands]
    if type(pred) is bool:
        return list(lowering.body(on_true if pred else on_false, given))
    decision = lowering.cast(lowering.tensor(pred), "bool")
    if decision.shape != ():
        decision = lowering.part("reshape", decision, shape=())
    wanted = [m.type.dtype for m in lowering.metas]

    def side(graph: SubGraph) -> tuple[Any, ...]:
        made = lowering.body(graph, given)
        return tuple(lowering.cast(v, t) for v, t in zip(made, wanted, strict=True))

    found = lowering.builder.cond(decision, lambda: side(on_true), lambda: side(on_false), name=lowering.label)
    return list(found)
