"""Patterns under noise, rates where no law fits, growing stairs, rests that are no end, bursts, weak trends."""

from __future__ import annotations

import math

import numpy as np
import pytest

from workbench.analysis import classify
from workbench.analysis.series.step_ratios import approach_rate, spread_rate, step_ratio


@pytest.mark.parametrize("period", [4, 7, 12, 23])
def test_a_pattern_under_noise_has_its_whole_period(period):
    rng = np.random.default_rng(period)
    pattern = rng.normal(size=period)
    pattern[0] += 2.0
    found = classify(np.resize(pattern / pattern.std(), 30 * period) + 0.3 * rng.normal(size=30 * period))
    assert found.label.name == "OSCILLATING" and found.period == pytest.approx(period, rel=0.01)


def test_noise_and_waves_of_a_period_that_is_not_whole_are_no_patterns():
    rng = np.random.default_rng(3)
    for n in (100, 400, 2000):
        white, ar = rng.normal(size=n), np.zeros(n)
        for i in range(1, n):
            ar[i] = 0.6 * ar[i - 1] + rng.normal()
        assert classify(white).label.name == "STABLE" and classify(ar).label.name != "OSCILLATING"
    wave = np.sin(2 * math.pi * np.arange(800) / 5.37) + 0.4 * rng.normal(size=800)
    assert classify(wave).period == pytest.approx(5.37, rel=0.01)


@pytest.mark.parametrize(
    "values",
    [
        2 ** np.ceil(np.log2(np.arange(1, 3000) + 3)).astype(np.int64),
        np.array([math.isqrt(k) for k in range(4000)]),
        np.cumsum(1 / np.arange(1.0, 60))[np.array([math.isqrt(k) for k in range(3000)])],
    ],
)
def test_stairs_whose_treads_grow_diverge(values):
    assert classify(values).label.name == "DIVERGING"


def test_growing_treads_of_a_sum_that_converges():
    sums = np.cumsum(0.5 ** np.arange(60))
    found = classify(sums[np.array([math.isqrt(k) for k in range(400)])])
    assert found.label.name == "CONVERGING" and found.limit == pytest.approx(2.0, abs=1e-4)


def test_a_rest_like_those_before_is_no_end():
    """Bursts of equal steps between rests: a counter behind a gate."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        moves = np.concatenate([np.r_[np.ones(rng.integers(3, 20)), np.zeros(rng.integers(5, 60))] for _ in range(12)])
        assert classify(np.cumsum(0.73 * moves)).label.name == "DIVERGING"


@pytest.mark.parametrize("rate", [1.01, 1.03])
def test_rate_of_the_largest_of_two_that_turn_outwards(rate):
    k = np.arange(int(12 / (rate - 1)))
    values = rate**k * np.maximum(abs(np.cos(0.7 * k)), abs(np.sin(0.7 * k)))
    found = classify(values)
    assert found.label.name == "DIVERGING" and found.rate == pytest.approx(rate, rel=0.01)


def test_rates_of_spreads_ways_and_steps():
    rng = np.random.default_rng(1)
    k = np.arange(400)
    assert spread_rate(0.97**k * rng.normal(size=400)) == pytest.approx(0.97, rel=0.01)
    assert spread_rate(rng.normal(size=400)) is None and spread_rate(np.ones(20)) is None
    assert spread_rate((k + 1.0) ** -2.0 * rng.normal(size=400)) is None
    way = 5 + 0.9**k * 3 + 1e-3 * rng.normal(size=400)
    assert approach_rate(way, 5.0, 1e-3) == pytest.approx(0.9, rel=0.01)
    assert approach_rate(rng.normal(size=400), 0.0, 1.0) is None
    assert step_ratio(np.array([1.0, 0.5, 0.25])) == 0.5
    assert step_ratio(np.array([1.0, 0.5, 0.1, 0.001])) is None and step_ratio(np.array([1.0, 0.5])) is None


def test_what_leaves_its_range_at_the_end_is_not_at_rest():
    k, noise = np.arange(300.0), 1e-3 * np.random.default_rng(2).normal(size=300)
    assert classify(noise + np.where(k > 280, np.exp(0.9 * (k - 300)), 0.0)).label.name == "DIVERGING"


@pytest.mark.parametrize("last", [[2e-5, 4e-8, 3e-20, 0.0], [3e-4, 2e-9, 1e-22, 7e-32]])
def test_a_few_values_that_fell_to_nothing_converge(last):
    assert classify([2.06, 0.21, 0.199, *last]).label.name == "CONVERGING"


def test_best_value_so_far_is_no_walk():
    rng = np.random.default_rng(4)
    for n in (1500, 3000):
        assert classify(np.minimum.accumulate(rng.exponential(size=n))).label.name != "DIVERGING"
