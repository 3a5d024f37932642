"""Sixty loops with their truth: 48 that never end, twelve that end after a known number of iterations.

They were written before the rays, the identities and the parts of a proof were first run.
"""

# ruff: noqa: E501
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


class Collection:
    """Loops by their truth."""

    def __init__(self) -> None:
        self.never: list[Callable[[], Any]] = []
        self.counted: list[tuple[Callable[[], Any], int]] = []

    def endless(self, function: Callable[[], Any]) -> Callable[[], Any]:
        self.never.append(function)
        return function

    def ends(self, count: int) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
        def add(function: Callable[[], Any]) -> Callable[[], Any]:
            self.counted.append((function, count))
            return function

        return add


FRESH = Collection()


# -- growth, swings, swaps, equal speed, sweeps -------------------------------------------------------------------
@FRESH.endless
def chased():
    x = 0
    y = 10
    while x < y:
        x += 3
        y += 3
    return x


@FRESH.endless
def growing_swing():
    i = 1
    while i != 0:
        if i > 0:
            i = -i - 1
        else:
            i = -i + 1
    return i


@FRESH.endless
def swap_and_grow():
    a = 1
    b = 5
    while a + b > 0:
        a, b = b + 1, a + 2
    return a


@FRESH.endless
def transient_then_growth():
    x = -1000
    y = 3
    while y > 0:
        if x < 0:
            x += 1
        else:
            y += 1
    return y


@FRESH.endless
def leapfrog():
    i = 0
    j = 0
    while i <= j:
        if i < j:
            i += 1
        else:
            j += 2
    return i


@FRESH.endless
def sweep_of_seven():
    i = 0
    j = 0
    while j >= 0:
        i += 1
        if i == 7:
            i = 0
            j += 1
    return j


@FRESH.endless
def two_sweeps():
    i = 0
    j = 0
    k = 0
    while k >= 0:
        i += 1
        if i >= 4:
            i = 0
            j += 1
        if j >= 5:
            j = 0
            k += 2
    return k


@FRESH.endless
def both_ways():
    lo = 0
    hi = 1
    while lo < hi:
        lo -= 1
        hi += 2
    return lo


@FRESH.endless
def falling_difference():
    x = 5
    y = 100
    z = 0
    while x + y > z:
        x -= 1
        y += 2
        z += 1
    return z


@FRESH.endless
def rotated_growth():
    a = 1
    b = 2
    c = 3
    while a + b + c > 5:
        a, b, c = b, c + 1, a
    return c


@FRESH.endless
def guarded_then_away():
    x = 50
    y = 0
    while x != y:
        if x > 10:
            x -= 1
        else:
            y -= 1
    return x


@FRESH.endless
def never_met():
    x = 0
    y = 1
    while x != y:
        x += 2
        y += 2
    return x


@FRESH.endless
def parity_apart():
    x = 0
    y = 1
    while x != y:
        if x < y:
            x += 2
        else:
            y += 2
    return x


@FRESH.endless
def nested_if_growth():
    x = 10
    y = 0
    while x > 0:
        if y < 20:
            y += 1
            if x < 15:
                x += 1
        else:
            if x > 12:
                x += 2
            else:
                x -= 1
    return x


@FRESH.endless
def flag_and_growth():
    up = True
    x = 1
    while x > 0:
        if up:
            x += 3
            up = False
        else:
            x -= 2
            up = True
    return x


@FRESH.endless
def minus_both():
    x = -3
    y = 4
    while x < 0:
        x, y = x - y, y + 0
    return x


@FRESH.endless
def negated_pair():
    x = 2
    y = 7
    while x * x < y * y:
        x, y = -x, -(y + 1) if y > 0 else -(y - 1)
    return x


@FRESH.endless
def growing_window():
    lo = 0
    hi = 16
    while hi - lo > 8:
        if lo < 5:
            lo += 1
        else:
            lo += 2
            hi += 2
    return lo


@FRESH.endless
def machine_ints_chase():
    x = np.int64(0)
    y = np.int64(17)
    while x != y:
        x = x + np.int64(1)
        y = y + np.int64(1)
    return x


@FRESH.endless
def small_ints_chase():
    x = np.int32(3)
    y = np.int32(4)
    while y - x == np.int32(1):
        x = x + np.int32(5)
        y = y + np.int32(5)
    return x


