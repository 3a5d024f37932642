"""When will the loop stop, as plain data: the verdict in words, and the gap of each comparison over the iterations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.graph.node import Ref
from workbench.widgets.models.labels import SYMBOLS, count_text, number, short_name
from workbench.widgets.models.thinning import Thinned

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
        self.clauses = clauses_of(graph, self.path) if self.path else []
        self._gaps = [Thinned() for _ in self.clauses]
        self._seen = [0] * len(self.clauses)
        self._now: list[tuple[Any, Any]] = [(None, None)] * len(self.clauses)

    def update(self, trace: Any, verdict: Callable[[], Any] | None = None) -> dict[str, Any]:
        """``clauses``: text, left, right, gap now, x and y of \\|left - right\\|; ``verdict``: see :func:`describe`."""
        rows = []
        for k, clause in enumerate(self.clauses):
            self._read(trace, k, clause)
            left, right = self._now[k]
            gap = None if left is None or right is None else left - right
            rows.append(
                {
                    "text": clause["text"], "node": clause["node"], "left": left, "right": right, "gap": gap,
                    "holds": None if gap is None else _holds(clause["op"], left, right),
                    "x": self._gaps[k].x, "y": np.abs(self._gaps[k].y),
                }
            )  # fmt: skip
        told = None
        if verdict is not None and self.path is not None:
            try:
                told = describe(verdict())
            except WorkbenchError as error:
                told = {**UNKNOWN, "reason": error.message}
        return {"loop": short_name(self.path[-1]) if self.path else None, "clauses": rows, "verdict": told}

    def _read(self, trace: Any, k: int, clause: dict[str, Any]) -> None:
        left, right = self._series(trace, clause["left"]), self._series(trace, clause["right"])
        if left is None or right is None:
            return
        moving = [s for s in (left, right) if not isinstance(s, float)]
        count = min((len(s) for s in moving), default=0)
        # an operand from outside fires once for all iterations
        fixed = [float(np.asarray(s[-1])) for s in moving if len(s) == 1]
        if fixed and len(moving) == 2 and max(len(s) for s in moving) > 1:
            count = max(len(s) for s in moving)
        if count < self._seen[k]:
            self._gaps[k].clear()
            self._seen[k] = 0
        if count == self._seen[k] or not moving:
            return
        start = self._seen[k]
        sides = []
        x = None
        for side in (left, right):
            if isinstance(side, float):
                sides.append(np.full(count - start, side))
            elif len(side) == 1 and count > 1:
                sides.append(np.full(count - start, float(np.asarray(side[-1]))))
            else:
                iterations, values = side.window(start, count)
                if np.asarray(values).size != len(values):
                    return
                sides.append(np.asarray(values, dtype=np.float64).reshape(-1))
                x = iterations[:, 0] if iterations.ndim == 2 and iterations.shape[1] == 1 else None
        n = min(len(s) for s in sides)
        x = np.arange(start, start + n) if x is None else x[:n]
        self._gaps[k].extend(x, sides[0][:n] - sides[1][:n])
        self._now[k] = (float(sides[0][n - 1]), float(sides[1][n - 1]))
        self._seen[k] = start + n

    def _series(self, trace: Any, ref: Ref) -> Any:
        node = self.graph.nodes[ref.node]
        if node.op == "Const":
            value = np.asarray(node.attrs["value"])
            return float(value.reshape(-1)[0]) if value.size == 1 and value.dtype.kind in "biuf" else None
        try:
            series = trace[str(ref)]
            return series if len(series) else None
        except (KeyError, WorkbenchError):
            return None


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
