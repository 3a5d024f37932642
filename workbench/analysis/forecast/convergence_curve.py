"""Extrapolates the error of a converging variable over the iterations: the data of a convergence plot.

The forecast is computed by the model behind the verdict (see ``models``). Its band covers about 90 % of the cases and
has three parts: the range of the model from ``j (1 - 2 s)`` to ``j (1 + 2 s)``, where ``s`` is its relative error per
value in the hold-out; the errors of forecasts from shorter parts of the same record (see ``drift``); and the error of
the limit, on both sides.  The iteration at which a tolerance is met is a separate forecast
(``iterations_to_tolerance``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.analysis.forecast.to_tolerance import iterations_to_tolerance
from workbench.analysis.series.classify import classify_history
from workbench.analysis.series.result import Evolution, Pattern
from workbench.analysis.series.value_series import WINDOW, History
from workbench.text import estimate

#: maximum number of points of the record, and of the forecast, in a plot
POINTS = 600
AHEAD = 160
#: the rest of the record is forecast from these shares of it, to measure the error of such forecasts
CUTS = (0.5, 0.65, 0.8)
#: maximum number of newest values for that
BACK = 1024
#: factors from the measured drift, the error of the limit and its shift to the half width of a 90 % band; calibrated on
#: random errors (geometric, alternating, damped, of two rates, power laws) with and without noise
DRIFT_90, LIMIT_90, MOVED_90 = 5.0, 4.0, 2.0
#: half width of the 90 % interval of a normal variable
NORMAL_90 = 1.6449
#: the model is evaluated with the iteration shifted by these shares of twice its error
_WARPS = (-1.0, -0.5, 0.0, 0.5, 1.0)


@dataclass(frozen=True)
class Forecasted:
    """``value`` at ``iterations`` after the record, within ``low`` and ``high`` in about 90 % of the cases."""

    iterations: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True)
class Convergence:
    """``error`` is |value - limit| at ``iterations`` (at most ``POINTS``; longer records are thinned evenly).
    ``crossing``: (iteration, low, high) at which the error is below ``tolerance`` for good. ``sentence`` says the same
    in words."""

    iterations: np.ndarray
    error: np.ndarray
    limit: float
    limit_error: float
    ahead: Forecasted | None
    tolerance: float | None
    crossing: tuple[int, int, int] | None
    sentence: str


def forecast_values(
    evolution: Evolution, last: int, steps: np.ndarray, values: np.ndarray | None = None
) -> Forecasted | None:
    """The values that the model expects ``steps`` iterations after iteration ``last``; None without a model.

    An exact model (a counter, a cycle) has a band of zero width. If the ``values`` behind the verdict are given, a
    converging variable has the band of its distance to the limit.
    """
    found = _values(evolution, last, steps, values)
    if found is None or not np.isfinite(found[0]).any():
        return None
    return Forecasted(last + steps.astype(np.float64), *found)


def forecast_gap(
    evolution: Evolution, last: int, steps: np.ndarray, values: np.ndarray | None = None
) -> Forecasted | None:
    """Forecast the absolute values instead, for instance of a difference that ends a loop when it vanishes."""
    found = _values(evolution, last, steps, values)
    if found is None or not np.isfinite(found[0]).any():
        return None
    value, low, high = found
    ends = np.abs(low), np.abs(high)
    nearest = np.where((low <= 0) & (high >= 0), 0.0, np.minimum(*ends))
    return Forecasted(last + steps.astype(np.float64), np.abs(value), nearest, np.maximum(*ends))


def _values(
    e: Evolution, last: int, steps: np.ndarray, record: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """(forecast, low, high). The error of the limit is weighted by the share of the way to the limit that has been
    covered.
    """
    if e.model is None or not len(steps):
        return None
    value, low, high = _band(e.model, steps, None)
    if e.label is Pattern.CONVERGING and e.limit is not None and math.isfinite(e.limit):
        wrong, moved = (0.0, 0.0) if record is None else drift(record, last + 1 - len(record), e.limit)
        unsure = max(LIMIT_90 * (e.limit_error or 0.0), moved)
        with np.errstate(all="ignore"):
            far = np.abs(value - e.limit)
            share = np.clip(1.0 - far / far[0], 0.0, 1.0) if far[0] > 0 else np.ones(len(value))
            length = min(len(record), BACK) if record is not None else 1
            more = far * np.expm1(np.minimum(wrong * steps / length, 60.0))
        more = np.where(np.isfinite(more), more, 0.0) + share * (unsure if math.isfinite(unsure) else 0.0)
        low, high = low - more, high + more
    if e.least is not None:
        value, low, high = (np.maximum(y, e.least) for y in (value, low, high))
    return value, low, high


def _band(model: Any, steps: np.ndarray, limit: float | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(forecast, low, high) of the values or, if ``limit`` is given, of their distance to it."""
    spread = 2.0 * min(max(float(model.spread), 0.0), 0.45)
    bent_curves = []
    with np.errstate(all="ignore"):
        for warp in _WARPS:
            j = np.maximum(np.rint(steps * (1.0 + warp * spread)), 1.0)
            y = np.asarray(model.predict(j), dtype=np.float64)
            bent_curves.append(y if limit is None else np.abs(y - limit))
        table = np.array(bent_curves)
        centre = table[_WARPS.index(0.0)]
        good = np.isfinite(table).all(axis=0)
        low, high = table.min(axis=0), table.max(axis=0)
    return centre, np.where(good, low, np.nan), np.where(good, high, np.nan)


