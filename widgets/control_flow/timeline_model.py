"""Frames, iterations and firings as bars over the events, as plain data; bounded however long the run is."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.ir.op_names import bare_op
from workbench.trace.row_ranges import as_array
from workbench.widgets.series.event_clock import EventClock
from workbench.widgets.text.labels import short_name
from workbench.widgets.text.loop_names import loop_name, place_words
from workbench.widgets.text.numerals import numeral

#: bars of the whole picture: about one a pixel
MAX_BARS = 1000
#: single firings are drawn in windows of at most so many events
MAX_FIRINGS = 400
MAX_LANES = 24


def timeline_model(clock: EventClock | None, window: tuple[float, float] | None = None) -> dict[str, Any]:
    """``lanes`` from the outermost frame inwards, then one of the firings where the window is small enough: ``name``,
    ``depth``, ``frame``, ``told`` and ``bars``; ``window`` (events), ``total``, ``exact``.

    A bar has ``kind`` ("activation", "iteration", "group", "firing"), ``begin``, ``length``, ``text``, ``hover``,
    ``frame``, ``iteration`` (path) and ``node``. A group stands for several iterations in a row where there is no room
    for each. Events are what the width means: the trace holds no clock times.
    """
    if clock is None:
        return {"lanes": [], "window": (0.0, 1.0), "total": 0, "exact": True, "hidden": 0}
    low, high = window or (0.0, float(clock.total))
    low, high = max(0.0, low), min(float(clock.total), high)
    if high - low < 1:
        low, high = 0.0, float(max(1, clock.total))
    paths = sorted({f.path for f in clock.layout.frames[1:]})
    room = MAX_BARS - MAX_FIRINGS
    shown = paths[:MAX_LANES]
    lanes = [_lane(clock, path, low, high, room // max(1, len(shown))) for path in shown]
    if high - low <= MAX_FIRINGS:
        lanes.append(_firings(clock, low, high))
    return {
        "lanes": lanes,
        "window": (low, high),
        "total": clock.total,
        "exact": clock.exact,
        "hidden": len(paths) - len(shown),
    }


def span_of(clock: EventClock | None, frame: tuple[str, ...], iteration: tuple[int, ...]) -> tuple[int, int] | None:
    """(begin, end) in events of an iteration, or None where it is not kept."""
    if clock is None:
        return None
    for number, layout in enumerate(clock.layout.frames):
        if number and layout.path == frame:
            try:
                row = clock.trace.reader.find_row(number, iteration)
            except WorkbenchError:
                row = None
            stretch = clock.frames[number]
            at = -1 if row is None else row - stretch.first
            if 0 <= at < len(stretch.begin):
                return int(stretch.begin[at]), int(stretch.begin[at] + stretch.width[at])
    return None


def _lane(clock: EventClock, path: tuple[str, ...], low: float, high: float, room: int) -> dict[str, Any]:
    bars: list[dict[str, Any]] = []
    iterations = activations = own = 0
    numbers = [n for n, f in enumerate(clock.layout.frames) if n and f.path == path]
    for number in numbers:
        stretch = clock.frames[number]
        init = int((stretch.starts >= stretch.first).sum())
        iterations += len(stretch.width) - init
        activations += len(stretch.starts)
        own += stretch.own
        share = room // len(numbers)
        bars += _activations(clock, number, low, high, share // 4)
        bars += _iterations(clock, number, low, high, share - share // 4)
    summary = _iterated(iterations)
    if activations > 1:
        summary = f"entered {numeral(activations)} times, {summary}"
    if clock.total:
        summary += f", {100 * own / clock.total:.0f} % of events"
    return {
        "name": loop_name(clock.trace.graph, path),
        "frame": path,
        "depth": len(path) - 1,
        "kind": "frame",
        "bars": bars,
        "told": summary,
    }


def _within(begin: np.ndarray, end: np.ndarray, low: float, high: float) -> np.ndarray:
    """Indexes of the stretches (ascending) that are not empty and reach into the window."""
    first, stop = int(np.searchsorted(end, low, "right")), int(np.searchsorted(begin, high, "left"))
    found = np.arange(first, max(first, stop))
    return found[end[found] > begin[found]]


def _iterations(clock: EventClock, number: int, low: float, high: float, room: int) -> list[dict[str, Any]]:
    stretch, path = clock.frames[number], clock.layout.frames[number].path
    rows = _within(stretch.begin, stretch.end, low, high)
    each = -(-len(rows) // max(1, room))
    firsts, lasts = rows[::each] if each else rows, np.append(rows[each - 1 :: each], rows[-1:]) if each else rows
    lasts = lasts[: len(firsts)]
    iterations = clock.trace.reader.iterations(number, firsts + stretch.first)
    until = clock.trace.reader.iterations(number, lasts + stretch.first) if each > 1 else iterations
    bars = []
    for k, (a, b) in enumerate(zip(firsts, lasts, strict=True)):
        begin, length = int(stretch.begin[a]), int(stretch.begin[b] + stretch.width[b] - stretch.begin[a])
        iteration = tuple(int(i) for i in iterations[k])
        bars.append(
            {
                "kind": "iteration" if a == b else "group",
                "begin": begin,
                "length": length,
                "frame": path,
                "iteration": iteration,
                "node": "",
                "text": str(iteration[-1]) if a == b else "",
                "hover": _hover(clock, path, iteration, tuple(int(i) for i in until[k]), int(b - a) + 1, begin, length),
            }
        )
    return bars


def _activations(clock: EventClock, number: int, low: float, high: float, room: int) -> list[dict[str, Any]]:
    """One bar from entry to exit, for loops that are entered again and again; there is no room for very many."""
    stretch, path = clock.frames[number], clock.layout.frames[number].path
    if not len(stretch.starts):
        return []
    low_row = stretch.starts - stretch.first
    first, stop = np.maximum(low_row + 1, 0), np.append(low_row[1:], len(stretch.width))
    kept = stop > first
    first, stop = first[kept], stop[kept]
    begin, end = stretch.begin[first], stretch.end[stop - 1]
    found = _within(begin, end, low, high)
    if len(found) > room:
        return []
    around = clock.trace.reader.iterations(number, first[found] + stretch.first)
    name = loop_name(clock.trace.graph, path)
    return [
        {
            "kind": "activation",
            "begin": int(begin[k]),
            "length": int(end[k] - begin[k]),
            "frame": path[:-1],
            "iteration": tuple(int(i) for i in around[n][:-1]),
            "node": "",
            "text": "",
            "hover": f"{_where(clock, path[:-1], tuple(int(i) for i in around[n][:-1]))}{name}: "
            f"{_iterated(int(stop[k] - first[k]))}, {_events(int(begin[k]), int(end[k] - begin[k]))}",
        }
        for n, k in enumerate(found)
    ]


def _firings(clock: EventClock, low: float, high: float) -> dict[str, Any]:
    """Every firing in the window, in order."""
    bars = [bar for number in range(len(clock.layout.frames)) for bar in _fired(clock, number, low, high)]
    bars = sorted(bars, key=lambda b: b["begin"])[:MAX_FIRINGS]
    return {
        "name": "nodes",
        "frame": None,
        "depth": 0,
        "kind": "firings",
        "bars": bars,
        "told": f"{numeral(len(bars))} node execution{'' if len(bars) == 1 else 's'}",
    }


def _fired(clock: EventClock, number: int, low: float, high: float) -> list[dict[str, Any]]:
    stretch, path = clock.frames[number], clock.layout.frames[number].path
    rows = _within(stretch.begin, stretch.end, low, high)
    if not len(rows):
        return []
    window = (int(rows[0]) + stretch.first, int(rows[-1]) + stretch.first + 1)
    cuts = [clock.layout.frames[c].start for c in clock.inner[number]]
    extent = clock.trace.source.extent(number)
    held: dict[tuple[int, int], list[Any]] = {}  # (row, part) -> nodes
    for (part, _, _), nodes in clock.groups(number, cuts).items():
        for row in as_array(clock.trace.reader.rows_of(nodes[0], nodes[0].guard, window)):
            reached = [n for n in nodes if row != extent.partial or n.ip < extent.ip]
            held.setdefault((int(row) - stretch.first, part), []).extend(reached)
    paths = {
        int(r): tuple(int(i) for i in it)
        for r, it in zip(rows, clock.trace.reader.iterations(number, rows + stretch.first), strict=True)
    }
    bars = []
    for (row, part), nodes in held.items():
        if row not in paths:
            continue
        behind = stretch.ahead[part][row] if part < len(cuts) else stretch.width[row]
        begin = int(stretch.begin[row] + behind) - len(nodes)
        for k, node in enumerate(sorted(nodes, key=lambda n: n.ip)):
            if low <= begin + k < high:
                op = bare_op(node.op)
                words = f"{_where(clock, path, paths[row])}{node.name} ({op}), event {numeral(begin + k)}"
                bars.append(
                    {
                        "kind": "firing",
                        "begin": begin + k,
                        "length": 1,
                        "frame": path,
                        "iteration": paths[row],
                        "node": node.name,
                        "text": short_name(node.name),
                        "hover": words,
                    }
                )
    return bars


def _where(clock: EventClock, path: tuple[str, ...], iteration: tuple[int, ...]) -> str:
    words = place_words(clock.trace.graph, path, iteration)
    return f"{words}: " if words else ""


def _iterated(count: int) -> str:
    return f"{numeral(count)} iteration{'' if count == 1 else 's'}"


def _events(begin: int, length: int) -> str:
    return f"{numeral(length)} event{'' if length == 1 else 's'} from {numeral(begin)} on"


def _hover(
    clock: EventClock,
    path: tuple[str, ...],
    first: tuple[int, ...],
    last: tuple[int, ...],
    count: int,
    begin: int,
    length: int,
) -> str:
    if count == 1:
        return _where(clock, path, first) + _events(begin, length)
    return (
        f"{_where(clock, path, first)[:-2]} to {_where(clock, path, last)}{_iterated(count)}, {_events(begin, length)}"
    )
