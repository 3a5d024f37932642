"""Where a model of an operand crosses its threshold, and whether it runs away from it."""

from __future__ import annotations

import numpy as np

from workbench.analysis.evolution import Evolution, Pattern
from workbench.analysis.exact_steps import OPS

#: A forecast further away than this many iterations is not made from a fit.
HORIZON = 10_000_000


def first_turn(e: Evolution, keep: str, t: float) -> int | None:
    """First k at which the model's value fails ``keep t``, up to HORIZON; None if it does not or cannot be said.

    ``!=`` is never taken to turn by a fit: a fitted value meets a number exactly only by accident.
    """
    if e.model is None or keep == "!=":
        return None
    holds = OPS[keep]
    tests = np.arange(1, 513)
    low = 0
    while low < HORIZON:
        values = e.model.predict(tests)
        failed = np.flatnonzero(~holds(values, t) & np.isfinite(values))
        if failed.size:
            i = int(failed[0])
            if i == 0 or tests[i] - tests[i - 1] == 1:
                return int(tests[i])
            inner = np.arange(tests[i - 1] + 1, tests[i] + 1)
            if len(inner) > 4096:  # the models are smooth on this scale
                tests = np.unique(np.linspace(tests[i - 1] + 1, tests[i], 2048).astype(np.int64))
                continue
            inside = np.flatnonzero(~holds(e.model.predict(inner), t))
            return int(inner[inside[0]]) if inside.size else int(tests[i])
        if e.label in (Pattern.OSCILLATING, Pattern.STABLE) and tests[-1] >= 8192:
            return None
        if not np.all(np.isfinite(values)) or e.label is Pattern.CONVERGING and values[-1] == values[0]:
            return None
        low = int(tests[-1])
        tests = np.unique(np.geomspace(low + 1, 8 * low, 512).astype(np.int64))
    return None


def goes_away(e: Evolution, keep: str, last: float, t: float) -> bool:
    """Whether the model keeps the comparison true and its distance from t only grows, 10,000 iterations ahead."""
    values = e.model.predict(np.array([1, 10, 100, 1000, 10_000]))
    values = values[np.isfinite(values)]
    if not len(values) or not np.all(OPS[keep](values, t)):
        return False
    distance = np.abs(np.concatenate([[last], values]) - t)
    return bool(np.all(np.diff(distance) > 0))
