"""Forecasts, for ``iterations_to_tolerance``, the iteration at which a law enters the tolerance around its limit for
good.

The laws of ``law_selection`` are fitted, judged by a free run over the last quarter, and fitted again to all values.
The best of them determines the limit; if the last quarter of the record shifts it, the interval is widened.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from workbench.analysis.forecast.calibrated_intervals import EXACT, interval, law_class
from workbench.analysis.forecast.crossing_time import WORST
from workbench.analysis.forecast.laws.law_selection import Fitted, Law, again, try_all
from workbench.analysis.forecast.noisy_limit import Trend, cost_of_zero, noisy_limit, trends
from workbench.analysis.laws.posterior import Posterior, outlook
from workbench.kernels.laws import is_noisy

#: The limit is estimated by the law this many iterations ahead, and must hardly change a thousand times farther ahead.
FAR = 10**9


class Within(NamedTuple):
    """``k`` iterations from the last value, with the 90 % interval, the class and the half width before calibration."""

    k: float
    low: float
    high: float
    kind: str
    half: float


def within(x: np.ndarray, tol: float, eps: float) -> Within | None:
    """The iteration from which the best law of x stays within tol of its limit; None if no law with a limit fits."""
    n = len(x)
    if n < 5 or not np.all(np.isfinite(x)):
        return None
    held = max(1, n // 4)
    with np.errstate(all="ignore"):
        tried = try_all(x, held, eps)
        if n >= 16 and (not tried or tried[0].error > 1e-3):
            to_zero = bool(np.all(x * x[-1] > 0)) and is_noisy(np.log(np.abs(x)))
            found = _noisy_to_limit(x, tol, to_zero)
            if found is not None or to_zero:
                return found if found is not None else _noisy(np.log(np.abs(x)), math.log(tol))
        for best in tried[:4]:
            if best.error > WORST:
                return None
            law = again(x, best)
            limit = _limit(law) if law is not None else None
            if law is not None and limit is None and not law.is_map:
                return None  # the best law has no limit
            # a limit far outside the observed range is an extrapolation
            if law is None or limit is None or abs(limit - x[-1]) > 8 * float(np.ptp(x)):
                continue
            k = _stays(law, limit, tol)
            if k is None or k > 400 * n:
                continue
            found = _banded(k, _others(best.law, tried, best, held, tol), n, best, limit, _limit(best.law), tol)
            return _narrowed(found, outlook(np.abs(x - limit), ">", tol) if found.kind == "few" else None)
    return None


def _others(law: Law, tried: list[Fitted], best: Fitted, held: int, tol: float) -> list[float]:
    out: list[float] = []
    for rival in [law] + [r.law for r in tried[:4] if r is not best and r.score < 4 * best.score]:
        limit = _limit(rival)
        k = _stays(rival, limit, tol) if limit is not None else None
        if k is not None:
            out.append(k - held)
    return out


def _banded(
    k: int, others: list[float], n: int, best: Fitted, limit: float, earlier: float | None, tol: float
) -> Within:
    error, parameters = best.error, best.law.parameters
    half = max((abs(k - v) for v in others), default=0.1 * k) + error * k
    if earlier is not None and abs(limit - earlier) > 0.3 * tol and error > 1e-10:
        half = max(half, 0.05 * k)
    kind = "exact" if error < EXACT else law_class(n, error, parameters)
    kind = "within" if kind == "bends" else kind  # a nearby limit bounds how far the record may deviate from the law
    low, high = interval(k, half, half, n, kind)
    return Within(k, low, high, kind, half)


def _narrowed(found: Within, o: Posterior | None) -> Within:
    """The same forecast, its interval intersected with that of all declared laws for the distance from the limit."""
    if o is None:
        return found
    low, high = (found.low, min(math.floor(o.low), found.k)), (found.high, max(math.ceil(o.high), found.k))
    return found._replace(low=max(low), high=min(high))


def _limit(law: Law) -> float | None:
    """The limit of the law; None if it does not settle."""
    if law.is_map:
        values = law.values(2048)
        a, b = float(values[-2]), float(values[-1])
        if not math.isfinite(b):
            return None
        if a == b or abs(b - a) <= 4e-16 * abs(b):
            return b
        return _of_map(law, values)
    a, b = (float(v) for v in law.at(np.array([FAR, 1000 * FAR])))
    if not math.isfinite(a + b):
        return None
    last = float(law.at(np.array([1]))[0])
    # a sum like 1/k**1.3 is still moving there; one that diverges moves as much again
    return b if abs(b - a) <= 0.3 * abs(b - last) else None


def _of_map(law: Law, values: np.ndarray) -> float | None:
    """The limit of a map before it is reached: zero for sublinear decay to zero, else by Aitken's extrapolation."""
    a, b, c = (float(v) for v in values[[-1024, -512, -1]])
    if abs(c) < 0.9 * abs(b) and abs(b) < 0.9 * abs(a) and law.name in ("decrement", "ratio-1", "origin-2", "linear"):
        return 0.0
    d1, d2 = b - a, c - b
    if abs(d2) >= 0.9 * abs(d1) or d1 == 0:
        return None
    return c - d2 * d2 / (d2 - d1)


