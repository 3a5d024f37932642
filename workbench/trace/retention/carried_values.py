"""Keep what loops carry: their variables in every iteration, with the decisions that show what fired."""

from __future__ import annotations

from workbench.kernels.layout import Layout, Place
from workbench.trace.retention.backend import Live
from workbench.trace.retention.thinning import ThinnedKeeper
from workbench.trace.retention.tracks import guard_places


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