@FRESH.ends(2**53)  # y stalls at 2^51, where a tie goes to the even number, and x comes up to it
def floats_of_equal_speed():
    x = 0.0
    y = 0.5
    while x < y:
        x += 0.25
        y += 0.25
    return x


@FRESH.endless
def inner_loop_beside():
    x = 1
    while x > 0:
        j = 0
        while j < 3:
            j += 1
        x += j
    return x


@FRESH.endless
def alternating_steps():
    x = 0
    t = 0
    while x > -5:
        if t % 2 == 0:
            x += 3
        else:
            x -= 1
        t += 1
    return x


@FRESH.endless
def three_phases():
    x = 1
    phase = 0
    while x != 0:
        if phase == 0:
            x += 5
            phase = 1
        elif phase == 1:
            x -= 2
            phase = 2
        else:
            x += 1
            phase = 0
    return x


@FRESH.endless
def absolute_chase():
    x = -7
    y = 3
    while abs(x) > y:
        x -= 2
        y += 1
    return x


@FRESH.endless
def max_of_two():
    x = 5
    y = 6
    while max(x, y) > 5:
        x += 1
        y -= 1
    return x


# -- identities ----------------------------------------------------------------------------------------------------
@FRESH.endless
def sum_of_ints():
    i = 0
    s = 0
    while 2 * s == i * (i + 1):
        i += 1
        s += i
    return s


@FRESH.endless
def squares_by_odds():
    r = 0
    odd = 1
    n = 0
    while n == r * r:
        n += odd
        odd += 2
        r += 1
    return r


@FRESH.endless
def product_identity():
    x = 3
    y = 0
    p = 0
    while p == x * y:
        y += 1
        p += x
    return p


@FRESH.endless
def linear_identity():
    a = 0
    b = 0
    c = 0
    while a + b - c == 0:
        a += 1
        if a > b:
            b += 2
            c += 3
        else:
            c += 1
    return c


@FRESH.endless
def wrapped_cubes():
    n = np.int64(0)
    s = np.int64(0)
    while s == n * n * n:
        s = s + np.int64(3) * n * n + np.int64(3) * n + np.int64(1)
        n = n + np.int64(1)
    return s


@FRESH.endless
def wrapped_powers():
    x = np.int64(1)
    y = np.int64(3)
    while y - np.int64(3) * x == np.int64(0):
        x = x * np.int64(5)
        y = y * np.int64(5)
    return x


@FRESH.endless
def wrapped_determinant():
    a = np.int64(1)
    b = np.int64(1)
    c = np.int64(0)
    while a * a - a * b - b * b + np.int64(1) == c:
        a, b = a + np.int64(2) * b, b + a + b - a
        c = a * a - a * b - b * b + np.int64(1)
    return a


@FRESH.endless
def fibonacci_cassini():
    a = np.int64(0)
    b = np.int64(1)
    while (b * b - a * b - a * a) * (b * b - a * b - a * a) == np.int64(1):
        a, b = b, a + b
    return b


@FRESH.endless
def pell():
    x = np.int64(1)
    y = np.int64(0)
    while x * x - np.int64(2) * y * y != np.int64(7):
        x, y = np.int64(3) * x + np.int64(4) * y, np.int64(2) * x + np.int64(3) * y
    return x


@FRESH.endless
def division_identity():
    q = 0
    r = 1000000
    while 7 * q + r == 1000000:
        q += 1
        r -= 7
    return q


@FRESH.endless
def gcd_like():
    x = np.int64(12)
    y = np.int64(18)
    u = np.int64(18)
    v = np.int64(12)
    while x * u + y * v == np.int64(432):
        if x > y:
            x = x - y
            v = v + u
        else:
            y = y - x
            u = u + v
    return x


@FRESH.endless
def small_ring():
    x = np.int32(1)
    y = np.int32(1)
    while x * x == y:
        x = x * np.int32(3)
        y = y * np.int32(9)
    return x


# -- parts ---------------------------------------------------------------------------------------------------------
@FRESH.endless
def counted_bisection():
    lo = 0.0
    hi = 10.0
    count = 0
    root = 5.0
    while abs(root**3 - 100.0) >= 1e-14:
        count += 1
        root = (lo + hi) / 2
        if root**3 > 100.0:
            hi = root
        else:
            lo = root
    return count


