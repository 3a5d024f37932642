"""Step 5, before and after the laws of smooth tails: verdicts from the change of step sizes, for any law.

Superlinear order shows in the growth of the log-ratios themselves; steps that shrink geometrically in either direction
have a bounded sum; the last half of a tail may follow a law that its transient hides; and ratios that fall while the
steps are convex indicate a sum of terms that shrink faster than any geometric sequence.

If no law fits, geometric growth or decay is recognised under swings or noise: the logarithm of the steps' spread, block
by block, and that of the distance from the level are straight lines, fitted by least squares.
"""

from __future__ import annotations

import math
import statistics

import numpy as np

from workbench.analysis.series.acceleration import aitken
from workbench.analysis.series.models import Superlinear
from workbench.analysis.series.result import Finding, Pattern
from workbench.analysis.series.value_series import History


def superlinear(h: History, end: int) -> Finding | None:
    """Errors whose log-ratios grow by a factor: Newton, secant (order 1.6 to 2), or growth of that kind."""
    d = h.d[max(0, end - 9) : end].tolist()
    if len(d) < 3 or 0.0 in d:
        return None
    sizes = [abs(v) for v in d]
    logs = [math.log(v) for v in (sizes[sizes.index(max(sizes)) :] if sizes[-1] < sizes[0] else sizes)]
    r = [b - a for a, b in zip(logs, logs[1:], strict=False)]
    if len(r) < 2 or abs(r[-1]) < 0.7 or any((v > 0) != (r[-1] > 0) for v in r[-3:]):
        return None
    good = 0
    for later, sooner in zip(r[:0:-1], r[-2::-1], strict=True):
        if sooner == 0 or not 1.2 <= later / sooner <= 8.0:
            break
        good += 1
    if good < (1 if len(h.d) - end >= 1 and abs(r[-1]) > 3.0 else 2) or len(r) >= 5 and good < 3:
        return None
    # an extremum of a smooth curve looks like this too: require five digits gained, or steps that then vanished
    if r[-1] < 0:
        drop = sizes[-1] / max(sizes)
        # two consecutive ratios that occur only for a power of the error
        clear = drop < 0.01 and len(r) >= 3 and sizes == sorted(sizes, reverse=True)
        clear = clear and r[-2] < -0.9 and r[-1] > 3.5 * r[-2] and r[-2] > 3.5 * r[-3]
        if not (drop < 1e-5 or clear or (drop < 0.05 and end < len(h.d))):
            return None
    elif logs[-1] - logs[0] < 4.6:
        return None
    q = [later / sooner for sooner, later in zip(r[-1 - good :], r[-good:], strict=False)]
    order = statistics.median(q[-3:]) if good > 1 else q[-1]
    if r[-1] < 0:
        order = _order_of_errors(h, end, min(good, 3)) or order
    if r[-1] > 0:
        why = f"The increments grow superlinearly: their logarithms grow {order:.3g} fold each iteration."
        return Finding(Pattern.DIVERGING, "superlinear", why, order=order)
    end_value = float(h.x[-1])
    # the next step is about |d| * exp(r q), the remaining distance, or 0 if that is below rounding
    left = 0.0 if end < len(h.d) else d[-1] * math.exp(max(r[-1] * order, -700.0))
    limit = end_value + left
    # the order is known from only a few ratios: allow a third less
    error = sizes[-1] * math.exp(max(r[-1] * max(1.0, 0.7 * order), -700.0)) if left else 0.0
    error += 2 * h.ulp(end_value)
    model = Superlinear(limit, left if left else 0.0, order, logs[-1] - order * logs[-2])
    why = f"The steps shrink superlinearly, with order about {order:.3g}: the last is {h.unscale(sizes[-1]):.2g}."
    return Finding(Pattern.CONVERGING, "superlinear", why, model, order=order, limit=limit, limit_error=error)


