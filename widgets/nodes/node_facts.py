"""Facts of the newest value of every node: least, largest, how many items are not finite and zero, and its bytes.

They are kept for each value, and one is read again only when another has taken its place: a step costs only as much as
it has computed. Numbers are read row by row, however many nodes have theirs in it; arrays one by one, for at most 0.05
s a look, and what a standing run could not give in that time at the next look (``behind``). While a run goes on nothing
is read.
"""

from __future__ import annotations

import time
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from workbench.errors import WorkbenchError
from workbench.ir.graph import Graph
from workbench.text import harmless
from workbench.threads import Lock
from workbench.trace import Trace
from workbench.trace.retention.source import KeptSource
from workbench.trace.row_ranges import FOREVER
from workbench.trace.source import LiveSource, RowsGone
from workbench.widgets.live.view_source import ViewSource, is_running
from workbench.widgets.nodes.firing_groups import FiringGroup, NodePlaces
from workbench.widgets.text.value_facts import ValueFacts, facts_of

SLICE_S = 0.05
#: looks one after the other that may fail, because a run goes on meanwhile
TRIES = 3
#: what is known of a node's newest value
NOTHING, FINE, INFINITE, NOT_A_NUMBER = range(4)
UNREAD = -2
TROUBLE = (RowsGone, WorkbenchError, LookupError, ValueError, TypeError)


