"""Step 8: bounded and irregular values that follow a rule.

Two tests of a rule: a low-order polynomial map of one or two past values, fitted to the first 60 % and tested on the
last 40 % one step ahead; and nearest neighbours in one to three delay coordinates.  If a map is found, its largest
Lyapunov exponent along the record decides, or the end of its orbit.  Otherwise neighbours are followed for about four
periods: CHAOTIC if their distance exceeds five times the initial one, or half the attractor.  (An alternative, the 0-1
test of Gottwald and Melbourne, Proc. R. Soc. A 460, 2004, needs longer records.)
"""

from __future__ import annotations

import math

import numpy as np

from workbench.analysis.series.models import Cycle
from workbench.analysis.series.result import Finding, Pattern
from workbench.analysis.series.value_series import WINDOW, History, changes
from workbench.analysis.text import count
from workbench.kernels import fits

#: Number of points whose nearest neighbours are searched for.
REFERENCES = 96
#: Maximum error of a chaotic map over the size of the last 40 % of the steps.
LATE = 0.1


def irregular(h: History) -> bool:
    """True if the differences change sign often enough for a map; smooth curves are not tested."""
    return fits.irregular(h.d)


def steady(h: History) -> bool:
    """True if the steps at the end of the last 512 values are as large as at their start, within a factor of 2.5."""
    if len(h) < 40:
        return True
    spreads = fits.block_spreads(h.d[-WINDOW:], 4)
    return spreads[0] < 2.5 * spreads[-1] < 6.25 * spreads[0]


def _grows(h: History) -> bool:
    *_, before, late = fits.block_spreads(h.d[-WINDOW:], 4)
    return late > 2.5 * before


