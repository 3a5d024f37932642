"""Which nodes the required outputs need: everything else is left out of a plan."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.graph.graph import Graph
from workbench.graph.node import Ref


def required_nodes(graph: Graph, outputs: Iterable[Ref]) -> frozenset[str]:
    """Backward closure over data and control edges, back edges of loops included."""
    stack = [ref.node for ref in outputs]
    seen: set[str] = set()
    while stack:
        name = stack.pop()
        if name in seen:
            continue
        seen.add(name)
        node = graph.nodes[name]
        stack.extend(r.node for r in node.inputs)
        stack.extend(node.control)
    return frozenset(seen)
