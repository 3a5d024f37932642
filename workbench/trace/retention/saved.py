"""Files of traces of which only a part is kept: which rows each column has, and reading them back.

In ``trace.json`` such a file has version 3 and ``"partial": true``. Each column of a loop has ``runs``, a list of
[start, stop, step] rows in its own store whose items are consecutive in the column's member, and ``seen``: by shift,
the runs of rows that read one of these rows. ``complete`` lists by frame the runs of rows whose firings are known;
``begun`` and ``known`` are, by frame, the number of activations and the row from which all of them are listed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.kernels.layout import Place
from workbench.trace.row_ranges import FOREVER, Rows, Spans, as_array, clipped, holding, union
from workbench.trace.source import RowsGone, RowSource

#: maximum runs of one column in a file that is read
MAX_RUNS = 1 << 20


def spans_of(runs: Any, stop: int) -> Spans:
    """The stretches listed in a file; ValueError if they are not ascending rows below ``stop``."""
    if len(runs) > MAX_RUNS:
        raise ValueError("there are too many runs")
    found, last = [], -1
    for start, end, step in runs:
        rows = range(int(start), int(end), int(step))
        if step < 1 or not len(rows) or rows[0] <= last or rows[-1] >= stop:
            raise ValueError("the runs of a column are not ascending rows")
        found.append(rows)
        last = rows[-1]
    return tuple(found)


def kept_rows(source: RowSource, place: Place, shifts: set[int], stop: int) -> tuple[dict[int, Spans], Spans, Any]:
    """(rows that read it, by shift; rows of its store; items) of the kept part of a column, read with these shifts."""
    spans: Spans = ()
    seen = {shift: clipped(source.held(replace(place, shift=shift)), -shift, stop) for shift in shifts}
    for shift in sorted(shifts, reverse=True):
        spans = union(spans, _moved(seen[shift], shift))
    parts: list[Any] = []
    for span in spans:
        parts.append(_items(source, place, shifts, as_array(span), stop))
    if place.dtype is None:
        return seen, spans, [item for part in parts for item in part]
    return seen, spans, np.concatenate(parts) if parts else np.empty((0, *place.shape), place.dtype)


def _items(source: RowSource, place: Place, shifts: set[int], rows: np.ndarray, stop: int) -> Any:
    for shift in sorted(shifts, reverse=True):
        seen = replace(place, shift=shift)
        if holding(clipped(source.held(seen), 0, stop), rows - shift).all():
            return source.take(seen, rows - shift)
    found: list[Any] = [None] * len(rows)
    for shift in shifts:
        seen = replace(place, shift=shift)
        mine = np.flatnonzero(holding(clipped(source.held(seen), 0, stop), rows - shift))
        for k, item in zip(mine.tolist(), source.take(seen, rows[mine] - shift), strict=True):
            found[k] = item
    return found if place.dtype is None else np.array(found, place.dtype).reshape(len(rows), *place.shape)


def _moved(spans: Spans, shift: int) -> Spans:
    """The stretches converted to rows of the store."""
    moved = (range(s.start + shift, s.stop + shift, s.step) if isinstance(s, range) else s + shift for s in spans)
    return clipped(tuple(moved), 0, FOREVER)


class KeptRows:
    """Columns of loops stored in a file, by (base, offset, dtype, shape, until)."""

    def __init__(
        self, columns: Mapping[Any, tuple[Mapping[int, Spans], Spans, Any]], complete: Sequence[Spans]
    ) -> None:
        self._columns, self._complete = columns, complete

    def held(self, key: Any, shift: int) -> Spans:
        return self._columns[key][0][shift]

    def complete(self, frame: int) -> Spans:
        return self._complete[frame]

    def take(self, key: Any, place: Place, rows: Rows) -> Any:
        _, spans, items = self._columns[key]
        wanted = as_array(rows) + place.shift
        index, before = np.full(len(wanted), -1, np.int64), 0
        for span in spans:
            assert isinstance(span, range)
            mine = holding((span,), wanted)
            index[mine] = before + (wanted[mine] - span.start) // span.step
            before += len(span)
        if len(index) and index.min() < 0:
            raise RowsGone(place)
        return [items[k] for k in index.tolist()] if place.dtype is None else items[index]
