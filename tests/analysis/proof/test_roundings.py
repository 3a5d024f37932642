"""Numbers that are rounded otherwise in each period: their bounds hold the numbers of the dtype, and loops go on so."""

import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import workbench as wb
from workbench.analysis.proof.rays.horizon import Between, Moving, Unfollowed
from workbench.analysis.proof.rays.moving_arrays import MovingArray, compute_arrays
from workbench.analysis.proof.rays.moving_values import KnownPeriods, compute
from workbench.analysis.proof.rays.polynomials import at, power_of_two

OPS = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "square": np.square,
    "negative": np.negative,
    "abs": np.abs,
}


def _numbers(value, k):
    """The least and the greatest number that a value may be."""
    if isinstance(value, Between):
        return at(value.low, k), at(value.high, k)
    if isinstance(value, Moving):
        return at(value.of, k), at(value.of, k)
    return (Fraction(float(value)),) * 2


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@np.errstate(over="ignore", divide="ignore", invalid="ignore")
def test_chains_of_ops_stay_within_their_bounds(dtype):
    r, kind, seen = random.Random(3), np.dtype(dtype).type, Counter()
    for _ in range(150):
        start, slope = r.randrange(-40, 40), r.choice([1, -1, 2, 0.25])
        horizon, ks = KnownPeriods(), [0, 1, 2, 3, 10, 47, 100]
        moving = Moving(dtype, (start, Fraction(slope)))
        symbol, plain, xs = moving, {k: kind(start + slope * k) for k in ks}, {k: kind(start + slope * k) for k in ks}
        holds = None
        try:
            for _ in range(r.randrange(1, 5)):
                op = r.choice(list(OPS))
                c = kind(r.choice([0.1, 3.0, -0.7, 49.0, 1e-3, 255.0]))
                if OPS[op].nin == 1:
                    symbol, plain = compute(op, [symbol], dtype, {}, horizon), {k: OPS[op](v) for k, v in plain.items()}
                elif r.random() < 0.3 and op != "divide":
                    symbol = compute(op, [symbol, moving], dtype, {}, horizon)
                    plain = {k: OPS[op](v, xs[k]) for k, v in plain.items()}
                else:
                    symbol = compute(op, [symbol, np.asarray(c)], dtype, {}, horizon)
                    plain = {k: OPS[op](v, c) for k, v in plain.items()}
            if isinstance(symbol, Between):
                limit = kind(r.choice([0.0, 100.0, 3.3, -7.7, 1e4]))
                name, how = r.choice(
                    [("less", np.less), ("not_equal", np.not_equal), ("greater_equal", np.greater_equal)]
                )
                holds = compute(name, [symbol, np.asarray(limit)], "bool", {}, horizon)
        except Unfollowed:
            seen["unknown"] += 1
        if not isinstance(symbol, Between):
            continue
        seen["between"] += 1
        for k in ks:
            if horizon.turn is not None and k >= horizon.turn:
                break
            low, high = _numbers(symbol, k)
            assert np.isfinite(plain[k]) and low <= Fraction(float(plain[k])) <= high, (symbol, k, plain[k])
            if holds is not None:
                seen["compared"] += 1
                assert bool(how(plain[k], limit)) == bool(holds)
    assert seen["between"] > 40 and seen["compared"] > 40, seen


