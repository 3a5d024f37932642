"""Loops that no look-ahead could run: counts and refutations by arithmetic, boxes that are never left, bounds."""

from __future__ import annotations

import random

import numpy as np
import pytest

import workbench as wb
from workbench.analysis import Status
from workbench.analysis.proof.counters import float_counter
from workbench.analysis.proof.modular_arithmetic import first_equal, first_hit


@pytest.fixture(autouse=True)
def unhurried(monkeypatch):
    """Arguments may take as long as they need: a slow machine would leave them undone."""
    monkeypatch.setattr("workbench.analysis.proof.lookahead_search.ARGUING", 60.0)


def asked(cond, body, init, at=0, **more):
    b = wb.GraphBuilder("g")
    with wb.Session(b.build(b.while_loop(cond, body, init, **more)), {}) as session:
        session.next_iteration(1 + at)
        return session.termination(seconds=60)


def ends(answer, n):
    assert (answer.status, answer.outcome, answer.remaining) == (Status.PROVED, "terminates", n), str(answer)
    return answer


def never(answer, kind):
    assert (answer.status, answer.outcome) == (Status.PROVED, "never"), str(answer)
    assert answer.proof.kind == kind, str(answer)
    return answer


i8, i32, i64, u8, u64 = np.int8, np.int32, np.int64, np.uint8, np.uint64
f16, f32 = np.float16, np.float32


FIVES = pow(5, 10**10, 2**64)


