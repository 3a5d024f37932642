"""Bounds ints that change by at most a constant per iteration, and finds how long results computed from them fit in 64
bits.

If each next value is a constant, or a variable (or its negative) plus a constant, on every path through the iteration,
their largest absolute value grows by at most the largest constant per iteration.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from workbench.analysis.proof.identities.formulas import Formula, Way, ways
from workbench.analysis.proof.identities.terms import Terms
from workbench.analysis.proof.rays.iteration import DEAD, LoopBody

LARGEST = 2**63 - 1


def fits_for(body: LoopBody, state: Mapping[str, np.ndarray], nodes: Sequence[str]) -> int:
    """The number of iterations in which Python int results of these nodes certainly fit in 64 bits; 0 if unknown."""
    found = ways(body, state, checked=True)
    if not found:
        return 0
    names = list(body.variables)
    slow = _slow(found, len(names))
    start = max((abs(int(state[names[i]])) for i in slow), default=0)
    step = max((_constant(t) for way in found for i in slow if (t := way.next_values[i]) is not None), default=0)
    size: int | None = None
    for way in found:
        for name in nodes:
            x = way.values.get(name)
            if x is DEAD:
                continue
            if not isinstance(x, Formula) or x.bits is not None:
                return 0
            if any(n for e in x.terms for i, n in enumerate(e) if i not in slow):
                return 0
            largest = _largest(x.terms)
            size = largest if size is None else min(size, largest)
    if size is None or size < start:
        return 0
    return (size - start) // step if step else LARGEST


def _slow(found: Sequence[Way], count: int) -> set[int]:
    """The indices of the variables that change by at most a constant, or are copied from one another."""
    slow = set(range(count))
    while True:
        out = {i for i in slow if any(not _moves_slowly(way.next_values[i], slow) for way in found)}
        if not out:
            return slow
        slow -= out


def _moves_slowly(terms: Terms | None, slow: set[int]) -> bool:
    if terms is None:
        return False
    moving = {e: c for e, c in terms.items() if any(e)}
    if any(sum(e) != 1 or e.index(1) not in slow for e in moving):
        return False
    return sum(abs(c) for c in moving.values()) <= 1


def _constant(terms: Terms) -> int:
    return max((abs(c) for e, c in terms.items() if not any(e)), default=0)


def _largest(terms: Terms) -> int:
    """The largest absolute value of the variables for which the polynomial certainly fits in 64 bits."""

    def bound(size: int) -> int:
        return sum(abs(c) * size ** sum(e) for e, c in terms.items())

    if bound(0) > LARGEST:
        return -1
    low, high = 0, LARGEST + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if bound(middle) <= LARGEST else (low, middle)
    return low
