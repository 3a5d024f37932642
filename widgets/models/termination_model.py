"""When will the loop stop, as plain data: the verdict in words, and the gap of each comparison over the iterations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.analysis.classify import classify_history
from workbench.analysis.convergence import forecast_gap
from workbench.analysis.history import WINDOW, History
from workbench.errors import WorkbenchError
from workbench.graph.node import Ref
from workbench.widgets.models.convergence_model import ahead_model
from workbench.widgets.models.follow import Follower
from workbench.widgets.models.labels import SYMBOLS, count_text, number, short_name
from workbench.widgets.models.thinning import Thinned

#: points of a gap's forecast
AHEAD = 80
COMPARISONS = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
LOGIC = ("logical_and", "logical_or", "logical_not", "Identity", "all", "any")


def clauses_of(graph: Any, path: tuple[str, ...]) -> list[dict[str, Any]]:
    """The comparisons that a frame's LoopCond is made of: op, both operands, and a text such as ``abs > 1e-12``."""
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
            text = f"{operand_text(graph, left)} {SYMBOLS[node.op]} {operand_text(graph, right)}"
            found.append({"node": node.name, "op": node.op, "left": left, "right": right, "text": text})
        elif node.op in LOGIC:
            queue.extend(node.inputs)
    return found


def operand_text(graph: Any, ref: Ref) -> str:
    """What a person would call the operand: a constant's value, a variable's or node's short name."""
    node = graph.nodes[ref.node]
    if node.op == "Const" and np.size(node.attrs["value"]) == 1:
        return number(np.asarray(node.attrs["value"]).reshape(-1)[0])
    if node.op in ("Enter", "Identity", "cast") and node.inputs and graph.name_of(ref) == str(ref):
        return operand_text(graph, node.inputs[0])
    return short_name(graph.name_of(ref).removesuffix(":0"))


def loops(graph: Any) -> list[tuple[str, ...]]:
    """Paths of the frames that have a condition, outermost first."""
    return [p for p in sorted(graph.frames, key=lambda p: (len(p), p)) if p and graph.frames[p].loop_cond]


class TerminationModel:
    """Follows the comparisons of one loop; reads only what is new at each update."""

    def __init__(self, graph: Any, path: tuple[str, ...] | None = None) -> None:
        known = loops(graph)
        self.graph = graph
        self.path = path if path is not None else (known[0] if known else None)
        self.clauses = [_Clause(graph, c) for c in (clauses_of(graph, self.path) if self.path else [])]

    @property
    def behind(self) -> bool:
        """Whether recorded values are still to be read; call ``update`` again."""
        return any(c.follow.behind for c in self.clauses)

    def update(
        self, trace: Any, verdict: Callable[[], Any] | None = None, *, running: bool = False
    ) -> dict[str, Any]:
        """``clauses``: text, left, right, gap now, x and y of \\|left - right\\|; ``verdict``: see :func:`describe`.

        With a verdict the clauses have ``ahead`` (x, y, low, high of the gap's forecast), and ``end`` is the expected
        last evaluation with its interval (at, low, high).
        """
        rows = [clause.update(trace, running) for clause in self.clauses]
        told = None
        if verdict is not None and self.path is not None:
            try:
                told = describe(verdict())
            except WorkbenchError as error:
                told = {**UNKNOWN, "reason": error.message}
        end = None
        if told is not None and verdict is not None:
            now = max((float(row["x"][-1]) for row in rows if len(row["x"])), default=None)
            end = _end(told, now)
            for row, clause in zip(rows, self.clauses, strict=True):
                wanted = None if end is None or now is None else end[2] - now
                row["ahead"] = clause.ahead(trace, wanted, told["status"] == "PROVED")
        return {
            "loop": short_name(self.path[-1]) if self.path else None, "clauses": rows, "verdict": told, "end": end
        }  # fmt: skip


