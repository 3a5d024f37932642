"""The range of events of each iteration of each frame, computed from the rows of the trace without a table of events.

A firing of a node is one event, so the width of an iteration is the number of nodes that fired in it and in its inner
loops. This number follows from the guards of the branches, column by column: time and memory grow with the iterations,
not with the events.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from workbench.errors import TraceError
from workbench.kernels.layout import NodeLayout
from workbench.trace.row_ranges import FOREVER, as_array, holding
from workbench.trace.seqlock import consistent_read
from workbench.trace.source import RowsGone
from workbench.trace.trace import Trace

#: maximum rows of a frame that are read, the newest ones: a bound on time and memory (about 50 bytes a row)
MAX_ROWS = 4_000_000
#: during a run
MAX_LIVE_ROWS = 100_000
ATTEMPTS = 3


@dataclass(slots=True)
class Stretch:
    """The kept rows of a frame from ``first`` on: ``begin`` and ``end`` in events (an init row is empty), the init rows
    of its activations and the rows of the enclosing frame. ``ahead`` has, for each inner loop, the events of a row
    before it; ``width`` those of the whole row; ``own`` counts the firings of the frame's own nodes.
    """

    first: int
    starts: np.ndarray
    parents: np.ndarray
    own: int
    width: np.ndarray
    ahead: list[np.ndarray] = field(default_factory=list)
    begin: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    end: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))

    def activations(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(first row, row after the last, events) of each activation; rows are counted from ``first``, without the init
        row if it is kept.
        """
        stop = np.append(self.starts[1:], self.first + len(self.width)) - self.first
        low = self.starts - self.first
        summed = np.concatenate([[0], np.cumsum(self.width)])
        return np.maximum(low + 1, 0), stop, summed[stop] - summed[np.maximum(low, 0)]


