"""Graph loops that end, with the exact number of iterations; integers that wrap on the way, long ones, trip limits."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.evaluation.heldout.common import rng_of
from tests.evaluation.heldout.machines import case
from tests.evaluation.scoring.cases import GraphLoop

f32, f64, i32, i64 = np.float32, np.float64, np.int32, np.int64


def plain() -> Iterator[GraphLoop]:
    for i in range(8):
        rng = rng_of("plain", i)
        n, step, done = int(rng.integers(5, 3000)), int(rng.integers(1, 9)), int(rng.choice([0, 0, 2, 4]))
        rate = float(rng.uniform(0.5, 0.99))
        yield case("affine", {"i": i64(3)}, lambda i, n=n: i < n, lambda i, s=step: {"i": i + s}, done=done)
        yield case("scaled", {"x": f64(9)}, lambda x: x > 1e-6, lambda x, r=rate: {"x": x * r}, done=done)
        yield case("scaled_low", {"x": f32(9)}, lambda x: x > 1e-3, lambda x, r=rate: {"x": x * r})
        yield case("divided", {"x": i64(10**12 + n)}, lambda x: x > 3, lambda x: {"x": x // 2})
        yield case(
            "heron",
            {"x": f64(n), "d": f64(1)},
            lambda x, d: d > 1e-9,
            lambda x, d, n=n: {"x": (x + n / x) * 0.5, "d": abs((x + n / x) * 0.5 - x)},
        )
        yield case(
            "hailstone",
            {"n": i64(n + 2)},
            lambda n: n != 1,
            lambda n: {"n": (n // 2) * (1 - n % 2) + (3 * n + 1) * (n % 2)},
            done=done if n > 100 else 0,
        )
        yield case("congruence", {"x": i64(i)}, lambda x: x != 77, lambda x: {"x": (x * 5 + 3) % 128})
        yield case(
            "gcd", {"a": i64(832040 + n), "b": i64(514229)}, lambda a, b: b > 0, lambda a, b: {"a": b, "b": a % b}
        )
        yield case(
            "cap_or_tolerance",
            {"i": i64(0), "r": f64(1)},
            lambda i, r: (i < 50) & (r > 1e-4),
            lambda i, r, q=rate: {"i": i + 1, "r": r * q},
        )
        yield case(
            "both",
            {"i": i64(0), "r": f64(1)},
            lambda i, r: (i < 50) | (r > 1e-4),
            lambda i, r, q=rate: {"i": i + 1, "r": r * q},
        )
        yield case("trip_limit", {"x": f64(1)}, lambda x: x > 0, lambda x: {"x": x * 0.5 + 0.5}, max_trips=n)
        yield case("trip_limit_later", {"i": i64(0)}, lambda i: i < 9, lambda i: {"i": i + 1}, max_trips=n + 20)
        yield case(
            "vector", {"v": np.linspace(0, 1, 5)}, lambda v: (v * v)[4] < 50.0, lambda v, r=rate: {"v": v * (2 - r)}
        )


def wrapping() -> Iterator[GraphLoop]:
    """The dtype decides: a counter that runs away comes back from the other end."""
    for dtype in (np.int8, np.uint8, np.int16, np.uint16):
        name = np.dtype(dtype).name
        yield case(f"wraps_down_{name}", {"i": dtype(100)}, lambda i: i < 110, lambda i: {"i": i - 1})
        for step in (3, 7, 11):
            yield case(f"odd_step_{name}", {"i": dtype(0)}, lambda i: i != 5, lambda i, s=step: {"i": i + s})
        yield case(f"mixes_{name}", {"i": dtype(1)}, lambda i: i != 27, lambda i: {"i": i * 5 + 2})
        yield case(f"doubles_{name}", {"i": dtype(3)}, lambda i: i > 2, lambda i: {"i": i * 2})


def long() -> Iterator[GraphLoop]:
    """Too long to be run ahead; the number follows from arithmetic."""
    for step, target in ((3, 5), (7, -1), (101, 12345)):
        n = (target * pow(step, -1, 2**32)) % 2**32
        yield case("odd_step_int32", {"i": i32(0)}, lambda i, t=target: i != t, lambda i, s=step: {"i": i + s}, n=n)
    for dtype, bits in ((i32, 32), (i64, 64)):  # 6 k = 10 modulo 2^bits has a solution, by wrapping
        n = 5 * pow(3, -1, 2 ** (bits - 1)) % 2 ** (bits - 1)
        yield case("even_step_hits", {"i": dtype(0)}, lambda i: i != 10, lambda i: {"i": i + 6}, n=n)
    yield case("down_int32", {"i": i32(5)}, lambda i: i < 9, lambda i: {"i": i - 1}, n=5 + 2**31 + 1)
    yield case("down_int32_by_2", {"i": i32(4)}, lambda i: i < 9, lambda i: {"i": i - 2}, n=2 + 2**30 + 1)
    yield case("up_int32", {"i": i32(0)}, lambda i: i >= 0, lambda i: {"i": i + 1}, n=2**31)
    for top, step in ((10**12, 1), (10**15 + 1, 7), (2**62, 1000)):
        yield case("far", {"i": i64(0)}, lambda i, t=top: i < t, lambda i, s=step: {"i": i + s}, n=-(-top // step))
        yield case(
            "far_down", {"i": i64(top)}, lambda i: i > 9, lambda i, s=step: {"i": i - s}, n=-(-(top - 9) // step)
        )
    yield case("far_float", {"x": f64(0)}, lambda x: x < 1e9, lambda x: {"x": x + 1.0}, n=10**9)
    yield case("far_float_half", {"x": f64(1e6)}, lambda x: x > -1e9, lambda x: {"x": x - 0.5}, n=2 * (10**9 + 10**6))
    yield case("far_uint", {"i": np.uint32(0)}, lambda i: i < 4_000_000_000, lambda i: {"i": i + 2}, n=2 * 10**9)
    yield case(
        "far_compound",
        {"i": i64(0), "j": i64(10**11)},
        lambda i, j: (i < 10**10) & (j > 0),
        lambda i, j: {"i": i + 1, "j": j - 11},
        n=-(-(10**11) // 11),
    )
    yield case(
        "far_either",
        {"i": i64(0), "j": i64(10**11)},
        lambda i, j: (i < 10**10) | (j > 0),
        lambda i, j: {"i": i + 1, "j": j - 11},
        n=10**10,
    )
    yield case(
        "far_by_wrap", {"i": i64(2)}, lambda i: i > 0, lambda i: {"i": i + 2**40}, n=(2**63 - 2 + 2**40 - 1) // 2**40
    )


GENERATORS = (plain, wrapping, long)
