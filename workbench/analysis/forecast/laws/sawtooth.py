"""An integer counter that restarts, by a rule or at random: iterations since the last improvement, ramps, batches.

Where the lengths of its runs grow by a whole factor, or by a constant, they are continued, and the first run that is
long enough makes the clause false.  If they follow no rule, the counter may restart before it reaches the threshold:
its present run says nothing about the end unless it is far longer than every earlier one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.analysis.comparisons import OPS
from workbench.analysis.forecast.laws.exact_continuation import Steps, first_failure

#: Number of complete runs that determine a factor, and a constant; maximum number of runs ahead.
OF_FACTOR, OF_CONSTANT, MOST = 3, 4, 100_000
#: Minimum length of the present run if there was only one restart.
LONG = 32
#: Ratio of the present run to the longest earlier run, from which no further restart is assumed.
OUTLASTS = 3


def sawtooth(xs: Sequence[Any], op: str, threshold: Any) -> Steps | None:
    """First k >= 1 at which a restarting counter fails ``op threshold``; without a k, ``why`` is "resets".

    None for any other record, including a counter that never restarted, and runs of equal length.
    """
    if len(xs) < 6 or op not in ("<", "<=", ">", ">=") or threshold != threshold or abs(threshold) == float("inf"):
        return None
    up = 1 if op in ("<", "<=") else -1
    # the usual cases: the last steps differ, or it has never restarted
    a, b, c = (int(v) for v in xs[-3:])
    step = c - b if (c - b) * up > 0 else b - a
    if step * up <= 0 or c - int(xs[0]) == step * (len(xs) - 1):
        return None
    v = [int(x) for x in xs]
    base = min(v) if up > 0 else max(v)
    lengths = [1]
    for x, y in zip(v, v[1:], strict=False):
        if y == x + step:
            lengths[-1] += 1
        elif y == base:
            lengths.append(1)
        else:
            return None
    runs, now = lengths[:-1], lengths[-1]
    if not runs or len(runs) == 1 and now < LONG or v[-now] != base:
        return None
    needed = first_failure(base - step, step, op, threshold)
    if needed is None or not OPS[op](v[-1], threshold):
        return None
    rule = _rule(runs if v[0] == base else runs[1:]) or _rule(runs[1:])
    if rule is not None:
        return _followed(now, needed, step, *rule)
    if len(set(runs[1:])) == 1 and now <= runs[-1]:
        return None  # a cycle
    return Steps(None, "resets", step=float(step)) if now < OUTLASTS * max(runs) else None


def _rule(runs: list[int]) -> tuple[int, int, int] | None:
    """(last length, factor, constant) of lengths that grow by a factor or a constant; None without a rule."""
    if len(runs) < OF_FACTOR:
        return None
    factor, more = runs[-1] // runs[-2], runs[-1] - runs[-2]
    pairs = list(zip(runs, runs[1:], strict=False))
    if factor > 1 and all(b == factor * a for a, b in pairs):
        return runs[-1], factor, 0
    if more > 0 and len(runs) >= OF_CONSTANT and all(b - a == more for a, b in pairs):
        return runs[-1], 1, more
    return None


def _followed(now: int, needed: int, step: int, last: int, factor: int, more: int) -> Steps | None:
    length, k = last * factor + more, -now
    if now > length:
        return None
    for _ in range(MOST):
        if length >= needed:
            return Steps(k + needed, "sawtooth", step=float(step))
        k, length = k + length, length * factor + more
    return None
