"""Step 7, levels: noise of constant spread around a level, and what leaves it at its end.

The rule for a noise ball (constant spread around a level): CONVERGING if the record shows the way to it, that is if
the first values or block means lie six standard errors or more from the level; STABLE if the record is inside the ball
from the start; OSCILLATING only if one frequency and its harmonics carry most of the variance.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from workbench.analysis.series.result import Finding, Pattern
from workbench.analysis.series.step_ratios import approach_rate
from workbench.analysis.series.value_series import History
from workbench.kernels import fits

#: Ratio of the largest to the smallest value from which on the logarithm is looked at, and standard errors from its
#: level at which the end of a record lies beyond it.
DECADES, AFAR = 100.0, 6.0
#: Distance from the level, in the noise of the first half, from which a value lies outside, and such values at least.
OUTSIDE, LEAVING = 4.0, 6


def blow_up(h: History) -> Finding | None:
    """DIVERGING if the record leaves its range at its very end, in steps that grow and dwarf all before."""
    if len(h) < 24:
        return None
    size = np.abs(h.d)
    *before, late = fits.block_spreads(h.d, 8)
    newest = size[-4:]
    if late < 8.0 * max(before) or newest.max() < size.max() or np.median(newest) < 3.0 * np.median(size[-12:-4]):
        return None
    if abs(float(h.x[-1] - np.median(h.x))) < 0.5 * float(np.ptp(h.x)):
        return None
    why = f"The steps at the end are {late / max(max(before), 1e-300):.3g} times as large as any before, and grow."
    return Finding(Pattern.DIVERGING, "blow_up", why, doubt=0.3)


def outgrows(h: History) -> Finding | None:
    """DIVERGING if the record leaves its noise at its end and goes away from it ever faster, on one side or swinging:
    what grows from below the noise shows late."""
    x = h.x
    n = len(x)
    if n < 24:
        return None
    early = x[: n // 2]
    level = float(np.median(early))
    far = np.abs(x - level)
    noise = float(np.median(far[: n // 2])) or float(np.mean(far[: n // 2]))
    noise = max(1.5 * noise, 2 * h.ulp(max(abs(h.low), abs(h.high))))
    if not far[-LEAVING:].max() > 2 * OUTSIDE * noise:
        return None  # the usual case
    outside = np.flatnonzero(far > OUTSIDE * noise)
    leaving = far[outside[0] :]
    if not LEAVING <= len(leaving) <= n // 2 or len(outside) < 0.4 * len(leaving):
        return None
    peaks = [float(part.max()) for part in np.array_split(leaving, 4)]
    gains = [b - a for a, b in pairwise(peaks)]
    if min(gains) <= 0 or gains[2] < 1.5 * gains[0] or gains[2] < gains[1] or peaks[-1] < 2.0 * peaks[0]:
        return None
    size = peaks[-1] / noise
    why = f"The last {len(leaving)} values leave the noise before them, ever faster, to {size:.3g} times it."
    return Finding(Pattern.DIVERGING, "outgrows", why, doubt=0.2)


def _outlying(x: np.ndarray, level: float, spread: float) -> float:
    """How far the first values of noise with outliers lie from its level by chance: twice as far as those in the second
    half do, from either end of it; 0 where there are no outliers."""
    late = x[len(x) // 2 :]
    if float(np.max(np.abs(late - level))) < 4.5 * spread:
        return 0.0
    return 2.0 * max(fits.ball(np.ascontiguousarray(part))[3] for part in (late, late[::-1]))


def _leaves(h: History) -> Finding | None:
    """The verdict of the logarithm on a record of many decades whose end lies beyond its noise there: a residual
    that jumps by decades on its way, which beside its largest values looks like noise about a level."""
    if not h.low > 0.0 or h.high < DECADES * h.low:
        return None
    level, spread, _, far = fits.ball(np.ascontiguousarray(np.log(h.x)[::-1]))
    if not far > AFAR:
        return None
    last = h.x[-max(3, len(h) // 10) :]
    by = float(np.median(np.log(last))) - level
    where = "above" if by > 0 else "below"
    why = f"In the logarithm the last values lie {abs(by) / spread:.3g} deviations {where} the level of the others."
    if by > 0:
        return Finding(Pattern.DIVERGING, "leaves", why, doubt=0.4)
    size = float(np.median(last))
    return Finding(Pattern.CONVERGING, "leaves", why, limit=float(h.x[-1]), limit_error=size, doubt=0.4)


def noise_ball(h: History) -> Finding | None:
    """Constant spread around a level; needs 12 values."""
    if len(h) < 12:
        return None
    level, spread, error, far = fits.ball(h.x)
    text = f"noise of spread {h.unscale(spread):.3g} around {h.unscale(level):.6g}"
    if far > 6.0 and far > _outlying(h.x, level, spread):
        return Finding(
            Pattern.CONVERGING,
            "noise_ball",
            f"The values started {far:.3g} standard errors away and end in {text}.",
            rate=approach_rate(h.x, level, spread),
            limit=level,
            limit_error=error,
        )
    found = _leaves(h)
    if found is not None:
        return found
    doubt = 0.2 if far < 4.5 else 0.4
    if len(h) < 128:
        quarters = fits.block_spreads(h.d, 4) if len(h) >= 16 else [0.0]
        if quarters == sorted(quarters) and quarters[-1] > 2.0 * quarters[0]:
            doubt = 0.4  # each quarter wider than the one before: too short to tell growth from chance
    return Finding(
        Pattern.STABLE, "noise_ball", f"From the start, {text}.", limit=level, limit_error=error, doubt=doubt
    )