class _Clause:
    """One comparison: its operands now, and the gap between them over its evaluations."""

    def __init__(self, graph: Any, clause: dict[str, Any]) -> None:
        self.graph, self.clause = graph, clause
        self.gap = Thinned()
        self.follow = Follower(self._take, self._cut)
        self._fixed: list[float | None] = [None, None]
        self._now: tuple[float, float] | None = None

    def update(self, trace: Any, running: bool) -> dict[str, Any]:
        if trace is not None:
            sides = [self._side(trace, self.clause["left"]), self._side(trace, self.clause["right"])]
            if all(side is not None for side in sides):
                self._fixed = [side if isinstance(side, float) else None for side in sides]
                moving = [side for side in sides if not isinstance(side, float)]
                if moving:
                    self.follow.read(moving, running)
        left: Any
        right: Any
        left, right = self._now or (None, None)
        known = left is not None and right is not None
        gap = left - right if known else None
        return {
            "text": self.clause["text"], "node": self.clause["node"], "left": left, "right": right, "gap": gap,
            "holds": _holds(self.clause["op"], left, right) if known else None,
            "x": self.gap.x, "y": np.abs(self.gap.y),
        }  # fmt: skip

    def ahead(self, trace: Any, wanted: float | None, proved: bool = False) -> dict[str, Any] | None:
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

    def _recent(self, trace: Any) -> np.ndarray | None:
        """The newest gaps, every one, of the loop's present activation."""
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

    def _side(self, trace: Any, ref: Ref) -> Any:
        """A number that stays the same in this loop, or the series of the operand."""
        node = self.graph.nodes[ref.node]
        try:
            if node.op == "Const":
                return _single(node.attrs["value"])
            if node.op == "Enter" and node.attrs.get("is_constant"):
                return self._side(trace, node.inputs[0])
            series = trace[str(ref)]
            if not self.graph.frame_of(ref.node):
                return _single(series[-1]) if len(series) else None
            return series
        except (KeyError, IndexError, TypeError, WorkbenchError):
            return None

    def _take(self, x: np.ndarray, columns: list[np.ndarray]) -> None:
        moving = iter(columns)
        sides = [np.full(len(x), fixed) if fixed is not None else _flat(next(moving)) for fixed in self._fixed]
        if any(side is None for side in sides) or not len(x):
            return
        with np.errstate(over="ignore", invalid="ignore"):
            self.gap.extend(x, sides[0] - sides[1])
        self._now = (float(sides[0][-1]), float(sides[1][-1]))

    def _cut(self, x: float) -> None:
        self.gap.cut(x)
        self._now = None


def _end(told: dict[str, Any], now: float | None) -> tuple[float, float, float] | None:
    """The evaluation at which the loop is expected to end, and its interval."""
    if now is None or told["outcome"] != "terminates" or not told["remaining"]:
        return None
    at = now + told["remaining"]
    low, high = told["interval"] or (told["remaining"], told["remaining"])
    return at, now + low, now + high


def _refuted(ahead: Any, now: float) -> bool:
    """Whether the gap is still wide open where the loop is proved to end: the model behind it is wrong."""
    step = abs(float(ahead.value[-1] - ahead.value[-2])) if len(ahead.value) > 1 else 0.0
    return bool(ahead.low[-1] > max(0.02 * now, 2.0 * step))


def _single(value: Any) -> float | None:
    value = np.asarray(value)
    return float(value.reshape(-1)[0]) if value.size == 1 and value.dtype.kind in "biuf" else None


def _flat(values: np.ndarray) -> Any:
    if values.size != len(values) or values.dtype.kind not in "biuf":
        return None
    return values.reshape(-1).astype(np.float64)


UNKNOWN: dict[str, Any] = {
    "status": "UNKNOWN", "outcome": None, "headline": "No forecast", "remaining": None, "interval": None,
    "reason": "", "root": [], "blocking": None, "fix": [], "proof": "", "confidence": None,
}  # fmt: skip


def describe(termination: Any) -> dict[str, Any]:
    """A Termination in words: status, outcome, headline, remaining, interval, reason, root, blocking, fix, proof."""
    if termination is None:
        return dict(UNKNOWN)
    status = getattr(termination.status, "name", str(termination.status))
    outcome = termination.outcome
    remaining = termination.remaining
    interval = _interval(getattr(termination, "interval", None))
    word = {"PROVED": "Proved", "PREDICTED": "Predicted"}.get(status, "Unknown")
    if outcome == "never":
        headline = f"{word}: never stops"
    elif outcome == "terminates" and remaining == 0:
        headline = f"{word}: stops without another iteration"
    elif outcome == "terminates" and remaining is not None:
        plural = "" if remaining == 1 else "s"
        headline = f"{word}: stops after {count_text(int(remaining))} more iteration{plural}"
        if interval and status != "PROVED" and interval[0] != interval[1]:
            headline += f" ({count_text(interval[0])} to {count_text(interval[1])})"
    elif outcome == "terminates":
        headline = f"{word}: stops"
    else:
        headline = "No forecast yet"
    clause = getattr(termination, "blocking_clause", None)
    proof = getattr(termination, "proof", None)
    return {
        "status": status, "outcome": outcome, "headline": headline,
        "remaining": None if remaining is None else int(remaining), "interval": interval,
        "reason": _sentence(getattr(termination, "reason", "")),
        "root": [str(r) for r in (getattr(termination, "root", None) or ())],
        "blocking": None if clause is None else _sentence(clause),
        "fix": [str(f) for f in (getattr(termination, "fix", None) or ())],
        "proof": _sentence(proof) if proof is not None else "",
        "confidence": getattr(termination, "confidence", None),
    }  # fmt: skip


def _sentence(reason: Any) -> str:
    for name in ("sentence", "checked", "text"):
        value = getattr(reason, name, None)
        if isinstance(value, str):
            return value
    if isinstance(reason, (tuple, list)) and reason:
        return str(reason[-1])
    return str(reason or "")


def _interval(interval: Any) -> tuple[int, int] | None:
    if interval is None:
        return None
    try:
        low, high = interval
        return int(low), int(high)
    except (TypeError, ValueError, OverflowError):
        return None


def _holds(op: str, left: float, right: float) -> bool:
    with np.errstate(invalid="ignore"):
        return bool(getattr(np, op)(left, right))
