"""The nodes that the required outputs need; a plan omits all others.

A run for all outputs of a graph also keeps the nodes that may raise in Python: those computed with Python's checks, and
those that a frontend marks with ``_raises``. Their errors must not depend on whether the result is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from workbench.ir.graph import Graph
from workbench.ir.node import Ref


def required_nodes(
    graph: Graph, outputs: Iterable[Ref], waits_for: Callable[[str], bool] = lambda source: True
) -> frozenset[str]:
    """Backward closure over data and control edges, including back edges of loops.

    Control edges from nodes for which ``waits_for`` is False are not followed.
    """
    stack = [ref.node for ref in outputs]
    seen: set[str] = set()
    reads, nodes = graph.reads, graph.nodes
    while stack:
        name = stack.pop()
        if name in seen:
            continue
        seen.add(name)
        stack += reads[name]
        if control := nodes[name].control:
            stack.extend(filter(waits_for, control))
    return frozenset(seen)


def may_raise(graph: Graph) -> list[Ref]:
    """The values whose nodes are kept for the errors that they may raise."""
    return [n.ref() for n in graph.nodes.values() if n.attrs.get("checked") or n.attrs.get("_raises")]
