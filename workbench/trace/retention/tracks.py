"""The columns of stores that a policy keeps, derived from a layout."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from workbench.kernels.layout import Condition, Layout, Place, ValueLayout


@dataclass(frozen=True, slots=True)
class Track:
    """A column of a store, as bytes at ``offset``: numbers or arrays of ``size`` bytes, or references to objects.

    ``phases`` selects the rows that are kept if only every k-th iteration is: 1 is the iteration's own row, 0 the
    previous row, from which an iteration reads the loop variables.
    """

    store: int
    offset: int
    size: int
    is_object: bool
    phases: tuple[int, ...]


def tracks_of(layout: Layout, places: Iterable[Place]) -> tuple[Track, ...]:
    """Columns of these places, except those of the pool and of the outermost level, whose one row is never dropped."""
    found: dict[tuple[int, int, int, bool], set[int]] = {}
    for place in places:
        if place.base == 0 or layout.frame_of(place) == 0:
            continue
        found.setdefault((place.base - 1, place.offset, track_bytes(place), place.dtype is None), set()).add(
            1 + place.shift
        )
    return tuple(Track(*key, tuple(sorted(phases))) for key, phases in sorted(found.items()))


def track_bytes(place: Place) -> int:
    """Bytes of one item of the column at a place: of a number or an array, or of a reference to an object."""
    return 8 if place.dtype is None else np.dtype(place.dtype).itemsize * int(np.prod(place.shape, dtype=np.int64))


def conditions_of(layout: Layout) -> list[Condition]:
    """Every literal that decides whether something fired: guards of nodes and values, and predicates of loops."""
    found = [c for n in layout.nodes for c in n.guard]
    for value in layout.values.values():
        found += value.guard
        found += (c for _, guard in value.branches for c in guard)
    return found + [f.cond for f in layout.frames if f.cond is not None]


def guard_places(layout: Layout) -> set[Place]:
    return {c.place for c in conditions_of(layout)}


def all_places(layout: Layout) -> set[Place]:
    """Every place from which a trace reads."""
    found = {v.place for v in layout.values.values() if v.place is not None}
    found |= {v.statistics for v in layout.values.values() if v.statistics is not None}
    return found | guard_places(layout)


def has_objects(layout: Layout) -> bool:
    """True if rows of loops refer to Python objects."""
    return any(p.dtype is None and layout.frame_of(p) > 0 for p in all_places(layout) if p.base > 0)


def places_of(value: ValueLayout) -> set[Place]:
    """The place of one value, and those of the literals that decide in which rows it fired."""
    found = {c.place for c in value.guard} | {c.place for _, guard in value.branches for c in guard}
    return found if value.place is None else found | {value.place}
