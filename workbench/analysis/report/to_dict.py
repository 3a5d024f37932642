"""An analysis as plain data for JSON."""

from __future__ import annotations

import math
from dataclasses import is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.analysis.report.loop import Loop
from workbench.analysis.report.variable import Variable
from workbench.analysis.series.value_series import RefusedLaw

if TYPE_CHECKING:
    from workbench.analysis.report.analysis import Analysis

#: maximum number of points of a picture in the data
POINTS = 256
DEPTH = 12


def plain(a: Analysis) -> dict[str, Any]:
    """graph, state, verdict, findings, loops, classified variables and notes; see ``Analysis.data``."""
    return {
        "format": "workbench-analysis-1",
        "graph": a.graph,
        "state": a.state,
        "failure": a.failure,
        "notes": list(a.notes),
        "verdict": [value(f._asdict()) for f in a.verdict],
        "findings": [value(f._asdict()) for f in a.findings],
        "health": [value(sentence) for sentence in a.health],
        "loops": [_loop(loop) for loop in a.loops.values()],
        "variables": [_variable(v) for v in a.variables.classified],
    }


def _loop(loop: Loop) -> dict[str, Any]:
    names = (
        "frame",
        "name",
        "condition",
        "variables",
        "inner",
        "iterations",
        "all_iterations",
        "activations",
        "open",
        "nodes",
        "share",
        "share_inside",
        "clauses",
        "notes",
        "method",
        "fixes",
    )
    found = {name: value(getattr(loop, name)) for name in names}
    found["end"] = value(loop.end.table())
    found["termination"] = value(loop.termination.table())
    found["entries"] = [
        {
            "role": e.role,
            "variable": e.variable,
            "from": {"kind": e.origin.kind, "name": e.origin.name, "frame": list(e.origin.frame)},
        }
        for e in loop.entries
    ]
    if loop.trips is not None:
        found["trips"] = {
            "counts": loop.trips.counts[-POINTS:].tolist(),
            "outer": loop.trips.outer[-POINTS:].tolist(),
            "open": loop.trips.open,
            "sentence": loop.trips.sentence,
            "evolution": value(loop.trips.evolution),
        }
    return found


def _variable(v: Variable) -> dict[str, Any]:
    names = (
        "name",
        "node",
        "frame",
        "dtype",
        "shape",
        "carried",
        "count",
        "last",
        "notes",
        "evolution",
        "update",
        "statement",
        "outline",
        "role",
        "growth",
    )
    found = {name: value(getattr(v, name)) for name in names}
    found["chain"] = [value(link._asdict()) for link in v.chain]
    x, y = v.picture
    step = max(1, len(x) // POINTS)
    found["values"] = {"part": v.part, "iteration": value(x[::step]), "value": value(y[::step])}
    plot = v.convergence()
    if plot is not None:
        found["convergence"] = {"sentence": plot.sentence, "limit": value(plot.limit)}
    return found


def value(item: Any, depth: int = 0) -> Any:
    """Any value of a record in a form that JSON accepts: numbers that are not finite become strings."""
    if item is None or isinstance(item, (bool, str)):
        return item
    if isinstance(item, Enum):
        return item.name
    if isinstance(item, (int, np.integer)):
        return int(item)
    if isinstance(item, np.bool_):
        return bool(item)
    if isinstance(item, (float, np.floating)):
        return float(item) if math.isfinite(item) else str(float(item))
    if depth > DEPTH:
        return str(item)
    if isinstance(item, np.ndarray):
        return [value(x, depth + 1) for x in item.tolist()]
    if is_dataclass(item) and not isinstance(item, type):
        names = item.__dataclass_fields__
        return {n: value(getattr(item, n), depth + 1) for n in names if n not in ("model",)}
    if isinstance(item, dict):
        return {str(k): value(v, depth + 1) for k, v in item.items()}
    if isinstance(item, RefusedLaw):
        return value(item.table(), depth)
    if hasattr(item, "_asdict"):
        return {k: value(v, depth + 1) for k, v in item._asdict().items()}
    if isinstance(item, (list, tuple, set, frozenset)):
        return [value(x, depth + 1) for x in item]
    return str(item)
