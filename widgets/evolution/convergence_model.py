"""The convergence of one variable, or its values if it does not converge, with the forecast, as plain data."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.analysis.report.html import ahead_of
from workbench.text import estimate
from workbench.widgets.series.thinning import thin
from workbench.widgets.text.labels import number, short_name
from workbench.widgets.text.numerals import spaced

#: maximum rows of the table beside a plot
ROWS = 12


def convergence_model(variable: Any, tolerance: float | None = None) -> dict[str, Any]:
    """``name``, ``x``, ``y``, ``log`` (distance to the limit, else values), ``ahead`` (x, y, low, high or None),
    ``limit`` (as text), ``tolerance``, ``crossing``, ``sentence`` and ``rows`` (iteration, value, low, high) for a
    table."""
    plot = variable.convergence(tolerance)
    name = short_name(variable.name) + (f", {variable.part}" if variable.part else "")
    if plot is not None and len(plot.error) and np.nanmax(plot.error) > 0:
        x, y, ahead, log, sentence = plot.iterations, plot.error, plot.ahead, True, spaced(plot.sentence)
        tolerance, crossing = plot.tolerance, plot.crossing
    else:
        x, y = thin(*variable.picture)
        ahead, log, crossing = ahead_of(variable, 120), False, None
        sentence = " ".join([f"{name} is {variable.evolution.label.name}.", *variable.evolution.why[:2]])
    ahead_from = ahead_model(ahead, float(y[-1]) if len(y) else None)
    return {
        "name": name,
        "x": x,
        "y": y,
        "log": log,
        "tolerance": tolerance,
        "crossing": crossing,
        "sentence": sentence,
        "ahead": ahead_from,
        "limit": limit_text(variable.evolution) if log else "",
        "rows": _rows(x, y, ahead),
    }


def limit_text(evolution: Any) -> str:
    """The limit with the digits that its error leaves; "" if it leaves none."""
    if evolution.limit is None:
        return ""
    found = estimate(evolution.limit, evolution.limit_error, getattr(evolution, "distance", 0.0))
    return (found or "").partition(" (within")[0]


def ahead_model(ahead: Any, last: float | None = None) -> dict[str, np.ndarray] | None:
    """A forecast as plain arrays; it begins at ``last``, the preceding value, so that the lines meet."""
    if ahead is None:
        return None
    found = {"x": ahead.iterations, "y": ahead.value, "low": ahead.low, "high": ahead.high}
    if last is None or not np.isfinite(last) or len(ahead.iterations) < 2:
        return found
    starts = {"x": ahead.iterations[0] - 1.0, "y": last, "low": last, "high": last}
    return {key: np.concatenate([[starts[key]], values]) for key, values in found.items()}


def _rows(x: np.ndarray, y: np.ndarray, ahead: Any) -> list[tuple[str, ...]]:
    """A few points of the record and of the forecast, for readers of the table."""
    rows: list[tuple[str, ...]] = []
    for k in _picked(len(x)):
        rows.append((number(int(x[k])), number(float(y[k])), "", ""))
    if ahead is not None:
        for k in _picked(len(ahead.value), ROWS // 2):
            band = [number(float(v), 3) for v in (ahead.low[k], ahead.high[k])]
            rows.append((f"{number(int(ahead.iterations[k]))} (forecast)", number(float(ahead.value[k])), *band))
    return rows


def _picked(n: int, most: int = ROWS) -> list[int]:
    return sorted({int(k) for k in np.rint(np.linspace(0, n - 1, min(n, most)))}) if n else []
