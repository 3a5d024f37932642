"""Step 6: linear prediction, AR(1) to AR(8) on the differences.

One model covers geometric, alternating, momentum (two complex modes), sine and drift.  It is accepted only if a free
run over the last 40 % of the window, started from the values before it, stays within 2 %.  The dominant root decides.
The method fails on power laws (their roots cluster at 1; step 5 is tried as well and the better prediction wins), on
noise and on maps. ``fits.linear_orders`` and ``fits.linear_modes`` compute the least squares, roots and free runs.
"""

from __future__ import annotations

import cmath
import math

import numpy as np

from workbench.analysis.series.models import LinearRecurrence, Settled
from workbench.analysis.series.result import Finding, Pattern
from workbench.analysis.series.value_series import WINDOW, History
from workbench.kernels import fits

TOLERANCE = 0.02
#: Minimum length of a wave, relative to the record, that may rest at its turning point; maximum deviation, relative to
#: the last step, of the next step from its reverse.
RESTS_WITHIN, TURNS = 1.2, 0.1


def linear_prediction(h: History, end: int) -> Finding | None:
    """The verdict of the smallest accepted model of the first ``end`` differences, or of their last half or quarter."""
    d, most = h.d, min(WINDOW, end)
    for window in (WINDOW, most // 2, most // 4):
        count = min(window, end)
        if count < (6 if window == WINDOW else 12):
            return None
        p, error, neutral = fits.linear_orders(d, end - count, end, TOLERANCE)
        if p:
            found = _verdict(h, d[end - count : end], p, error, neutral, end)
            if found is not None and count < most:
                # a law that holds only at the end may be temporary
                found.doubt = max(found.doubt, 0.2 if count >= 32 else 0.3)
            return found
    return None


def resting(h: History, found: Finding) -> Finding:
    """The finding, or CONVERGING if a wave longer than the record turns at the last value, as in a schedule that rests
    there: the predicted next value equals the previous one.
    """
    if found.method != "linear_prediction" or found.period is None or found.period < RESTS_WITHIN * len(h):
        return found
    last = float(h.x[-1])
    step = float(h.d[-1])
    again = float(found.model.predict(np.array([len(h.d) - h.end + 1]))[0]) - last
    if abs(step) > 0.05 * float(np.max(np.abs(h.d))) or abs(again + step) > TURNS * abs(step):
        return found
    error = abs(step) + 2 * h.ulp(last)
    why = f"{found.why} The last value is its turning point: it comes to rest there."
    return Finding(
        Pattern.CONVERGING, "turning_point", why, Settled(last), limit=last, limit_error=error, doubt=found.doubt
    )


def slow_root(d: np.ndarray, p: int) -> float:
    """Modulus of the slow root with the largest amplitude in the last window of ``d``."""
    z, c = fits.linear_modes(d, 0, len(d), p)
    most = max(abs(v) for v in c)
    return max(abs(root) for root, share in zip(z, c, strict=True) if abs(share) > 1e-3 * most)


def _undamped(z: complex, share: float, near: float) -> bool:
    """True if a root that is not a positive real number lies on the unit circle, within the accuracy for its share."""
    return abs(abs(z) - 1.0) <= near * max(1.0, 0.1 / share) and abs(cmath.phase(z)) > 1e-6


def common_period(angles: list[float], n: int) -> float | None:
    """Period of waves with these angles per iteration: that of the lowest frequency, or of its half, third or fourth,
    if all others are multiples of it within the accuracy of ``n`` iterations; else that of a frequency whose
    undersampled multiples (folded at half a turn) are the others.  None if there is none.
    """
    turns = sorted(angle / (2 * math.pi) for angle in angles)
    if not turns:
        return None
    slack = 0.02 / n
    for part in (1, 2, 3, 4):
        base = turns[0] / part
        if base * n < (0.25 if part == 1 else 2.0):
            break
        if all(abs(turn - round(turn / base) * base) < slack for turn in turns):
            return 1.0 / base
    for base in turns:
        folded = [abs(k * base - round(k * base)) for k in range(1, 7)]
        if all(min(abs(turn - f) for f in folded) < slack for turn in turns):
            return 1.0 / base
    return None


def _verdict(h: History, d: np.ndarray, p: int, error: float, neutral: bool, end: int) -> Finding | None:
    z, c = fits.linear_modes(d, 0, len(d), p)
    weight = [abs(v) for v in c]
    most = max(weight, default=0.0)
    if not 0 < most < math.inf:
        return None
    # a growing mode of little weight may be an artefact of the fit; a decaying one is only slow or fast
    growing = max(1e-3, min(0.3, 100 * error))
    loud = [w > (growing if abs(v) > 1.0 else 1e-4) * most for v, w in zip(z, weight, strict=True)]
    dominant = max((v for v, is_loud in zip(z, loud, strict=True) if is_loud), key=abs)
    size = abs(dominant)
    last = float(h.x[end])
    free = max(2.0, 0.4 * len(d))
    # a nearly exact model only misses rounding, and growth of that size is rounding too
    grain = h.ulp(max(abs(h.low), abs(h.high))) / max(fits.extremes(d)[1], 1e-300)
    slack = max(1e-9, (3.0 if error > max(1e-5, 100.0 * grain) else 10.0) * p * error / free)
    if neutral and abs(size - 1.0) * free < max(10.0 * error, 0.1):
        slack = max(slack, 1.01 * abs(size - 1.0))  # the largest roots may be undamped
    near = max(slack, 1e-6)
    drift = any(
        is_loud and abs(v - 1.0) <= near and w > 0.01 * most for v, w, is_loud in zip(z, weight, loud, strict=True)
    )
    if drift and size <= 1.0 + slack:
        dominant, size = 1.0 + 0j, 1.0
    model = LinearRecurrence(last, np.array(z), np.array(c), dominant, error, p)
    quarter = len(d) // 4
    if error > 1e-6 and quarter >= 2 and size > 1.0 - slack:
        late, before = fits.extremes(d[-quarter:])[1], fits.extremes(d[:-quarter])[1]
        if late < 0.7 * before:
            return None  # the fit contradicts the differences
    real = abs(dominant.imag) < 1e-9 * max(size, 1e-9)
    period = None if real else 2 * math.pi / abs(math.atan2(dominant.imag, dominant.real))
    text = (
        f"A linear recurrence of order {p} predicts the last 40 % within {error:.1g}; "
        f"its dominant root has modulus {size:.6g}"
    )
    if size < 1.0 - slack:
        limit = model.limit if model.limit is not None else last
        earlier = max(1, len(d) // 5)
        z2, c2 = fits.linear_modes(d, 0, len(d) - earlier, p)
        other = None
        if z2:
            other = LinearRecurrence(
                float(h.x[end - earlier]), np.array(z2), np.array(c2), max(z2, key=abs), error, p
            ).limit
        spread = abs(limit - other) if other is not None else abs(limit - last)
        noise = 2 * h.ulp(last) / (1.0 - size)
        return Finding(
            Pattern.CONVERGING,
            "linear_prediction",
            text + ", below 1.",
            model,
            rate=size,
            limit=limit,
            limit_error=spread * size ** min(earlier, 1000) + noise,
        )
    if size > 1.0 + slack:
        return Finding(Pattern.DIVERGING, "linear_prediction", text + ", above 1.", model, rate=size)
    if real and dominant.real > 0:
        return Finding(Pattern.DIVERGING, "linear_prediction", text + ": a steady drift.", model, rate=1.0)
    period = 2.0 if real or period is None else period
    held = [(v, w) for v, w, is_loud in zip(z, weight, loud, strict=True) if is_loud]
    period = common_period([abs(cmath.phase(v)) for v, w in held if _undamped(v, w / most, near)], len(d)) or period
    if period > 4.0 * len(d):
        return None
    return Finding(
        Pattern.OSCILLATING,
        "linear_prediction",
        text + f": an undamped oscillation of period {period:.6g}.",
        model,
        period=period,
        doubt=0.3 if period > len(d) else 0.0,
    )
