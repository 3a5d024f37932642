"""Keep what loops carry: their variables in every iteration, with the decisions that tell what fired."""

from __future__ import annotations

from dataclasses import replace

from workbench.kernels.layout import Layout, Place
from workbench.trace.retention.backend import Live
from workbench.trace.retention.thinning import ThinnedKeeper
from workbench.trace.retention.tracks import all_places, guard_places, track_bytes

#: an array of fewer bytes is copied in no time
ARRAY_BYTES = 256


def carried(layout: Layout, limit: int, live: Live, every: int = 1) -> ThinnedKeeper:
    """Of every iteration the values that it reads of the one before, and every predicate; all the rest is recomputed.

    A number takes its own bytes, a predicate one. Where that outgrows ``limit`` every second one goes, again and again.
    """
    return ThinnedKeeper(layout, carried_places(layout) | guard_places(layout), limit, live, every)


def carried_places(layout: Layout) -> set[Place]:
    """Storage of the loop variables. In frames that do not nest no value is read from the row before: there they are
    what a Merge or a NextIteration gave."""
    op = {n.name: n.op for n in layout.nodes}
    found = {v.place for v in layout.values.values() if v.place is not None and v.place.shift < 0}
    nesting = {layout.frame_of(p) for p in found}
    for value in layout.values.values():
        raw = value.frame > 0 and value.frame not in nesting
        if raw and value.place is not None and op[value.node] in ("Merge", "NextIteration"):
            found.add(value.place)
    return found


def is_most_of_rows(layout: Layout) -> bool:
    """True if the arrays that loops carry take half of the recorded bytes of their rows, or more.

    Copied out of the rows they would take hardly less, and to copy large arrays costs as much as to compute them: such
    rows better stay as they are while the budget lasts."""
    extent, carried_bytes = dict[int, int](), dict[int, int]()
    for place in all_places(layout):
        if _is_array(layout, place) and not layout.is_recomputed(place):
            extent[place.base] = max(extent.get(place.base, 0), place.offset + track_bytes(place))
    for place in {replace(place, shift=0) for place in carried_places(layout)}:
        if place.base in extent:
            carried_bytes[place.base] = carried_bytes.get(place.base, 0) + track_bytes(place)
    return any(2 * size >= extent[base] for base, size in carried_bytes.items())


def _is_array(layout: Layout, place: Place) -> bool:
    return place.base > len(layout.frames) and place.dtype is not None and track_bytes(place) >= ARRAY_BYTES
