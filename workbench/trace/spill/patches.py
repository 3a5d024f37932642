"""Edits of rows that may be on disk already.

A loop variable is read one row after the row that stores it. Editing it changes that row, which may be on disk already,
or at the end of a chunk that will be written unchanged. Such edits are therefore applied when rows are read; the files
keep the computed values.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.kernels.layout import Place
from workbench.trace.row_ranges import Rows


class Patches:
    """Values by store, row and offset, each with the number of the event at which it was set."""

    def __init__(self) -> None:
        self._held: dict[int, dict[tuple[int, int], tuple[int, Any]]] = {}

    def add(self, store: int, row: int, offset: int, value: Any, event: int) -> None:
        held = dict(self._held.get(store, {}))  # readers on other threads hold the old one
        held[row, offset] = (event, value)
        self._held[store] = held

    def forget(self, event: int) -> None:
        """After a step back to an event: drop the values that were set later."""
        self._held = {s: {k: v for k, v in held.items() if v[0] <= event} for s, held in self._held.items()}

    def lay_over(self, place: Place, rows: Rows, items: Any) -> Any:
        """The items of a place in these rows, with edits applied. As in the machine, whose chunks begin with a copy of
        the previous row, an edit also shows where the place is read one row later.
        """
        if place.shift == 0:
            return items
        for (row, offset), (_, value) in self._held.get(place.base - 1, {}).items():
            if offset != place.offset or not len(rows):
                continue
            at = _position(rows, row)
            if at is None:
                continue
            if isinstance(items, list):
                items = [*items[:at], value, *items[at + 1 :]]
            else:
                items = items if items.flags.writeable else items.copy()
                items[at] = np.asarray(value, items.dtype).reshape(items.shape[1:])
        return items


def _position(rows: Rows, row: int) -> int | None:
    if isinstance(rows, range):
        return rows.index(row) if row in rows else None
    at = int(np.searchsorted(rows, row))
    return at if at < len(rows) and rows[at] == row else None
