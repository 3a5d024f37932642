"""Rays: polynomials and their signs, and thousands of random loops held against running on."""

import random
from collections import Counter
from fractions import Fraction

import pytest

from tests.analysis.proof.held_against import wrong
from workbench.analysis.proof.rays.horizon import Moving, Unfollowed
from workbench.analysis.proof.rays.moving_values import KnownPeriods, compute, rounded
from workbench.analysis.proof.rays.polynomials import added, at, later, multiplied, sign, through, turns


def test_signs_turn_where_the_values_do():
    r = random.Random(1)
    for _ in range(1500):
        p = (r.choice([1, -1, Fraction(1, 2), 3]),)
        for _ in range(r.randrange(5)):
            p = multiplied(p, (-r.randrange(-5, 40), 1))
        p = added(p, (r.choice([0, 0, 1, -1, 7]),))
        expected = [k for k in range(1, 120) if sign(at(p, k)) != sign(at(p, k - 1))]
        assert [k for k in turns(p) if k < 120] == expected
        assert through([at(p, k) for k in range(7)]) == p
        assert at(later(p, 3), 5) == at(p, 8)


def test_far_turns_are_found_without_going_there():
    assert turns((-(10**40), 0, 1)) == [10**20, 10**20 + 1]
    assert turns((5, -(10**18), 1)) == [1, 10**18]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_rounding_is_that_of_the_dtype_up_to_the_horizon(dtype):
    import numpy as np

    r, kind = random.Random(2), np.dtype(dtype).type
    seen = Counter()
    for _ in range(600):
        start, step = kind(r.choice([0, 1, 3.25, 0.1, 1000, 4095])), kind(r.choice([1, 0.5, 0.1, 3, 0.25, 7]))
        x = [start]
        for _ in range(r.randrange(1, 40)):
            x.append(kind(x[-1] + step))
        base, slope = Fraction(float(x[-1])), Fraction(float(x[-1])) - Fraction(float(x[-2]))
        horizon = KnownPeriods()
        try:
            out = rounded(added((base, slope), (Fraction(float(step)),)), dtype, horizon)
        except Unfollowed:
            seen["unknown"] += 1
            continue
        seen["known"] += 1
        for k in range(min(horizon.turn if horizon.turn is not None else 200, 200)):
            exact = base + slope * k
            if Fraction(float(kind(float(exact)))) == exact:
                assert at(out.of, k) == Fraction(float(kind(kind(float(exact)) + step)))
    assert seen["known"] > 100


def test_a_negative_zero_is_not_taken_for_zero():
    with pytest.raises(Unfollowed):
        compute("negative", [Moving("float64", (0, 1))], "float64", {}, KnownPeriods())


def _held(seeds):
    told = Counter()
    for seed in seeds:
        what, why = wrong(seed)
        assert not why, f"seed {seed}: {why}"
        told[what] += 1
    return told


@pytest.mark.slow
def test_random_loops_go_on_as_followed():
    told = _held(range(120))
    assert sum(n for what, n in told.items() if "," in what) > 80
    assert all(told[what] for what in ("ends, ends", "recurs, open", "never, open"))


@pytest.mark.slow
def test_more_random_loops_go_on_as_followed():
    _held(range(10_000, 11_000))


@pytest.mark.sweep
def test_thousands_of_random_loops_go_on_as_followed():
    _held(range(20_000, 30_000))