class NewestFacts:
    """Arrays over the nodes in the order of the program: ``state``, ``least``, ``largest`` (NaN: none), ``nan``,
    ``inf``, ``zeros``, ``bytes``; ``counted``: these are known, for it is a number or an array of some; ``older``: the
    loop or one around it has gone on since.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.behind = False
        #: values that were read so far
        self.reads = 0
        self._lock = Lock()
        self._tries = 0
        self._mark: Any = None
        self._begin(None)

    def _begin(self, trace: Trace | None) -> None:
        self.places = NodePlaces(self.graph, trace)
        self._layout = None if trace is None else trace.layout
        count = len(self.places.names)
        self.state = np.zeros(count, np.uint8)
        self.counted, self.older = np.zeros(count, bool), np.zeros(count, bool)
        self.least, self.largest = np.full(count, np.nan), np.full(count, np.nan)
        self.nan, self.inf, self.zeros, self.bytes = (np.zeros(count, np.int64) for _ in range(4))
        self._row = np.full(count, UNREAD, np.int64)
        self._fixed = np.zeros(count, bool)  # constants that were read
        self._source: Any = None
        self._revision = -1
        self._edits: tuple[Any, ...] = ()

    def look(self, trace: Trace | None, snapshot: Any) -> None:
        """Bring the facts up to date with a run that is paused."""
        if trace is None or is_running(snapshot):
            return
        with self._lock:
            mark = (getattr(snapshot, "version", None), trace.source, trace.source.revision)
            if mark == self._mark and not self.behind:
                return
            if trace.layout is not self._layout:
                self._begin(trace)
            epoch = trace.source.epoch
            try:
                self.behind = self._read(trace, getattr(snapshot, "iterations", {}))
                whole = trace.source.epoch == epoch
            except TROUBLE:  # rows were dropped between two questions
                whole = False
            self._tries = 0 if whole else self._tries + 1
            if not whole:
                self._row[:] = UNREAD
                self.behind = self._tries < TRIES
            self._mark = mark

    def of(self, name: str) -> ValueFacts | None:
        """The facts of a node, or None for one without a value that is a number, or that was not read yet."""
        k = self.places.number[name]
        if not self.counted[k]:
            return None
        least, largest = (None if np.isnan(a[k]) else float(a[k]) for a in (self.least, self.largest))
        return ValueFacts(least, largest, *(int(a[k]) for a in (self.nan, self.inf, self.zeros, self.bytes)))

    # -- reading ----------------------------------------------------------------------------------------------------
    def _read(self, trace: Trace, progress: Any) -> bool:
        if self._rewritten(trace):
            self._row[:] = UNREAD
        rows: dict[Any, np.ndarray] = {}
        later: list[tuple[np.ndarray, int]] = []
        for group in self.places.groups:
            extent = trace.source.extent(group.nodes[0].frame)
            reached = len(group.ips) if extent.partial < 0 else int(np.searchsorted(group.ips, extent.ip))
            for part, node in ((slice(0, reached), group.nodes[0]), (slice(reached, None), group.nodes[-1])):
                numbers = group.numbers[part]
                if len(numbers):
                    row = group.newest(trace, node)
                    self.older[numbers] = row >= 0 and self._gone_on(trace, group, row, progress)
                    stale = numbers[self._row[numbers] != row]
                    self._take(trace, group.frame, stale, row, rows, later)
        until = time.perf_counter() + SLICE_S
        for numbers, row in later:
            for number in numbers:
                if time.perf_counter() > until:
                    return True
                self._one(trace, int(number), row)
        return False

    def _rewritten(self, trace: Trace) -> bool:
        """True if rows may hold other values than at the last look: after an edit, or a way back."""
        known, edits = (self._source, self._revision, self._edits), tuple(trace.edits())
        self._source, self._revision, self._edits = trace.source, trace.source.revision, edits
        same = len(edits) == len(known[2]) and all(a is b for a, b in zip(edits, known[2], strict=True))
        if not same or known[0] is not self._source:
            self._fixed[:] = False
        return not same or known[0] is not self._source or known[1] != self._revision

    def _gone_on(self, trace: Trace, group: FiringGroup, row: int, progress: Any) -> bool:
        """True if the loop of a row, or one around it, has gone on since."""
        frame = trace.layout.frames[group.frame].path
        path = trace.reader.iterations(group.frame, range(row, row + 1))[0]
        # a value with which a loop starts is that of all its iterations
        around = path[:-1] if self.graph.nodes[group.nodes[0].name].op == "Enter" else path
        return any(i < progress.get(frame[: k + 1], -1) for k, i in enumerate(around))

    def _take(self, trace: Trace, frame: int, numbers: np.ndarray, row: int, rows: Any, later: Any) -> None:
        """Read the numbers in a row for some nodes; arrays and objects are put off (``later``)."""
        fixed = self._fixed[numbers] & (row >= 0)
        self._row[numbers[fixed]] = row
        self._fixed[numbers] = fixed
        numbers = numbers[~fixed]
        self.state[numbers] = NOTHING if row < 0 else FINE
        self.counted[numbers] = False
        self._row[numbers] = row
        if row < 0 or not len(numbers):
            return
        column = self.places.column[numbers]
        ip = trace.source.extent(0).ip
        alone = (column < 0) | ((self.places.until[numbers] < FOREVER) & (self.places.until[numbers] < ip))
        for k in np.unique(column[~alone]):
            mine = numbers[~alone & (column == k)]
            raw = self._bytes(trace, frame, row, int(k), rows)
            if raw is None:
                alone |= column == k
            else:
                dtype = self.places.columns[k].dtype
                items = raw[self.places.offset[mine][:, None] + np.arange(dtype.itemsize)].view(dtype)[:, 0]
                self._note(mine, items)
        if alone.any():
            self._row[numbers[alone]] = UNREAD
            later.append((numbers[alone], row))

    def _bytes(self, trace: Trace, frame: int, row: int, column: int, rows: Any) -> np.ndarray | None:
        """A whole row as bytes, or None if it cannot be read in one piece."""
        place, source = self.places.columns[column].row, trace.source
        if not isinstance(source, LiveSource | KeptSource):
            return None
        at = range(row, row + 1)
        while frame != place.base - 1:  # its value is in an enclosing frame
            at = trace.reader.parent_rows(frame, at)
            frame = trace.layout.frames[frame].parent
        key = (place, int(at[0]))
        if key not in rows:
            there = key[1] >= source.first(place)
            rows[key] = source.take(place, range(key[1], key[1] + 1))[0] if there else None
        found: np.ndarray | None = rows[key]
        return found

    def _note(self, numbers: np.ndarray, items: np.ndarray) -> None:
        self.reads += len(numbers)
        if items.dtype.kind not in "biufc":
            return
        nan, inf = np.isnan(items), np.isinf(items)
        self.counted[numbers] = True
        self.nan[numbers], self.inf[numbers], self.zeros[numbers] = nan, inf, items == 0
        self.bytes[numbers] = items.dtype.itemsize
        shown = np.nan if items.dtype.kind == "c" else np.where(nan | inf, np.nan, items.astype(np.float64))
        self.least[numbers] = self.largest[numbers] = shown
        self.state[numbers] = np.where(nan, NOT_A_NUMBER, np.where(inf, INFINITE, FINE))

    def _one(self, trace: Trace, number: int, row: int) -> None:
        layout = self.places.values[number]
        assert layout is not None  # it is in a group
        self.reads += 1
        self._row[number] = row
        self._fixed[number] = layout.place is not None and layout.place.base == 0
        try:
            facts = facts_of(trace.reader.values(layout, range(row, row + 1))[0])
        except TROUBLE:  # it is not kept any more
            return
        if facts is None:
            return
        self.counted[number] = True
        self.least[number] = np.nan if facts.least is None else facts.least
        self.largest[number] = np.nan if facts.largest is None else facts.largest
        self.nan[number], self.inf[number], self.zeros[number], self.bytes[number] = facts[2:]
        self.state[number] = NOT_A_NUMBER if facts.nan else INFINITE if facts.inf else FINE

    @harmless
    def __repr__(self) -> str:
        return f"NewestFacts({len(self.places.names)} nodes, {self.reads} values read)"


_kept: WeakKeyDictionary[ViewSource, NewestFacts] = WeakKeyDictionary()
_guard = Lock()


def facts_of_nodes(source: ViewSource) -> NewestFacts:
    """The facts of a source, the same for all views of a panel."""
    with _guard:
        if source not in _kept:
            _kept[source] = NewestFacts(source.graph)
        return _kept[source]
