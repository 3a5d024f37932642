"""Base of retention backends that store rows: activations of the rows, and ranges of rows with known firings."""

from __future__ import annotations

from workbench.kernels.layout import Layout, Place
from workbench.threads import Lock
from workbench.trace.retention.activations import Activations, Table
from workbench.trace.retention.backend import Live, NoBlocks
from workbench.trace.retention.tracks import guard_places
from workbench.trace.row_ranges import Spans, both


class RowsKept(NoBlocks):
    """Base of keepers of rows; a subclass defines ``held``, and changes ``_acts`` only under ``_lock``."""

    def __init__(self, layout: Layout, limit: int, live: Live) -> None:
        self.limit = limit
        self._layout = layout
        self._acts = Activations(layout, live)
        self._guards = {
            f: [p for p in guard_places(layout) if p.base and layout.frame_of(p) == f]
            for f in range(len(layout.frames))
        }
        self._lock = Lock()

    def held(self, place: Place) -> Spans:
        raise NotImplementedError

    def activations(self, frame: int) -> Table:
        with self._lock:
            return self._acts.of(frame)

    def known(self, frame: int) -> int:
        return self._acts.known(frame)

    def complete(self, frame: int) -> Spans:
        spans: Spans | None = None
        for place in self._guards[frame]:
            found = self.held(place)
            spans = found if spans is None else both(spans, found)
        return spans or ()
