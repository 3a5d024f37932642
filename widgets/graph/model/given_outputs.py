"""The outputs of nodes that a graph gives: a node with several of them has each value under its own name."""

from __future__ import annotations

from workbench.ir.graph import Graph

#: between the names, and the values, of two outputs of one node
BETWEEN = " \u00b7 "


def output_marks(graph: Graph) -> dict[str, dict[int, list[str]]]:
    """Node -> the indices of its outputs that the graph gives, each with the names of what it gives."""
    marks: dict[str, dict[int, list[str]]] = {}
    for name, ref in graph.outputs.items():
        marks.setdefault(ref.node, {}).setdefault(ref.index, []).append(name)
    return {node: dict(sorted(mine.items())) for node, mine in marks.items()}
