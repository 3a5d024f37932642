"""Reading a growing series with bounded cost, however fast the loop runs and however much it has recorded.

A loop can record tens of millions of rows a second; a view can draw a thousand. While the loop runs, each update reads
at most ``LIVE`` rows (fewer for arrays: ``ELEMENTS`` elements): all new ones if there are no more, else every k-th
(extremes between them may be missed). When it is paused, sampled stretches are read again in full, in chunks of
``CHUNK`` rows within ``SLICE_S`` seconds per update, so that the picture of a paused run keeps every extreme that the
trace still has.

A value on a branch fires only in some iterations, and counting its firings requires every row: it is followed by rows,
in stretches, and the number of firings is estimated until all rows have been read.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.widgets.series.rewritten import Rewritten

if TYPE_CHECKING:
    from workbench.ir.graph import Graph
    from workbench.trace import Trace

CHUNK = 200_000
#: rows of a look while it runs: the views share the processor with the run
LIVE = 40_000
#: maximum elements of arrays read at once
ELEMENTS = 2_000_000
HEAD = 4_000
#: rows of a value on a branch while it runs, if there are more: so many stretches of so many rows
STRETCHES, STRETCH = 8, 500
SLICE_S = 0.08
SLOW_S = 0.02
SHORT = 10_000
#: consecutive updates of a paused run that may fail before the view shows the error
TRIES = 3

#: take(x, columns): firing indices (float64) and one array of values per followed series
Take = Callable[[np.ndarray, list[np.ndarray]], None]


class SeriesReader:
    """Follows one or more series that fire together (in the same rows).

    ``take`` receives the values read; ``cut(number)`` must forget all values from that firing on (all values if it
    cannot separate parts: ``whole``).
    """

    def __init__(self, take: Take, cut: Callable[[float], None], *, whole: bool = False) -> None:
        self._take, self._cut, self._whole = take, cut, whole
        self._rewritten = Rewritten()
        self._next = 0  # index of the next firing to read
        self._sampled = False
        self._length = 0
        self._slow = 0.0
        self._chunk = CHUNK
        self._seen = self._looked = 0  # for a value on a branch: firings taken, and rows read
        self._by_rows = False  # it is on a branch
        self.count = 0  # firings so far, also those that were dropped since
        self.behind = False
        #: loops around the followed values: 0 for one that fires once
        self.depth = 1
        #: errors of repeated updates, by their text
        self.failed: Counter[str] = Counter()
        self._tries = 0

    def read(self, series: Sequence[Any], running: bool, trace: Trace | None = None) -> None:
        """Read new values. ``behind`` is True if more remain to be read while the run is paused.

        Firings of the ``trace`` that have changed since the last update are read again.
        """
        if running and self._slow > SLOW_S:
            return  # counting the firings is slow for this value (it lives on a branch): wait for the next stop
        started = time.perf_counter()
        try:
            self._again(self._rewritten.since(trace, series, self._next))
            self._by_rows = len(series) == 1 and getattr(series[0], "conditional", False)
            if self._by_rows:
                self._read_rows(series[0], running, started)
                return
            length = min(len(s) for s in series)
            self._slow = time.perf_counter() - started
            if length == 0:
                self.forget()
                return
            first = self._first(series[0])
            self._read(series, first, first + length, running, started)
        except (IndexError, ValueError, WorkbenchError) as error:
            # rows were dropped between two reads; the next update reads a consistent state
            self.failed[f"{type(error).__name__}: {error}"] += 1
            self._tries = 0 if running else self._tries + 1
            self.behind = 0 < self._tries < TRIES
            if self._tries >= TRIES:
                raise  # nothing changes any more: the next update would fail as well
        else:
            self._tries = 0

    @property
    def progress(self) -> tuple[int, int] | None:
        """The numbers of firings read and of all firings; None if all were read or the total is unknown."""
        return (self._next, self.count) if self.behind and not self._by_rows else None

    def _again(self, since: float) -> None:
        """Read again firings that may have changed, from index ``since``."""
        if since >= self._next or not self._next:
            return
        if self._by_rows or self._whole or self.depth != 1 or since <= 0:
            self._cut(0.0)
            self._next = self._seen = self._looked = 0
            self._sampled = False
        else:
            self._cut(since)
            self._next = int(since)

    def _first(self, series: Any) -> int:
        """Index of the oldest kept firing: its iteration in a loop that runs once, else 0."""
        iterations = series.window(0, 1)[0]
        self.depth = iterations.shape[1]
        return int(iterations[0, 0]) if self.depth == 1 else 0

    def _read(self, series: Sequence[Any], first: int, stop: int, running: bool, started: float) -> None:
        gaps = any(getattr(s, "gaps", False) for s in series)  # reading changes the positions of kept rows
        if (gaps and (running or self._length != stop - first)) or stop < self._next or (self._sampled and not running):
            self._restart(first)
        self._length = stop - first
        self._chunk = max(1, min(LIVE if running else CHUNK, ELEMENTS // max(width_of(s) for s in series)))
        start = max(self._next, first)
        while start < stop:
            many = stop - start > self._chunk
            # the first values of a stretch are read one by one: a loop moves most where it starts
            head = running and many and start == max(self._next, first)
            step = -(-(stop - start) // self._chunk) if running and not head else 1
            end = start + min(HEAD, self._chunk) if head else stop if running else min(stop, start + self._chunk)
            x, columns = self._window(series, start, first, end, step)
            self._take(x, columns)
            self._sampled |= step > 1
            start = end
            if self.depth == 1 and not gaps and len(x):
                start = int(x[-1]) + step  # later than requested if rows were dropped meanwhile
            if time.perf_counter() - started > SLICE_S and not running:
                break
        self._next, self.count, self.behind = start, max(start, stop), start < stop

    def _read_rows(self, series: Any, running: bool, started: float) -> None:
        """The same of a value on a branch; ``_next`` is a row."""
        span = series.rows
        stop, self.depth = span.stop, len(series.frame)
        if stop < self._next or not len(span) or (self._sampled and not running):
            self._cut(max(0.0, span.start - 1.0) if self.depth == 1 else 0.0)
            self._next, self._sampled, self._seen, self._looked = span.start, False, 0, 0
        start = max(self._next, span.start)
        if running and stop - start > LIVE:
            if self.depth != 1:
                return  # its index is known only when all earlier firings are counted: wait for the next stop
            lows = np.linspace(start, stop - STRETCH, STRETCHES).astype(int).tolist()
            self._take_rows(series, [(low, low + STRETCH) for low in lows])
            start, self._sampled = stop, True
        while start < stop:
            end = min(stop, start + CHUNK)
            self._take_rows(series, [(start, end)])
            start = end
            if time.perf_counter() - started > SLICE_S and not running:
                break
        self._next, self.behind = start, start < stop
        self.count = round(self._seen * stop / self._looked) if self._looked < stop and self._looked else self._seen

    def _take_rows(self, series: Any, stretches: Sequence[tuple[int, int]]) -> None:
        parts = [series.within(*stretch) for stretch in stretches]
        iterations, values = (np.concatenate([np.asarray(p[k]) for p in parts]) for k in (0, 1))
        x = iterations[:, 0] if self.depth == 1 else self._seen + np.arange(len(iterations))
        self._take(x.astype(np.float64), [values])
        self._seen += len(x)
        self._looked += sum(stop - start for start, stop in stretches)

    def _window(
        self, series: Sequence[Any], start: int, first: int, end: int, step: int
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        """Indices and values of the firings ``start`` .. ``end``; ``first`` was the oldest kept one.

        Rows can leave between that question and this one, and between two series: then these are other firings, so
        their numbers are those of the source values.
        """
        parts = [s.window(start - first, end - first, step) for s in series]
        columns = [np.asarray(values) for _, values in parts]
        if self.depth != 1:  # the iteration does not determine the index of the firing
            size = min(len(c) for c in columns)
            return start + step * np.arange(size, dtype=np.float64), [c[:size] for c in columns]
        numbers = [iterations[:, 0] for iterations, _ in parts]
        common = numbers[0]
        if any(not np.array_equal(common, n) for n in numbers[1:]):
            for n in numbers[1:]:
                common = np.intersect1d(common, n, assume_unique=True)
            columns = [c[np.isin(n, common)] for c, n in zip(columns, numbers, strict=True)]
        return common.astype(np.float64), columns

    def forget(self) -> None:
        """Forget all values: the run has gone back before the first firing of the followed series."""
        if self._next:
            self._restart()
        self.count, self.behind = 0, False

    def _restart(self, first: int = 0) -> None:
        """Read again from the oldest kept firing; samples of older ones are kept."""
        self._cut(float(first))
        self._next, self._sampled = first, False


def width_of(series: Any) -> int:
    """The number of elements of one value of a series, if its type determines it (else 1)."""
    shape = getattr(getattr(series, "type", None), "shape", None) or ()
    return max(1, math.prod(d or 1 for d in shape))


def last_iterations(trace: Trace, graph: Graph) -> dict[tuple[str, ...], tuple[int, ...]]:
    """Frame path -> iteration path of the newest evaluation of its condition; at a cost that does not grow."""
    found = {}
    for path, frame in graph.frames.items():
        if not path or frame.loop_cond is None:
            continue
        try:
            series = trace[f"{frame.loop_cond}:0"]
            count = len(series)
            if count:
                found[path] = tuple(int(i) for i in series.window(count - 1, count)[0][-1])
        except (KeyError, IndexError, TypeError, ValueError, WorkbenchError):
            continue  # not computed in this run, or rows were dropped between the questions
    return found


def open_paths(progress: Mapping[tuple[str, ...], int]) -> dict[tuple[str, ...], tuple[int, ...]]:
    """Frame path -> iteration path of the frames that are open, from the iteration that each frame is in."""
    found = {}
    for path in progress:
        at = tuple(progress.get(path[: k + 1], -1) for k in range(len(path)))
        if path and min(at) >= 0:
            found[path] = at
    return found


def latest(
    trace: Trace, name: str, iterations: Mapping[tuple[str, ...], tuple[int, ...]]
) -> tuple[Any, tuple[int, ...]] | None:
    """The newest value of a node and its iteration path, or None: found by its iteration (see ``last_iterations``), not
    by counting firings.

    A value on a branch is searched in the three newest iterations; in a short record in all of them.
    """
    series = trace[name]
    path = iterations.get(series.frame)
    if not series.frame or path is None:
        return _last(series)
    for offset in (1, 0, -1, -2):  # the values of the next iteration may be recorded already
        if path[-1] + offset < 0:
            break
        at = (*path[:-1], path[-1] + offset)
        try:
            return series.at(at), at
        except WorkbenchError:
            continue
    return _last(series) if path[-1] < SHORT else None


def _last(series: Any) -> tuple[Any, tuple[int, ...]] | None:
    return (series[-1], series.tag(-1).iteration if series.frame else ()) if len(series) else None
