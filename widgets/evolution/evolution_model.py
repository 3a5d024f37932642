"""The evolution of values over the iterations as plain data: thinned lines, limit and label."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.analysis.live.histories import read_column
from workbench.errors import WorkbenchError
from workbench.widgets.evolution.evolution_lines import Line, curves_of, measured_of, statistics_of, why_not
from workbench.widgets.evolution.evolution_verdicts import verdict_of
from workbench.widgets.series.broadcast_series import of_activation
from workbench.widgets.series.series_reader import SeriesReader, width_of
from workbench.widgets.text.labels import short_name

if TYPE_CHECKING:
    from workbench.ir.graph import Graph
    from workbench.trace import Trace

#: scales of lines: values, or their magnitude or distance to the limit on a logarithmic axis
SCALES = ("linear", "log", "error")
#: a stretch of up to so many values is read from the record, a longer one from blocks with their extremes
EXACT = 250_000
#: maximum points of a stretch
DETAIL = 2000

FAILED = (KeyError, IndexError, ValueError, TypeError, WorkbenchError)


class EvolutionModel:
    """Follows values of a trace; ``update`` reads only values added since the last call.

    ``judged``: with a verdict on each value, the same on all screens. With ``statistics`` the lines are statistics of
    the elements of arrays, also of dropped ones if the trace has their statistics. ``outer`` is the iteration of the
    enclosing frames: only that activation of a nested loop is followed then, else all of them in order.
    """

    def __init__(
        self,
        names: Sequence[str],
        judged: bool = False,
        *,
        statistics: bool = False,
        outer: tuple[int, ...] | None = None,
    ) -> None:
        self.names, self.outer = list(names), outer
        self._judged, self._statistics = judged, statistics
        self._lines: dict[str, dict[str, Line]] = {name: {} for name in names}
        self._follow = {n: SeriesReader(partial(self._take, n), partial(self._cut, n)) for n in self.names}
        self._series: dict[str, Any] = {}
        self._measured: dict[str, bool] = {}  # for arrays: True if their statistics are in the trace
        self._trace: Trace | None = None
        self._kinds: dict[str, str] = {}
        self._why: dict[str, str] = {}

    @property
    def behind(self) -> bool:
        """True if recorded values are left to read; call ``update`` again."""
        return any(f.behind for f in self._follow.values())

    def update(
        self,
        trace: Trace | None,
        *,
        running: bool = False,
        verdicts: bool = True,
        log: bool = False,
        zoom: tuple[float, float] | None = None,
    ) -> dict[str, Any]:
        """Read new values and return the model.

        ``lines``: name, head (the name of its strip), number, of (the value's), suffix, width (elements of the value),
        x, y, bad (iteration and value of the first NaN or Inf), bad_count, bad_last, last, count, progress (the number
        of values read and of all values, or None), bool, whole; of the stretch ``zoom`` with up to ``DETAIL`` points,
        exact if it has at most ``EXACT`` values and the session does not run. ``verdicts``: name, label, limit, text,
        and as ``forecast`` and ``distance`` x, y, low and high of the values and of their distance to the limit.
        ``empty``: the reason why a name has no line. ``x_title``, ``log``.
        """
        self.attach(trace)
        for name, follower in self._follow.items():
            try:
                series = self.series(name)
            except FAILED:
                continue  # this run does not compute the value
            try:
                follower.read([series], running, trace)
            except FAILED as error:
                self._why[name] = f"cannot be read ({error})"
        lines: list[dict[str, Any]] = []
        for name in self.names:
            for suffix, line in self._lines[name].items():
                x, y = self._points(name, suffix, line, zoom, running)
                signed = log and bool((y < 0).any())
                y = np.abs(y) if log else y
                whole = line.whole
                own = short_name(name).removesuffix(":0")
                lines.append(
                    {
                        "name": own + suffix,
                        "head": f"|{own}|" if signed else own,
                        "number": len(lines),
                        "of": name,
                        "suffix": suffix,
                        "x": x,
                        "y": np.where(np.isfinite(y) & ((y > 0) | (not log)), y, np.nan),
                        "bad": whole.first_bad,
                        "bad_count": line.bad,
                        "bad_last": line.last_bad,
                        "bool": self._kinds.get(name) == "b",
                        "whole": self._kinds.get(name, "?") in "iu" and suffix not in (" (2-norm)", " 2-norm", " mean"),
                        "width": self._width(name),
                        "last": float(whole.y[-1]) if len(whole.y) else None,
                        "count": self._follow[name].count,
                        "progress": None if running else self._follow[name].progress,
                    }
                )
        deep = any(f.depth > 1 for f in self._follow.values())
        return {
            "lines": lines,
            "verdicts": [v for n in self.names if (v := self._verdict(n))] if verdicts else [],
            "empty": {n: w for n, w in self._why.items() if w and not self._lines[n]},
            "x_title": "iteration, all activations in order" if deep else "iteration",
            "log": log,
        }

    def attach(self, trace: Trace | None) -> None:
        """Read from this trace from now on."""
        if trace is not self._trace:
            self._trace, self._series = trace, {}

    def series(self, name: str) -> Any:
        """The series of a followed value, limited to one activation where that was requested."""
        if name not in self._series:
            if self._trace is None:
                raise KeyError(name)
            whole = self._trace[name]
            measured = whole.measured if self._statistics and len(whole.type.shape or ()) else None
            self._series[name] = of_activation(measured if measured is not None else whole, self.outer)
            self._measured[name] = measured is not None
        return self._series[name]

    def _lines_in(self, name: str) -> Callable[[Any], dict[str, np.ndarray]]:
        if not self._statistics:
            return curves_of
        return measured_of if self._measured.get(name) else statistics_of

    def deep(self, name: str) -> bool:
        """True if x of a value counts firings of all activations instead of iterations."""
        return self._follow[name].depth > 1 if name in self._follow else False

    # -- reading ----------------------------------------------------------------------------------------------------
    def _take(self, name: str, x: np.ndarray, columns: list[np.ndarray]) -> None:
        self._kinds[name] = columns[0].dtype.kind
        found = self._lines_in(name)(columns[0])
        if not found and len(columns[0]):
            self._why[name] = why_not(columns[0]) or "single numbers"
        for suffix, y in found.items():
            self._lines[name].setdefault(suffix, Line()).extend(x[: len(y)], y)

    def _cut(self, name: str, x: float) -> None:
        lines = self._lines[name]
        for line in lines.values():
            line.cut(x)
        for suffix in [s for s, line in lines.items() if not len(line.whole.x)]:
            del lines[suffix]

    def _points(
        self, name: str, suffix: str, line: Line, zoom: tuple[float, float] | None, running: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        x, y = line.whole.x, line.whole.y
        if zoom is None or not len(x) or zoom[0] <= x[0] and zoom[1] >= x[-1] and len(x) >= self._follow[name].count:
            return x, y
        low, high = max(zoom[0], float(x[0])), min(zoom[1], float(x[-1]))
        if low > high:
            return x, y
        if not running and high - low <= EXACT // max(1, self._width(name)):
            try:
                return line.exact(self._stretch(name, low, high), suffix, self._lines_in(name), DETAIL)
            except FAILED:
                pass  # rows were dropped meanwhile: the blocks contain them
        return line.zoomed(low, high, DETAIL)

    def _width(self, name: str) -> int:
        try:
            return width_of(self.series(name))
        except FAILED:
            return 1

    def _stretch(self, name: str, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
        """Indices and values of the firings from ``low`` to ``high``."""
        series = self.series(name)
        first = int(series.window(0, 1)[0][0, 0]) if not self.deep(name) else 0
        start, stop = max(0, int(np.floor(low)) - first), int(np.ceil(high)) - first + 1
        iterations, values = series.window(start, stop)
        deep = self.deep(name)
        x = np.arange(start, start + len(values)) if deep else iterations[:, 0]
        if not len(x) or x[0] > np.ceil(low) or x[-1] < np.floor(high) - 1:
            raise IndexError("only a part was kept")
        return x.astype(np.float64), np.asarray(values)

    # -- verdicts ----------------------------------------------------------------------------------------------------
    def _verdict(self, name: str) -> dict[str, Any] | None:
        if not self._judged or not self._lines[name] or self._trace is None:
            return None
        x = [line.whole.x for line in self._lines[name].values()]
        try:
            column = read_column(self._trace, self._trace.ref(name), outer=self.outer)
            found = verdict_of(name, column, [int(v[-1]) for v in x if len(v)])
        except FAILED:
            return None
        if found is not None:  # the line that it describes; a verdict on a norm of several lines describes none
            suffixes, k = list(self._lines[name]), found["line"]
            found["suffix"] = None if k is None or k >= len(suffixes) else suffixes[k]
        return found


def default_names(graph: Graph, limit: int = 6) -> list[str]:
    """The loop variables of all frames, outermost first; without loops the outputs."""
    names = [v.name for path in sorted(graph.frames, key=len) for v in graph.frames[path].variables]
    return (names or list(graph.outputs))[:limit]