def convergence(
    evolution: Evolution, values: np.ndarray, iterations: np.ndarray, tolerance: float | None = None, step: int = 1
) -> Convergence | None:
    """The data of the convergence plot; None for a record that does not converge or has no finite limit.

    ``values`` (n,) are the values that ``evolution`` was computed from, ``iterations`` their iterations, ``step``
    apart.
    """
    limit = evolution.limit
    if evolution.label not in (Pattern.CONVERGING, Pattern.STABLE) or limit is None or not math.isfinite(limit):
        return None
    if not len(values):
        return None
    with np.errstate(all="ignore"):
        error = np.abs(np.asarray(values, dtype=np.float64) - limit)
    keep = _thinned(len(error))
    limit_error = evolution.limit_error if evolution.limit_error is not None else 0.0
    last = int(iterations[-1])
    tolerance = tolerance if tolerance is not None and math.isfinite(tolerance) and tolerance > 0 else None
    crossing = _crossing(values, error, iterations, tolerance)
    ahead = None
    model = evolution.model
    if model is not None and error[-1] > max(limit_error * 1e-3, np.spacing(abs(limit))):
        reach = max(8.0, 0.5 * len(error))
        if crossing is not None and crossing[0] > last:
            reach = max(8.0, min(1.15 * (crossing[2] - last), 2.0**40))
        steps = np.unique(np.rint(np.linspace(1.0, reach, AHEAD)))
        value, low, high = _band(model, steps, limit)
        wrong, moved = drift(np.asarray(values, dtype=np.float64), int(iterations[0]), limit)
        unsure = max(LIMIT_90 * limit_error, moved)
        with np.errstate(over="ignore"):
            widened = np.exp(np.minimum(wrong * steps / min(len(error), BACK), 60.0))
        low, high = low / widened, high * widened
        low, high = np.maximum(low - unsure, 0.0), high + unsure
        ahead = Forecasted(last + steps, value, low, high)
    elif model is None and evolution.label is Pattern.CONVERGING and step == 1:
        ahead = _straight(error, last, limit_error)
    words = _sentence(evolution, error, last, tolerance, crossing, limit_error)
    return Convergence(
        np.asarray(iterations)[keep].astype(np.float64),
        error[keep],
        limit,
        limit_error,
        ahead,
        tolerance,
        crossing,
        words,
    )


def drift(values: np.ndarray, start: int, limit: float) -> tuple[float, float]:
    """(growth, shift) for the 90 % band: how fast log |error| changes per record length of lead time in forecasts of
    this record, and how far its estimated limit moves.

    The record is cut at three places and forecast from each; the rest is compared with the forecast, except values that
    are closer to the limit than four times its error. The worst cut counts; both are 0 if no cut has a model.
    """
    values, start = values[-BACK:], start + max(0, len(values) - BACK)
    worst, moved, n = 0.0, 0.0, len(values)
    for share in CUTS:
        m = int(share * n)
        if m < 6 or n - m < 2:
            continue
        try:
            e = classify_history(History(values[:m], start))
        except (ArithmeticError, LookupError, ValueError):
            continue
        if e.model is None or e.limit is None or not math.isfinite(e.limit):
            continue
        moved = abs(e.limit - limit)  # the limit of the last cut
        steps = np.arange(1.0, n - m + 1)
        with np.errstate(all="ignore"):
            observed = np.abs(values[m:] - e.limit)
            prediction = np.abs(np.asarray(e.model.predict(steps), dtype=np.float64) - e.limit)
            off = np.abs(np.log(observed / prediction)) / (steps / m)
        good = np.isfinite(off) & (observed > 4.0 * (e.limit_error or 0.0)) & (steps >= max(2.0, 0.05 * m))
        if good.any():
            worst = max(worst, float(np.median(off[good])))
    return DRIFT_90 * worst, MOVED_90 * moved


