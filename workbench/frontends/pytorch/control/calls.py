"""Calls of graphs: each becomes a region with the nodes of the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.frontends.pytorch.reading.archive import refused
from workbench.frontends.pytorch.reading.program import SubGraph

if TYPE_CHECKING:
    from workbench.frontends.pytorch.lower import TorchLowering


def lower_call(lowering: TorchLowering, graph: SubGraph, identifier: Any, *operands: Any) -> list[Any]:
    """``invoke_subgraph``: a part of the program that is stored once and called several times."""
    with lowering.region(lowering.label):
        return list(lowering.body(graph, [lowering.tensor(o) for o in operands]))


def lower_with_grad(lowering: TorchLowering, enabled: Any, graph: Any, *operands: Any) -> list[Any]:
    """``with torch.no_grad():``, which does not change values. The part may write to its arguments."""
    if not isinstance(graph, SubGraph):
        raise refused(f"{lowering.call.name!r} calls no graph")
    return lowering.graph(graph, operands)
