"""Integers: divisors, residues, generators, cycles, bits."""

from __future__ import annotations

import numpy as np

from tests.evaluation.solver_questions.loops import REST, TURNS, Loop, i16, i64, u8

C, D, O = "CONVERGING", "DIVERGING", "OSCILLATING"  # noqa: E741


def _binary_gcd(a, b):
    """Both odd at the start: the larger less the smaller, halved while even."""
    even = a % 2 == 0
    return {"a": np.where(even, a // 2, np.where(a < b, b - a, a - b)), "b": np.where(even | (a >= b), b, a)}


def _cube_root(x, y):
    return {"x": y, "y": (2 * y + 10**15 // (y * y)) // 3}


def _brent(t, h, power, lam):
    """Brent's search of a cycle of x^2 + 1 modulo 1 517."""
    full = power == lam
    return {
        "t": np.where(full, h, t),
        "h": (h * h + 1) % 1517,
        "power": np.where(full, 2 * power, power),
        "lam": np.where(full, 1, lam + 1),
    }


def _kaprekar(n):
    a, b, c = n // 100, n // 10 % 10, n % 10
    return {"n": 99 * (np.maximum(np.maximum(a, b), c) - np.minimum(np.minimum(a, b), c))}


def _register(x):
    """A shift register of eight bits with taps 8, 6, 5 and 4."""
    bit = (x ^ (x >> 2) ^ (x >> 3) ^ (x >> 4)) & 1
    return {"x": (x >> 1) | (bit << 7)}


INTEGERS = [
    Loop("binary_gcd", {"a": i64(1071 * 5), "b": i64(1029 * 5)}, lambda a, b: a != 0, _binary_gcd, "a"),
    Loop("integer_cube_root", {"x": i64(10**6 + 1), "y": i64(10**6)}, lambda x, y: y < x, _cube_root, "x y"),
    Loop(
        "five_n_plus_one",
        {"n": i64(13)},
        lambda n: n != 1,
        lambda n: {"n": np.where(n % 2 == 0, n // 2, 5 * n + 1)},
        "n",
        O,
        TURNS,
    ),
    Loop(
        "collatz_by_short_cuts",
        {"n": i64(97)},
        lambda n: n > 1,
        lambda n: {"n": np.where(n % 2 == 0, n // 2, (3 * n + 1) // 2)},
        "n",
    ),
    Loop("period_of_a_generator", {"x": i64(128)}, lambda x: x != 5, lambda x: {"x": (21 * x + 43) % 1000}, "x"),
    Loop(
        "three_is_no_square_mod_seven",
        {"x": i64(1)},
        lambda x: x * x % 7 != 3,
        lambda x: {"x": (x + 1) % 1000000},
        "x",
        "",
        TURNS + "|never|residue|remainder|mod|divis|value",
        endless=True,
    ),
    Loop(
        "cycle_by_brent",
        {"t": i64(2), "h": i64(5), "power": i64(1), "lam": i64(1)},
        lambda t, h, power, lam: t != h,
        _brent,
        "t h",
    ),
    Loop(
        "pollard_rho",
        {"t": i64(2), "h": i64(2), "g": i64(1)},
        lambda t, h, g: g != 0,
        lambda t, h, g: {
            "t": (t * t + 1) % 8051,
            "h": (((h * h + 1) % 8051) * ((h * h + 1) % 8051) + 1) % 8051,
            "g": ((t * t + 1) % 8051 - (((h * h + 1) % 8051) * ((h * h + 1) % 8051) + 1) % 8051) % 97,
        },
        "g",
    ),
    Loop("inverse_by_trial", {"x": i64(1)}, lambda x: 37 * x % 1009 != 1, lambda x: {"x": x + 1}, "x", D),
    Loop(
        "divisors_of_a_perfect_number",
        {"d": i64(1), "s": i64(0)},
        lambda d, s: 2 * d <= 8128,
        lambda d, s: {"s": s + np.where(8128 % d == 0, d, 0), "d": d + 1},
        "d",
        D,
    ),
    Loop("kaprekar", {"n": i64(532)}, lambda n: n != 0, _kaprekar, "n", "", REST),
    Loop(
        "bits_by_kernighan",
        {"n": i64(0x7F3A55AA0F), "c": i64(0)},
        lambda n, c: n != 0,
        lambda n, c: {"n": n & (n - 1), "c": c + 1},
        "n",
    ),
    Loop("shift_register", {"x": i64(1)}, lambda x: x != 77, _register, "x"),
    Loop("lowest_bit_added", {"i": i64(3)}, lambda i: i <= 100000, lambda i: {"i": i + (i & -i)}, "i", D),
    Loop("shifted_out", {"n": i64(5)}, lambda n: n != 7, lambda n: {"n": n << 1}, "n", "", REST + "|even|never|mod"),
    Loop("short_integer_wraps", {"i": i16(7)}, lambda i: i >= i16(0), lambda i: {"i": i + i16(1000)}, "i"),
    Loop("byte_counts_past_zero", {"x": u8(100)}, lambda x: x > u8(0), lambda x: {"x": x - u8(3)}, "x"),
    Loop(
        "byte_is_never_negative",
        {"x": u8(100)},
        lambda x: x >= u8(0),
        lambda x: {"x": x - u8(1)},
        "x",
        "",
        TURNS + "|range|always|never|wrap|unsigned",
    ),
    Loop(
        "saturates_short_of_its_goal",
        {"x": i64(0)},
        lambda x: x != 250,
        lambda x: {"x": np.minimum(x + 7, 240)},
        "x",
        "",
        REST,
    ),
]
