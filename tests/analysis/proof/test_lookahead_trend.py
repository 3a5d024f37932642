"""Trends over a whole look-ahead: limits, rest, growth; and that no forecast goes against them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import workbench as wb
from workbench.analysis.proof.lookahead_trend import clause_trends

#: iterations at which look-aheads mark the operands, and about the doublings
TIMES = [32, 4128, 12_320, 28_704, 61_472, 127_008]


def marks(values, threshold):
    return [(k, [(v, threshold)]) for k, v in zip(TIMES, values, strict=True)]


def sums(term):
    parts = np.cumsum([term(j) for j in range(1, TIMES[-1] + 1)])
    return [float(parts[k - 1]) for k in TIMES]


@pytest.mark.parametrize("power", [1.25, 1.5, 2.0, 3.0])
def test_sums_of_powers_have_their_limit(power):
    limit = sum(j**-power for j in range(1, 2000)) + 2000 ** (1 - power) / (power - 1) + 0.5 * 2000**-power
    (found,) = clause_trends(marks(sums(lambda j: j**-power), limit + 0.1))
    assert found.kind in ("limit", "rest") and abs(found.gap + 0.1) < 1e-3
    assert found.never_turns


@pytest.mark.parametrize(
    "values",
    [
        sums(lambda j: 1.0 / j),
        sums(lambda j: 1.0),
        [math.log(math.log(k)) for k in TIMES],
        [math.sin(k) for k in TIMES],
        [math.nan] * 6,
        ["a"] * 6,
    ],
    ids=["harmonic", "counter", "loglog", "sine", "nan", "text"],
)
def test_nothing_is_said_without_a_limit(values):
    (found,) = clause_trends(marks(values, 1e9))
    assert found.kind == "open" and not found.never_turns


def test_rest_and_too_few_marks():
    assert clause_trends(marks([1.0, 2.0, 3.0, 3.0, 3.0, 3.0], 5.0))[0] == ("rest", -2.0, 0.0)
    assert clause_trends(marks(sums(lambda j: 1.0), 5.0)[:3]) == []
    assert clause_trends([(k, [(1.0, 2.0)]) for k in (1, 2, 4, 8, 16)]) == []


def test_a_limit_that_is_the_threshold_is_not_decided():
    (found,) = clause_trends(marks(sums(lambda j: j**-2.0), math.pi**2 / 6))
    assert not found.never_turns


def slow_sum(dtype, power, threshold):
    """while s < threshold: s += 1 / k**power."""
    b = wb.GraphBuilder("slow_sum")
    one = np.array(1, dtype)
    end = b.while_loop(
        lambda s, k: s < np.array(threshold, dtype),
        lambda s, k: {"s": s + one / (k * k if power == 2 else k), "k": k + one},
        {"s": b.placeholder("s", dtype, ()), "k": one},
    )
    return b.build({"s": end["s"]})


def asked(dtype, power, threshold, seconds=None):
    graph = slow_sum(dtype, power, threshold)
    with wb.Session(graph, {"s": np.array(0, dtype)}) as session:
        session.next_iteration(3)
        return session.termination(seconds=seconds)


def test_zeta_of_two_does_not_reach_1_7():
    answer = asked("float64", 2, 1.7)
    assert answer.outcome == "never" and answer.status.name in ("PREDICTED", "PROVED")
    assert answer.reason.slug in ("interval", "limit-beyond")


def test_the_harmonic_sum_in_float32_comes_to_rest_below_20():
    answer = asked("float32", 1, 20.0)
    assert (answer.status.name, answer.outcome) == ("PROVED", "never")
    assert "reaches its limit" not in answer.reason.sentence  # where it was looked at it still moved


def test_a_sum_at_rest_is_not_forecast_to_end():
    answer = asked("float64", 1, 40.0)  # k = e^39: no look-ahead gets there, and float64 still adds it up
    assert answer.outcome != "terminates" or answer.remaining > 1e15
