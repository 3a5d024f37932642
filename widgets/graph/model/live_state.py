"""The live part of a graph's picture as plain data: current node, branches, values, loops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.ir.graph import Graph
from workbench.ir.node import Ref
from workbench.widgets.graph.model.branch_sides import BranchSides
from workbench.widgets.text.numerals import numeral


def branch_sides(graph: Graph) -> BranchSides:
    """Data on the branches of a graph, for ``graph_state``."""
    return BranchSides(graph)


def graph_state(
    model: Mapping[str, Any],
    sides: BranchSides | None,
    *,
    current: str | None,
    branches: Mapping[str, bool],
    older: Mapping[str, bool] | None = None,
    values: Mapping[str, str] | None = None,
    brief: Mapping[str, Sequence[str]] | None = None,
    bad: Mapping[str, str] | None = None,
    ages: Mapping[str, str] | None = None,
    loops: Mapping[str, str] | None = None,
    caption: str | None = None,
) -> dict[str, Any]:
    """``current``: id of the box of the next node; ``dead``: ids of boxes on a branch not taken; ``dead_edges`` and
    ``taken_edges``: indexes of edges; ``older_edges``: of those that were taken in an earlier iteration, where the
    Switch (``older``: name -> side) has not decided in this one; ``sides``: which side was taken in a closed box of
    which a part is dead; ``taken``: per Switch box the side that was taken; ``values``: text by box id, ``brief``: ever
    shorter ones; ``bad``: "NaN" or "Inf" by box id; ``ages``: the iteration of a value that is older; ``loops``: the
    present iteration in words by id of a loop's box or frame; ``caption``: id of the frame whose caption lists the next
    node, an input, as an invariant."""
    home = model["home"]
    lost = sides.dead(branches) if sides is not None and branches else frozenset()
    boxes = {box["id"]: box for box in model["nodes"]}
    # a group is grey if all its nodes are: only nodes drawn in it count, as in its size
    gone = Counter(home[name] for name in model["drawn"] if name in lost)
    dead = {key for key in gone if gone[key] >= boxes[key]["size"]}
    part = [boxes[key] for key in gone if key not in dead and boxes[key]["op"] != "loop"]
    side_words = {box["id"]: _side_taken(box, model, sides, branches) for box in part} if sides is not None else {}
    dead_edges, taken_edges, older_edges = [], [], []
    for index, edge in enumerate(model["edges"]):
        if edge["target"] in dead or edge["source"] in dead:
            dead_edges.append(index)
        elif all(_lost(ref, lost, branches) for ref in edge["refs"]):
            dead_edges.append(index)
        elif any(ref.node in branches and not _lost(ref, lost, branches) for ref in edge["refs"]):
            taken_edges.append(index)
        elif older and any(ref.node in older and ref.index == int(older[ref.node]) for ref in edge["refs"]):
            older_edges.append(index)
    return {
        "current": home.get(current) if current else None,
        "dead": sorted(dead),
        "dead_edges": dead_edges,
        "taken_edges": taken_edges,
        "older_edges": older_edges,
        "sides": {key: words for key, words in side_words.items() if words},
        "taken": {s: bool(t) for s, t in branches.items() if s in boxes},
        "values": {n: text for n, text in (values or {}).items() if home.get(n) == n},
        "brief": {n: list(texts) for n, texts in (brief or {}).items() if texts and home.get(n) == n},
        "bad": {home[n]: text for n, text in (bad or {}).items() if n in home},
        "ages": {n: text for n, text in (ages or {}).items() if home.get(n) == n},
        "loops": dict(loops or {}),
        "caption": caption,
    }


def _side_taken(
    box: Mapping[str, Any], model: Mapping[str, Any], sides: BranchSides, branches: Mapping[str, bool]
) -> str:
    """``taken: then`` or ``taken: else`` for a closed box with one branch, which may contain others; the executed share
    for a box with several; "" for a box with loops only.
    """
    graph, home, lost = sides.graph, model["home"], sides.dead(branches)
    inside = [name for name in branches if home.get(name) == box["id"] and name not in lost]
    deciding: dict[Ref, list[str]] = {}
    for name in inside:
        node = graph.nodes[name]
        if graph.nodes[node.inputs[1].node].op != "LoopCond" and graph.frame_of(name) == tuple(box["frame"]):
            deciding.setdefault(node.inputs[1], []).append(name)
    if not deciding:
        return ""
    first, *others = deciding.values()
    taken = branches[first[0]]
    without = sides.dead({name: not taken for name in first})
    if all(name in without for names in others for name in names):
        return f"taken: {'then' if taken else 'else'}"
    live = sum(name not in lost for name in model["drawn"] if home[name] == box["id"])
    return f"{numeral(live)} of {numeral(box['size'])} executed"


def _lost(ref: Ref, lost: frozenset[str], branches: Mapping[str, bool]) -> bool:
    if ref.node in branches:
        return ref.node in lost or ref.index != int(branches[ref.node])
    return ref.node in lost
