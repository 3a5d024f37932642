"""Reads a growing series from a given row: each row once, in order, in pieces of bounded size."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.ir.node import Ref
from workbench.trace.row_ranges import Rows, as_array
from workbench.trace.seqlock import consistent_read
from workbench.trace.source import RowsGone
from workbench.trace.trace import Trace

#: maximum bytes of values in one piece, so that a piece stays in the processor's cache
PIECE_BYTES = 1 << 18
#: maximum rows of one piece
PIECE_ROWS = 1 << 15
#: rows that are skipped at once if none of them is kept
LEAP = 1 << 20


class RowValues(NamedTuple):
    """Values in the rows from ``start`` to ``stop`` (exclusive).

    ``rows`` are the rows in which the value fired, ascending, with their ``values``; ``missing`` are stretches of rows
    (first, after the last) that are not kept, so that it is unknown whether the value fired there. ``revision`` is that
    of the source.
    """

    start: int
    stop: int
    rows: Rows
    values: Any
    missing: list[tuple[int, int]]
    revision: int


class IncrementalReader:
    """Reads one value of a trace by rows of its frame. Safe on any thread while the run continues."""

    def __init__(self, trace: Trace, ref: Ref) -> None:
        self.reader = trace.reader
        self.layout = trace.layout.values[ref]
        self.node = self.reader.node[self.layout.node]
        place = self.layout.place
        size = 512  # rough size of an object
        if place is not None and place.dtype is not None:
            size = max(1, np.dtype(place.dtype).itemsize * int(np.prod(place.shape, dtype=np.int64)))
        self._most = max(1, min(PIECE_ROWS, PIECE_BYTES // size))

    @property
    def revision(self) -> int:
        """Grows when a step back rewrites rows."""
        return self.reader.source.revision

    def changed_from(self, revision: int) -> int:
        """The first row whose value may differ from that at ``revision``, apart from edits of the row in progress."""
        place, source = self.layout.place, self.reader.source
        if place is None or self.layout.guard or self.reader.layout.frame_of(place) != self.layout.frame:
            return 0  # the conditions that decide it are stored elsewhere
        return min(source.changed_from(store, revision) for store in {self.layout.frame, place.base - 1})

    @property
    def begins(self) -> bool:
        """True if the first row of the frame is still kept."""
        return self.layout.frame == 0 or len(self._kept(1, 2)) == 1

    @property
    def stop(self) -> int:
        """The row after the last readable one; the row in progress counts if it has reached the node."""
        extent = self.reader.source.extent(self.layout.frame)
        reached = extent.partial >= 0 and self.node.ip < extent.ip
        return extent.end if reached else extent.stop

    def activations(self) -> np.ndarray:
        """Init rows of the known activations of the frame."""
        return self.reader.source.activations(self.layout.frame)[0]

    def read(self, row: int, stop: int) -> RowValues:
        """One piece of the rows from ``row`` on, below ``stop``.

        TraceError if they change faster than they can be read.
        """
        source = self.reader.source

        def piece() -> RowValues:
            return self._piece(row, min(stop, self.stop), source.revision)

        return consistent_read(source, piece)

    def _piece(self, row: int, stop: int, revision: int) -> RowValues:
        end = max(row, min(row + self._most, stop))
        kept = self._kept(row, end)
        if not len(kept) and end < stop:  # old rows were dropped: skip ahead to rows that are kept
            end = min(row + LEAP, stop)
            kept = self._kept(row, end)
            if len(kept):
                end = min(end, int(kept[0]) + self._most)
        kept = self._kept(row, end)
        rows = self.reader.rows_of(self.node, self.layout.guard, (row, end), self.layout.place)
        rows, values = self.reader.read(self.layout, rows)
        if len(self._kept(row, end)) != len(kept):
            raise RowsGone  # some rows were dropped meanwhile: read again
        return RowValues(row, end, rows, values, _gaps(kept, row, end), revision)

    def _kept(self, row: int, end: int) -> Rows:
        """The rows for which it is recorded whether the value fired, and its value."""
        if self.layout.frame == 0:
            return range(row, end)
        return self.reader.readable(self.layout, range(row, end))


def _gaps(kept: Rows, start: int, stop: int) -> list[tuple[int, int]]:
    """The stretches of start..stop that are missing from the rows."""
    if len(kept) == stop - start:
        return []
    if isinstance(kept, range) and kept.step == 1 and len(kept):
        return [(a, b) for a, b in ((start, kept.start), (kept.stop, stop)) if a < b]
    edges = np.concatenate(([start - 1], as_array(kept), [stop]))
    at = np.flatnonzero(np.diff(edges) > 1)
    return [(int(edges[k]) + 1, int(edges[k + 1])) for k in at]
