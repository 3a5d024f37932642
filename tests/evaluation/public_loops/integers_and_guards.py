"""Loops of public questions about integers, guards, flags and NaN; each is written anew."""

from __future__ import annotations

import numpy as np

import workbench as wb

from .public_loop import FAILS, OPEN, PublicLoop, ends, never


@wb.graph
def exhaustive_root(x):
    epsilon = 0.01
    step = 0.1
    guess = 0.0
    while guess <= x:
        if abs(guess * guess - x) >= epsilon:
            guess += step
    return guess


@wb.graph
def collatz(n):
    steps = 0
    while n != n // n:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@wb.graph
def collatz_by_division(n):
    x = n * 1.0
    steps = 0
    while x != 1:
        if x % 2 == 0:
            x = x / 2
        else:
            x = 3 * x + 1
        steps += 1
    return steps


@wb.graph
def count_by(increment):
    number = 0
    while number != 100:
        number += increment
    return number


@wb.graph
def wrong_direction():
    i = 1
    while i < 50:
        i -= 1
    return i


@wb.graph
def search_low_is_mid(low, high, key):
    while low < high:
        middle = (low + high) // 2
        if middle <= key:
            low = middle
        else:
            high = middle
    return low


@wb.graph
def forgetful_search(a, target):
    low = 0
    high = 3
    while low < high:
        mid = (low + high) >> 1
        if target < a[mid]:
            high = mid - 1
        else:
            low = mid
    return low


@wb.graph
def step_control(h, y):
    accepted = False
    while not accepted:
        error = abs(y * h)
        if error < 1.0:
            accepted = True
        else:
            h = h * max(0.2, 0.9 * error**-0.2)
    return h


@wb.graph
def integrate_until(t_end, dt):
    t = 0.0
    while (t < t_end) and (dt > 0):
        ratio = np.sqrt(0.25 - t) * dt
        dt = dt * 0.9 / (1.0 + ratio)
        t = t + dt
    return t


@wb.graph
def squarings(norm):
    n = np.floor(np.log2(norm))
    i = 0.0
    while i < n:
        i += 1.0
    return i


@wb.graph
def scaled_down(y):
    while (y <= 0) or (y > 1e-6):
        y = y * 0.1
    return y


@wb.graph
def slope_to_zero(rate):
    x = np.array([2.1, 2.5, 3.0, 3.4])
    y = np.array([1800.0, 1700.0, 1900.0, 1650.0])
    a = 0.0
    b = 0.0
    da = 1.0
    db = 1.0
    while (da != 0) and (db != 0):
        error = a + b * y - x
        da = np.mean(error)
        db = np.mean(error * y)
        a = a - rate * da
        b = b - rate * db
    return b


@wb.graph
def happy(n):
    while n != 1:
        total = 0
        while n > 0:
            d = n % 10
            total += d * d
            n = n // 10
        n = total
    return n


@wb.graph
def count_down(i, one):
    while i >= 0:
        i = i - one
    return i


@wb.graph
def all_bytes(i, one):
    while i <= 255:
        i = i + one
    return i


@wb.graph
def perceptron(rate):
    w0 = 0.1
    w1 = 0.1
    b = 0.0
    wrong = 1
    while wrong > 0:
        wrong = 0
        for k in range(4):
            x0 = k % 2
            x1 = k // 2
            want = (x0 + x1) % 2
            got = 1 if w0 * x0 + w1 * x1 + b > 0 else 0
            if got != want:
                w0 += rate * (want - got) * x0
                w1 += rate * (want - got) * x1
                b += rate * (want - got)
                wrong += 1
    return b


@wb.graph
def digits(n):
    reverse = 0
    while n != 0:
        reverse = reverse * 10 + n % 10
        n = n // 10
    return reverse


@wb.graph
def gcd(a, b):
    while a != b:
        if a > b:
            a = a - b
        else:
            b = b - a
    return a


@wb.graph
def loan(balance, rate, payment):
    months = 0
    while balance > 0:
        balance = balance + balance * rate - payment
        months += 1
    return months


