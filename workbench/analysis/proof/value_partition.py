"""Evaluates the condition over the values of one integer counter, to find the first time at a value that makes it
false.

If ranges of time do not help, because a wrapping counter takes every value sooner or later, ranges of values still do:
the thresholds cut the dtype into ranges, over each of which the condition is certainly true, certainly false or
neither; modular arithmetic gives the time at which the counter first falls into a range. The other variables may have
any of their possible values.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from workbench.analysis.intervals.interval import box, int_range
from workbench.analysis.proof.counter_detection import Clause
from workbench.analysis.proof.counters import IntCounter
from workbench.analysis.proof.time_bounds import FirstFalse
from workbench.analysis.slicing.formulas import Env, SliceProgram
from workbench.ir.node import Ref

#: maximum number of ranges, of rounds in which undecided ranges are divided, and of parts of a range
RANGES, ROUNDS, PARTS = 400, 4, 8


def by_values(
    program: SliceProgram,
    name: str,
    counter: IntCounter,
    clauses: Mapping[Ref, Clause],
    always: Env,
    about: Ref | None = None,
    wanted: bool = True,
) -> FirstFalse | None:
    """Bounds, by the values of one counter, of the first time at which the condition (or ``about``) is not ``wanted``.

    ``always`` are boxes that contain all variables at all times. None if nothing is known.
    """
    low, high = int_range(counter.dtype)
    cuts = {low, high + 1, *(c for c in (0, 1) if low < c <= high)}
    for clause in clauses.values():
        if clause.counter is counter and clause.held[0] <= clause.held[1] + 1:  # else true for no number, or for all
            cuts |= {clause.held[0], clause.held[1] + 1}
    ranges = _between(sorted(c for c in cuts if low <= c <= high + 1))
    evaluations = 0
    for turn in range(ROUNDS):
        evaluations += 1
        sure, never = program.condition(_over(name, counter.dtype, ranges, always), len(ranges), None, about)
        sure, never = (sure, never) if wanted else (never, sure)
        open_ = [r for r, s, n in zip(ranges, sure, never, strict=True) if not s and not n and r[0] < r[1]]
        if not open_ or turn == ROUNDS - 1 or len(ranges) + PARTS * len(open_) > RANGES:
            break
        kept = [r for r in ranges if r not in set(open_)]
        ranges = sorted([*kept, *(p for r in open_ for p in _cut(*r))])
    if not counter.additive and any(r[0] < r[1] for r, s in zip(ranges, sure, strict=True) if not s):
        return None
    after = _first(counter, [r for r, s in zip(ranges, sure, strict=True) if not s])
    within = _first(counter, [r for r, n in zip(ranges, never, strict=True) if n])
    return FirstFalse(after, within, evaluations)


def _over(name: str, dtype: str, ranges: list[tuple[int, int]], always: Env) -> Env:
    lo, hi = np.empty(len(ranges), object), np.empty(len(ranges), object)
    for k, (a, b) in enumerate(ranges):
        lo[k], hi[k] = a, b
    return {**always, name: box(dtype, lo, hi)}


def _between(cuts: list[int]) -> list[tuple[int, int]]:
    return [(a, b - 1) for a, b in zip(cuts, cuts[1:], strict=False)]


def _cut(low: int, high: int) -> list[tuple[int, int]]:
    n = min(PARTS, high - low + 1)
    return _between([low + (high - low + 1) * k // n for k in range(n + 1)])


def _first(counter: IntCounter, ranges: list[tuple[int, int]]) -> int | None:
    """The first time at which the counter is in one of the ranges."""
    # for a x + b, only single values can be searched for
    found = [counter.first(a, b, 0) for a, b in (_joined(ranges) if counter.additive else ranges)]
    return min((t for t in found if t is not None), default=None)


def _joined(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges, with adjacent ones joined."""
    out: list[tuple[int, int]] = []
    for a, b in sorted(ranges):
        if out and out[-1][1] + 1 == a:
            out[-1] = (out[-1][0], b)
        else:
            out.append((a, b))
    return out
