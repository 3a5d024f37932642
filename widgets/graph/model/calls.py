"""Calls of functions and branches in a graph, with the nodes and loops in each of them and in each side of a branch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench.ir.frames.regions import BRANCH, CALL, Region
from workbench.ir.graph import Graph
from workbench.ir.node import Ref
from workbench.widgets.graph.model.branch_sides import BranchSides
from workbench.widgets.graph.model.group import frame_id

#: minimum items of a call that is drawn as a box
FEWEST = 2
#: maximum nesting of calls drawn as boxes
DEEPEST = 40


#: names of the sides of a branch, by the value of its predicate
LANES = {True: "then", False: "else"}
#: separates the name of a branch from that of its side; not part of any node's name
OF = "\n"


def constructs_of(graph: Graph, branches: bool) -> dict[str, tuple[str, ...]]:
    """Node or id of a loop's box -> names of the calls around it, outermost first; items outside calls are left out.

    With ``branches`` also the enclosing branches, each with the side that it is on."""
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
    """The nodes executed only for false and only for true predicates of a branch."""
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
