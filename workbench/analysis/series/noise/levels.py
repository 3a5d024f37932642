"""Step 7, levels: noise of constant spread around a level.

A record with constant spread around a level is CONVERGING if it shows the approach to the level, that is if the first
values or block means lie six standard errors or more from it; STABLE if it scatters about the level from the start;
OSCILLATING only if one frequency and its harmonics carry most of the variance.
"""

from __future__ import annotations

import numpy as np

from workbench.analysis.series.result import Finding, Pattern
from workbench.analysis.series.step_ratios import approach_rate
from workbench.analysis.series.value_series import History
from workbench.kernels import fits

#: Ratio of the largest to the smallest value above which the logarithm is examined, and standard errors from its level
#: beyond which the end of a record has left it.
DECADES, AFAR = 100.0, 6.0
#: Number of values at the end, and minimum ratio of their median distance from the median to that of all values, for a
#: record that leaves its noise.
NEWEST, BEYOND = 4, 8.0


def _leaves(h: History) -> Finding | None:
    """The verdict on a record whose last values lie beyond its noise. A record that spans decades is also tested in the
    logarithm, because a residual that jumps by decades looks like noise about a level compared with its largest values.
    """
    size = np.abs(h.x - np.median(h.x))
    usual, newest = float(np.median(size)), float(np.median(size[-NEWEST:]))
    if newest > BEYOND * max(usual, h.ulp(h.high)) and newest >= 0.25 * float(size.max()):
        why = f"The last values lie {newest / max(usual, 1e-300):.3g} times as far from the median as a typical value."
        return Finding(Pattern.DIVERGING, "leaves", why, doubt=0.4)
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
    """The verdict on a record with constant spread around a level, of at least 12 values."""
    if len(h) < 12:
        return None
    level, spread, error, far = fits.ball(h.x)
    text = f"noise of spread {h.unscale(spread):.3g} around {h.unscale(level):.6g}"
    if far > 6.0:
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
            doubt = 0.4  # each quarter is wider than the one before: too short to distinguish growth from chance
    return Finding(
        Pattern.STABLE, "noise_ball", f"From the start, {text}.", limit=level, limit_error=error, doubt=doubt
    )