def _straight(error: np.ndarray, last: int, limit_error: float) -> Forecasted | None:
    """The forecast for verdicts without a model: the logarithm of the error is continued on a least-squares line
    through the newer half of the record, with the 90 % interval of a single prediction. None if the error does not fall
    steadily.
    """
    y = error[len(error) // 2 :][-WINDOW:]
    if len(y) < 6 or not np.all(np.isfinite(y)) or y.min() <= 3.0 * limit_error or y[-1] <= 0:
        return None
    x = np.arange(len(y), dtype=np.float64) - (len(y) - 1)
    centre, levels = x - x.mean(), np.log(y)
    slope = float((centre * levels).sum() / (centre**2).sum())
    rest = levels - levels.mean() - slope * centre
    sigma = float(np.sqrt((rest**2).sum() / (len(y) - 2)))
    if slope >= 0 or sigma > 0.5 * abs(slope) * len(y):
        return None
    steps = np.unique(np.rint(np.linspace(1.0, max(8.0, 0.5 * len(error)), AHEAD)))
    middle = levels.mean() + slope * (steps - x.mean())
    width = NORMAL_90 * sigma * np.sqrt(1.0 + 1.0 / len(y) + (steps - x.mean()) ** 2 / (centre**2).sum())
    low, high = np.exp(middle - width) - limit_error, np.exp(middle + width) + limit_error
    return Forecasted(last + steps, np.exp(middle), np.maximum(low, 0.0), high)


def _thinned(n: int) -> np.ndarray:
    """Indices of at most POINTS values: evenly spaced, including the first and the last."""
    return np.arange(n) if n <= POINTS else np.unique(np.rint(np.linspace(0, n - 1, POINTS)).astype(np.int64))


def _crossing(
    values: np.ndarray, error: np.ndarray, iterations: np.ndarray, tolerance: float | None
) -> tuple[int, int, int] | None:
    """The iteration from which the error stays below the tolerance, by the record or by the model and its band."""
    if tolerance is None:
        return None
    outside = np.flatnonzero(~(error <= tolerance))
    if not outside.size or outside[-1] < len(error) - 1:
        at = int(iterations[outside[-1] + 1 if outside.size else 0])
        return at, at, at
    found = iterations_to_tolerance(values, tolerance)
    if found is None or found.iteration < len(error):
        return None
    first = int(iterations[0])
    return first + found.iteration, first + max(found.low, len(error)), first + found.high


def _sentence(
    e: Evolution, error: np.ndarray, last: int, tolerance: float | None, crossing: Any, limit_error: float
) -> str:
    limit_words = estimate(float(e.limit or 0.0), limit_error, e.distance)
    limit = "limit, which is not certain yet," if limit_words is None else f"limit {limit_words}"
    text = f"The distance to the {limit} is {error[-1]:.3g} in iteration {last:,}"
    if 0 <= error[-1] < limit_error:
        text += ", no more than the uncertainty of the limit itself"
    first = error[np.isfinite(error)]
    if len(first) and first[0] > error[-1] > 0:
        text += f", {first[0] / error[-1]:,.0f} times less than at first" if first[0] < 1e9 * error[-1] else ""
    elif len(first) and first[0] > 0 == error[-1]:
        text += f" (it began at {first[0]:.3g})"
    text += "."
    if tolerance is None:
        return text
    if crossing is None:
        return f"{text} When it will be within {tolerance:.3g} cannot be predicted."
    at, low, high = crossing
    if at <= last:
        return f"{text} It is within {tolerance:.3g} from iteration {at:,} on."
    between = "" if low == high else f" (90 % between {low:,} and {high:,})"
    return f"{text} It is expected within {tolerance:.3g} in iteration {at:,}{between}."
