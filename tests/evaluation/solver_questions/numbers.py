"""Loops of number theory."""

from __future__ import annotations

import numpy as np

from tests.evaluation.solver_questions.loops import TURNS, Loop, i64

C, D, O = "CONVERGING", "DIVERGING", "OSCILLATING"  # noqa: E741


def _collatz(n):
    return {"n": np.where(n % 2 == 0, n // 2, 3 * n + 1)}


def _minus(n):
    return {"n": np.where(n % 2 == 0, n // 2, 3 * n - 1)}


def _subtract(a, b):
    return {"a": np.where(a > b, a - b, a), "b": np.where(a > b, b, b - a)}


NUMBERS = [
    Loop(
        "euclid", {"a": i64(832040), "b": i64(514229)}, lambda a, b: b != 0, lambda a, b: {"a": b, "b": a % b}, "b", ""
    ),
    Loop("euclid_by_subtraction", {"a": i64(630), "b": i64(231)}, lambda a, b: a != b, _subtract, "a b", ""),
    Loop("collatz", {"n": i64(27)}, lambda n: n != 1, _collatz, "n", ""),
    Loop("three_n_minus_one", {"n": i64(5)}, lambda n: n != 1, _minus, "n", O, TURNS),
    Loop("digit_folding", {"n": i64(987654321987)}, lambda n: n > 9, lambda n: {"n": n // 10 + n % 10}, "n", ""),
    Loop("generator_meets_zero", {"x": i64(1)}, lambda x: x != 0, lambda x: {"x": (5 * x + 3) % 64}, "x", ""),
    Loop(
        "generator_misses_one",
        {"x": i64(2)},
        lambda x: x != 1,
        lambda x: {"x": (4 * x + 2) % 64},
        "x",
        "",
        TURNS + "|fixed|chang|even|never|divis|residue|remainder|mod",
    ),
    Loop("order_of_three", {"x": i64(3)}, lambda x: x != 1, lambda x: {"x": x * 3 % 1009}, "x", ""),
    Loop("trial_division", {"d": i64(2)}, lambda d: 10403 % d != 0, lambda d: {"d": d + 1}, "d", D),
    Loop(
        "integer_root",
        {"x": i64(10**12), "y": i64(5 * 10**11)},
        lambda x, y: y < x,
        lambda x, y: {"x": y, "y": (y + 10**12 // y) // 2},
        "x y",
        "",
    ),
    Loop(
        "bits",
        {"n": i64(2**45 + 12345), "c": i64(0)},
        lambda n, c: n > 0,
        lambda n, c: {"n": n // 2, "c": c + n % 2},
        "n",
        C,
    ),
    Loop("fibonacci", {"a": i64(0), "b": i64(1)}, lambda a, b: b < 10**12, lambda a, b: {"a": b, "b": a + b}, "b a", D),
    Loop(
        "pisano_period",
        {"a": i64(1), "b": i64(1)},
        lambda a, b: (a != 0) | (b != 1),
        lambda a, b: {"a": b, "b": (a + b) % 89},
        "a b",
        "",
    ),
    Loop(
        "unhappy",
        {"n": i64(4)},
        lambda n: n != 1,
        lambda n: {"n": (n // 10) * (n // 10) + (n % 10) * (n % 10)},
        "n",
        "",
        TURNS,
    ),
    Loop(
        "reversed_digits",
        {"n": i64(123456789), "r": i64(0)},
        lambda n, r: n > 0,
        lambda n, r: {"r": r * 10 + n % 10, "n": n // 10},
        "n",
        C,
    ),
    Loop(
        "binary_power",
        {"e": i64(1000003), "b": i64(3), "p": i64(1)},
        lambda e, b, p: e > 0,
        lambda e, b, p: {"p": np.where(e % 2 == 1, p * b % 998244353, p), "b": b * b % 998244353, "e": e // 2},
        "e",
        C,
    ),
    Loop(
        "josephus",
        {"r": i64(0), "i": i64(2)},
        lambda r, i: i <= 400,
        lambda r, i: {"r": (r + 7) % i, "i": i + 1},
        "i",
        D,
    ),
    Loop("shuffles", {"x": i64(2)}, lambda x: x != 1, lambda x: {"x": 2 * x % 51}, "x", ""),
    Loop(
        "floyd_cycle",
        {"t": i64(5), "h": i64(26)},
        lambda t, h: t != h,
        lambda t, h: {"t": (t * t + 1) % 8051, "h": (((h * h + 1) % 8051) * ((h * h + 1) % 8051) + 1) % 8051},
        "t h",
        "",
    ),
    Loop(
        "square_never_minus_one",
        {"x": i64(2)},
        lambda x: x % 4 != 3,
        lambda x: {"x": x * x % 1000},
        "x",
        "",
        TURNS + "|fixed|chang|never",
    ),
    Loop("stairs_by_three", {"n": i64(100)}, lambda n: n > 0, lambda n: {"n": n - 3}, "n", D),
    Loop(
        "triangular",
        {"i": i64(1), "s": i64(0)},
        lambda i, s: s + i <= 5000,
        lambda i, s: {"s": s + i, "i": i + 1},
        "s i",
        D,
    ),
    Loop(
        "pell", {"x": i64(1), "y": i64(1)}, lambda x, y: y < 10**9, lambda x, y: {"x": x + 2 * y, "y": x + y}, "y x", D
    ),
    Loop(
        "sum_of_two_wrong_parity",
        {"i": i64(0)},
        lambda i: i % 6 != 5,
        lambda i: {"i": (i + 2) % 600},
        "i",
        "",
        TURNS + "|even|never|divis|residue|remainder|mod|steps",
    ),
]
