"""Loops of public questions about floats: rounding, absorption, tolerances that no float meets, ends by infinity.

Each is written anew after a question or an issue that the ``source`` names.
"""

from __future__ import annotations

import numpy as np

import workbench as wb

from .public_loop import PublicLoop, ends, never


@wb.graph
def smallest_step():
    n = 0
    a = 1.0
    while a > 0:
        n = n + 1
        a = (1.0 + 2.0 ** (-n)) - 1.0
    return n


@wb.graph
def doubles(x):
    while x < x + x:
        x = x + x
    return x


@wb.graph
def root_by_bisection(x, delta):
    start = 0.0
    end = x
    while end - start > delta:
        middle = (start + end) / 2
        if middle * middle < x:
            start = middle
        else:
            end = middle
    return (start + end) / 2


@wb.graph
def payment(balance, rate):
    monthly = rate / 12
    lower = balance / 12
    higher = balance * (1 + monthly) ** 12 / 12
    while True:
        guess = (higher - lower) / 2 + lower
        remaining = balance
        for _ in range(12):
            unpaid = remaining - guess
            remaining = unpaid + monthly * unpaid
        if higher - lower <= 0.01:
            break
        if remaining < -0.01:
            higher = guess
        elif remaining > 0:
            lower = guess
    return lower


@wb.graph
def odd_numbers(i, limit):
    pi = 0.0
    sign = 1.0
    while i <= limit:
        pi += sign / i
        sign = -sign
        i = i + np.float32(2)
    return pi


@wb.graph
def tenth_steps(step):
    x = step
    while x != 1.0:
        x += step
    return x


@wb.graph
def sqrt_good_enough(x):
    guess = 1.0
    while abs(guess * guess - x) >= 0.001:
        guess = (guess + x / guess) / 2
    return guess


@wb.graph
def tune(n):
    steps = 0
    while n < 0.8:
        n = n + 0.1
        steps += 1
    return steps


@wb.graph
def last_output_time(t, h):
    while t < 1.0 + 1e-9:
        h = h * 0.5
        if t + h > t:
            t = t + h
    return t


@wb.graph
def descent_with_backtracking(x):
    g = 2.0 * (x - 1.0 / 3.0)
    while abs(g) > 1e-17:
        alpha = 1.0
        while (x - alpha * g - 1.0 / 3.0) ** 2 > (x - 1.0 / 3.0) ** 2 - 0.1 * alpha * g * g:
            alpha *= 0.5
        x = x - alpha * g
        g = 2.0 * (x - 1.0 / 3.0)
    return x


@wb.graph
def cubic_newton(x):
    step = 1.0
    while abs(step) > 1e-17:
        step = (x * x * x - 2.0 * x - 5.0) / (3.0 * x * x - 2.0)
        x = x - step
    return x


@wb.graph
def narrow_bracket(a, b, target):
    while True:
        if b - a <= np.float32(1.1920929e-07):
            break
        c = (a + b) / np.float32(2)
        if c * c < target:
            a = c
        else:
            b = c
    return a


@wb.graph
def steam_temperature(rho):
    t = 300.0
    ts = 0.0
    while abs(t - ts) > 1e-5:
        ts = t
        t = rho * 2.0 - ts
    return t


@wb.graph
def cooling(t):
    steps = 0
    while t > 0:
        t = t * 0.99
        steps += 1
    return steps


@wb.graph
def golden(a, b):
    r = 0.6180339887498949
    while abs(b - a) > 1e-10 * (abs(a) + abs(b)):
        c = b - r * (b - a)
        d = a + r * (b - a)
        if c * c < d * d:
            b = d
        else:
            a = c
    return a


@wb.graph
def theta_backtracking(x, direction):
    theta = 1.0
    while (x + theta * direction) ** 2 - x * x > -0.1 * theta * direction * direction:
        theta *= 0.5
    return theta


@wb.graph
def geometric_terms(x):
    s = 1.0
    term = 1.0
    k = 1
    while s + term != s:
        term = term * x / k
        s += term
        k += 1
    return s


LOOPS = [
    PublicLoop("smallest_step", "stackoverflow.com/questions/42986039", smallest_step, (), ends(53)),
    PublicLoop("doubles_float", "stackoverflow.com/questions/10414992", doubles, (3e8,), ends(996)),
    PublicLoop(
        "sqrt_1e29",
        "stackoverflow.com/questions/13896470",
        root_by_bisection,
        (1e29, 1 / 1024),
        never(cause=("end - start", "middle"), kinds=("last-digits",)),
    ),
    PublicLoop(
        "sqrt_1e30",
        "stackoverflow.com/questions/13896470, without its exit for an exact root",
        root_by_bisection,
        (1e30, 1 / 1024),
        never(cause=("end - start",)),
    ),
    PublicLoop(
        "lowest_payment",
        "stackoverflow.com, balance 772000000000000",
        payment,
        (772000000000000.0, 0.2),
        never(cause=("higher - lower",), kinds=("last-digits",)),
    ),
    PublicLoop(
        "odd_float32",
        "tutorialguruji, strange number of repetitions",
        odd_numbers,
        (np.float32(33554400.0), np.float32(33554432.0)),
        never(cause=("i",), kinds=("absorbed",)),
    ),
    PublicLoop(
        "steps_of_a_tenth",
        "stackoverflow.com/questions/13542220",
        tenth_steps,
        (0.1,),
        never(cause=("x steps over 1.0",), kinds=("steps-over",)),
    ),
    PublicLoop("sicp_1e13", "SICP exercise 1.7", sqrt_good_enough, (1e13,), never(cause=("guess",))),
    PublicLoop("sicp_1e12", "SICP exercise 1.7", sqrt_good_enough, (1e12,), ends(25)),
    PublicLoop("mad_x_steps", "MAD-X#179", tune, (0.7,), ends(2)),
    PublicLoop(
        "time_without_step",
        "sundials#44",
        last_output_time,
        (1.0, 1e-15),
        never(cause=("t + h > t",), kinds=("guard",)),
    ),
    PublicLoop("armijo_accepts_no_move", "gonum/optimize#76", descent_with_backtracking, (3.0,), ends(2)),
    PublicLoop("newton_cutoff", "abelfunctions#149", cubic_newton, (2.0,), never(cause=("step",))),
    PublicLoop(
        "bisect_float32",
        "OptimKit.jl#10",
        narrow_bracket,
        (np.float32(2.0), np.float32(8.0), np.float32(17.0)),
        never(cause=("b - a", "c")),
    ),
    PublicLoop("steam", "pyXSteam#10", steam_temperature, (160.0,), never(cause=("t", "ts"))),
    PublicLoop(
        "cooling_to_zero", "annealing until t reaches 0", cooling, (100.0,), never(cause=("t",), kinds=("absorbed",))
    ),
    PublicLoop("golden_section", "scipy#6476", golden, (-1.0, 2.0), ends(823)),
    PublicLoop("theta", "scipy#18908", theta_backtracking, (1e25, 0.5), ends(1070)),
    PublicLoop("series_of_exp", "sum until it no longer changes", geometric_terms, (1.0,), ends(18)),
]
