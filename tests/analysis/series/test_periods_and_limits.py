"""Periods, limits, orders and rules of records whose truth is known in closed form, where a nearby answer tempts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from workbench.analysis import Pattern, TerminationMonitor, classify
from workbench.analysis.series.linear_prediction import common_period


def orbit(step, x, n, skip=0):
    out = []
    for k in range(n + skip):
        if k >= skip:
            out.append(x)
        x = step(x)
    return np.array(out)


@pytest.mark.parametrize("period", [17.3, 28.84, 38.09, math.sqrt(200)])
@pytest.mark.parametrize("shares", [(1, 0.4), (0.3, 1), (0, 1, 0.4), (1, 0.4, 0.2), (0.2, 0, 1)])
def test_period_of_a_wave_is_that_of_all_its_harmonics(period, shares):
    t = 2 * np.pi * np.arange(500) / period
    answer = classify(2 + sum(a * np.sin((m + 1) * t + m) for m, a in enumerate(shares)))
    assert answer.label is Pattern.OSCILLATING and answer.period == pytest.approx(period, rel=1e-6)


@pytest.mark.parametrize("period", [math.sqrt(11), 4.3])
def test_period_of_a_wave_whose_harmonics_are_sampled_too_seldom(period):
    t = 2 * np.pi * np.arange(400) / period
    answer = classify(np.sin(t) + 0.3 * np.sin(2 * t + 1) + 0.1 * np.cos(3 * t))
    assert answer.period == pytest.approx(period, rel=1e-6)


def test_common_period_needs_multiples():
    angle = 2 * math.pi / 10
    assert common_period([angle, 3 * angle], 200) == pytest.approx(10)
    assert common_period([2 * angle, 3 * angle], 200) == pytest.approx(10)
    assert common_period([angle, math.sqrt(2) * angle], 200) is None
    assert common_period([], 200) is None


@pytest.mark.parametrize(("r", "period"), [(3.2, 2), (3.46, 4), (3.56, 8)])
def test_period_of_doubled_logistic_cycles(r, period):
    answer = classify(orbit(lambda x: r * x * (1 - x), 0.3, 300, 100))
    assert answer.label is Pattern.OSCILLATING and answer.period == pytest.approx(period, rel=1e-5)


def test_exact_period_of_few_digits_stays_if_no_wave_is_shorter():
    cycle = np.random.default_rng(2).normal(size=37).astype(np.float16)
    assert classify(np.tile(cycle, 8)).period == 37


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_rounded_waves_neither_grow_nor_decay(dtype):
    rng = np.random.default_rng(4)
    for _ in range(60):
        period, n = float(rng.uniform(5, 80)), int(rng.integers(330, 800))
        values = (rng.choice([0, 1, 3]) + np.sin(2 * np.pi * np.arange(n) / period + rng.uniform(0, 6))).astype(dtype)
        answer = classify(values)
        assert answer.label is Pattern.OSCILLATING, (period, n, answer)


@pytest.mark.parametrize("power", [3, 4])
@pytest.mark.parametrize("c", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("n", [300, 1500, 7000])
def test_limit_of_a_slow_approach_is_ahead_of_it(power, c, n):
    values = orbit(lambda x: x - c * x**power, 1.0, n)  # errors fall like k**(-1 / (power - 1))
    answer = classify(values)
    assert answer.label is Pattern.CONVERGING
    assert abs(answer.limit) < 0.02 * values[-1] and abs(answer.limit) <= 5 * answer.limit_error


@pytest.mark.parametrize("n", [70, 101, 625, 2500])
def test_limit_beside_which_the_values_swing(n):
    values = np.cumsum(np.arange(n) % 2) / np.arange(1, n + 1)  # 0, 1/2, 1/3, 1/2, 2/5, ..
    answer = classify(values)
    assert answer.label is Pattern.CONVERGING
    assert abs(answer.limit - 0.5) <= abs(values[-1] - 0.5) + 1e-12
    assert abs(answer.limit - 0.5) <= 3 * answer.limit_error


@pytest.mark.parametrize("limit", [0.0, 1.0, -20.0])
@pytest.mark.parametrize(("r", "order"), [(0.999, 2), (0.98, 4), (0.9, 3), (0.97, 1.618), (0.5, 1.5)])
@pytest.mark.parametrize("equal", [0, 1, 3])
def test_order_of_errors_with_a_slow_start(limit, r, order, equal):
    errors = [r]
    while errors[-1] > 1e-16:
        errors.append(errors[-1] ** order)
    answer = classify(limit + np.array(errors + [0.0] * equal))
    assert answer.label is Pattern.CONVERGING and answer.order == pytest.approx(order, abs=0.1)


def rossler(every, n, h=0.05, a=0.2, b=0.2, c=5.7):
    """Runge and Kutta's fourth order; O. E. Rossler, Phys. Lett. A 57, 1976."""

    def f(v):
        return np.array([-v[1] - v[2], v[0] + a * v[1], b + v[2] * (v[0] - c)])

    def step(v):
        p = f(v)
        q = f(v + h / 2 * p)
        r = f(v + h / 2 * q)
        return v + h / 6 * (p + 2 * q + 2 * r + f(v + h * r))

    return orbit(step, np.array([1.0, 1.0, 0.0]), every * n, 4000)[::every, 0]