def _late_steps(h: History) -> float:
    """Size of the steps in the last 40 % of the last 512 values, as a share of that of all of them."""
    d = h.d[-WINDOW:]
    late, whole = (math.sqrt(float(np.mean(part * part))) for part in (d[-max(2 * len(d) // 5, 1) :], d))
    return late / max(whole, 1e-300)


def polynomial_map(h: History, tolerance: float = 0.01) -> Finding | None:
    """A verdict if a polynomial map predicts the last 40 % one step ahead within 1 % of the differences' size."""
    found = fits.polynomial_map(h.x, tolerance)
    if found is None:
        return None
    lags, degree, error, exponent, rows, p, stayed, following, multiplier = found
    text = (
        f"A polynomial map of {count(lags, 'past value')}, degree {degree}, predicts each next value within {error:.1g}"
    )
    if error > 1e-4 and not steady(h) or len(h) >= 40 and _grows(h):
        return None  # several modes that decay or grow are nearly such a map too
    if exponent > 0.005 and error > LATE * _late_steps(h):
        return None  # the predicted steps lead to a level; noise about that says nothing about a rule
    # the orbit of an exact map shows its limit, whatever the transient was
    if exponent > 0.03 and (p == 0 or rows >= 100 and error > 1e-8):
        factor = math.exp(exponent)
        why = f"{text}; nearby values separate by {factor:.3g} each iteration (Lyapunov exponent {exponent:.3g})."
        return Finding(Pattern.CHAOTIC, "map", why, rate=factor, doubt=0.2 if rows < 24 else 0.0)
    if p == 1:
        last, ahead = float(h.x[-1]), following[0]
        # the limit of a fitted orbit is only as accurate as the fit
        limit = ahead if abs(ahead - last) > 100 * error * float(np.ptp(h.x[-WINDOW:])) else last
        return Finding(
            Pattern.CONVERGING,
            "map",
            text + "; its orbit ends at a fixed point.",
            rate=multiplier if 0 < multiplier < 1 else None,
            limit=limit,
            limit_error=abs(ahead - last) * (0.1 if limit == ahead else 1.0) + 2 * h.ulp(last),
            doubt=0.3,
        )
    if p > 1:
        return Finding(
            Pattern.OSCILLATING,
            "map",
            text + f"; its orbit ends on a cycle of period {p}.",
            Cycle(np.array(following)),
            period=float(p),
            doubt=0.1,
        )
    if not stayed:
        return None
    if exponent > 0.005:
        return Finding(Pattern.CHAOTIC, "map", text + f"; nearby values separate slowly ({exponent:.2g}).", doubt=0.4)
    if len(h) >= 40:
        spreads = fits.block_spreads(h.d[-WINDOW:], 4)
        if spreads == sorted(spreads, reverse=True) and spreads[-1] < 0.9 * spreads[0]:
            return None  # a purely rotating motion does not lose its steps throughout
    return Finding(Pattern.OSCILLATING, "map", text + "; nearby values stay together: quasi-periodic.", doubt=0.3)


def return_map(h: History) -> Finding | None:
    """CHAOTIC if the next value is one function of the last, of whatever shape, and its slopes separate neighbours."""
    pairs, middle, wide, rest, exponent = fits.return_map(h.x)
    if pairs < 24 or middle > (0.15 if rest > 0.01 else 0.25) or rest > 0.3 or exponent < 0.12:
        return None
    # lines without a residual are a rule, whatever its discontinuities do to the spreads
    if (wide > 0.3 or not steady(h)) and (wide > 0.5 or rest > 0.01 or pairs >= 100):
        return None
    if len(h) >= 40 and _grows(h):
        return None  # in an oscillation that grows by chance, a value is also nearly a function of the value before
    why = (
        f"Each value is a function of the one before (neighbours jump by {middle:.2g} of a step only), "
        f"whose slopes separate nearby values by {math.exp(exponent):.3g} each iteration."
    )
    return Finding(Pattern.CHAOTIC, "return_map", why, rate=math.exp(exponent), doubt=0.0 if pairs >= 48 else 0.1)


def crossings(x: np.ndarray) -> float:
    """Mean period of the crossings of the mean."""
    above = x > x.mean()
    return 2.0 * len(x) / max(changes(above), 1)


def neighbours(h: History, folded: float = math.inf) -> Finding | None:
    """A verdict from delay coordinates, if neighbours predict each other's next value; needs 60 values.

    ``folded`` is the median distance of values at the same phase of a wave: if the next values of neighbours do not
    agree much better, the wave explains the record equally well, and its edges separate neighbours.
    """
    x, d = h.x[-WINDOW:], h.d[-WINDOW:]
    n = len(x)
    if n < 60:
        return None
    turns = changes(d > 0)
    if turns < 8:
        return None
    if len(np.unique(x)) < max(12, n // 8):  # with few distinct values neighbours are equal by chance
        return None
    period = 2.0 * n / turns
    horizon = int(min(max((8 if period >= 7 else 4) * period, 6), n // 4))
    sizes = np.sort(np.abs(d))
    move, most = float(sizes[len(d) // 2]), float(sizes[3 * len(d) // 4])
    width = float(np.ptp(x))
    best, least, apart = 0, math.inf, None
    for m in (1, 2, 3):
        # a few points are enough to recognise noise
        _, one, *_ = fits.neighbours(x, m, horizon, max(2, int(period)), REFERENCES // 4)
        if one > (1.25 if period >= 7 else 0.7) * move:
            continue
        pairs, one, wide, start, grown = fits.neighbours(x, m, horizon, max(2, int(period)), REFERENCES)
        if pairs < 10:
            break
        smooth = period >= 7 and one < 0.035 * width  # a finely sampled flow has small steps; noise does not
        if (one > 0.5 * move or wide > 0.65 * most) and not (smooth and one < 0.95 * move and wide < 0.85 * most):
            continue
        # noise on a cycle separates neighbours once and no further; a chaotic rule continues to separate them
        if grown > 0.4 * width or grown > max(5 * max(start, 1e-12), 6 * one, 0.05 * width):
            apart = apart or _separate(grown, start, horizon)
            if folded == math.inf:
                return apart
        if one < least:
            best, least = m, one
    if not best:
        return None
    wave = folded <= 4 * least
    if apart is not None and not wave:
        return apart
    longer = min(3 * horizon, n // 3)
    if period < 7 and longer >= 2 * horizon and not wave:
        # slow separation, as in an orbit that turns almost uniformly, shows after more periods
        _, one, _, start, grown = fits.neighbours(x, best, longer, max(2, int(period)), REFERENCES)
        if grown > max(10 * start, 10 * one, 0.2 * width):
            return _separate(grown, start, longer)
    bursts = fits.block_spreads(d, 8)
    if n >= 100 and max(bursts) > 6.0 * min(bursts) and bursts not in (sorted(bursts), sorted(bursts, reverse=True)):
        factor = max(bursts) / max(min(bursts), 1e-300)
        why = f"Values follow a rule, and their steps vary {factor:.3g} fold from one eighth to another: bursts."
        return Finding(Pattern.CHAOTIC, "neighbours", why, doubt=0.3)
    period = crossings(x)
    why = f"Values follow a rule and neighbours stay together over {horizon} iterations: quasi-periodic."
    return Finding(Pattern.OSCILLATING, "neighbours", why, period=period, doubt=0.3)


def _separate(grown: float, start: float, horizon: int) -> Finding:
    why = (
        "Values follow a rule (neighbours agree one step ahead), "
        f"but their distance grows {grown / max(start, 1e-12):.3g} fold in {horizon} iterations."
    )
    return Finding(Pattern.CHAOTIC, "neighbours", why, doubt=0.2)
