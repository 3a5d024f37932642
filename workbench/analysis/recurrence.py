"""Steps 2 to 4: a range within rounding, an exactly periodic tail, an exactly constant tail."""

from __future__ import annotations

import math

import numpy as np

from workbench.analysis.evolution import Finding, Pattern
from workbench.analysis.health import stagnation
from workbench.analysis.history import History
from workbench.analysis.models import Cycle, Settled


def level(h: History) -> Finding | None:
    """STABLE if the whole record lies within 4 ulp, or if a counter stopped because its step was absorbed."""
    x = h.x
    if h.integral and np.any(h.exact != h.exact[0]):
        return None
    spread = float(np.ptp(x))
    if spread <= 4 * float(h.ulp(np.max(np.abs(x)))):
        moved = np.diff(x)
        if not (len(x) > 8 and (np.all(moved > 0) or np.all(moved < 0))):
            return Finding(
                Pattern.STABLE,
                "level",
                "All values lie within 4 units in the last place.",
                Settled(float(x[-1])),
                limit=float(x[-1]),
                limit_error=spread,
            )
    at = stagnation(h)
    if at is not None:
        why = f"Steps of one size stopped at iteration {at}: they are lost in the last place of {h.raw[-1]:.9g}."
        return Finding(
            Pattern.STABLE,
            "stagnation",
            why,
            Settled(float(x[-1])),
            limit=float(x[-1]),
            limit_error=0.0,
            issues={"stagnation": at},
        )
    return None


def rounding_floor(h: History, run: int) -> float:
    """64 eps of the largest value before the last ``run``: what is below may be only the rounding of larger numbers."""
    before = h.x[: len(h) - run]
    return 64 * h.eps * float(np.max(np.abs(before), initial=0.0))


def run_from_end(equal: np.ndarray) -> int:
    """Number of True values at the end."""
    wrong = np.flatnonzero(~equal)
    return len(equal) - 1 - int(wrong[-1]) if wrong.size else len(equal)


def periodic(h: History) -> Finding | None:
    """OSCILLATING if the tail repeats exactly, and the repetition is no accident of a small alphabet.

    Significance is a description length: each value predicted by the one a period before saves the entropy of the
    record's alphabet; naming the period and its start costs log2 of each.  A repetition of real numbers is accepted
    after one and a half periods, one of coin flips only when it is long.
    """
    exact = h.exact
    n = len(exact)
    where = np.flatnonzero(exact[:-1] == exact[-1])[::-1]
    _, counts = np.unique(exact[-min(n, 4096) :], return_counts=True)
    share = counts / counts.sum()
    entropy = max(float(-(share * np.log2(share)).sum()), 1e-3)
    for j in where[:64]:
        p = n - 1 - int(j)
        if p > n // 2:
            break
        run = run_from_end(exact[p:] == exact[:-p])
        if run < max(3, (p + 1) // 2) or p == 1 and run < n:
            continue
        cycle = h.x[-p:]
        if np.ptp(cycle) == 0:
            continue
        # a tail costs its start too, and there are many tails and periods to be deceived by
        cost = math.log2(p) + 2.0 if run + p == n else math.log2(n) + math.log2(p) + 8.0
        saved = run * entropy - cost
        if saved <= 0:
            continue
        # the last bits of a converged value may flutter: that is a limit, not an oscillation
        flutter = float(np.ptp(cycle))
        bits = 8 * float(h.ulp(np.max(np.abs(cycle))))
        if (flutter <= bits and np.ptp(h.x) > 100 * flutter) or flutter <= rounding_floor(h, run + p):
            middle = float(np.mean(cycle))
            return Finding(
                Pattern.CONVERGING,
                "settled",
                "The values arrived at a limit and flutter in their last bits.",
                Settled(middle),
                limit=middle,
                limit_error=float(np.ptp(cycle)),
            )
        why = f"The last {run + p} values repeat exactly with period {p}."
        return Finding(Pattern.OSCILLATING, "periodic", why, Cycle(cycle.copy()), period=float(p))
    return None


def constant_tail(h: History) -> Finding | None:
    """CONVERGING if the record ends in a constant run longer than twice the longest run before it."""
    exact = h.exact
    same = exact[1:] == exact[:-1]
    run = run_from_end(same) + 1
    if run == len(exact) or run < 3:
        return None
    edges = np.flatnonzero(~same)
    longest = int(np.max(np.diff(np.concatenate([[-1], edges])), initial=1))
    if run <= 2 * longest:
        return None
    # two values in all, or a jump at the very start: little evidence of an approach
    doubt = 0.2 if len(edges) < 2 else 0.0
    why = f"The last {run} values are equal; no earlier run was longer than {longest}."
    return Finding(
        Pattern.CONVERGING,
        "constant_tail",
        why,
        Settled(float(h.x[-1])),
        limit=float(h.x[-1]),
        limit_error=2 * float(h.ulp(h.x[-1])),
        doubt=doubt,
    )


def at_floor(h: History) -> Finding | None:
    """CONVERGING if the last values, 3 or more and 5 %, scatter below the rounding of the record's earlier values."""
    if h.integral or len(h) < 6:
        return None
    floor = 64 * h.eps * float(np.max(np.abs(h.x[: len(h) // 2])))
    run = run_from_end(np.abs(h.x - h.x[-1]) <= floor)
    if run < max(3, math.ceil(0.05 * len(h))) or run > 0.9 * len(h) or floor > rounding_floor(h, run):
        return None
    level = float(np.mean(h.x[-run:]))
    scatter = h.unscale(float(np.ptp(h.x[-run:])))
    why = f"The last {run} values scatter by {scatter:.2g}, the rounding of the values before."
    return Finding(Pattern.CONVERGING, "floor", why, Settled(level), limit=level, limit_error=floor)


def settled(h: History) -> Finding | None:
    """CONVERGING if the last values stay within 4 ulp after a movement that was much larger and died out."""
    if h.integral or len(h) < 5:
        return None
    x = h.x
    close = np.abs(x - x[-1]) <= 4 * h.ulp(x[-1])
    run = run_from_end(close)
    if run < max(3, math.ceil(0.05 * len(x))) or run == len(x):
        return None
    d = np.abs(h.d)
    tail, head = d[-(run - 1) :], d[: -(run - 1)]
    if not head.size or tail.mean() > 2 * float(h.ulp(x[-1])) or head.max() < 20 * float(h.ulp(x[-1])):
        return None
    if np.median(tail) > 0.1 * np.median(head) and np.median(head[-len(tail) :]) < 10 * max(np.median(tail), 1e-320):
        return None
    largest = h.unscale(float(head.max()))
    why = f"The last {run} values lie within 4 units in the last place; the largest step before was {largest:.3g}."
    return Finding(
        Pattern.CONVERGING,
        "settled",
        why,
        Settled(float(x[-1])),
        limit=float(x[-1]),
        limit_error=float(np.ptp(x[-run:])) + 2 * float(h.ulp(x[-1])),
    )