@pytest.mark.parametrize("op", ["sum", "mean"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_sums_of_many_stay_within_their_bounds_in_every_order(op, dtype):
    r, kind = random.Random(4), np.dtype(dtype).type
    for _ in range(25):
        base = np.array([r.choice([-5e3, 1, 0.1, -400, 7.7, 1e-3]) for _ in range(r.randrange(3, 9))], dtype)
        items = np.empty(base.shape, object)
        for i, x in enumerate(base):
            items[i] = Moving(dtype, (Fraction(float(x)), 1)) if i % 2 else np.asarray(x)
        horizon = KnownPeriods()
        out = compute_arrays(op, [MovingArray(dtype, items)], dtype, {}, lambda xs: xs[0], horizon)
        for k in (0, 1, 2, 16, 60):
            if horizon.turn is not None and k >= horizon.turn:
                break
            now = [kind(float(x) + (k if i % 2 else 0)) for i, x in enumerate(base)]
            if any(
                Fraction(float(v)) != Fraction(float(x)) + (k if i % 2 else 0)
                for i, (v, x) in enumerate(zip(now, base, strict=True))
            ):
                continue
            low, high = _numbers(out, k)
            for order in (now, now[::-1], sorted(now, key=abs)):
                total = kind(0)
                for v in order:
                    total = kind(total + v)
                total = kind(total / kind(len(now))) if op == "mean" else total
                assert low <= Fraction(float(total)) <= high


def test_a_third_is_a_multiple_of_no_power_of_two():
    assert power_of_two(Fraction(3, 8)) == -3 and power_of_two(Fraction(12)) == 2
    assert power_of_two(Fraction(1, 3)) < -(10**6)
    assert isinstance(
        compute("divide", [Moving("float64", (1000, 1)), np.asarray(3.0)], "float64", {}, KnownPeriods()), Between
    )


@wb.graph
def there_and_back(x, d):
    while x / d * d == x:
        x = x + 1.0
    return x


@wb.graph
def mean_below(x, most):
    while np.mean(x) < most:
        x = x + 1.0
    return x


@wb.graph
def guarded_by_a_product(i, y):
    while i < 1000:
        if y * 0.1 > 300.0:
            i = i + 1
        y = y + 1.0
    return i


@wb.graph
def rounded_sum(x):
    while np.sum(x) < 10.0:
        x = x + np.float32(1)
    return x


@wb.graph
def rounded_sum_misses(x):
    while np.sum(x) != 10.0:
        x = x + np.float32(1)
    return x


def _asked(function, *given):
    graph = function.graph_for(*given)
    with wb.Session(graph, dict(zip(graph.inputs, given, strict=True))) as session:
        return session.termination()


def test_a_quotient_that_is_rounded_is_not_taken_for_exact():
    answer = _asked(there_and_back, 1048496.0, 255.0)
    xs = np.arange(1048496.0, 1048496.0 + 2e6)
    assert (answer.status.name, answer.remaining) == ("PROVED", int(np.argmin(xs / 255.0 * 255.0 == xs)))


def _trips(goes_on, step, state):
    n = 0
    while goes_on(*state):
        state, n = step(*state), n + 1
    return n


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_rounded_mean_ends_the_loop_when_it_does(kind):
    start, most = np.array([1.1, 2.7, 3.3], kind), kind(2e4)
    answer = _asked(mean_below, start, most)
    n = _trips(lambda x: np.mean(x) < most, lambda x: (x + kind(1),), (start,))
    assert (answer.status.name, answer.outcome, answer.remaining) == ("PROVED", "terminates", n)


def test_a_rounded_guard_opens_when_it_does():
    answer = _asked(guarded_by_a_product, 0, 0.5)
    n = _trips(lambda i, y: i < 1000, lambda i, y: (i + 1 if y * 0.1 > 300.0 else i, y + 1.0), (0, 0.5))
    assert (answer.status.name, answer.outcome, answer.remaining) == ("PROVED", "terminates", n)


@pytest.mark.parametrize("function", [rounded_sum, rounded_sum_misses])
def test_a_rounded_sum_that_comes_to_rest_below_its_goal_never_ends(function):
    answer = _asked(function, np.array([-5e7, 1, -4e7], np.float32))
    assert (answer.status.name, answer.outcome) == ("PROVED", "never")
    kinds = {c.kind: c for c in answer.claims}
    assert kinds["absorbed"].variable == "x" and kinds["rests"].value == np.float32(-73222784.0)
    assert answer.first_bad == 2**24 - 1 and all(c.check() for c in answer.claims)
