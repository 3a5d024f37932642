"""Combines rows of several pieces into one result."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.ir.types import numpy_dtype
from workbench.kernels.layout import Place
from workbench.trace.row_ranges import Rows

#: results of at most this many bytes are copies; larger ones are views of the file
COPIED = 1 << 20


def moved(rows: Rows, shift: int) -> Rows:
    """The rows of the store that contain the places read with this shift."""
    return range(rows.start + shift, rows.stop + shift, rows.step) if isinstance(rows, range) else rows + shift


def within(rows: Rows, begin: int, end: int) -> tuple[slice | np.ndarray, int]:
    """(the rows that are in a piece, relative to its first row, their count)."""
    if isinstance(rows, range):
        low = max(begin, rows.start)
        low += -(low - rows.start) % rows.step  # aligned with the first row
        high = min(end, rows.stop)
        return slice(low - begin, max(low, high) - begin, rows.step), max(0, -(-(high - low) // rows.step))
    at, stop = np.searchsorted(rows, begin), np.searchsorted(rows, end)
    return rows[at:stop] - begin, int(stop - at)


def joined(parts: list[Any], place: Place) -> Any:
    """The items of all pieces, concatenated."""
    if place.dtype is None:
        return [item for part in parts for item in part]
    if len(parts) == 1:
        one = parts[0]
        return one.copy() if one.nbytes <= COPIED else one
    if not parts:
        return np.empty((0, *place.shape), numpy_dtype(place.dtype))
    return np.concatenate(parts)
