"""Graph loops that never end: the reason and the guilty variable follow from how they are written."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.evaluation.heldout.common import rng_of
from tests.evaluation.heldout.machines import case
from tests.evaluation.scoring.cases import GraphLoop

f16, f32, f64, i32, i64 = np.float16, np.float32, np.float64, np.int32, np.int64
STILL = r"never changes|not change|not updated|invariant"
RECURS = r"recur|cycle|period|repeats"
LIMIT = r"limit|floor|fixed|not change|never changes|recur|tends|converg"
ABSORBS = r"absorb|precision|ulp|not change"


def still() -> Iterator[GraphLoop]:
    """No input of the condition changes."""
    for i in range(6):
        top = int(rng_of("still", i).integers(2, 99))
        yield case(
            "forgotten",
            {"i": i64(0), "s": f64(0)},
            lambda i, s, t=top: i < t,
            lambda i, s: {"i": i, "s": s + 1.5},
            "i",
            STILL,
            n=None,
        )
        yield case("times_one", {"x": f64(top)}, lambda x: x > 0.5, lambda x: {"x": x * 1.0}, "x", STILL)
        yield case("clipped", {"x": i64(top)}, lambda x: x < 200, lambda x: {"x": x // 1}, "x", STILL)
        yield case(
            "or_forgotten",
            {"i": i64(0), "k": i64(1)},
            lambda i, k, t=top: (i < t) | (k > 0),
            lambda i, k: {"i": i + 1, "k": k},
            "k",
            STILL + "|" + RECURS,
            n=None,
        )
        yield case(
            "and_forgotten",
            {"i": i64(0), "k": i64(1)},
            lambda i, k, t=top: (i < t) & (k > 0),
            lambda i, k: {"i": i * 1, "k": k},
            "i k",
            STILL,
        )


def cycles() -> Iterator[GraphLoop]:
    """The state returns, the condition is true all the way."""
    for m, a, c in ((7, 1, 3), (100, 21, 7), (1 << 12, 5, 1), (65536, 1, 12345), (331, 3, 1)):
        yield case(
            "congruential",
            {"x": i64(2)},
            lambda x: x != 99999,
            lambda x, a=a, c=c, m=m: {"x": (x * a + c) % m},
            "x",
            RECURS,
        )
    for start in (3.0, -0.25):
        yield case("flips", {"x": f64(start)}, lambda x: x != 0.0, lambda x: {"x": -x}, "x", RECURS)
        yield case("inverts", {"x": f64(start)}, lambda x: x < 50.0, lambda x: {"x": 1.0 - x}, "x", RECURS)
    yield case(
        "turns",
        {"x": f64(1), "y": f64(0)},
        lambda x, y: x * x + y * y > 0.5,
        lambda x, y: {"x": -y, "y": x},
        "x y",
        RECURS,
    )
    yield case(
        "hailstone_negative",
        {"n": i64(-17)},
        lambda n: n != 1,
        lambda n: {"n": (n // 2) * (1 - n % 2) + (3 * n + 1) * (n % 2)},
        "n",
        RECURS,
    )
    for r in (3.2, 3.5, 3.83):
        yield case("logistic", {"x": f64(0.3)}, lambda x: x < 1.0, lambda x, r=r: {"x": r * x * (1.0 - x)}, "x", RECURS)
    yield case("long_step", {"x": f64(5)}, lambda x: abs(x) > 1e-3, lambda x: {"x": x - 2.0 * x}, "x", RECURS)
    yield case(
        "newton_cycles",
        {"x": f64(0)},
        lambda x: abs(x * x * x - 2.0 * x + 2.0) > 1e-6,
        lambda x: {"x": x - (x * x * x - 2.0 * x + 2.0) / (3.0 * x * x - 2.0)},
        "x",
        RECURS,
    )
    for dtype in (np.int8, np.uint8, np.int16, np.uint16):
        yield case(
            "even_step", {"i": dtype(0)}, lambda i: i != 5, lambda i: {"i": i + 2}, "i", RECURS + "|steps over|wrap"
        )
        yield case("powers", {"i": dtype(1)}, lambda i: i != 6, lambda i: {"i": i * 3}, "i", RECURS + "|wrap")


def limits() -> Iterator[GraphLoop]:
    """A limit, or a floor of rounding, on the wrong side of the threshold."""
    for i in range(8):
        rng = rng_of("graph_limits", i)
        rate, level = float(rng.uniform(0.3, 0.97)), float(rng.uniform(1, 20))
        drop = level * (1 - rate)
        yield case(
            "limit_below",
            {"x": f64(0)},
            lambda x, t=1.1 * level: x < t,
            lambda x, r=rate, d=drop: {"x": r * x + d},
            "x",
            LIMIT,
        )
        yield case(
            "limit_above",
            {"x": f64(3 * level)},
            lambda x, t=0.8 * level: x > t,
            lambda x, r=rate, d=drop: {"x": r * x + d},
            "x",
            LIMIT,
        )
        yield case(
            "limit_low",
            {"x": f32(0)},
            lambda x, t=1.2 * level: x < t,
            lambda x, r=rate, d=drop: {"x": r * x + d},
            "x",
            LIMIT,
        )
    for a in (2.0, 3.0, 5.0, 7.0, 11.0, 13.0):
        for dtype, tol in ((f32, 1e-8), (f64, 1e-17)):

            def step(x, a=a):  # type: ignore[no-untyped-def]
                return {"x": (x + a / x) * 0.5}

            found = case("root_floor", {"x": dtype(1)}, lambda x, a=a, t=tol: abs(x * x - a) > t, step, "x", LIMIT)
            if found.n is None:
                yield found
    yield case("halves_to_zero", {"x": f64(1)}, lambda x: x >= 0.0, lambda x: {"x": x * 0.5}, "x", LIMIT + "|zero")
    yield case("to_inf", {"x": f64(1)}, lambda x: x > 0.0, lambda x: {"x": x * 2.0}, "x", LIMIT + "|inf|overflow")
    yield case(
        "to_inf_slowly",
        {"x": f64(1)},
        lambda x: x > 0.0,
        lambda x: {"x": x * 1.00001},
        "x",
        LIMIT + "|inf|overflow|away|grow",
        n=None,
    )
    yield case(
        "slow_limit", {"x": f64(0)}, lambda x: x < 1.5, lambda x: {"x": x * 0.9999999 + 1e-7}, "x", LIMIT, n=None
    )


def dtypes() -> Iterator[GraphLoop]:
    """Floats that absorb their step, integers that cannot reach the threshold, NaN, parity."""
    yield case("absorbs16", {"i": f16(0)}, lambda i: i < 3000.0, lambda i: {"i": i + 1.0}, "i", ABSORBS)
    yield case("absorbs32", {"i": f32(2**24 - 90)}, lambda i: i < 2e7, lambda i: {"i": i + 1.0}, "i", ABSORBS)
    yield case("absorbs32_far", {"i": f32(0)}, lambda i: i < 1e8, lambda i: {"i": i + 1.0}, "i", ABSORBS, n=None)
    yield case("absorbs32_tenth", {"t": f32(0)}, lambda t: t < 1e7, lambda t: {"t": t + 0.1}, "t", ABSORBS, n=None)
    yield case("absorbs64", {"i": f64(2**53 - 40)}, lambda i: i < 1e16, lambda i: {"i": i + 1.0}, "i", ABSORBS)
    yield case("absorbs64_far", {"i": f64(0)}, lambda i: i < 1e17, lambda i: {"i": i + 1.0}, "i", ABSORBS, n=None)
    yield case("small_step", {"x": f64(1)}, lambda x: x < 2.0, lambda x: {"x": x + 1e-17}, "x", ABSORBS)
    away = r"away|never|absorb|wrong|not change"
    yield case("float_away", {"x": f64(0)}, lambda x: x < 10.0, lambda x: {"x": x - 1.0}, "x", away, n=None)
    yield case("float_up", {"x": f32(0)}, lambda x: x >= 0.0, lambda x: {"x": x + 1.0}, "x", away, n=None)
    every = r"every|range|always|wrap|recur"
    for dtype, top in ((np.int8, 127), (np.uint8, 255), (np.int16, 32767), (np.int32, 2**31 - 1)):
        far = {} if np.dtype(dtype).itemsize < 4 else {"n": None}
        yield case("all_below", {"i": dtype(0)}, lambda i, t=top: i <= t, lambda i: {"i": i + 1}, "i", every, **far)
    yield case("unsigned", {"i": np.uint16(9)}, lambda i: i >= 0, lambda i: {"i": i - 1}, "i", every)
    yield case("nan", {"x": f64(1)}, lambda x: x != 2.0, lambda x: {"x": (x - x) / (x - x)}, "x", r"nan")
    yield case(
        "inf_minus_inf", {"x": f64(1e300)}, lambda x: x != 0.0, lambda x: {"x": x * 1e10 - x * 1e9}, "x", r"nan|inf"
    )
    over = r"steps over|never equal|parity|congruen|multiple|skips|jumps"
    for dtype in (i32, i64):
        for step, target in ((2, 7), (6, 11), (4, -3), (12, 10)):
            yield case(
                "parity", {"i": dtype(0)}, lambda i, t=target: i != t, lambda i, s=step: {"i": i + s}, "i", over, n=None
            )
    yield case("tenths", {"t": f64(0)}, lambda t: t != 1.0, lambda t: {"t": t + 0.1}, "t", over + "|" + away, n=None)
    yield case("thirds", {"t": f64(0)}, lambda t: t != 10.5, lambda t: {"t": t + 1.0}, "t", over + "|" + away, n=None)


GENERATORS = (still, cycles, limits, dtypes)
