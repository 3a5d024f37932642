"""Calls of functions in a graph: which nodes and loops each of them holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench.ir.frames.regions import CALL, Region
from workbench.widgets.graph.model.group import frame_id

#: fewest items of a call that has a box of its own
FEWEST = 2
#: calls within each other that have boxes
DEEPEST = 40


def calls_of(regions: Mapping[str, Region]) -> dict[str, tuple[str, ...]]:
    """Node or id of a loop's box -> names of the calls around it, the outermost first; others are left out."""
    around: dict[str, tuple[str, ...]] = {}
    for name, region in regions.items():  # outer ones come first
        outer = around.get(region.parent or "", ())
        around[name] = (*outer, name) if region.kind == CALL else outer
    found = {node: around[name] for name, region in regions.items() for node in region.nodes if around[name]}
    loops = {frame_id(r.frame): around[name] for name, r in regions.items() if r.frame is not None and around[name]}
    return found | loops


def members(
    calls: Mapping[str, tuple[str, ...]], holders: Iterable[tuple[str, str]], depth: int
) -> dict[tuple[str, str], list[str]]:
    """(group, call) -> items of the group that belong to the call, for calls with ``depth`` calls around them.

    ``holders`` are pairs of an item and its group. What stands in a loop of the call belongs to the loop alone.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for item, holder in holders:
        own = calls.get(item, ())[: depth + 1]
        if len(own) > depth and calls.get(holder, ())[: depth + 1] != own:
            found.setdefault((holder, own[depth]), []).append(item)
    return {key: items for key, items in found.items() if len(items) >= FEWEST}
