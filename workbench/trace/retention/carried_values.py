"""Keeps loop variables in every iteration, with the decisions that show which nodes fired."""

from __future__ import annotations

from workbench.kernels.layout import Layout, Place
from workbench.trace.retention.backend import Live
from workbench.trace.retention.thinning import ThinnedKeeper
from workbench.trace.retention.tracks import guard_places


def carried(layout: Layout, limit: int, live: Live, every: int = 1) -> ThinnedKeeper:
    """Keeps, for every iteration, the values that it reads from the previous one, and every predicate; other values are
    recomputed.

    A number takes its own bytes, a predicate one. Whenever this exceeds ``limit``, every second iteration is dropped.
    """
    return ThinnedKeeper(layout, carried_places(layout) | guard_places(layout), limit, live, every)


def carried_places(layout: Layout) -> set[Place]:
    """Storage of the loop variables. In frames without inner loops no value is read from the previous row; there the
    loop variables are the results of Merge and NextIteration."""
    op = {n.name: n.op for n in layout.nodes}
    found = {v.place for v in layout.values.values() if v.place is not None and v.place.shift < 0}
    nesting = {layout.frame_of(p) for p in found}
    for value in layout.values.values():
        raw = value.frame > 0 and value.frame not in nesting
        if raw and value.place is not None and op[value.node] in ("Merge", "NextIteration"):
            found.add(value.place)
    return found
