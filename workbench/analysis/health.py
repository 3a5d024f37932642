"""Step 1 and numerical health: NaN and Inf first, then what threatens: overflow, stagnation, vanishing."""

from __future__ import annotations

import numpy as np

from workbench.analysis.evolution import Finding, Pattern
from workbench.analysis.history import History


def first_bad(h: History) -> dict[str, int]:
    """First NaN and first Inf as iteration numbers."""
    issues = {}
    for slug, mask in (("nan", np.isnan(h.raw)), ("inf", np.isinf(h.raw))):
        where = np.flatnonzero(mask)
        if where.size:
            issues[slug] = int(where[0]) + h.start
    return issues


def nonfinite(h: History) -> Finding | History | None:
    """A finding if the record ends outside the finite numbers; the finite tail if it came back; None if all is finite.

    A record that returned to finite numbers for a quarter of its length (and 8 values) is judged by that tail.
    """
    bad = np.flatnonzero(~h.finite)
    if not bad.size:
        return None
    after = len(h) - 1 - int(bad[-1])
    if after >= max(8, len(h) // 4):
        return h.tail(after)
    first = int(bad[0])
    kind = "NaN" if np.isnan(h.raw[first]) else "infinite"
    if first == 0:
        return Finding(Pattern.DIVERGING, "nonfinite", f"The first value of the record is {kind} already.", doubt=0.5)
    before = h.raw[:first]
    grew = first >= 2 and abs(before[-1]) >= abs(before[0])
    cause = "after growing" if grew else "without having grown before"
    why = (
        f"The value is {kind} from iteration {first + h.start} on, {cause}; the last finite value is {before[-1]:.6g}."
    )
    return Finding(Pattern.DIVERGING, "nonfinite", why, doubt=0.0 if grew or kind == "infinite" else 0.2)


def overflow_eta(h: History, rate: float | None) -> int | None:
    """Iteration at which a geometric growth leaves the dtype, or None if it does not within 10 records."""
    if rate is None or rate <= 1.0 or h.integral or h.raw[-1] == 0:
        return None
    top = float(np.finfo(h.dtype).max)
    left = (np.log(top) - np.log(abs(h.raw[-1]))) / np.log(rate)
    return int(h.total - 1 + np.ceil(left)) if 0 < left < 10 * h.total + 1000 else None


def stagnation(h: History) -> int | None:
    """Iteration from which steps of nearly one size were lost to rounding (8 ulp or less, then exactly none); or None.

    This is a counter that its dtype can no longer count: float32 absorbs + 1 at 2**24.
    """
    if h.integral or len(h) < 6:
        return None
    moved = np.flatnonzero(h.d)
    if not moved.size or moved[-1] >= len(h.d) - 2:
        return None
    last = int(moved[-1])
    steps = np.abs(h.d[max(0, last - 7) : last + 1])
    if len(steps) < 3 or np.any(steps == 0) or np.ptp(np.sign(h.d[max(0, last - 7) : last + 1])) != 0:
        return None
    nearly_constant = steps.max() <= 2.5 * steps.min()
    # a geometric sequence of rate above 0.4 passes that too, so ask the steps further back as well
    further = np.abs(h.d[max(0, last - 63) : last + 1])
    nearly_constant = nearly_constant and further.max() <= 4.0 * steps.min()
    return last + 1 + h.start if nearly_constant and steps[-1] <= 8 * float(h.ulp(h.x[last + 1])) else None
