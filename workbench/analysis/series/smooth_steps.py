"""Steps 5 and 6 together: laws of smooth tails and linear prediction; the better prediction wins."""

from __future__ import annotations

import math

import numpy as np

from workbench.analysis.series import smooth_tail, step_ratios
from workbench.analysis.series.linear_prediction import linear_prediction, slow_root
from workbench.analysis.series.result import Finding, Pattern
from workbench.analysis.series.rules import chaos
from workbench.analysis.series.value_series import LAWS, History


def smooth(h: History) -> Finding | None:
    """Steps 5 and 6."""
    end = h.end
    tail = smooth_tail.smooth_tail(h, end)
    fit, candidates = None, []
    found = step_ratios.superlinear(h, end)
    if found is not None:
        return found
    if tail is not None:
        candidates = smooth_tail.laws(tail, h.start)
        fit = smooth_tail.best_fit(candidates, relative_rounding=smooth_tail.relative_rounding(h, tail))
    else:
        h.refuse("geometric", "the steps up to the end have neither one sign nor alternate")
    h.refuse("superlinear", "the steps do not shrink by a power of themselves")
    linear = linear_prediction(h, end)
    error = linear.model.spread if linear is not None else float("inf")
    for law in candidates:
        if law.kind in LAWS:
            off = math.exp(min(law.error, 50.0))
            h.refuse(law.kind, "it misses the last 40 % of the steps by a factor of {off:.3g}", off=off)
    if linear is None:
        h.refuse("linear_prediction", "none of up to eight steps predicts the last 40 % within 2 %")
    else:
        h.refuse(
            "linear_prediction", "it misses the last 40 % by {off:.2g} of the steps, and another law by less", off=error
        )
    rough = min(fit.error if fit is not None else 1.0, error) > 1e-3
    if rough and chaos.irregular(h):
        found = chaos.polynomial_map(h, 1e-6)
        if found is not None:
            return found
    power = next((f for f in candidates if f.kind == "power"), None)
    if tail is not None and linear is not None and power is not None and _crowds(tail, linear, power):
        return smooth_tail.finding(h, tail, power)
    # a strict fit wins if the linear recurrence does not predict much better
    if tail is not None and fit is not None and fit.error < 0.1 and fit.error <= 3 * error + 1e-7:
        found = smooth_tail.finding(h, tail, fit)
        if not _episode(h, tail, found):
            return found
        if fit.kind in LAWS:
            h.refuse(fit.kind, "it describes at most the last third of the record, which may be a part of a swing")
        tail = None
    if linear is None and tail is not None:
        # steps shrink faster and faster before a turning point too
        found = step_ratios.falling(h, end)
        return None if found is not None and _episode(h, tail, found) else found
    return linear


def _episode(h: History, tail: smooth_tail.Tail, found: Finding) -> bool:
    """True if a tail of at most a third of the record may be a part of an oscillation: it does not grow beyond the
    values before it, and it moves about as far as they do."""
    if 3 * len(tail.d) >= h.end:
        return False
    before, after = h.x[: tail.first + 1], h.x[tail.first :]
    low, high = float(before.min()), float(before.max())
    if found.label is Pattern.DIVERGING:
        return low <= float(h.x[-1]) <= high
    return found.label is Pattern.CONVERGING and float(np.ptp(after)) > 0.5 * (high - low)


def _crowds(tail: smooth_tail.Tail, linear: Finding, power: smooth_tail.Fit) -> bool:
    """True if the roots approach 1 as the record grows, as they do only for a power law."""
    z = abs(linear.model.dominant)
    if not 0.5 < z < 1.0 - 1e-7 or power.error > 0.02 or len(tail.d) < 24:
        return False
    early = tail.d[: int(0.6 * len(tail.d))]
    z_early = slow_root(early, min(linear.model.order, len(early) // 4))
    return 0 < z_early < 1 and math.log(z_early) < (1.03 if power.error < 1e-3 else 1.25) * math.log(z)