@pytest.mark.parametrize(("every", "n"), [(20, 699), (30, 400), (10, 600)])
def test_a_broad_line_of_an_attractor_is_no_wave(every, n):
    assert classify(rossler(every, n)).label is Pattern.CHAOTIC


@pytest.mark.parametrize("n", [120, 200, 300])
def test_lozi_map(n):
    x = orbit(lambda v: (1 - 1.7 * abs(v[0]) + v[1], 0.5 * v[0]), (0.1, 0.0), n, 100)[:, 0]
    assert classify(x).label is Pattern.CHAOTIC


@pytest.mark.parametrize("share", [0.05, 0.3])
def test_a_noisy_wave_is_no_chaos(share):
    rng = np.random.default_rng(7)
    for period in (5.86, 6.3, 9.3, 21.7):
        t = 2 * np.pi * np.arange(600) / period
        for wave in (np.sin(t), np.sign(np.sin(t + 0.1))):
            answer = classify(wave + share * rng.normal(size=600))
            assert answer.label is Pattern.OSCILLATING, (period, answer)


@pytest.mark.parametrize("period", [math.sqrt(50), math.sqrt(30), math.sqrt(90)])
@pytest.mark.parametrize("power", [0.15, 0.3, 0.5])
def test_a_rotation_with_steep_slopes_is_no_chaos(period, power):
    wave = np.sin(2 * np.pi * np.arange(282) / period)
    assert classify(np.sign(wave) * np.abs(wave) ** power).label is Pattern.OSCILLATING


def test_slowly_shrinking_steps_are_not_absorbed_ones():
    limit, rate = np.float32(0.7), np.float32(0.005)
    approach = orbit(lambda x: np.float32(x + rate * (limit - x)), np.float32(1.0), 4000)  # ends in steps of one ulp
    answer = classify(approach)
    assert answer.label is Pattern.CONVERGING and "stagnation" not in answer.issues
    counter = np.minimum(2.0**24, 2.0**24 - 500 + np.arange(900)).astype(np.float32)
    assert classify(counter).issues.get("stagnation") == 500


@pytest.mark.parametrize("a", [50.0, 2e3, 2e4])
def test_newton_far_from_the_root_is_no_geometric_sequence_with_a_limit_of_its_own(a):
    """It halves the value at first, ever less so; the limit of the halving lies far below the root."""
    x = [a]
    for _ in range(20):
        x.append((x[-1] + a / x[-1]) * 0.5)
    for n in range(6, len(x)):
        found = classify(x[:n])
        assert found.label is Pattern.CONVERGING
        assert abs(found.limit - a**0.5) <= 2 * found.limit_error + 1e-9 * a**0.5, (n, found.limit, found.limit_error)


def test_counts_that_fall_to_nothing_repeat_by_chance_only():
    rng = np.random.default_rng(1)
    t = 5.0 * np.exp(-11 * np.arange(600) / 600)
    for _ in range(8):
        answer = classify(rng.binomial(300, t / (1 + t)) / 300)
        assert answer.label.name == "CONVERGING" and answer.limit_error >= abs(answer.limit) / 3


def test_a_closed_figure_has_the_period_of_both_its_waves():
    k = 2 * np.pi * np.arange(600) / 60
    answer = classify(np.column_stack([np.sin(2 * k), np.sin(3 * k + 1)]))
    assert answer.label.name == "OSCILLATING" and abs(answer.period - 60) < 0.1


def test_a_schedule_rests_where_its_half_wave_ends_and_a_shorter_part_does_not():
    wave = 1 + np.cos(np.pi * np.arange(401) / 400)
    assert classify(wave).label.name == "CONVERGING"
    assert classify(wave[:330]).label.name == "OSCILLATING"


@pytest.mark.parametrize("period", [2, 3, 5])
@pytest.mark.parametrize("size", [1e-16, 1e-8, 1e3])
def test_a_size_that_fell_by_five_decades_to_a_cycle_has_converged(period, size):
    """Residuals of an inverse iteration or of Rprop, in any unit; one that fell less, or changes sign, swings."""
    cycle = np.resize(np.array([3.4, 3.0, 2.2, 1.4, 2.6])[:period], 60)
    fell = np.r_[1e13 * 0.1 ** np.arange(12), cycle] * size
    found = classify(fell)
    assert found.label is Pattern.CONVERGING and abs(found.limit) < 4 * size and found.period == period
    assert np.array_equal(found.fitted(2 * period)["value"], fell[-2 * period :])
    for swings in (np.r_[1e3 * 0.1 ** np.arange(3), cycle] * size, np.r_[1e13, cycle - 3.2] * size):
        assert classify(swings).label is Pattern.OSCILLATING


def test_a_cycle_at_the_end_of_a_fall_never_crosses_what_lies_below_it():
    fell = np.r_[1e3 * 0.1 ** np.arange(12), np.resize(np.array([2.8e-11, 3.1e-12]), 60)]
    monitor = TerminationMonitor([("residual", "bound")])
    for value in fell.tolist():
        monitor.observe({"residual": value}, True, [(value, ">", 3e-12)])
    assert monitor.prediction().outcome == "never"
