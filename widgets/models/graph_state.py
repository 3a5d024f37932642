"""What moves in the picture of a graph: current node, branches, values on the boxes, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.graph.graph import Graph
from workbench.graph.node import Ref


def branch_sides(graph: Graph) -> dict[tuple[str, int], frozenset[str]]:
    """For each output of each Switch: the nodes that are dead when that output is dead.

    Deadness spreads through every node but Merge, and does not cross NextIteration; an Exit belongs to the
    side on which the loop ends.
    """
    result: dict[tuple[str, int], frozenset[str]] = {}
    readers: dict[Ref, list[str]] = {}
    for node in graph.nodes.values():
        for ref in node.inputs:
            readers.setdefault(ref, []).append(node.name)
        for control in node.control:
            readers.setdefault(Ref(control, -1), []).append(node.name)
    for node in graph.nodes.values():
        if node.op != "Switch":
            continue
        for side in (0, 1):
            dead: set[str] = set()
            queue = list(readers.get(Ref(node.name, side), []))
            while queue:
                name = queue.pop()
                if name in dead or graph.nodes[name].op == "Merge":
                    continue
                dead.add(name)
                if graph.nodes[name].op in ("NextIteration", "Exit"):
                    continue
                queue += readers.get(Ref(name, -1), [])
                for index in range(max(1, len(graph.nodes[name].types))):
                    queue += readers.get(Ref(name, index), [])
            result[(node.name, side)] = frozenset(dead)
    return result


def graph_state(
    model: Mapping[str, Any],
    sides: Mapping[tuple[str, int], frozenset[str]],
    *,
    current: str | None,
    branches: Mapping[str, bool],
    values: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """``current``: id of the box of the next node; ``dead``: ids of boxes on a branch not taken; ``dead_edges``:
    indexes of edges; ``taken``: per Switch box the side that was taken last; ``values``: text by box id."""
    home = model["home"]
    dead_nodes: set[str] = set()
    for switch, taken in branches.items():
        dead_nodes |= sides.get((switch, 0 if taken else 1), frozenset())
    boxes = {box["id"] for box in model["nodes"]}
    # a collapsed frame is never grey as a whole: most of it lives
    dead = {name for name in dead_nodes if name in boxes}
    dead_edges = []
    for index, edge in enumerate(model["edges"]):
        lost = edge["target"] in dead or edge["source"] in dead
        for ref in edge["refs"]:
            if ref.node in branches and len(edge["refs"]) == 1:
                lost = lost or ref.index != int(branches[ref.node])
        if lost:
            dead_edges.append(index)
    return {
        "current": home.get(current) if current else None,
        "dead": sorted(dead),
        "dead_edges": dead_edges,
        "taken": {s: bool(t) for s, t in branches.items() if s in boxes},
        "values": {home[n]: text for n, text in (values or {}).items() if n in home and home[n] == n},
    }
