"""Steps from box to box: along an edge with the flow or against it, or to the neighbour in the same row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.ir.graph import Graph
from workbench.ir.node import Ref

#: arrow keys as moves, by the direction of the picture
MOVES = {
    "down": {"ArrowDown": "with", "ArrowUp": "against", "ArrowLeft": "before", "ArrowRight": "after"},
    "right": {"ArrowRight": "with", "ArrowLeft": "against", "ArrowUp": "before", "ArrowDown": "after"},
}
MAX_NEIGHBOURS = 40


def step(picture: Mapping[str, Any], box: str | None, move: str) -> str | None:
    """Id of the box to which a move leads, or None; without a box the first one."""
    boxes = {b["id"]: b for b in picture["nodes"]}
    if box not in boxes:
        return next(iter(boxes), None)
    at = boxes[box]
    along, across = ("x", "y") if picture["direction"] == "right" else ("y", "x")
    if move in ("with", "against"):
        ends = ("source", "target") if move == "with" else ("target", "source")
        edges = [e for e in picture["edges"] if e[ends[0]] == box and e[ends[1]] in boxes]
        # data edges before those that lead back or only order nodes; then the nearest
        rank = {"data": 0, "control": 1, "back": 2}
        edges.sort(key=lambda e: (rank[e["kind"]], abs(boxes[e[ends[1]]][across] - at[across])))
        return edges[0][ends[1]] if edges else None
    sign = -1.0 if move == "before" else 1.0
    size = "w" if along == "x" else "h"
    row = [
        (sign * (b[across] - at[across]), key)
        for key, b in boxes.items()
        if sign * (b[across] - at[across]) > 1.0 and abs(b[along] - at[along]) <= (b[size] + at[size]) / 2
    ]
    return min(row)[1] if row else None


def producers(graph: Graph, node: str) -> list[str]:
    """The nodes that a node reads or waits for, in the order of its inputs; at most 40."""
    found = graph.nodes[node]
    return list(dict.fromkeys([*(r.node for r in found.inputs), *found.control]))[:MAX_NEIGHBOURS]


def consumers(graph: Graph, node: str) -> list[str]:
    """The nodes that read a node or wait for it; at most 40."""
    return list(graph.consumers(node))[:MAX_NEIGHBOURS]


def node_of(graph: Graph, name: str | None) -> str | None:
    """The node of a selected name, which may be that of a value."""
    if name is None:
        return None
    if name in graph.nodes:
        return name
    for table in (graph.names, graph.inputs, graph.outputs):
        if name in table:
            return table[name].node
    ref = Ref.parse(name) if name else Ref("", 0)
    return ref.node if ref.node in graph.nodes else None
