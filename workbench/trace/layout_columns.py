"""The slots of a layout: every place that a file has to store."""

from __future__ import annotations

from dataclasses import replace

from workbench.kernels.layout import Layout, Place


def slots(layout: Layout) -> set[Place]:
    """Every slot that the layout refers to, as read from its own row."""
    conditions = [c for n in layout.nodes for c in n.guard]
    conditions += [c for v in layout.values.values() for c in (*v.guard, *(c for _, g in v.branches for c in g))]
    conditions += [f.cond for f in layout.frames if f.cond is not None]
    found = {c.place for c in conditions} | {v.place for v in layout.values.values() if v.place is not None}
    found |= {v.statistics for v in layout.values.values() if v.statistics is not None}
    return {replace(p, shift=0) for p in found}


def slot_key(place: Place) -> tuple[int, int, str, tuple[int, ...], int]:
    """Identity of a column: one slot can be read as arrays of several shapes, and hold several values one after
    another.
    """
    return place.base, place.offset, place.dtype or "", place.shape, place.until
