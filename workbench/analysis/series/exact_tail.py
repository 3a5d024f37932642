"""Steps 2 to 4: a range within rounding, an exactly periodic tail, an exactly constant tail."""

from __future__ import annotations

import math

import numpy as np

from workbench.analysis.series.models import Cycle, Settled
from workbench.analysis.series.numerical_health import stagnation
from workbench.analysis.series.result import Finding, Pattern
from workbench.analysis.series.value_series import History
from workbench.kernels import fits

#: A cycle of positive values below this share of the record's maximum is the end of a fall, not an oscillation.
FELL = 1e-5


def level(h: History) -> Finding | None:
    """STABLE if the whole record lies within 4 ulp, or if a counter stopped because its step was absorbed."""
    x, spread = h.x, h.high - h.low
    if h.integral and (spread != 0 or h.words is not h.raw and np.any(h.words != h.words[0])):
        return None
    last = float(x[-1])
    if spread <= 4 * h.ulp(max(abs(h.low), abs(h.high))):
        moved = h.d
        if not (len(x) > 8 and (np.all(moved > 0) or np.all(moved < 0))):
            text = (
                f"All {len(h)} values equal {h.raw[-1]:.9g}."
                if spread == 0
                else f"All {len(h)} values lie within 4 units in the last place of {h.raw[-1]:.9g}."
            )
            return Finding(Pattern.STABLE, "level", text, Settled(last), limit=last, limit_error=spread)
    at = stagnation(h)
    if at is not None:
        why = f"Steps of one size stopped at iteration {at}: they are lost in the last place of {h.raw[-1]:.9g}."
        return Finding(
            Pattern.STABLE, "stagnation", why, Settled(last), limit=last, limit_error=0.0, issues={"stagnation": at}
        )
    h.refuse("level", "its values range over {range:.3g}", range=h.unscale(spread))
    return None


def rounding_floor(h: History, run: int) -> float:
    """64 eps of the largest value before the last ``run`` values: smaller values may be mere rounding of larger
    numbers.
    """
    return 64 * h.eps * fits.extremes(h.x[: len(h) - run])[1]


def _few_kinds(h: History, p: int, run: int) -> bool:
    """True if the last values, integers or values that occurred before, have so few distinct values that they may
    repeat by chance, and the earlier record has more.
    """
    tail = run + p
    if 2 * tail >= len(h):
        return False
    kinds, times = np.unique(h.words[-tail:], return_counts=True)
    if not h.integral and not np.all(np.isin(kinds, h.words[:-tail])):
        return False
    counts = times / float(tail)
    bits = -float(counts @ np.log2(counts))
    return run * bits <= math.log2(len(h)) + math.log2(p) + 8.0


def periodic(h: History) -> Finding | None:
    """OSCILLATING if the tail repeats exactly, and not by chance because its alphabet is small.

    Significance is a description length (``fits.repeats``): a repetition of real numbers is accepted after one and a
    half periods, a repetition of coin flips only if it is long.
    """
    p, run = fits.repeats(h.words)
    if not p or _few_kinds(h, p, run):
        reason = "its last {run} values repeat as they may by chance" if p else "no tail of it repeats"
        h.refuse("periodic", reason, run=run)
        return None
    cycle = h.x[-p:].copy()
    bits = 64 * h.ulp(max(abs(h.low), abs(h.high)))
    for q in range(1, p // 2 + 1):  # because of the last bits, only a multiple of the period may be exact
        if p % q == 0 and q > 1 and float(np.max(np.abs(cycle[q:] - cycle[:-q]))) <= bits < 1e-3 * float(np.ptp(cycle)):
            p, cycle = q, cycle[-q:]
            break
    # the last bits of a converged value may alternate: that is a limit, not an oscillation
    flutter = float(np.ptp(cycle))
    bits = 8 * h.ulp(float(np.max(np.abs(cycle))))
    middle = float(np.mean(cycle))
    arrived = flutter <= bits and h.high - h.low > 100 * flutter or flutter <= rounding_floor(h, run + p)
    top = float(cycle.max())
    if not arrived and not h.integral and 0.0 < h.low and top <= FELL * h.high:
        why = f"The size fell to {top / h.high:.2g} of its maximum; the last {run + p} values are a cycle of {p}."
        kept = Cycle(cycle)
        return Finding(
            Pattern.CONVERGING, "periodic", why, kept, period=float(p), limit=middle, limit_error=top, doubt=0.2
        )
    if arrived and not h.integral:
        return Finding(
            Pattern.CONVERGING,
            "settled",
            f"The values arrived at a limit; the last {run + p} flutter in their last bits.",
            Settled(middle),
            limit=middle,
            limit_error=flutter,
        )
    tail = run + p
    if 8 * tail < len(h):
        earlier = [float(np.ptp(h.x[-2 * i * tail : -i * tail])) for i in (1, 2, 4)]
        if flutter <= earlier[0] <= earlier[1] <= earlier[2] != flutter:
            return None  # a slow decay whose last changes are lost in rounding
    why = f"The last {run + p} values repeat exactly with period {p}."
    return Finding(Pattern.OSCILLATING, "periodic", why, Cycle(cycle), period=float(p))


def constant_tail(h: History) -> Finding | None:
    """CONVERGING if the record ends in a constant run longer than twice the longest run before it."""
    run, longest, changes = fits.equal_runs(h.words)
    if run == len(h) or run < 3 or run <= 2 * longest:
        reason = "the last {run} values are equal, and up to {longest} in a row were before"
        h.refuse("constant_tail", reason, run=run, longest=max(1, longest))
        return None
    # only two values, or a jump at the very start: little evidence of an approach
    doubt = 0.2 if changes < 2 else 0.0
    last = float(h.x[-1])
    # a value within the rounding of the values before it may represent zero
    zero = abs(last) <= rounding_floor(h, run)
    error = abs(last) if zero and not h.integral else 2 * h.ulp(last)
    before = f"at most {longest} in a row were before" if longest > 1 else "no two neighbours were before"
    why = f"The last {run} values are equal; {before}."
    return Finding(Pattern.CONVERGING, "constant_tail", why, Settled(last), limit=last, limit_error=error, doubt=doubt)
