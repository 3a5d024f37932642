"""Verdict on a variable as plain data: label, limit, rate or period, and forecast."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.analysis.forecast.convergence_curve import convergence, forecast_values
from workbench.analysis.live.histories import HistoryColumn
from workbench.analysis.live.label import evolution_of
from workbench.analysis.series.result import Evolution, percent
from workbench.text import estimate
from workbench.widgets.evolution.convergence_model import ahead_model
from workbench.widgets.text.labels import number, short_name
from workbench.widgets.text.numerals import spaced

#: points of a forecast, and minimum number of values for a verdict
AHEAD, LEAST = 60, 4


def verdict_of(name: str, column: HistoryColumn, lasts: Sequence[int]) -> dict[str, Any] | None:
    """The verdict on the newest values of ``name``; None for too few values, or values that are not numbers.

    ``lasts`` are the last iterations of its lines. The result has ``name``, ``of``, ``label``, ``limit``,
    ``limit_error``, ``confidence``, ``text`` (one line), ``why`` (sentences), ``refused`` (laws that were refused),
    ``issues``, ``line`` (the index of the line to which the forecast belongs), ``forecast``, ``distance`` and ``told``.
    """
    if len(column) < LEAST:
        return None
    verdict = evolution_of(column)
    part, about = part_of(column, verdict), _ahead(verdict, column, lasts)
    label = getattr(verdict.label, "name", str(verdict.label)).lower()
    # the verdict on one element does not belong to the line of the norm
    limit, error = (None, None) if about["line"] is None else (verdict.limit, verdict.limit_error)
    limit_words = None if limit is None else estimate(limit, error, verdict.distance)
    return {
        "name": short_name(name),
        "of": name,
        "label": label,
        "limit": float(limit) if limit_words is not None and limit is not None else None,
        "limit_error": float(error) if limit_words is not None and error is not None else None,
        "limit_text": limit_words or "",
        "confidence": getattr(verdict, "confidence", None),
        "text": verdict_text(name + part, label, verdict),
        "short": verdict_text("", label, verdict)[2:].partition(" (")[0],
        "rate": rate_text(verdict),
        "why": [str(w) for w in (getattr(verdict, "why", None) or ())],
        "refused": [str(r) for r in getattr(verdict, "why_not", ())],
        "issues": dict(getattr(verdict, "issues", None) or {}),
        **about,
    }


def verdict_text(name: str, label: str, verdict: Any) -> str:
    """One line: ``x: converging to 1.41421, order 2 (99 % sure)``, or ``k: counting up by 1``."""
    if verdict.method == "counter" and verdict.model is not None:
        step = float(np.subtract(*verdict.model.predict([1, 0])))
        return f"{short_name(name)}: counting {'up' if step > 0 else 'down'} by {number(abs(step))}"
    text = f"{short_name(name)}: {'no verdict yet' if label == 'unknown' else label}"
    limit = None if verdict.limit is None else estimate(verdict.limit, verdict.limit_error, verdict.distance)
    if limit is not None and label in ("converging", "stable"):
        digits = limit.partition(" (within")[0]  # as many as its error leaves
        text += f" to {digits}" if label == "converging" else f" at {digits}"
    rate, confidence = rate_text(verdict), getattr(verdict, "confidence", None)
    text += f", {rate}" if rate else ""
    return text + (f" ({percent(confidence)} sure)" if confidence and label != "unknown" else "")


def rate_text(verdict: Any) -> str:
    """The speed in a few words: order, factor per iteration, exponent or period; "" if none is known."""
    label = getattr(verdict.label, "name", str(verdict.label)).lower()
    order, rate = getattr(verdict, "order", None), getattr(verdict, "rate", None)
    exponent, period = getattr(verdict, "sublinear_exponent", None), getattr(verdict, "period", None)
    if label == "oscillating":
        return f"period {number(period)}" if period else ""
    if label not in ("converging", "diverging"):
        return ""
    if order and order > 1.1:
        return f"order {number(order, 3)}"
    if exponent:
        return f"error like 1/k^{number(exponent, 3)}" if label == "converging" else f"like k^{number(exponent, 3)}"
    if rate is not None and math.isfinite(rate) and rate != 1.0:
        return f"factor {number(rate, 4)} per iteration"
    return ""


def part_of(column: HistoryColumn, verdict: Evolution) -> str:
    """The element of an array that decides, as an index."""
    at = verdict.component
    return "" if at is None else f"[{','.join(str(int(i)) for i in np.unravel_index(at, column.shape))}]"


def _ahead(verdict: Evolution, column: HistoryColumn, lasts: Sequence[int]) -> dict[str, Any]:
    """The forecast of a value and of its distance to the limit, if the verdict has a model."""
    found: dict[str, Any] = {"forecast": None, "distance": None, "line": 0, "told": ""}
    places, at = column.components, verdict.component
    # a large array has one line, that of its norm
    found["line"] = k = (at or 0) if None not in places or at is None else None
    if k is None or k >= len(lasts) or column.step != 1:
        return found
    last, n = lasts[k], len(column)
    steps = np.unique(np.rint(np.linspace(1, max(4, n // 3), AHEAD)))
    values = column.values if column.values.ndim == 1 else column.values[:, places.index(at)]
    line = values.astype(np.float64)
    found["forecast"] = ahead_model(forecast_values(verdict, last, steps, line), float(line[-1]))
    plot = convergence(verdict, line, np.arange(last + 1 - n, last + 1))
    if plot is not None:
        found["distance"], found["told"] = ahead_model(plot.ahead, float(plot.error[-1])), spaced(plot.sentence)
    return found
