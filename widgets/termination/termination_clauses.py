"""The comparisons in a loop's condition: their operands, and the gap between them, over the iterations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.analysis.forecast.convergence_curve import forecast_gap
from workbench.analysis.series.classify import classify_history
from workbench.analysis.series.value_series import WINDOW, History
from workbench.analysis.verdict import trend_of
from workbench.errors import WorkbenchError
from workbench.ir.node import Ref
from workbench.widgets.evolution.convergence_model import ahead_model
from workbench.widgets.series.broadcast_series import Spread, of_activation
from workbench.widgets.series.series_reader import SeriesReader
from workbench.widgets.series.thinning import Thinned
from workbench.widgets.text.labels import SYMBOLS
from workbench.widgets.text.loop_names import written, written_out

if TYPE_CHECKING:
    from workbench.ir.graph import Graph
    from workbench.trace import Trace

#: points of a gap's forecast, and number of gaps for its trend
AHEAD, TREND = 80, 8
#: characters of a formula
ROOM = 40
COMPARISONS = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
LOGIC = ("logical_and", "logical_or", "logical_not", "Identity", "all", "any")


def clauses_of(graph: Graph, path: tuple[str, ...]) -> list[dict[str, Any]]:
    """The comparisons in a frame's LoopCond: op, both operands, and a text such as ``|x × x − a| > 1e−12``."""
    frame = graph.frames.get(path)
    if frame is None or frame.loop_cond is None:
        return []
    found: list[dict[str, Any]] = []
    queue = [graph.nodes[frame.loop_cond].inputs[0]]
    seen: set[Ref] = set()
    while queue:
        ref = queue.pop(0)
        node = graph.nodes[ref.node]
        if ref in seen:
            continue
        seen.add(ref)
        if node.op in COMPARISONS:
            left, right = node.inputs[0], node.inputs[1]
            names = written(graph, left, ROOM), written(graph, right, ROOM)
            text = written_out(graph, ref, ROOM) or f"{names[0]} {SYMBOLS[node.op]} {names[1]}"
            found.append({"node": node.name, "op": node.op, "left": left, "right": right, "text": text, "names": names})
        elif node.op in LOGIC:
            queue.extend(node.inputs)
    return found


def loops(graph: Graph) -> list[tuple[str, ...]]:
    """Paths of the frames that have a condition, outermost first."""
    return [p for p in sorted(graph.frames, key=lambda p: (len(p), p)) if p and graph.frames[p].loop_cond]