class EventClock:
    """``frames[number]`` is the :class:`Stretch` of a frame of the trace's layout; the events end at ``total``.

    ``last``: the number of events so far, if it is known: the newest event gets this number. ``exact`` is False if
    iterations are not kept: those between kept ones count the mean number of events, older ones are left out, as are
    all except the newest ``MAX_ROWS`` of a frame (``MAX_LIVE_ROWS`` if it is ``live``: during a run old rows, but not
    the newest, may be dropped at any time). Raises TraceError if the trace changes faster than it can be read.
    """

    def __init__(self, trace: Trace, last: int | None = None, live: bool = False) -> None:
        self.trace, self.layout = trace, trace.layout
        self._most = MAX_LIVE_ROWS if live else MAX_ROWS
        if not live:
            consistent_read(trace.source, lambda: self._measure(last))
            return
        for attempt in range(ATTEMPTS):
            try:
                self._measure(last)
                return
            except (RowsGone, LookupError, ValueError):
                if attempt == ATTEMPTS - 1:
                    raise TraceError(
                        "The trace changes faster than it can be read. Pause the run and try again.", slug="trace-busy"
                    ) from None

    def _measure(self, last: int | None) -> None:
        frames = self.layout.frames
        self.exact = True
        self.frames: dict[int, Stretch] = {}
        self.inner = {
            f: sorted((c for c in range(1, len(frames)) if frames[c].parent == f), key=lambda c: frames[c].start)
            for f in range(len(frames))
        }
        order = sorted(range(len(frames)), key=lambda f: len(frames[f].path), reverse=True)
        for f in order:
            self.frames[f] = self._stretch(f)
        counted = int(self.frames[0].width.sum())
        self.total = max(counted, last or 0)
        self.exact &= last is None or last == counted
        self.frames[0].begin = np.array([self.total - counted], np.int64)
        self.frames[0].end = self.frames[0].begin + counted
        for f in reversed(order):
            for k, c in enumerate(self.inner[f]):
                _place(self.frames[f], k, self.frames[c])

    def _stretch(self, f: int) -> Stretch:
        """The rows of a frame with their widths; those of its inner loops must be known."""
        source, parent = self.trace.source, self.layout.frames[f].parent
        extent = source.extent(f)
        stop = max(extent.first, extent.stop, extent.partial + 1)
        first = max(extent.first, stop - self._most)
        starts, parents = np.zeros(1, np.int64), np.zeros(1, np.int64)
        if f:
            starts, parents = (np.asarray(a, np.int64) for a in source.activations(f))
            kept = (starts < stop) & (parents >= self._oldest(parent))
            ends = np.append(starts[1:], stop)
            kept &= ends > first
            starts, parents = starts[kept], parents[kept]
            first = max(first, int(starts[0])) if len(starts) else stop
            self.exact &= first == 0 or not len(starts)
        parts = self._own(f, first, stop)
        if f:
            self._fill(f, first, parts, starts)
        own = int(sum(int(p.sum()) for p in parts))
        width, ahead = parts[0], []
        for k, c in enumerate(self.inner[f]):
            ahead.append(width.copy())
            child = self.frames[c]
            _, _, events = child.activations()
            rows = child.parents - first
            inside = (rows >= 0) & (rows < len(width))
            np.add.at(width, rows[inside], events[inside])
            width += parts[k + 1]
        return Stretch(first, starts, parents, own, width, ahead)

    def _oldest(self, f: int) -> int:
        """The first row of a frame that is read."""
        extent = self.trace.source.extent(f)
        return max(extent.first, max(extent.stop, extent.partial + 1) - self._most) if f else 0

    def _own(self, f: int, first: int, stop: int) -> list[np.ndarray]:
        """Firings of the frame's own nodes in each row, separately for the stretches between inner loops."""
        cuts = [self.layout.frames[c].start for c in self.inner[f]]
        parts = [np.zeros(stop - first, np.int64) for _ in range(len(cuts) + 1)]
        extent = self.trace.source.extent(f)
        for (part, _, _), nodes in self.groups(f, cuts).items():
            found = self.trace.reader.rows_of(nodes[0], nodes[0].guard, (first, stop))
            if isinstance(found, range) and found.step == 1:  # most nodes fire in every row: no list of rows is needed
                parts[part][max(0, found.start - first) : max(0, found.stop - first)] += len(nodes)
            else:
                rows = as_array(found) - first
                parts[part][rows[(rows >= 0) & (rows < stop - first)]] += len(nodes)
            if len(found) and first <= extent.partial < stop and holding((found,), np.array([extent.partial]))[0]:
                # in the row in progress, nodes fire one by one
                parts[part][extent.partial - first] -= sum(n.ip >= extent.ip for n in nodes)
        return parts

    def groups(self, f: int, cuts: list[int]) -> dict[tuple[int, object, bool], list[NodeLayout]]:
        """The frame's nodes grouped by joint firing: the stretch between loops, the guard, ``first``."""
        found: dict[tuple[int, object, bool], list[NodeLayout]] = {}
        for node in self.layout.nodes:
            if node.frame == f:
                part = sum(node.ip >= cut for cut in cuts)
                found.setdefault((part, node.guard, node.first), []).append(node)
        return found

    def _fill(self, f: int, first: int, parts: list[np.ndarray], starts: np.ndarray) -> None:
        """Fill rows whose firings are not kept with the mean of the others."""
        spans = self.trace.source.complete(f)
        if len(spans) == 1 and isinstance(spans[0], range) and spans[0].step == 1 and spans[0].start <= first:
            if spans[0].stop >= min(FOREVER, first + len(parts[0])):
                return
        rows = first + np.arange(len(parts[0]), dtype=np.int64)
        init = np.isin(rows, starts, assume_unique=True)
        held = holding(spans, rows)
        known, missing = held & ~init, ~held & ~init
        if missing.any():
            self.exact = False
            for part in parts:
                part[missing] = round(float(part[known].mean())) if known.any() else 0


def _place(around: Stretch, number: int, inside: Stretch) -> None:
    """First rows of a loop, from the first rows of the enclosing iterations."""
    if not len(inside.starts) or not len(around.begin):
        inside.begin, inside.end = np.zeros(len(inside.width), np.int64), np.zeros(len(inside.width), np.int64)
        return
    home = np.minimum(inside.parents - around.first, len(around.begin) - 1)
    base = around.begin[home] + around.ahead[number][home]
    late = inside.parents - around.first >= len(around.begin)  # during a run: an iteration in progress
    base = np.where(late, around.begin[-1] + around.width[-1], base)
    low = np.maximum(inside.starts - inside.first, 0)
    inside.begin = np.cumsum(inside.width)
    inside.begin -= inside.width
    inside.begin += np.repeat(base - inside.begin[low], np.diff(np.append(low, len(inside.width))))
    inside.end = inside.begin + inside.width
