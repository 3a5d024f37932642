"""Steps that repeat with a period: weekly sales, batches with a pause, a window that doubles and halves.

The record, or its logarithm if it is positive, changes by the same steps in each period of 2 to 16 values. Two periods
and three more values must show this to within rounding; integers with distinct steps need fewer. If two different
ratios have begun to repeat, the answer is a guess with a wide interval. Each position in the period is then a separate
counter, and the first of them to cross the threshold makes the clause false.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.analysis.comparisons import OPS
from workbench.analysis.forecast.laws.exact_continuation import Steps
from workbench.kernels.laws import step_period

#: Minimum information, in bits, of the repeated steps if there are less than two periods.
SURE = 12.0
#: Minimum number of values; and the factor by which the crossing may be later, for a period that has only begun to
#: repeat.
FEWEST, WIDE = 6, 4
#: Longest period; relative rounding of a step, and of a threshold that is met exactly.
LONGEST, ROUNDING, NEAR = 16, 8 * 2.2e-16, 1e-12


def seasonal_steps(xs: Sequence[Any], op: str, threshold: Any) -> Steps | None:
    """First k at which ``x op threshold`` fails, if the steps (or the ratios) of the record repeat; else None."""
    if op in ("==", "!=") or len(xs) < FEWEST:
        return None
    whole = isinstance(xs[-1], (int, np.integer)) and isinstance(threshold, (int, np.integer))
    try:
        v: list[Any] = list(map(int if whole else float, xs[-(2 * LONGEST + 4) :]))
        t = int(threshold) if whole else float(threshold)
    except OverflowError:  # integers beyond float64, compared with a float
        return None
    if t in (math.inf, -math.inf):
        return None
    p = _period(v)
    if p is not None:
        return _crossing(v, p, op, t)
    if t > 0 and min(v) > 0 and (whole or all(map(math.isfinite, v))):
        logs = list(map(math.log, v))
        p = _period(logs)
        if p is not None:
            found = _crossing(logs, p, op, math.log(t))
            return _to_the_digit(found, v, p, op, t) if found is not None else None
        p = _begun(logs) if not whole else None
        found = _crossing(logs, p, op, math.log(t)) if p is not None else None
        if p is not None and found is not None and found.k is not None:
            found = _to_the_digit(found, v, p, op, t)
            if found.k is not None:
                return Steps(found.k, "seasonal-begun", step=found.step, span=(1, WIDE * found.k))
    return None


def _begun(v: list[float]) -> int | None:
    """The shortest period whose steps have begun to repeat: at least two distinct steps repeat, and no step differs
    from the one a period before.
    """
    off = ROUNDING * max(abs(v[0]), abs(v[-1]))
    last, before = v[-1] - v[-2], v[-2] - v[-3]
    # shorter periods have been tried
    for p in range(max((len(v) - 4) // 2 + 1, 2), min(len(v) - 3, LONGEST) + 1):
        # two steps tell nearly all periods apart
        if abs(v[-1 - p] - v[-2 - p] - last) > off or abs(v[-2 - p] - v[-3 - p] - before) > off:
            continue
        steps = [b - a for a, b in zip(v, v[1:], strict=False)]
        again = steps[p:]
        if max(again) - min(again) > off and all(abs(b - a) <= off for a, b in zip(steps, again, strict=False)):
            return p if abs(v[-1] - v[-1 - p]) > off else None
    return None


def _to_the_digit(found: Steps, v: list[Any], p: int, op: str, t: float) -> Steps:
    """Correct a crossing found by logarithms, for ratios that multiply without rounding: as floats, log(2**36 + 1/2)
    and log(2**36) are equal.
    """
    if found.k is None or type(v[-1]) is int:
        return found
    ratio = v[-1] / v[-1 - p]
    if abs(math.log(ratio)) * (found.k / p + 2) > 700.0 or any(a * ratio != b for a, b in zip(v, v[p:], strict=False)):
        return found
    near = max(1, found.k - p)
    for k in range(near, near + 3 * p):
        turns, place = divmod(k - 1, p)
        if not OPS[op](v[len(v) - p + place] * ratio ** (turns + 1), t):
            return Steps(k, found.why, step=found.step)
    return found


def _period(v: list[Any]) -> int | None:
    """The shortest period of the steps, which differ within it and do not sum to zero; None if there is none."""
    if type(v[-1]) is float:
        return step_period(v, LONGEST, ROUNDING) or None
    n = len(v)
    last, before = v[-1] - v[-2], v[-2] - v[-3]
    for p in range(2, min(LONGEST, n - 6) + 1):
        # two steps tell nearly all periods apart
        if v[-1 - p] - v[-2 - p] != last or v[-2 - p] - v[-3 - p] != before:
            continue
        steps = [b - a for a, b in zip(v, v[1:], strict=False)]
        if steps[p:] == steps[:-p]:
            if n < 2 * p + 4 and _bits(steps[-p:]) * (n - 1 - p) < SURE:
                return None
            uneven = max(steps[-p:]) != min(steps[-p:])
            return p if uneven and v[-1] != v[-1 - p] else None
    return None


def _bits(steps: list[Any]) -> float:
    """The information of one step in bits: minus the binary logarithm of the chance that two steps of a period are
    equal.
    """
    return -math.log2(sum((steps.count(s) / len(steps)) ** 2 for s in set(steps)))


def _crossing(v: list[Any], p: int, op: str, t: float) -> Steps | None:
    drift = v[-1] - v[-1 - p]
    near = 0 if type(v[-1]) is int else NEAR * max(abs(t), abs(v[-1]))

    def holds(value: Any) -> bool:
        return bool(OPS[op](t if abs(value - t) <= near else value, t))

    towards = (drift > 0) == (op in ("<", "<="))
    found = None
    for place in range(1, p + 1):
        at = v[-1 - p + place] + drift  # the value after ``place`` further evaluations
        if not holds(at):
            k = place
        elif towards:
            turns = max(0, math.floor((t - at) / drift) - 1)
            while holds(at + turns * drift):
                turns += 1
            k = place + turns * p
        else:
            continue
        found = k if found is None else min(found, k)
    step = float(drift) / p
    return Steps(found, "seasonal" if found is not None else "moves-away", step=step)
