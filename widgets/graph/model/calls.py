"""Calls of functions and branches in a graph: which nodes and loops each of them, and each side of a branch, holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench.ir.frames.regions import BRANCH, CALL, Region
from workbench.ir.graph import Graph
from workbench.ir.node import Ref
from workbench.widgets.graph.model.branch_sides import BranchSides
from workbench.widgets.graph.model.group import frame_id

#: fewest items of a call that has a box of its own
FEWEST = 2
#: calls within each other that have boxes
DEEPEST = 40


#: what the sides of a branch are called, by what its predicate is
LANES = {True: "then", False: "else"}
#: between the name of a branch and that of its side; no name of a node holds it
OF = "\n"


def constructs_of(graph: Graph, branches: bool) -> dict[str, tuple[str, ...]]:
    """Node or id of a loop's box -> names of the calls around it, the outermost first; others are left out.

    With ``branches`` also of the branches around it and the sides of theirs that it is on."""
    regions = graph.regions
    sides = BranchSides(graph) if branches else None
    lanes = {name: _lanes(graph, sides, region) for name, region in regions.items() if sides and region.kind == BRANCH}
    around: dict[str, tuple[str, ...]] = {}
    for name, region in regions.items():  # outer ones come first
        outer = around.get(region.parent or "", ())
        if region.parent in lanes and region.nodes:
            outer += _lane(region.parent or "", lanes[region.parent], region.nodes[0])
        around[name] = (*outer, name) if region.kind == CALL or name in lanes else outer
    found: dict[str, tuple[str, ...]] = {}
    for name, region in regions.items():
        own = around[name]
        for node in region.nodes:
            found[node] = (*own, *_lane(name, lanes[name], node)) if name in lanes else own
    loops = {frame_id(r.frame): around[name] for name, r in regions.items() if r.frame is not None}
    return {item: names for item, names in (found | loops).items() if names}


def _lanes(graph: Graph, sides: BranchSides, region: Region) -> dict[bool, frozenset[str]]:
    """The nodes that only the one and only the other value of the predicate of a branch executes."""
    deciding: dict[Ref, list[str]] = {}
    for name in region.nodes:
        node = graph.nodes[name]
        if node.op == "Switch":
            deciding.setdefault(node.inputs[1], []).append(name)
    switches = next(iter(deciding.values()), [])
    dead = {side: sides.dead(dict.fromkeys(switches, not side)) if switches else frozenset() for side in LANES}
    return {side: dead[side] - dead[not side] for side in LANES}


def _lane(name: str, lanes: Mapping[bool, frozenset[str]], node: str) -> tuple[str, ...]:
    return next(((f"{name}{OF}{LANES[side]}",) for side in LANES if node in lanes[side]), ())


def members(
    calls: Mapping[str, tuple[str, ...]], holders: Iterable[tuple[str, str]], depth: int
) -> dict[tuple[str, str], list[str]]:
    """(group, call) -> items of the group that belong to the call, for calls with ``depth`` calls around them.

    ``holders`` are pairs of an item and its group. Items in a loop of the call belong to the loop alone.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for item, holder in holders:
        own = calls.get(item, ())[: depth + 1]
        if len(own) > depth and calls.get(holder, ())[: depth + 1] != own:
            found.setdefault((holder, own[depth]), []).append(item)
    return {key: items for key, items in found.items() if len(items) >= FEWEST or OF in key[1]}