class ClauseModel:
    """One comparison: its operands over the iterations, and the gap between them."""

    def __init__(self, graph: Graph, clause: dict[str, Any], outer: tuple[int, ...] | None = None) -> None:
        self.graph, self.clause, self.outer = graph, clause, outer
        self._series: dict[str, Any] = {}
        self._trace: Trace | None = None
        self.gap, self._sides = Thinned(), (Thinned(), Thinned())
        self.follow = SeriesReader(self._take, self._cut)
        self._fixed: list[float | None] = [None, None]
        self._now: tuple[float, float] | None = None
        self._whole = False

    def update(self, trace: Trace | None, running: bool) -> dict[str, Any]:
        if trace is not self._trace:
            self._trace, self._series = trace, {}
        if trace is not None:
            sides = [self._side(trace, self.clause["left"]), self._side(trace, self.clause["right"])]
            if all(side is not None for side in sides):
                fixed = [side if isinstance(side, float) else None for side in sides]
                if repr(fixed) != repr(self._fixed):  # as text: NaN is equal to NaN there
                    self.follow.forget()  # a changed number changes the gap in all iterations
                self._fixed = fixed
                moving = [side for side in sides if not isinstance(side, float)]
                if moving:
                    self.follow.read(moving, running, trace)
            else:  # what the loop reads from outside has not fired (again)
                self.follow.forget()
        left: Any
        right: Any
        left, right = self._now or (None, None)
        known = left is not None and right is not None
        gap = left - right if known else None
        return {
            "text": self.clause["text"],
            "node": self.clause["node"],
            "left": left,
            "right": right,
            "gap": gap,
            "at": float(self.gap.x[-1]) if known and len(self.gap.x) else None,
            "holds": holds(self.clause["op"], left, right) if known else None,
            "x": self.gap.x,
            "y": np.abs(self.gap.y),
            "op": self.clause["op"],
            "left_text": self.clause["names"][0],
            "right_text": self.clause["names"][1],
            "refs": [str(self.clause["left"]), str(self.clause["right"])],
            "sides": [(side.x, side.y) for side in self._sides],
            "fixed": list(self._fixed),
            "whole": self._whole,
            "trend": "",
            "elements": None if known else self._elements(trace),
        }

    def _elements(self, trace: Trace | None) -> tuple[int, int] | None:
        """For a comparison of arrays, the number of elements for which it holds now, and of all elements."""
        if trace is None:
            return None
        try:
            newest = np.asarray(of_activation(trace[f"{self.clause['node']}:0"], self.outer)[-1])
        except (LookupError, TypeError, WorkbenchError):
            return None
        return (int(np.count_nonzero(newest)), newest.size) if newest.size > 1 else None

    def trend(self, trace: Trace | None) -> str:
        """shrinking, constant, growing, cycling or nan: of the newest gaps; "" if there are too few."""
        try:
            gap = self._recent(trace)
        except (WorkbenchError, LookupError, ValueError, TypeError):
            return ""
        return "" if gap is None or len(gap) < 3 else trend_of(np.abs(gap[-TREND:]).tolist())

    def ahead(self, trace: Trace | None, wanted: float | None, proved: bool = False) -> dict[str, Any] | None:
        """The forecast of the gap from its newest values, up to ``wanted`` evaluations ahead; None without a model, and
        for a forecast that contradicts a ``proved`` end."""
        try:
            gap = self._recent(trace)
            if gap is None or len(gap) < 5 or not len(self.gap.x):
                return None
            last = int(self.gap.x[-1])
            verdict = classify_history(History(gap, max(0, last + 1 - len(gap))))
            most = 4.0 * len(self.gap.x) + 16.0
            reach = max(4.0, min(wanted if wanted is not None else 0.5 * len(gap), most))
            ahead = forecast_gap(verdict, last, np.unique(np.rint(np.linspace(1.0, reach, AHEAD))), gap)
            if proved and ahead is not None and reach == wanted and _refuted(ahead, abs(float(gap[-1]))):
                return None
            return ahead_model(ahead, abs(float(gap[-1])))
        except (WorkbenchError, LookupError, ValueError, TypeError, FloatingPointError):
            return None

    def _recent(self, trace: Trace | None) -> np.ndarray | None:
        """The newest gaps of the loop's present activation, without thinning."""
        if trace is None:
            return None
        sides = [self._side(trace, self.clause["left"]), self._side(trace, self.clause["right"])]
        moving = [side for side in sides if side is not None and not isinstance(side, float)]
        if None in sides or not moving:
            return None
        count = min(len(side) for side in moving)
        columns, mine = [], slice(None)
        for side in sides:
            if isinstance(side, float):
                columns.append(side)
                continue
            paths, values = side.window(max(0, count - WINDOW), count)
            mine = np.all(paths[:, :-1] == paths[-1, :-1], axis=1)
            flat = _flat(np.asarray(values))
            if flat is None:
                return None
            columns.append(flat[mine])
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(columns[0] - columns[1], dtype=np.float64)

    def _side(self, trace: Trace, ref: Ref) -> Any:
        """A number that stays the same in this loop, or the series of the operand."""
        node = self.graph.nodes[ref.node]
        try:
            if node.op == "Const":
                return _single(node.attrs["value"])
            if node.op == "Enter" and node.attrs.get("is_constant"):
                return self._around(trace, node.inputs[0])
            if str(ref) not in self._series:
                self._series[str(ref)] = of_activation(trace[str(ref)], self.outer)
            series = self._series[str(ref)]
            if not self.graph.frame_of(ref.node):
                return _single(series[-1]) if len(series) else None
            return series
        except (KeyError, IndexError, TypeError, WorkbenchError):
            return None

    def _around(self, trace: Trace, ref: Ref) -> Any:
        """A value of an enclosing loop, or from outside all loops: one number, or one for each activation."""
        frame, side = self.graph.frame_of(ref.node), self._side(trace, ref)
        if side is None or isinstance(side, (float, Spread)) or not frame:
            return side
        if self.outer is not None:
            return _single(trace[str(ref)].at(self.outer[: len(frame)]))
        return Spread(trace[str(ref)], trace[f"{self.clause['node']}:0"])

    def _take(self, x: np.ndarray, columns: list[np.ndarray]) -> None:
        moving = iter(columns)
        sides = [np.full(len(x), fixed) if fixed is not None else _flat(next(moving)) for fixed in self._fixed]
        if any(side is None for side in sides) or not len(x):
            return
        with np.errstate(over="ignore", invalid="ignore"):
            self.gap.extend(x, sides[0] - sides[1])
        for kept, fixed, side in zip(self._sides, self._fixed, sides, strict=True):
            if fixed is None:
                kept.extend(x, side)
        self._whole = all(c.dtype.kind in "iu" for c in columns)
        self._now = (float(sides[0][-1]), float(sides[1][-1]))

    def _cut(self, x: float) -> None:
        for kept in (self.gap, *self._sides):
            kept.cut(x)
        self._now = None


def _refuted(ahead: Any, now: float) -> bool:
    """True if the gap is still wide where the loop provably ends, so that its model is wrong."""
    step = abs(float(ahead.value[-1] - ahead.value[-2])) if len(ahead.value) > 1 else 0.0
    return bool(ahead.low[-1] > max(0.02 * now, 2.0 * step))


def _single(value: Any) -> float | None:
    value = np.asarray(value)
    return float(value.reshape(-1)[0]) if value.size == 1 and value.dtype.kind in "biuf" else None


def _flat(values: np.ndarray) -> Any:
    if values.size != len(values) or values.dtype.kind not in "biuf":
        return None
    return values.reshape(-1).astype(np.float64)


def holds(op: str, left: float, right: float) -> bool:
    """True if a comparison, named by its op, holds for two numbers."""
    with np.errstate(invalid="ignore"):
        return bool(getattr(np, op)(left, right))
