"""Memory use by owner, as plain data: arrays of managers over time, a run over its events, a record by value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.widgets.memory.memory_bars import MAX_BARS, bar, label, recorded
from workbench.widgets.memory.shape_trie_model import size_text
from workbench.widgets.series.thinning import Thinned, thin
from workbench.widgets.text.numerals import numeral

if TYPE_CHECKING:
    from workbench.trace import Trace

#: managers with a line of their own, the largest first; points of a line; places for events
MAX_LINES, MAX_POINTS, EVENT_PLACES = 5, 400, 40


def arrays_words(count: int, size: int) -> str:
    """``1 array, 24 B``."""
    return f"{numeral(count)} array{'' if count == 1 else 's'}, {size_text(size)}"


# -- managers and the ledger -----------------------------------------------------------------------------------------
def ledger_model(memory: Any, path: str | None = None) -> dict[str, Any]:
    """``lines`` (name, x seconds, y bytes; the first is the whole), ``peak`` (x, y), ``limit``, ``events``, ``rows`` of
    a table, ``headline``, ``words``. With ``path``, only that manager and its submanagers.

    ``memory``: figures of the ledger with their curves.
    """
    found = [m for m in memory.managers if path is None or m.name == path or m.name.startswith(f"{path}/")]
    own = next((m for m in found if m.name == path), None)
    starts = [points[0][0] for points in (memory.levels, *(m.levels for m in found)) if points]
    ends = [points[-1][0] for points in (memory.levels, *(m.levels for m in found)) if points]
    start, end = min(starts, default=0.0), max(ends, default=0.0)
    whole = memory.levels if path is None else own.levels if own is not None else ()
    lines = [_line("all arrays" if path is None else f"{path} itself" if len(found) > 1 else path, whole, start, end)]
    others = [m for m in found if m is not own and m.levels]
    lines += [_line(m.name, m.levels, start, end) for m in sorted(others, key=lambda m: -m.peak)[:MAX_LINES]]
    top = max(whole, key=lambda point: point[1], default=None)
    events = [e for e in memory.events if path is None or e.name == path or e.name.startswith(f"{path}/")]
    live, size = memory.live, memory.bytes
    peak = f"peak {size_text(memory.peak)}"
    if path is not None:
        live, size = sum(m.live for m in found), sum(m.bytes for m in found)
        peak = "closed" if own is None else f"{'itself at most' if len(found) > 1 else 'peak'} {size_text(own.peak)}"
    return {
        "kind": "ledger",
        "lines": lines,
        "peak": None if top is None else {"x": top[0] - start, "y": top[1], "text": f"peak {size_text(top[1])}"},
        "limit": None if own is None else own.limit,
        "events": _events(events, start, end),
        "rows": [
            [
                m.name,
                numeral(m.live),
                size_text(m.bytes),
                size_text(m.peak),
                numeral(m.made),
                numeral(m.released),
                numeral(m.collected),
                "" if m.limit is None else size_text(m.limit),
            ]
            for m in found[: 2 * MAX_LINES]
        ],
        "more": max(0, len(found) - 2 * MAX_LINES),
        "headline": f"{arrays_words(live, size)} \u00b7 {peak}",
        "words": _unused_words(memory),
        "collecting": memory.collecting,
        "bars": [],
        "curves": True,
        "lifetimes": False,
    }


def _events(events: Sequence[Any], start: float, end: float) -> list[dict[str, Any]]:
    """Overlapping events of one kind are one."""
    together: dict[tuple[str, int], list[Any]] = {}
    for e in events:
        together.setdefault((e.kind, int(EVENT_PLACES * (e.seconds - start) / max(end - start, 1e-9))), []).append(e)
    return [
        {
            "x": max(0.0, group[0].seconds - start),
            "kind": kind,
            "name": group[0].name if len({e.name for e in group}) == 1 else "several managers",
            "words": arrays_words(sum(e.arrays for e in group), sum(e.bytes for e in group)),
        }
        for (kind, _), group in together.items()
    ]


def _unused_words(memory: Any) -> str:
    unused = arrays_words(memory.unused, memory.unused_bytes)
    if memory.collecting:
        return (
            f"Collection of unused arrays is on: {numeral(memory.collected)} of "
            f"{numeral(memory.made)} arrays made were collected."
        )
    if memory.unused:
        return f"Collection of unused arrays is off: {unused} without a handle are kept."
    return "Collection of unused arrays is off. No array is unused."


def _line(name: str, points: Sequence[tuple[float, int]], start: float, end: float) -> dict[str, Any]:
    x = np.array([p[0] - start for p in points] + ([end - start] if points else []), np.float64)
    y = np.array([p[1] for p in points] + ([points[-1][1]] if points else []), np.float64)
    x, y = thin(x, y, MAX_POINTS)
    return {"name": name, "x": x, "y": y, "now": int(points[-1][1]) if points else 0}


# -- a session ---------------------------------------------------------------------------------------------------------
class SessionMemory:
    """Follows the bytes of a run over its events; going back cuts the curves there."""

    PARTS = ("rows", "checkpoints", "feeds", "device")

    def __init__(self) -> None:
        self._series = {part: Thinned(MAX_POINTS) for part in self.PARTS}
        self._peak: tuple[int, int] = (0, 0)

    def update(self, figures: Any) -> dict[str, Any]:
        """The same keys as :func:`ledger_model`, and ``curves``: False while no line has risen or fallen yet, so that
        there is nothing to see in them. ``bars`` and ``lifetimes`` (of what they are) are added by the view."""
        for part, series in self._series.items():
            series.cut(figures.event)
            series.extend(np.array([figures.event]), np.array([getattr(figures, part)]))
        if figures.total > self._peak[1]:
            self._peak = figures.event, figures.total
        words = {"rows": "rows of the trace", "checkpoints": "checkpoints", "feeds": "inputs"}
        if figures.device_name:
            words["device"] = f"device {figures.device_name}"
        lines = [
            {"name": words[p], "x": s.x, "y": s.y, "now": getattr(figures, p)}
            for p, s in self._series.items()
            if p in words
        ]
        curves = any(len(line["y"]) > 1 and line["y"].max() > line["y"].min() for line in lines)
        shares = ", ".join(f"{line['name']} {size_text(line['now'])}" for line in lines)
        return {
            "kind": "session",
            "lines": lines,
            "peak": {"x": self._peak[0], "y": self._peak[1], "text": f"peak overall {size_text(self._peak[1])}"},
            "limit": figures.budget,
            "events": [],
            "rows": [],
            "more": 0,
            "headline": f"{size_text(figures.total)} \u00b7 peak so far {size_text(self._peak[1])} \u00b7 "
            f"budget of the trace {size_text(figures.budget)}",
            "words": "" if curves else f"{shares[0].upper()}{shares[1:]}.",
            "collecting": None,
            "bars": [],
            "curves": curves,
            "lifetimes": False,
        }


# -- a record ----------------------------------------------------------------------------------------------------------
def trace_model(trace: Trace) -> dict[str, Any]:
    """Bytes of the record by value, the largest first, as ``bars``; objects have no known size. Values that share one
    place (a Merge, its Switch and Exit) are one bar.
    """
    sizes, unknown = recorded(trace)
    total = sum(one.bytes for one in sizes)
    bars = [bar(one.name, label(trace.graph, one.node, one.output), one.bytes, one.rows) for one in sizes[:MAX_BARS]]
    values = f"{numeral(len(sizes))} recorded value{'' if len(sizes) == 1 else 's'}"
    rest = f"; {numeral(unknown)} of unknown size are left out" if unknown else ""
    return {
        "kind": "trace",
        "lines": [],
        "peak": None,
        "limit": None,
        "events": [],
        "rows": [],
        "more": 0,
        "bars": bars,
        "headline": f"{size_text(total)} in {values}{rest}",
        "words": "",
        "collecting": None,
        "curves": False,
        "lifetimes": False,
    }