def _order_of_errors(h: History, end: int, ratios: int) -> float | None:
    """Median of the last ``ratios`` slopes of log|e(k + 1)| over log|e(k)|, with the newest value as the limit.

    The errors follow the law from the start; steps are errors only once each is much smaller than the one before.
    """
    errors = np.abs(h.x[max(0, end - ratios - 2) : end] - h.x[-1]).tolist()
    if len(errors) < 3 or min(errors) == 0.0:
        return None
    r = [math.log(b / a) if b / a > 0 else -math.inf for a, b in zip(errors, errors[1:], strict=False)]
    if max(r) >= 0 or not math.isfinite(min(r)):
        return None
    return statistics.median(later / sooner for sooner, later in zip(r, r[1:], strict=False))


def falling(h: History, end: int) -> Finding | None:
    """CONVERGING if the last six ratios of steps fall, all below 0.95, and the steps are convex.

    Sums whose terms shrink faster than any geometric sequence (factorials) end in this way, and so do S-shaped
    transients. Steps near the extremum of a smooth curve fall too, but straight to zero.
    """
    d = h.d[max(0, end - 7) : end].tolist()
    if len(d) < 7 or 0.0 in d:
        return None
    size = [abs(v) for v in d]
    ratios = [b / a for a, b in zip(size, size[1:], strict=False)]
    if ratios[-1] > 0.95 or any(b > a * (1 + 1e-3) for a, b in zip(ratios, ratios[1:], strict=False)):
        return None
    if any(a - 2 * b + c <= 0 for a, b, c in zip(size, size[1:], size[2:], strict=False)):
        return None
    rho, last = ratios[-1], float(h.x[-1])
    settled_ratio = aitken(*ratios[-3:])
    rate = settled_ratio if 0.8 * rho < settled_ratio < rho else rho if rho > 0.98 * ratios[-2] else None
    left = size[-1] * rho / (1.0 - rho) if end == len(h.d) else 0.0
    why = f"The steps shrink faster each time, by {ratios[0]:.3g} six iterations ago and by {rho:.3g} now."
    limit = last + math.copysign(0.5 * left, d[-1]) if d[-1] * d[-2] > 0 else last
    return Finding(
        Pattern.CONVERGING, "falling", why, rate=rate, limit=limit, limit_error=left + 2 * h.ulp(last), doubt=0.2
    )


#: Number of blocks into which the steps are cut, and minimum number of steps in each.
BLOCKS, LEAST = 8, 6
#: Minimum correlation of the logarithms with time for a geometric law.
STRAIGHT = 0.97


def spread_rate(d: np.ndarray) -> float | None:
    """Factor per iteration by which the steps' spread changes; None if its logarithm is not linear in time."""
    size = len(d) // BLOCKS
    if size < LEAST:
        return None
    spread = np.sqrt(np.mean(d[len(d) - BLOCKS * size :].reshape(BLOCKS, size) ** 2, axis=1))
    if not np.all(spread > 0):
        return None
    y = np.log(spread)
    slope = _straight(size * np.arange(BLOCKS, dtype=float), y)
    return None if slope is None else math.exp(slope)


def approach_rate(x: np.ndarray, level: float, noise: float) -> float | None:
    """Factor per iteration of the distance from a level, as long as it exceeds four times the noise about it."""
    far = np.abs(x - level)
    near = np.flatnonzero(far < 4.0 * noise)
    count = int(near[0]) if near.size else len(x)
    if count < 4:
        return None
    slope = _straight(np.arange(count, dtype=float), np.log(far[:count]))
    return math.exp(slope) if slope is not None and slope < 0 else None


def step_ratio(size: np.ndarray) -> float | None:
    """Last ratio of a few steps, if the two before agree with it within a twentieth."""
    if len(size) < 3 or not np.all(size > 0):
        return None
    ratios = (size[1:] / size[:-1])[-3:]
    return float(ratios[-1]) if float(np.ptp(ratios)) <= 0.05 * float(ratios[-1]) else None


def _straight(k: np.ndarray, y: np.ndarray) -> float | None:
    """Slope of the line through y, if y is straight: the slopes of its halves must be similar."""
    if abs(float(np.corrcoef(k, y)[0, 1])) < STRAIGHT:
        return None
    half = len(y) // 2
    slope = float(np.polyfit(k, y, 1)[0])
    first, second = (float(np.polyfit(k[part], y[part], 1)[0]) for part in (slice(half), slice(len(y) - half, None)))
    return slope if min(first / slope, second / slope) > 0.4 else None