@FRESH.endless
def counted_newton():
    x = 1.0
    n = 0
    while x * x != 2.0:
        x = x - (x * x - 2.0) / (2.0 * x)
        n += 1
    return n


@FRESH.endless
def counted_cycle():
    x = 3
    n = 0
    while x != 0:
        x = (x * 5) % 17
        n += 1
    return n


@FRESH.endless
def summed_cycle():
    x = 3
    s = 0
    while x != 0:
        x = x * 7 % 31
        s += 4
    return s


@FRESH.endless
def divided_cycle():
    x = 4.0
    n = 0
    total = 0.0
    while x > 1.0:
        x = 12.0 / x
        total = 1.0 / x
        n += 2
    return n + total


@FRESH.endless
def converged_with_counter():
    x = 1.0
    n = 0
    while x > 0.5:
        x = (x + 2.0 / x) / 2.0
        n += 1
    return n


@FRESH.endless
def cosine_with_counter():
    x = 1.0
    n = 0
    while abs(np.cos(x) - x) >= 0.0:
        x = np.cos(x)
        n += 3
    return n


@FRESH.endless
def fixed_root_with_power():
    r = 2.0
    k = 0
    while r**5 - 22.0 != 0.0:
        r = r - (r**5 - 22.0) / (5.0 * r**4)
        k += 1
    return k


@FRESH.endless
def counter_in_branch():
    x = 2
    hits = 0
    while x > 0:
        x = x * 3 % 7
        if x == 1:
            hits += 1
    return hits


# -- long transients, unread loops, absorption ---------------------------------------------------------------------
@FRESH.endless
def long_transient_then_rest():
    x = 500000
    while x > 10:
        if x > 100:
            x -= 1
    return x


@FRESH.ends(2**53 + 1)  # x stalls at 2^53, and y comes up to it
def float_counter_stalls():
    x = 0.0
    y = -1.0
    while x > y:
        x += 1.0
        y += 1.0
    return x


@FRESH.endless
def unread_loop():
    x = 1
    i = 0
    while i < 5:
        i -= 1
    return x


# -- ends ----------------------------------------------------------------------------------------------------------
@FRESH.ends(10**9)
def pursuit():
    x = 0
    y = 10**9
    while x < y:
        x += 3
        y += 2
    return x


@FRESH.ends(12_000_001)
def late_turn():
    k = 0
    counter = 1
    while counter > 0:
        counter += 1 if k < 10**7 else -5
        k += 1
    return counter


@FRESH.ends(5 * 10**14)
def half_way():
    lo = 0
    hi = 10**15
    while lo < hi:
        lo += 1
        hi -= 1
    return lo


@FRESH.ends(3 * 10**9)
def phases_to_the_end():
    x = 10**9
    t = 0
    while x > 0:
        if t == 0:
            x += 1
            t = 1
        elif t == 1:
            x -= 1
            t = 2
        else:
            x -= 1
            t = 0
    return x


@FRESH.ends(4 * 10**12 - 1)
def swapping_to_the_end():
    a = 0
    b = 0
    while a + b < 4 * 10**12 - 1:
        a, b = b + 1, a
    return a


@FRESH.ends(2**32 - 10)
def wraps_to_zero():
    x = np.uint32(10)
    y = np.uint32(1)
    while x != np.uint32(0):
        x = x + y
    return x


@FRESH.ends(6 * 10**10 + 1)
def sweeps_to_the_end():
    i = 0
    j = 0
    while j <= 10**10:
        i += 1
        if i == 6:
            i = 0
            j += 1
        if j == 10**10 and i == 1:
            j += 1
    return j


@FRESH.ends(2 * 10**9)
def two_speeds_meet():
    x = 0
    y = 4 * 10**9
    while x != y:
        x += 3
        y += 1
    return x


@FRESH.ends(8 * 10**9)
def dyadic_floats():
    x = 0.0
    y = 1e9
    while x < y:
        x += 0.25
        y += 0.125
    return x


@FRESH.ends(100000)
def short_transient():
    x = 0
    y = 0
    while x < 100000:
        x += 1
        if x > 50000:
            y += x
    return y
