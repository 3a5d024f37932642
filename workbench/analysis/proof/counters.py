"""Counters in closed form: the exact value of x + c (integers: a x + b, modulo the dtype) after t iterations.

A float counter passes through binades. Within one, x is on a grid of spacing u and x + c is rounded to it: the
increment is c rounded to a multiple of u. A tie is rounded to the even neighbour, so x is even after one tie and stays
even: from the second step on, the increment is constant until x leaves the binade. A few numbers per binade thus
describe the counter. A counter that absorbs its step (x + c == x) has reached its last value.

Source: IEEE 754-2019 section 4.3.1 (roundTiesToEven), https://doi.org/10.1109/IEEESTD.2019.8766229.
"""

from __future__ import annotations

import bisect
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.analysis.intervals.interval import Interval, box, int_range
from workbench.analysis.proof.modular_arithmetic import affine_power, first_equal, first_hit

#: number of bits of the fraction, without the hidden bit
FRACTION = {"float16": 10, "float32": 23, "float64": 52}
#: maximum number of stretches of constant increment in a float counter
STRETCHES = 20_000

Times = list[tuple[int, "int | None"]]


@dataclass(frozen=True)
class IntCounter:
    """x(t) of x -> a x + b modulo 2^bits from x(0) = ``start``; if ``checked``, overflow is an error instead."""

    dtype: str
    start: int
    a: int
    b: int
    checked: bool = False

    @property
    def bits(self) -> int:
        low, high = int_range(self.dtype)
        return (high - low).bit_length()

    @property
    def additive(self) -> bool:
        return self.a == 1

    @property
    def full(self) -> int | None:
        """The first time at which a ``checked`` counter does not fit in its dtype; None if there is none."""
        if not self.checked or self.b == 0:
            return None
        low, high = int_range(self.dtype)
        return ((high - self.start) // self.b if self.b > 0 else (self.start - low) // -self.b) + 1

    def at(self, t: int) -> int:
        low, high = int_range(self.dtype)
        m = 1 << self.bits
        if self.checked:
            return min(max(self.start + t * self.b, low), high)
        if self.additive:
            return (self.start + t * self.b - low) % m + low
        f, g = affine_power(self.a, self.b, t, m)
        return (f * self.start + g - low) % m + low

    def box(self, times: Times) -> Interval:
        """Bounds over each range of times; a range includes both ends, and an end of None means for ever."""
        low, high = int_range(self.dtype)
        lo, hi = np.empty(len(times), object), np.empty(len(times), object)
        for k, (t, end) in enumerate(times):
            lo[k], hi[k] = low, high
            if t == end or self.additive and self.b == 0:
                lo[k] = hi[k] = self.at(t)
            elif self.additive and (end is not None or self.checked):
                first, far = self.at(t), (self.b > 0) * high + (self.b < 0) * low
                last = first + (end - t) * self.b if end is not None else far
                if self.checked:
                    last = min(max(last, low), high)
                if low <= last <= high:
                    lo[k], hi[k] = min(first, last), max(first, last)
        return box(self.dtype, lo, hi)

    def first(self, low: int, high: int, t: int) -> int | None:
        """First time from ``t`` on at which x is in the range from low to high, which may wrap around the ends of the
        dtype.
        """
        m = 1 << self.bits
        if self.additive:
            found = first_hit(self.at(t), self.b, m, low, high)
        elif (low - high) % m == 0 and self.a & 1:
            found = first_equal(self.at(t), self.a, self.b, self.bits, low)
        else:
            raise ValueError("only single values are looked for in a x + b")
        return None if found is None else t + found


@dataclass
class FloatCounter:
    """x(t) of x -> x + c in a float dtype, as stretches of constant exact increments; see :func:`float_counter`."""

    dtype: str
    times: list[int] = field(default_factory=list)
    #: for each stretch: its first value, its grid index, its increment and the exponent of the grid
    values: list[float] = field(default_factory=list)
    grids: list[tuple[int, int, int]] = field(default_factory=list)

    def at(self, t: int) -> float:
        k = bisect.bisect_right(self.times, t) - 1
        number, step, scale = self.grids[k]
        n = t - self.times[k]
        return self.values[k] if n == 0 or step == 0 else math.ldexp(number + n * step, scale)

    @property
    def last(self) -> float:
        """The final value: the number that absorbs the step, infinity or NaN."""
        return self.values[-1]

    @property
    def settles(self) -> int:
        """The time from which the counter does not change."""
        return self.times[-1]

    def box(self, times: Times) -> Interval:
        """Bounds over each range of times: x is monotone, because rounding is."""
        ends = [(self.at(t), self.last if end is None else self.at(end)) for t, end in times]
        with np.errstate(invalid="ignore"):
            table = np.array(ends, self.dtype)
        nan = np.isnan(table)
        lo, hi = np.fmin(table[:, 0], table[:, 1]), np.fmax(table[:, 0], table[:, 1])
        if nan.any():  # NaN comes after all numbers, infinities among them
            before = self.values[-2] if len(self.values) > 1 else math.nan
            both = nan.all(axis=1)
            more = np.where(nan[:, 1] & ~nan[:, 0] & (not math.isnan(before)), before, lo).astype(self.dtype)
            lo, hi = np.fmin(lo, more), np.fmax(hi, more)
            lo, hi = np.where(both, np.inf, lo).astype(self.dtype), np.where(both, -np.inf, hi).astype(self.dtype)
        return box(self.dtype, lo, hi, nan.any(axis=1))


def float_counter(x: Any, c: Any, dtype: str) -> FloatCounter | None:
    """The closed form of x -> x + c from x; None if it would take too many stretches (subnormal steps)."""
    kind: Any = np.dtype(dtype).type
    x, c = kind(x), kind(c)
    p = FRACTION[dtype]
    out, t = FloatCounter(dtype), 0
    with np.errstate(all="ignore"):
        while len(out.times) < STRETCHES:
            y = kind(x + c)
            _add(out, t, x, (0, 0, 0))
            if y == x or np.isnan(x):
                return out
            if np.isnan(y):
                _add(out, t + 1, y, (0, 0, 0))
                return out
            z = kind(y + c)
            if z == y:  # absorbed, or infinite
                _add(out, t + 1, y, (0, 0, 0))
                return out
            scale = _binade(x, p, dtype)
            if scale is None or scale != _binade(y, p, dtype) or scale != _binade(z, p, dtype) or (x < 0) != (z < 0):
                x, t = y, t + 1
                continue
            number, step = _grid(y, scale), _grid(z, scale) - _grid(y, scale)
            size, forward = abs(number), abs(_grid(z, scale)) > abs(number)
            # stay below the next power of two, and above this one, where a finer grid begins
            n = ((1 << p + 1) - 1 - size) // abs(step) if forward else (size - (1 << p) - 1) // abs(step)
            if n < 1:
                x, t = y, t + 1
                continue
            _add(out, t + 1, y, (number, step, scale))
            t, x = t + 1 + n, kind(math.ldexp(number + n * step, scale))
    return None


def _add(out: FloatCounter, t: int, x: Any, grid: tuple[int, int, int]) -> None:
    if out.times and out.times[-1] == t:
        return  # the last value of the stretch
    out.times.append(t)
    out.values.append(float(x))
    out.grids.append(grid)


def _binade(x: Any, p: int, dtype: str) -> int | None:
    """Exponent of the grid of a normal number; None for others."""
    number = float(x)
    if number == 0 or not math.isfinite(number) or abs(number) < float(np.finfo(dtype).tiny):
        return None
    return math.frexp(number)[1] - 1 - p


def _grid(x: Any, scale: int) -> int:
    return int(math.ldexp(float(x), -scale))
