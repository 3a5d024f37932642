"""Weak labels for records that no other step decides, from the direction in which the values drift, with much doubt."""

from __future__ import annotations

import numpy as np

from workbench.analysis.series.models import Cycle
from workbench.analysis.series.result import Finding, Pattern
from workbench.analysis.series.smooth_tail import smooth_tail
from workbench.analysis.series.step_ratios import step_ratio
from workbench.analysis.series.value_series import History


def leaning(h: History) -> Finding | None:
    """A label if four of five steps lead towards zero, to about a third of the magnitude, or away from it, to three
    times the magnitude.
    """
    n = len(h)
    if not 8 <= n <= 256:
        return None
    size = np.abs(h.x)
    outward = np.count_nonzero(size[1:] > size[:-1]) / (n - 1)
    ratio = sorted(size[-3:].tolist())[1] / max(sorted(size[:3].tolist())[1], 1e-300)
    if outward <= 0.2 and ratio < 0.35 and h.low * h.high > 0:
        last = float(h.x[-1])
        why = f"{1 - outward:.0%} of the steps lead towards zero, and {ratio:.2g} of the first size is left."
        return Finding(Pattern.CONVERGING, "leaning", why, limit=last, limit_error=abs(last), doubt=0.5)
    moved = np.abs(h.d)
    if outward >= 0.8 and ratio > 3.0 and moved[-1] > 0.5 * moved.max():
        why = f"{outward:.0%} of the steps lead away from zero, to {ratio:.3g} times the first size."
        return Finding(Pattern.DIVERGING, "leaning", why, doubt=0.5)
    return None


def short(h: History) -> Finding:
    """A label for short records without a model."""
    if (h.x[2:] == h.x[:-2]).all() and h.x[0] != h.x[1]:
        why = f"The {len(h)} values take turns; too few to exclude chance."
        return Finding(Pattern.OSCILLATING, "short", why, Cycle(h.x[-2:].copy()), period=2.0, doubt=0.5)
    steps, third = np.abs(h.d), max(len(h.d) // 3, 2)
    one_way = bool((h.d <= 0).all() or (h.d >= 0).all())
    if one_way and float(steps[-third:].sum()) < 1e-3 * float(steps.sum()) and int(steps.argmax()) < len(h.d) // 2:
        left = float(steps[-third:].sum())
        why = f"The last {third} steps hold {left / float(steps.sum()):.1g} of the way; too few for a model."
        last = float(h.x[-1])
        return Finding(Pattern.CONVERGING, "short", why, limit=last, limit_error=left + 2 * h.ulp(last), doubt=0.4)
    end = h.end
    tail = smooth_tail(h, end)
    changes = np.flatnonzero(h.d)
    if (
        2 <= len(changes) < len(h.d)
        and abs(np.sum(np.sign(h.d))) == len(changes)
        and len(h.d) - changes[-1] <= np.diff(changes).max() + 1
    ):
        return Finding(Pattern.DIVERGING, "short", "The values step one way at intervals.", doubt=0.4)
    if tail is not None and len(tail.d) >= 4:
        size = np.abs(tail.d)
        peak = int(np.argmax(size))
        falling, rising = bool(np.all(np.diff(size[peak:]) < 0)), bool(np.all(np.diff(size) >= 0))
        # terms like x**k / k! grow at first
        if falling and len(size) - peak > 3 and size[-1] < (0.5 if peak == 0 else 0.1) * size[peak]:
            last = float(h.x[-1])
            rho = float(size[-1] / size[-2])
            return Finding(
                Pattern.CONVERGING,
                "short",
                "The steps shrink each time; too few for a model.",
                rate=rho if len(size) - peak > 4 else step_ratio(size),
                limit=last,
                limit_error=float(size[-1]) * max(1.0, rho / (1.0 - rho)),
                doubt=0.4,
            )
        if rising or not tail.alternating:
            rho = step_ratio(size)
            return Finding(
                Pattern.DIVERGING,
                "short",
                "The values keep moving one way; too few for a model.",
                rate=rho if rho is not None and rho > 1.02 else None,
                doubt=0.5,
            )
    return Finding(Pattern.UNKNOWN, "mixed", f"No model holds for these {len(h)} values; more are needed.")
