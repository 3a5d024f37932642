"""Forecasts the iteration at which a variable enters the tolerance around its limit."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from workbench.analysis.forecast.tolerance_crossing import within
from workbench.analysis.series.classify import classify_history
from workbench.analysis.series.result import Pattern
from workbench.analysis.series.value_series import History, HistoryError, as_values
from workbench.text import facts_html, harmless


class Forecast(NamedTuple):
    """An iteration with a 90 % interval.

    Attributes
    ----------
    iteration : int
        The expected iteration, counted from 0 like the values.
    low, high : int
        Ends of the interval, as iterations. All three are equal where the record already shows the answer.

    Examples
    --------
    >>> wb.iterations_to_tolerance([1 + 0.5**k for k in range(12)], 1e-6)
    Forecast(iteration=20, low=20, high=20)
    """

    iteration: int
    low: int
    high: int

    @harmless
    def _repr_html_(self) -> str:
        facts = (("expected iteration", f"{self.iteration:,}"), ("90 % interval", f"{self.low:,} to {self.high:,}"))
        return facts_html("Forecast", facts)


def iterations_to_tolerance(values: Any, tol: float) -> Forecast | None:
    """Forecast the first iteration from which a variable stays within a tolerance of its limit.

    Parameters
    ----------
    values : array_like
        Shape (n,): the record of one variable, oldest first.
    tol : float
        The largest allowed ``|x - limit|``, positive, in the unit of the values.

    Returns
    -------
    Forecast or None
        None for a variable that does not converge, or for a tolerance too small for the error of the limit.

    Raises
    ------
    HistoryError
        If ``tol`` is not a positive number (``bad-tolerance``), for more than one variable (``bad-history-shape``), or
        for values that :func:`classify` does not accept.

    Examples
    --------
    >>> wb.iterations_to_tolerance([1 / (k + 1) for k in range(50)], 0.015)
    Forecast(iteration=66, low=..., high=...)
    >>> wb.iterations_to_tolerance([0, 1, 2, 3, 4, 5], 0.1) is None
    True
    """
    if not (isinstance(tol, (int, float, np.number)) and math.isfinite(tol) and tol > 0):
        raise HistoryError(f"The tolerance must be a positive number, but is {tol!r}.", slug="bad-tolerance")
    a = as_values(values)
    if a.ndim == 2 and a.shape[1] != 1:
        raise HistoryError(
            f"One variable at a time, but the values have shape {a.shape}.",
            slug="bad-history-shape",
            fix="Pass the norm of the residual, or one component.",
        )
    h = History(a.reshape(-1))
    n = len(h)
    e = classify_history(h)
    converges = e.label in (Pattern.CONVERGING, Pattern.STABLE) and e.limit is not None and math.isfinite(e.limit)
    last = _last_outside(h, e.limit, tol) if converges and e.limit is not None else n
    known = converges and (e.limit_error is None or e.limit_error <= tol)
    if last < n - 1 and known and (n - 1 - last >= 3 or e.method in ("constant_tail", "level", "settled")):
        return Forecast(last + 1, last + 1, last + 1)
    found = within(h.raw, tol, h.eps)
    if found is not None:
        if found.k <= 1 and last < n - 1:
            return Forecast(last + 1, last + 1, last + 1)
        return Forecast(n - 1 + int(found.k), n - 1 + int(found.low), n - 1 + int(min(found.high, 1e15)))
    if not converges or e.limit is None:
        return None
    if last < n - 1:
        return Forecast(last + 1, last + 1, last + 1)
    if e.model is None or e.limit_error is not None and e.limit_error > tol:
        return None
    k = _first_within(e.model, e.limit, tol)
    if k is None:
        return None
    spread = max(e.model.spread, 1e-9)
    # an error of the limit moves the crossing as much as an equal change of the tolerance
    around = [
        _first_within(e.model, e.limit, t)
        for t in (tol + (e.limit_error or 0.0), max(tol - (e.limit_error or 0.0), tol / 2))
    ]
    marks = [v for v in around if v is not None] + [k * (1 - 2 * spread), k * (1 + 2 * spread)]
    return Forecast(n - 1 + k, n - 1 + max(1, math.floor(min(marks))), n - 1 + math.ceil(max(marks)))


def _last_outside(h: History, limit: float, tol: float) -> int:
    """Last iteration at which the record is not within tol of the limit; -1 if there is none."""
    outside = np.flatnonzero(~(np.abs(h.raw - limit) <= tol))
    return int(outside[-1]) if outside.size else -1


def _first_within(model: Any, limit: float, tol: float) -> int | None:
    """Smallest k from which the model stays within tol: after its last excursion on a grid that grows."""
    top = 64
    while top <= 2**40:
        j = np.arange(1, top + 1) if top <= 4096 else np.unique(np.geomspace(1, top, 4096).astype(np.int64))
        outside = np.flatnonzero(np.abs(model.predict(j) - limit) > tol)
        if not outside.size:
            return 1
        i = int(outside[-1])
        if i < len(j) // 2:
            if j[i + 1] - j[i] == 1:
                return int(j[i + 1])
            inner = np.unique(np.linspace(j[i], j[i + 1], 4096).astype(np.int64))
            still = np.flatnonzero(np.abs(model.predict(inner) - limit) > tol)
            return int(inner[still[-1]] + 1)
        top *= 8
    return None
