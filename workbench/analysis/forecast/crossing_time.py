"""Forecasts the first crossing of a threshold by an operand without an exact law, by fits that are tested on a
hold-out.

The best law of ``law_selection`` is fitted again to all values and followed to the threshold. The width of the interval
before calibration (``calibrated_intervals``) follows from how far this fit moved the answer of the fit without the last
quarter, and from where the nearest rivals cross.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from workbench.analysis.forecast.calibrated_intervals import ahead_doubt, interval, law_class
from workbench.analysis.forecast.laws.law_selection import EXACT, Fitted, Law, again, try_all
from workbench.analysis.laws.posterior import LEAST
from workbench.kernels.laws import settled

#: A law with a larger error is rejected.
WORST = 0.2
#: The same for records of fewer than 16 values, which a law may fit by chance.
SHORT = 0.02
#: A law with a larger error is left to the joint forecast of all declared laws.
ROUGH = 1e-3
#: The same for few values, which a law may fit only roughly at first.
FAIR = 5e-3
#: A crossing more than this many record lengths ahead cannot be distinguished from a zero within the rounding of the
#: record.
PASSES = 8
#: With fewer values, the last steps are extrapolated if no law fits.
FEW = 12


@dataclass
class Crossing:
    """A crossing in ``k`` iterations (inf: never), with the 90 % interval ``low`` to ``high``; ``error`` is that of the
    free run.
    """

    k: float
    low: float
    high: float
    law: str
    error: float
    spread: float
    #: the limit of the law, and that of the same law fitted without the last quarter
    limit: float = math.nan
    earlier: float = math.nan
    #: class and half widths before calibration
    kind: str = ""
    below: float = 0.0
    above: float = 0.0
    #: the law's next values, as far as they can be trusted without a new fit
    ahead: np.ndarray | None = None


def forecast_crossing(x: np.ndarray, op: str, t: float, eps: float = 2.2e-16) -> Crossing | None:
    """Forecast when ``x op t`` first fails; None if no law fits x, 3 or more finite float64 values."""
    n = len(x)
    # a record at rest to within rounding, or one that repeats itself, is not extrapolated
    if n < 3 or not math.isfinite(t) or settled(x, eps) is not False:
        return None
    held = max(1, n // 4)
    with np.errstate(all="ignore"):
        tried = try_all(x, held, eps)
        good = tried[0].error if tried else math.inf
        if good < (WORST if n >= 16 else SHORT if n >= 4 else 1e-9):
            return _follow(x, held, tried, eps, op, t)
        return _last_steps(x, op, t) if n < FEW else None


def _follow(x: np.ndarray, held: int, tried: list[Fitted], eps: float, op: str, t: float) -> Crossing | None:
    for best in tried[:3]:
        law = again(x, best)
        k = law.first(op, t) if law is not None else None
        if law is None or k is None:
            continue
        # a law of many parameters follows any curve for a while, and any few values, but its far end is an artefact
        far = len(x) * 10 < k < math.inf and law.parameters >= 6
        few = len(x) < 3 * law.parameters
        if best.error < (1e-10 if far or few else WORST):
            break
    else:
        return None
    if PASSES * len(x) < k < math.inf and _below_digits(x, op, t, eps):
        at_zero = law.first(">", 0.0)
        if at_zero is not None and at_zero <= k + 1:
            return None  # it passes zero there by less than the record can resolve; a geometric decay would fit as well
    if math.isfinite(k) and best.error > (ROUGH if len(x) >= FEW else FAIR) and len(x) >= LEAST:
        return None  # all declared laws together are more reliable than one that fits only roughly
    before = best.law.first(op, t)
    others = [] if before is None else [before - held]
    for rival in [r for r in tried[:4] if r is not best and r.score < 4 * best.score and best.error > EXACT]:
        other = rival.law.first(op, t)
        if other is not None:
            others.append(other - held)
    if math.isinf(k):
        # a single rival that crosses is reason for doubt
        near = [v for v in others if math.isfinite(v)]
        limit, earlier = _end(law, float(x[-1])), _end(best.law, float(x[-1]))
        low = min(near, default=math.inf)
        return Crossing(math.inf, low, math.inf, best.law.name, best.error, math.inf, limit, earlier)
    spread = max((abs(k - v) for v in others if math.isfinite(v)), default=0.0)
    half = max(spread, best.error * k)
    doubt = max(half, ahead_doubt(k, len(x), best.error, best.law.parameters))
    kind = law_class(len(x), best.error, best.law.parameters, doubt)
    if kind == "exact" and _below_digits(x, op, t, eps):
        kind = "exact-deep"
    found = _banded(k, half, len(x), kind, best.law.name, best.error, spread)
    if len(x) >= 16:
        found.ahead = law.values(int(min(k, len(x) // 8)))
    if k > len(x) and _by_newton(x, op, t):
        # after the linear phase, each of about six steps doubles the number of digits
        found.low, found.high, found.kind = 1.0, found.high + 6.0, "newton-rate"
    return found


def _below_digits(x: np.ndarray, op: str, t: float, eps: float) -> bool:
    """True if the threshold of a residual is below the last digits of its largest value, where it may rest."""
    return op in (">", ">=") and 0.0 < t < eps * float(np.abs(x).max())


def _by_newton(x: np.ndarray, op: str, t: float) -> bool:
    """True if a residual falls as under Newton's method far from a root: then it may reach the threshold sooner.

    Far from the root only the leading power m of the function matters: steps shrink by 1 - 1/m, and the function by the
    m-th power of that. This continues to a root of multiplicity m, but ends before a simple root, at a point that the
    record does not show. A ratio that is a short decimal is taken for a constant in the program.
    """
    if op not in (">", ">=") or t < 0 or len(x) < 4 or not (x[-6:] > 0).all():
        return False
    ratios = x[-5:] / x[-6:-1] if len(x) > 5 else x[1:] / x[:-1]
    rate = float(ratios[-1])
    if not 0.2 < rate < 0.985 or float(np.ptp(ratios)) > (1e-9 if len(x) > 5 else 1e-4) * rate:
        return False
    m = 1.0 / (1.0 - rate)
    if rate > 0.6 and len(x) > 5 and abs(m - round(m)) < 1e-6 * m and abs(1e3 * rate - round(1e3 * rate)) > 1e-6:
        return True
    return any(abs(rate - (1.0 - 1.0 / m) ** m) < 1e-4 * rate for m in (2, 3, 4, 5, 6)) and float(np.ptp(ratios)) > 0.0


def _end(law: Law, last: float) -> float:
    """The limit of the law; NaN if it has none within the iterations that can be followed, like a sum of 1/k."""
    if law.is_map:
        values = law.values(4096)
        before, end = float(values[-1024]), float(values[-1])
    else:
        before, end = (float(v) for v in law.at(np.array([10**9, 10**12])))
    return end if abs(end - before) <= 1e-3 * abs(end - last) + 1e-15 * abs(end) else math.nan


def _banded(k: float, half: float, n: int, kind: str, law: str, error: float, spread: float) -> Crossing:
    low, high = interval(k, half, half, n, kind)
    return Crossing(k, low, high, law, error, spread, kind=kind, below=half, above=half)


def _last_steps(x: np.ndarray, op: str, t: float) -> Crossing | None:
    """Extrapolate the last steps of a short residual record that no law fits: a guess with a wide interval."""
    if op not in (">", ">=") or t <= 0 or not (x > 0).all():
        return None
    y, mark = np.log(x), math.log(t)
    d = y[1:] - y[:-1]
    if not (d[-3:] < 0).all():
        return None
    ks = [(float(y[-1]) - mark) / -float(d[-m:].mean()) for m in (1, 2, len(d))]
    half = max(abs(v - ks[0]) for v in ks)
    return _banded(float(math.ceil(ks[0])), half, len(y), "guess", "the last steps", 0.5, 0.0)