@pytest.mark.parametrize(
    ("cond", "body", "init", "n"),
    [
        (lambda i: i < 10**12, lambda i: i + 1, i64(0), 10**12),
        (lambda i: i < 10**18, lambda i: i + 1, i64(0), 10**18),
        (lambda i: i <= 10**18, lambda i: 7 + i, i64(-3), (10**18 + 3) // 7 + 1),
        (lambda i: 10**15 >= i, lambda i: i - (-3), i64(1), (10**15 - 1) // 3 + 1),
        (lambda i: i > -(10**17), lambda i: i - 1, i64(10**17), 2 * 10**17),
        (lambda i: i * i < 10**17, lambda i: i + 1, i64(0), 316_227_767),  # ceil(sqrt(10^17))
        (lambda i: i // 1000 < 10**9, lambda i: i + 1, i64(0), 10**12),
        # wraps: int32 counts down from 0 to -2^31 and comes back at 2^31 - 1
        (lambda i: i < 100, lambda i: i - 1, i32(0), 2**31 + 1),
        (lambda i: i < 100, lambda i: i - 1, i64(0), 2**63 + 1),
        # 3 t = 1 modulo 2^64: t is the inverse of 3
        (lambda i: i != 1, lambda i: i + 3, u64(0), pow(3, -1, 2**64)),
        # 5^t = target by squaring: 5^12345678901 modulo 2^64
        (lambda i: i != int(pow(5, 12345678901, 2**64)), lambda i: i * 5, u64(1), 12345678901),
        (lambda i: (i != FIVES) & (i != FIVES + 1), lambda i: i * 5, u64(1), 10**10),
        # float64 counts integers exactly up to 2^53; multiples of 0.5 up to 2^52
        (lambda x: x < 4e15, lambda x: x + 1.0, 0.0, 4 * 10**15),
        (lambda x: x < 2e15, lambda x: x + 0.5, 0.0, 4 * 10**15),
    ],
)
def test_counts_beyond_any_look_ahead(cond, body, init, n):
    assert ends(asked(cond, body, init), n).proof.kind == "affine-counter"


@pytest.mark.parametrize(
    ("cond", "body", "init"),
    [
        (lambda i: i != 7, lambda i: i + 2, i64(0)),  # even for ever
        (lambda i: i != 10**18, lambda i: i + 6, i64(1)),
        (lambda i: i != 4, lambda i: i * 5, u64(1)),  # odd for ever
        (lambda i: (i > 0) | (i < 10), lambda i: i + 2, i64(0)),
        (lambda x: x < 1e17, lambda x: x + 1.0, 9.0e15),  # absorbed at 2^53
        (lambda x: x < 2.0**60, lambda x: x + f32(0.1), f32(0)),
    ],
)
def test_counters_that_never_meet_the_end(cond, body, init):
    answer = asked(cond, body, init)
    assert answer.proof is not None and answer.proof.kind in ("affine-counter", "interval", "recurrence"), str(answer)
    assert (answer.status, answer.outcome) == (Status.PROVED, "never"), str(answer)


def test_boxes_that_are_never_left():
    never(asked(lambda x, k: x > -1.0, lambda x, k: (x * 0.5, k + 1.0), (1.0, 0.0)), "interval")
    never(asked(lambda x: np.sin(x) < 2.0, lambda x: x + 1.0, 0.0), "affine-counter")  # and sin of no infinity
    never(asked(lambda x: x < 2.0, lambda x: 3.9 * x * (1.0 - x), 0.4), "interval")  # chaotic
    mixed = asked(lambda x, k: np.abs(np.cos(x)) <= 1.5, lambda x, k: (np.sin(x * 3.0 + k), k + 1), (1.0, 0.0))
    never(mixed, "affine-counter")  # k settles at 2^53, so that sin gets no infinity
    never(asked(lambda x, y: x < 3.0, lambda x, y: (np.tanh(x + y), np.sin(y * 7.0) + x), (0.3, 0.4)), "interval")


def test_a_clause_that_always_holds_keeps_an_or_alive():
    never(asked(lambda i, j: (i < 10) | (j < 5), lambda i, j: (i + 1, j), (i64(0), i64(1))), "affine-counter")
    x = asked(lambda i, x: (i < 10) | (x != 0.0), lambda i, x: (i + 1, x * 2.0), (i64(0), np.nan))
    assert (x.status, x.outcome) == (Status.PROVED, "never"), str(x)


@pytest.mark.slow
def test_the_first_clause_of_an_and_ends_the_loop():
    exact = asked(lambda i, x: (i < 10**12) & (x > -1.0), lambda i, x: (i + 1, x * 0.999999), (i64(0), 1.0))
    assert ends(exact, 10**12).blocking_clause.startswith("i < 1000000000000")
    # what the chaotic clause does is not known, so that there is a bound only
    bound = asked(
        lambda i, x: (i < 10**12) & (x != 0.1234567), lambda i, x: (i + 1, 3.9 * x * (1.0 - x)), (i64(0), 0.3)
    )
    assert bound.status is Status.PROVED and bound.outcome == "terminates" and bound.remaining is None, str(bound)
    low, high = bound.interval
    assert high == 10**12 and 0 < low <= high and "at the latest" in str(bound)


def test_a_counter_under_a_choice_counts_as_long_as_the_choice_goes_its_way():
    # from 100 up through the end of uint64 to 0, long before it meets 1
    wrapped = asked(lambda i: i != 0, lambda i: np.where(i != 1, i + 1, i + 5), u64(100))
    assert ends(wrapped, 2**64 - 100).proof.kind == "ray"
    # 7 is added as long as i is below 10^15, and the loop ends before that
    ends(asked(lambda i: i < 7 * 10**13, lambda i: np.where(i < 10**15, i + 7, i - 1), i64(0)), 10**13)
    # here it turns first, and comes to rest in a cycle that never meets the end
    cycle = asked(lambda i: i < 50, lambda i: np.where(i < 40, i + 1, i - 3), i64(0))
    assert (cycle.status, cycle.outcome) == (Status.PROVED, "never"), str(cycle)


def test_a_trip_limit_ends_what_would_never_end():
    answer = asked(lambda x: x >= 0.0, lambda x: x * 1.0, 1.0, max_trips=10**13, at=5)
    ends(answer, 10**13 - 5)


def test_an_impure_condition_is_refused_by_name():
    b = wb.GraphBuilder("g")
    empty = b.constant(np.array([], np.int32))
    out = b.while_loop(lambda x: x < 0.999, lambda x: b.random_uniform(empty, name="dice"), np.float32(0))
    with wb.Session(b.build(out), {}) as session:
        session.next_iteration()
        answer = session.termination(seconds=0.1)
        assert answer.status is not Status.PROVED and "dice" in str(answer), str(answer)


def test_float_counters_are_those_of_the_dtype():
    rng = random.Random(3)
    for _ in range(300):
        dtype = rng.choice(["float16", "float32", "float64"])
        kind = np.dtype(dtype).type
        x = kind(rng.choice([0, 1, -1, rng.gauss(0, 50), 2.0 ** rng.randint(-8, 8) - 3]))
        c = kind(rng.choice([1, 0.1, -0.1, 3, abs(float(x)) * 2.0 ** -rng.randint(3, 12) * rng.choice([1, -1.5])]))
        found = float_counter(x, c, dtype)
        with np.errstate(all="ignore"):
            for t in range(400):
                assert found.at(t) == x or found.at(t) != found.at(t) and x != x, (dtype, x, c, t)
                x = kind(x + c)
    assert float_counter(0, 1, "float32").settles == 2**24 and float_counter(0, 1, "float16").last == 2048


def test_modular_arithmetic_against_search():
    rng = random.Random(4)
    for _ in range(4000):
        m, c, x = rng.randint(1, 50), rng.randint(-60, 60), rng.randint(-90, 90)
        low = rng.randint(-90, 90)
        high = low + rng.randint(0, m - 1)
        meets = (t for t in range(m + 1) if any((x + c * t - v) % m == 0 for v in range(low, high + 1)))
        assert first_hit(x, c, m, low, high) == next(meets, None), (x, c, m, low, high)
    for _ in range(2000):
        bits, a, b = rng.randint(1, 6), rng.randrange(1, 99, 2), rng.randint(-40, 40)
        x, target = rng.randint(-40, 40), rng.randint(-40, 40)
        y, found = x, None
        for t in range(1 << bits):
            if (y - target) % (1 << bits) == 0:
                found = t
                break
            y = a * y + b
        assert first_equal(x, a, b, bits, target) == found
