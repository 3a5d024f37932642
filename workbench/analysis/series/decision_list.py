"""The decision order for the finite values of one variable, one module per step.

2 level within rounding, stagnation; 3 exact periodic tail; 4 exact constant tail, staircases; 5 smooth tails; 6 linear
prediction; 7 noise, with a test for a unit root; 8 chaos.  Steps 5 and 6 are both tried, and the better prediction of
the last 40 % wins; step 8's tests for a rule, most of which the comparison with a linear map decides, come before the
noise verdicts, which apply to records without a rule.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.analysis.series import acceleration, exact_tail, step_ratios, weak_labels
from workbench.analysis.series.linear_prediction import resting
from workbench.analysis.series.noise.levels import noise_ball
from workbench.analysis.series.noise.spectrum import periodic_signal, spectral_peak
from workbench.analysis.series.noise.swings import envelope
from workbench.analysis.series.noise.trends import moving_mean, one_way
from workbench.analysis.series.noise.walks import random_walk, unit_root
from workbench.analysis.series.result import Finding, Pattern
from workbench.analysis.series.rules import chaos
from workbench.analysis.series.rules.local_rule import close_pairs, level, predictability
from workbench.analysis.series.rules.recurrence import reviewed
from workbench.analysis.series.smooth_steps import smooth
from workbench.analysis.series.staircase import staircase
from workbench.analysis.series.value_series import History
from workbench.analysis.series.waveform import folded, pattern_in_noise

#: Fewer values than this are UNKNOWN.
LEAST = 5
#: Methods whose period is that of a single sine, or a mean period; the period of a repeated pattern may be different.
_ROUGH_PERIOD = frozenset(("spectrum", "neighbours"))
#: Maximum error of an arithmetic law, and maximum remaining share of a falling magnitude.
EVEN, FELL = 1e-4, 0.9
#: A spectral line with less than this share of the variance may belong to a chaotic attractor.
BROAD = 0.95


def decide(h: History) -> Finding:
    """Steps 2 to 8 for finite values."""
    return _as_size(h, _decided(h))


def _as_size(h: History, found: Finding) -> Finding:
    """The finding; for a falling magnitude, which does not cross zero, CONVERGING instead of DIVERGING.

    Losses, residuals and distances may fall more and more slowly without a visible limit, but they have one, because
    they are not negative. Integers, and values that follow a law to many digits, are arithmetic and may continue below
    zero.
    """
    if found.label is not Pattern.DIVERGING or h.integral or h.low * h.high <= 0.0:
        return found
    if found.model is not None and found.model.spread < EVEN:
        return found
    n = len(h)
    size = np.abs(h.x)
    part = max(1, n // 10)
    first, before, last = (float(np.median(v)) for v in (size[:3], size[-2 * part : -part], size[-part:]))
    if last > before:
        return found  # the values have begun to rise again
    if not last < FELL * first or first - last < 0.5 * float(size.max() - size.min()):
        return found
    now = float(h.x[-1])
    why = f"The size fell to {last / first:.2g} and does not cross zero: it has a limit, which does not show yet."
    return Finding(Pattern.CONVERGING, "size", why, limit=now, limit_error=abs(now), doubt=0.4)


def _decided(h: History) -> Finding:
    if len(h) < LEAST:
        return Finding(Pattern.UNKNOWN, "few", f"Only {len(h)} values: at least {LEAST} are needed.")
    for step in (exact_tail.level, exact_tail.periodic, exact_tail.constant_tail):
        found = step(h)
        if found is not None:
            return _with_order(h, found)
    found = staircase(h, decide)
    if found is not None:
        return found
    found = smooth(h)
    if found is None:
        return reviewed(h, _irregular(h))
    if found.method in _RULES:
        return reviewed(h, found)
    if found.label is Pattern.OSCILLATING:
        return resting(h, found)
    if found.label is Pattern.CONVERGING and found.method in _ACCELERATED:
        acceleration.refine(h, found, h.end)
    return found


#: Methods of maps that are tried before the waves.
_RULES = frozenset(("map",))
#: Methods whose limits are compared with accelerated ones.
_ACCELERATED = frozenset(("geometric", "linear_prediction", "power", "superlinear", "falling"))


def _with_order(h: History, found: Finding) -> Finding:
    """Add the rate or order to a record that has converged, from the part that still moved."""
    if found.label is Pattern.CONVERGING:
        end = h.end
        how = step_ratios.superlinear(h, end)
        if how is None and end >= 6:
            how = smooth(h)
        if how is not None and how.label is Pattern.CONVERGING:
            found.rate, found.order, found.sublinear_exponent = how.rate, how.order, how.sublinear_exponent
            if how.rate is not None and 0.0 < how.rate < 1.0 and found.limit_error is not None and not h.integral:
                # once rounding absorbs a step, the values stop 1 / (1 - rate) such steps from their limit
                swallowed = h.ulp(float(h.x[-1])) / (1.0 - how.rate)
                found.limit_error = max(found.limit_error, min(swallowed, 0.01 * (h.high - h.low)))
            found.why += " " + how.why
    return found


def _irregular(h: History) -> Finding:
    """Steps 7 and 8."""
    if chaos.irregular(h):
        found = chaos.polynomial_map(h) or chaos.return_map(h)
        if found is not None:
            return found
        h.refuse("map", "none of low degree predicts each next value within 1 %")
        h.refuse("return_map")
    found = one_way(h)
    if found is not None:
        return found
    p = predictability(h)
    linear = p is not None and p.linear_enough
    peak = spectral_peak(h)
    h.refuse("spectrum", "one frequency and its harmonics carry {share:.0%} of the variance", share=peak[0])
    found = periodic_signal(h, 0.8, peak)
    if found is not None and found.period and peak[0] < BROAD and not linear:
        # an attractor with nearly regular turns has a broad spectral line, so the behaviour of neighbours decides
        rule = chaos.neighbours(h, folded(h, found.period))
        found = rule if rule is not None and rule.label is Pattern.CHAOTIC else found
    found = found or random_walk(h) or envelope(h)
    if found is None:
        h.refuse("random_walk", "its steps are not independent")
        h.refuse("envelope", "the spread of its steps neither grows nor shrinks all along")
    if not linear and (found is None or found.method == "envelope" and found.label is Pattern.DIVERGING):
        # the lobes of an attractor differ in spread, so a rule that separates neighbours decides
        rule = chaos.neighbours(h, folded(h, peak[1]) if peak[0] > 0.5 and len(h) >= 128 else math.inf)
        if rule is not None and rule.label is Pattern.OSCILLATING and not level(h.x):
            rule = moving_mean(h) or rule  # a cyclic motion may follow a trend
        if found is None or rule is not None and rule.label is Pattern.CHAOTIC:
            found = rule
    found = found or moving_mean(h) or periodic_signal(h, 0.55, peak)
    found = found or weak_labels.leaning(h)
    if found is None and p is not None:
        found = pattern_in_noise(h) or close_pairs(h, p)
    found = found or unit_root(h)
    if found is None or found.label is Pattern.OSCILLATING and found.method in _ROUGH_PERIOD:
        found = pattern_in_noise(h) or found
    if found is None and (len(h) >= 24 or chaos.irregular(h)):
        found = noise_ball(h)
    if found is not None:
        return found
    return weak_labels.short(h)
