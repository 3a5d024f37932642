"""Extrapolation laws of the moving operand of a comparison, and their first crossing of the threshold.

A law knows the operand's value j iterations after the last one seen.  Laws with a closed form answer for any j at
once; maps x' = f(x) are iterated, a bounded number of times.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

import numpy as np

#: No law is followed further than this many iterations.
HORIZON = 10_000_000
#: Values looked at one by one; beyond, a law is taken to be monotone between the points of a geometric grid.
DENSE = 32_768

Ends = Callable[[np.ndarray], np.ndarray]
#: What a map raises where it is not defined, or leaves the range of floats.
UNDEFINED = (OverflowError, ZeroDivisionError, ValueError)


class Law(Protocol):
    """``parameters`` were fitted."""

    name: str
    parameters: int

    def values(self, n: int) -> np.ndarray:
        """The next n values; NaN where the law breaks down."""
        ...

    def first(self, ends: Ends) -> float | None:
        """First j >= 1 at which ``ends(value)``; math.inf if there is none up to HORIZON, None if the law breaks."""
        ...


class Closed:
    """A law with a closed form: ``at(j)`` for an array of j >= 1."""

    def __init__(self, name: str, parameters: int, at: Callable[[np.ndarray], np.ndarray]) -> None:
        self.name, self.parameters, self.at = name, parameters, at

    def values(self, n: int) -> np.ndarray:
        return self.at(np.arange(1, n + 1))

    def first(self, ends: Ends) -> float | None:
        low, size = 0, 64
        while low < DENSE:
            j = np.arange(low + 1, low + size + 1)
            values = self.at(j)
            hit = np.flatnonzero(ends(values))
            if hit.size:
                good = np.isfinite(values[: int(hit[0])])
                return int(j[hit[0]]) if good.all() else None
            if not np.isfinite(values[-1]):
                return None
            if values[-1] == values[0] and low:
                return math.inf
            low, size = low + size, 7 * (low + size)
        grid = np.unique(np.geomspace(low, HORIZON, 200).astype(np.int64))
        hit = np.flatnonzero(ends(self.at(grid)))
        if not hit.size:
            return math.inf
        a, b = (int(grid[hit[0] - 1]) if hit[0] else low), int(grid[hit[0]])
        while b - a > 1:
            mid = (a + b) // 2
            a, b = (a, mid) if bool(ends(self.at(np.array([mid])))[0]) else (mid, b)
        return b


class Map:
    """x' = f(x), iterated from x."""

    MOST = 20_000

    def __init__(self, name: str, parameters: int, f: Callable[[float], float], x: float) -> None:
        self.name, self.parameters, self.f, self.x = name, parameters, f, x

    def _run(self, n: int) -> list[float]:
        x, f, out = self.x, self.f, []
        try:
            for _ in range(n):
                x = f(x)
                out.append(x)
        except UNDEFINED:
            out += [math.nan] * (n - len(out))
        return [v if isinstance(v, float) else math.nan for v in out]

    def after(self, x: np.ndarray) -> np.ndarray:
        """The value after each of x; NaN where the map is not defined."""
        out = np.full(len(x), math.nan)
        for i, v in enumerate(x.tolist()):
            try:
                out[i] = self.f(v)
            except UNDEFINED:
                continue
        return out

    def values(self, n: int) -> np.ndarray:
        return np.array(self._run(n))

    def first(self, ends: Ends) -> float | None:
        done, size, start = 0, 64, self.x
        before = start
        try:
            while done < self.MOST:
                values = self.values(size)
                hit = np.flatnonzero(ends(values))
                finite = np.isfinite(values)
                if hit.size:
                    return done + int(hit[0]) + 1 if finite[: int(hit[0]) + 1].all() else None
                if not finite.all():
                    return None
                if values[-1] == values[-2] or abs(values[-1] - before) <= 1e-15 * abs(before):
                    return math.inf
                before = float(values[-1])
                done, size, self.x = done + size, min(4 * size, 8192), before
        finally:
            self.x = start
        return None


def comparison(op: str, t: float) -> Ends:
    """The test "not (value op t)" for arrays; a NaN value never ends."""
    test = {
        ">": lambda v: v <= t,
        ">=": lambda v: v < t,
        "<": lambda v: v >= t,
        "<=": lambda v: v > t,
        "==": lambda v: (v < t) | (v > t),
        "!=": lambda v: v == t,
    }[op]
    return test
