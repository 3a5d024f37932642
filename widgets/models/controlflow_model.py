"""Which way each Switch went, over time, as plain data: one row per Switch, steps between false and true."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.widgets.models.labels import count_text, short_name

BUDGET = 800


def decisions(graph: Any, limit: int = 12) -> list[dict[str, Any]]:
    """The decisions of a graph, one row per predicate: name, the value that decides, and the Switches that obey it."""
    rows: dict[Any, dict[str, Any]] = {}
    for node in graph.nodes.values():
        if node.op != "Switch" or len(node.inputs) < 2:
            continue
        pred = node.inputs[1]
        loop = graph.nodes[pred.node].op == "LoopCond"
        frame = graph.frame_of(node.name)
        where = short_name(frame[-1]) if frame else ""
        row = rows.setdefault(
            pred,
            {
                "name": f"{where}: go on" if loop else short_name(node.attrs.get("branch") or pred.node),
                "pred": str(pred), "switches": [], "loop": loop, "frame": frame,
            },
        )  # fmt: skip
        row["switches"].append(node.name)
    return list(rows.values())[:limit]


def controlflow_model(trace: Any, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """For each decision: counts, and the stretches of equal outcome as steps.

    ``rows``: name, x (firing number of the decision), y (0 false, 1 true) as steps, n_false, n_true, last, loop.
    Only as much of the history is read as the counts and the newest stretch of decisions need.
    """
    result = []
    try:
        counts = trace.branch_counts()
    except WorkbenchError:
        counts = {}
    for row in rows:
        switch = row["switches"][0]
        n_false, n_true = counts.get(switch, (0, 0))
        x, y = _steps(trace, row["pred"], n_false + n_true)
        text = f"{count_text(n_true)} true, {count_text(n_false)} false"
        result.append(
            {
                "name": row["name"], "loop": row["loop"], "x": x, "y": y, "n_false": n_false, "n_true": n_true,
                "last": bool(y[-1]) if len(y) else None, "text": text, "switches": list(row["switches"]),
            }
        )  # fmt: skip
    return {"rows": result, "x_title": "decision"}


def _steps(trace: Any, pred: str, total: int) -> tuple[np.ndarray, np.ndarray]:
    """The last decisions, run-length coded: the points at which the outcome changed, and both ends."""
    try:
        series = trace[pred]
        count = len(series)
        if not count:
            return np.empty(0), np.empty(0)
        start = max(0, count - 200_000)
        _, values = series.window(start, count)
    except (KeyError, WorkbenchError):
        return np.empty(0), np.empty(0)
    values = np.asarray(values).reshape(-1).astype(bool)
    change = np.flatnonzero(values[1:] != values[:-1]) + 1
    change = change[-BUDGET:]
    keep = np.unique(np.concatenate([[change[0] - 1 if len(change) else 0], change, [len(values) - 1]]))
    return (keep + start).astype(np.float64), values[keep].astype(np.float64)