@wb.graph
def zoom(low, high):
    value = np.sqrt(-1.0 - low * low)
    while not (abs(value) <= 1e-6):
        middle = (low + high) / 2
        value = np.sqrt(-1.0 - middle * middle)
        if value > 0:
            high = middle
        else:
            low = middle
    return low


@wb.graph
def fixed_point_power(base, precision):
    one = 10**9
    term = one
    s = one
    i = 1
    while term >= precision:
        term = term * base // one // i
        s += term
        i += 1
    return s


LOOPS = [
    PublicLoop(
        "guard_root",
        "stackoverflow.com/questions/40454912 (25)",
        exhaustive_root,
        (25.0,),
        never(cause=("abs(guess * guess - x) >= epsilon",), kinds=("guard",)),
    ),
    PublicLoop(
        "collatz_int32",
        "a Java question, 837799",
        collatz,
        (np.int32(837799),),
        never(cause=("wraps",), kinds=("wraps",)),
    ),
    PublicLoop(
        "collatz_true_division",
        "stackoverflow.com/questions/69320009",
        collatz_by_division,
        (931386509544713451,),
        ends(564),
    ),
    PublicLoop(
        "count_by_29",
        "nanobook, infinite loops",
        count_by,
        (29,),
        never(cause=("number steps over 100",), kinds=("steps-over",)),
    ),
    PublicLoop(
        "wrong_direction",
        "nanobook, infinite loops",
        wrong_direction,
        (),
        never(cause=("i moves away",), kinds=("moves-away",)),
    ),
    PublicLoop(
        "search_low_is_mid", "codeforces blog 66421", search_low_is_mid, (0, 40, 37), never(cause=("low", "middle"))
    ),
    PublicLoop(
        "forgetful_search",
        "two binary searches, one stuck",
        forgetful_search,
        (np.array([1, 3, 5, 6]), 5),
        never(cause=("low", "mid")),
    ),
    PublicLoop(
        "nan_state",
        "scipy#11239",
        step_control,
        (0.1, float("nan")),
        never(cause=("error < 1.0", "nan"), kinds=("nan",)),
    ),
    PublicLoop("nan_step", "jax#40510", integrate_until, (1.0, 0.2), ends(3)),
    PublicLoop(
        "expm_inf", "jax#2634", squarings, (float("inf"),), never(cause=("2^53",), kinds=("absorbed", "stalls"))
    ),
    PublicLoop("negative_lane", "jax#2947", scaled_down, (-3.0,), never(cause=("y",))),
    PublicLoop(
        "nan_is_not_zero",
        "stats.stackexchange.com/questions/465296",
        slope_to_zero,
        (1.0,),
        never(cause=("NaN",), kinds=("nan",)),
    ),
    PublicLoop("happy_2", "happy numbers", happy, (2,), never(cause=("n",))),
    PublicLoop("happy_19", "happy numbers", happy, (19,), ends(4)),
    PublicLoop(
        "unsigned_down",
        "forum.arduino.cc 528499",
        count_down,
        (np.uint32(100), np.uint32(1)),
        never(cause=("Every uint32",), kinds=("every-number",)),
    ),
    PublicLoop(
        "unsigned_char",
        "unsigned char i <= 0xff",
        all_bytes,
        (np.uint8(0), np.uint8(1)),
        never(cause=("Every uint8",), kinds=("every-number",)),
    ),
    PublicLoop("perceptron_xor", "perceptron on XOR", perceptron, (0.5,), never(cause=("w0", "w1", "b", "wrong"))),
    PublicLoop("negative_digits", "sololearn 3065059", digits, (-123,), FAILS),
    PublicLoop("gcd_zero", "gcd by subtraction with 0", gcd, (0, 12), never(cause=("b - a",), kinds=("neutral",))),
    PublicLoop("loan_below_interest", "payment below interest", loan, (1000.0, 0.02, 15.0), never(cause=("balance",))),
    PublicLoop("zoom_nan", "breeze#706", zoom, (0.0, 1.0), never(cause=("NaN",), kinds=("nan",))),
    PublicLoop("balancer_power", "balancer-core#147", fixed_point_power, (5 * 10**8, 1), ends(10)),
    PublicLoop("balancer_power_zero", "balancer-core#147", fixed_point_power, (5 * 10**8, 0), OPEN),
]