def _stays(law: Law, limit: float, tol: float) -> int | None:
    """Smallest k from which the law stays within tol of the limit: after its last excursion."""
    if law.is_map:
        size = 256
        while size <= 32_768:
            values = law.values(size)
            outside = np.flatnonzero(~(np.abs(values - limit) <= tol))
            last = int(outside[-1]) + 1 if outside.size else 0
            if last < size // 2:
                return last + 1
            size *= 8
        return None
    size = 64
    while size <= 4096 * 8:
        outside = np.flatnonzero(~(np.abs(law.at(np.arange(1, size + 1)) - limit) <= tol))
        last = int(outside[-1]) + 1 if outside.size else 0
        if last < size // 2:
            return last + 1
        size *= 8
    grid = np.unique(np.geomspace(1, 1e8, 4000).astype(np.int64))
    outside = np.flatnonzero(~(np.abs(law.at(grid) - limit) <= tol))
    if not outside.size or outside[-1] >= len(grid) - 1:
        return None
    a, b = int(grid[outside[-1]]), int(grid[outside[-1] + 1])
    while b - a > 1:
        mid = (a + b) // 2
        a, b = (mid, b) if abs(float(law.at(np.array([mid]))[0]) - limit) > tol else (a, mid)
    return b


def _noisy(y: np.ndarray, mark: float) -> Within | None:
    """The forecast for a noisy decay to zero, from logarithms: the iteration from which the trend is so low that noise
    no longer exceeds the tolerance.
    """
    n = len(y)
    found = trends(y)
    if not found:
        return None
    trend = min(found, key=lambda t: 2 * n * math.log(t.sd) + t.parameters * math.log(n))
    grid = np.unique(np.geomspace(1, 1e7, 2000).astype(np.int64)).astype(float)
    line = trend.line(n - 1 + grid)
    # the last excursion of independent noise is roughly where the trend is one standard deviation below the tolerance
    deep = [int(np.argmax(line + s * trend.sd <= mark)) for s in (0.0, 1.0, 2.2)]
    if any(line[i] + s * trend.sd > mark for i, s in zip(deep, (0.0, 1.0, 2.2), strict=True)):
        return None
    low, k, high = (float(grid[i]) for i in deep)
    return _with_doubt(k, low, high, trend, n)


def _noisy_to_limit(x: np.ndarray, tol: float, to_zero: bool) -> Within | None:
    """The forecast for a noisy decay to a limit other than 0; None for any other record, or if the limit 0 is as
    likely.
    """
    at = noisy_limit(x)
    if at is None:
        return None
    down = trends(np.log(np.abs(x))) if to_zero else []
    if down and cost_of_zero(x, min(t.sd for t in down)) < at.cost + 5.0:
        return None
    y = np.log(np.abs(x - at.limit))
    fall, rest = float(y[: len(y) // 4].mean() - y[-(len(y) // 4) :].mean()), float(np.std(np.diff(y))) / math.sqrt(2)
    if not (fall > 4.0 * rest and rest < 0.7 and is_noisy(y)):
        return None
    found = _noisy(y, math.log(tol))
    if found is None:
        return None
    # the error of the limit changes the distances of the latest values, and thus the trend
    beside = [v for v in (at.low, at.high) if np.all((x > v) == (x > at.limit))]
    others = [_noisy(np.log(np.abs(x - v)), math.log(tol)) for v in beside]
    half = max((abs(o.k - found.k) for o in others if o is not None), default=0.0) + found.half
    low, high = interval(found.k, half, half, len(x), found.kind)
    return found._replace(low=low, high=high, half=half)


def _with_doubt(k: float, low: float, high: float, trend: Trend, n: int) -> Within:
    slope, sd = trend.slope, trend.sd
    # the error of the slope moves the crossing in proportion
    share = min(1.7 * sd / (n**1.5 * 0.29) / max(abs(slope), 1e-300), 0.8)
    half = max(high - k, k - low) + share * k
    bounds = interval(k, half, half, n, "noise-power")
    return Within(k, bounds[0], bounds[1], "noise-power", half)
