"""Outputs of nodes that are outputs of the graph: a node with several of them shows each value under its name."""

from __future__ import annotations

from workbench.ir.graph import Graph

#: between the names, and the values, of two outputs of one node
BETWEEN = " \u00b7 "


def output_marks(graph: Graph) -> dict[str, dict[int, list[str]]]:
    """Node -> indices of its outputs that are outputs of the graph, each with their names."""
    marks: dict[str, dict[int, list[str]]] = {}
    for name, ref in graph.outputs.items():
        marks.setdefault(ref.node, {}).setdefault(ref.index, []).append(name)
    return {node: dict(sorted(mine.items())) for node, mine in marks.items()}
