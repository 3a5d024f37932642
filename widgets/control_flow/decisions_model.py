"""Which way each Switch went, over time, as plain data: one row per Switch, steps between false and true."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.widgets.series.series_reader import SeriesReader
from workbench.widgets.series.thinning import Thinned
from workbench.widgets.text.labels import short_name
from workbench.widgets.text.loop_names import loop_name
from workbench.widgets.text.numerals import numeral

if TYPE_CHECKING:
    from workbench.ir.graph import Graph
    from workbench.trace import Trace

BUDGET = 800


def decisions(graph: Graph, limit: int = 12) -> list[dict[str, Any]]:
    """The decisions of a graph, one row per predicate: name, the value that decides, and the Switches that obey it."""
    rows: dict[Any, dict[str, Any]] = {}
    for node in graph.nodes.values():
        if node.op != "Switch" or len(node.inputs) < 2:
            continue
        pred = node.inputs[1]
        loop = graph.nodes[pred.node].op == "LoopCond"
        frame = graph.frame_of(node.name)
        where = loop_name(graph, frame) if frame else ""
        row = rows.setdefault(
            pred,
            {
                "name": f"{where}: go on" if loop else short_name(node.attrs.get("branch") or pred.node),
                "pred": str(pred),
                "switches": [],
                "loop": loop,
                "frame": frame,
            },
        )
        row["switches"].append(node.name)
    return list(rows.values())[:limit]


class ControlFlowModel:
    """Follows the decisions of a graph; reads only what is new at each update."""

    def __init__(self, graph: Graph) -> None:
        self.rows = [_Decision(row) for row in decisions(graph)]

    @property
    def behind(self) -> bool:
        """True if recorded decisions are left to read; call ``update`` again."""
        return any(row.follow.behind for row in self.rows)

    def update(self, trace: Trace | None, *, running: bool = False) -> dict[str, Any]:
        """``rows``: name, pred (the value that decides), switches, frame, loop, x (number of the decision), y (0 false,
        1 true), count, n_false, n_true (``exact`` or not), last, text."""
        return {"rows": [row.update(trace, running) for row in self.rows], "x_title": "decision"}


def runs(row: dict[str, Any], limit: int, single: int) -> list[dict[str, Any]]:
    """The decisions of a row as stretches of the same outcome: ``begin``, ``length`` (decisions), ``side`` (True,
    False, or None for both in alternation, where there is no room to draw each); one by one if there are at most
    ``single``."""
    x, y = np.asarray(row["x"], dtype=np.float64), np.asarray(row["y"], dtype=np.float64)
    if not len(x):
        return []
    end = max(float(row["count"]), x[-1] + 1)
    if len(x) <= single and len(x) == end - x[0]:
        edges = np.arange(len(x))
    else:
        edges = np.flatnonzero(np.concatenate([[True], y[1:] != y[:-1]]))
    begin, side = x[edges], y[edges] > 0.5
    stop = np.append(begin[1:], end)
    if len(begin) <= limit:
        found = zip(begin, stop, side, strict=True)
        return [{"begin": float(a), "length": float(b - a), "side": bool(s)} for a, b, s in found]
    merged: list[dict[str, Any]] = []
    bins = np.linspace(x[0], end, limit // 2 + 1)
    # for each bin: the stretches that reach into it, and how many of them are true
    first, last = np.searchsorted(stop, bins[:-1], "right"), np.searchsorted(begin, bins[1:], "left")
    so_far = np.concatenate([[0], np.cumsum(side)])
    true, inside = so_far[last] - so_far[first], last - first
    for low, high, t, n in zip(bins, bins[1:], true.tolist(), inside.tolist(), strict=False):
        one = None if n == 0 or 0 < t < n else t > 0
        if merged and merged[-1]["side"] is one and one is not None:
            merged[-1]["length"] += float(high - low)
        else:
            merged.append({"begin": float(low), "length": float(high - low), "side": one})
    return merged


class _Decision:
    """One predicate: how often it was false and true, and its outcomes in order."""

    def __init__(self, row: dict[str, Any]) -> None:
        self.row = row
        self.line = Thinned(BUDGET)
        self.counts = [0, 0]
        self.follow = SeriesReader(self._take, self._cut, whole=True)

    def update(self, trace: Trace | None, running: bool) -> dict[str, Any]:
        if trace is not None:
            try:
                self.follow.read([trace[self.row["pred"]]], running, trace)
            except (KeyError, TypeError, WorkbenchError):
                pass  # a predicate that this run does not compute
        n_false, n_true = self.counts
        seen = n_false + n_true
        exact = seen == self.follow.count
        if seen and not exact:  # some decisions were skipped: a loop that runs once is false only at its end
            if self.row["loop"] and self.follow.depth == 1:
                n_true, exact = self.follow.count - n_false, True
            else:
                n_true = round(n_true * self.follow.count / seen)
                n_false = self.follow.count - n_true
        about = "" if exact else "about "
        return {
            "name": self.row["name"],
            "loop": self.row["loop"],
            "switches": list(self.row["switches"]),
            "pred": self.row["pred"],
            "frame": self.row["frame"],
            "count": self.follow.count,
            "x": self.line.x,
            "y": self.line.y,
            "n_false": n_false,
            "n_true": n_true,
            "exact": exact,
            "last": bool(self.line.y[-1]) if len(self.line.y) else None,
            "text": f"{about}{numeral(n_true)} true, {numeral(n_false)} false",
        }

    def _take(self, x: np.ndarray, columns: list[np.ndarray]) -> None:
        values = columns[0].reshape(len(x), -1)[:, 0].astype(bool) if len(x) else np.empty(0, bool)
        true = int(values.sum())
        self.counts[0] += len(values) - true
        self.counts[1] += true
        self.line.extend(x, values.astype(np.float64))

    def _cut(self, x: float) -> None:
        self.line.cut(x)
        self.counts = [0, 0]
