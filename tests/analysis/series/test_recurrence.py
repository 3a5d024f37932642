"""Recurring movements and rules that forget differ in how well values from long ago predict the present one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from workbench.analysis import classify
from workbench.kernels import fits


def _bent(n: int, noise: float) -> np.ndarray:
    """A curved function of two phases under noise: lines at many sums of two frequencies."""
    t, rng = np.arange(n), np.random.default_rng(8)
    y = np.tanh(1.2 * np.sin(2 * np.pi * t / 7.3) + 0.8 * np.sin(2 * np.pi * t / 19.9 + 1))
    return y + noise * rng.normal(size=n)


def _logistic(r: float, n: int) -> np.ndarray:
    x = [0.3]
    while len(x) < n + 500:
        x.append(r * x[-1] * (1 - x[-1]))
    return np.array(x[500:])


def _newton(n: int) -> np.ndarray:
    """Newton's method on x^2 + 1, which has no root."""
    x = [0.37]
    while len(x) < n:
        x.append((x[-1] - 1 / x[-1]) / 2)
    return np.array(x)


def test_the_past_tells_a_wave_and_neither_noise_nor_chaos():
    noise = np.random.default_rng(4).normal(size=900)
    assert fits.long_lags(_bent(900, 0.0), 112, 16)[0] < 0.02
    error, lags = fits.long_lags(_bent(900, 0.02), 112, 16)
    assert 0.01 < error < 0.08 and 4 <= lags <= 16
    for other in (noise, _logistic(3.9, 900)):
        assert fits.long_lags(other, 112, 16)[0] > 0.8
    assert fits.long_lags(noise[:40], 112, 16) == fits.long_lags(np.ones(400), 50, 16) == (math.inf, 0)


@pytest.mark.parametrize("noise", [0.004, 0.02])
def test_a_bent_wave_on_a_torus_oscillates(noise):
    assert classify(_bent(800, noise)).label.name == "OSCILLATING"


@pytest.mark.parametrize("values", [_newton(517), _newton(900), _logistic(3.59, 700), _logistic(3.65, 300)])
def test_a_rule_that_forgets_is_chaotic_also_within_bands(values):
    assert classify(values).label.name == "CHAOTIC"


def test_pulses_of_one_period_oscillate_under_noise():
    k, rng = np.arange(900), np.random.default_rng(2)
    pulses = np.exp(-(((k % 31) - 15) ** 2) / 3) + 0.01 * rng.normal(size=900)
    found = classify(pulses)
    assert found.label.name == "OSCILLATING" and found.period == pytest.approx(31, rel=0.01)


def test_a_season_on_a_trend_diverges():
    k, rng = np.arange(1170), np.random.default_rng(7)
    season = np.sin(2 * np.pi * k / 26.3) + 0.1 * rng.normal(size=len(k))
    assert classify(season + 8 * k / len(k)).label.name == "DIVERGING"
    assert classify(season).label.name == "OSCILLATING"


def _standard_map(k: float, n: int) -> np.ndarray:
    p, x, out = 1.0, 2.0, []
    for _ in range(n):
        out.append((p, x))
        p = (p + k * math.sin(x)) % (2 * math.pi)
        x = (x + p) % (2 * math.pi)
    return np.array(out)


def test_components_that_look_like_noise_are_chaotic_together():
    assert classify(_standard_map(8.0, 400)).label.name == "CHAOTIC"
    assert classify(_standard_map(10.0, 300)).label.name == "CHAOTIC"


@pytest.mark.parametrize("root", [0.3, 0.9, -0.7])
def test_noise_of_several_correlated_components_is_stable(root):
    rng = np.random.default_rng(12)
    e, x, out = rng.normal(size=(700, 3)), np.zeros(3), []
    for row in e:
        x = np.array([root * x[0] + 0.3 * x[1], 0.5 * x[1], 0.4 * x[2] - 0.2 * x[0]]) + row
        out.append(x)
    assert classify(np.array(out[100:])).label.name == "STABLE"


def test_the_share_of_an_urn_converges():
    rng = np.random.default_rng(5)
    for _ in range(6):
        red, total, out = 2, 5, []
        for u in rng.random(3600):
            out.append(red / total)
            red, total = red + (u < red / total), total + 1
        assert classify(np.array(out)).label.name == "CONVERGING"


def test_two_levels_under_noise_are_no_rule():
    rng = np.random.default_rng(3)
    for n in (414, 656, 1942):
        state = np.cumsum(rng.random(n) < 0.2) % 2
        assert classify(state + 0.05 * rng.normal(size=n)).label.name != "CHAOTIC"


def test_a_swing_that_grows_by_chance_is_not_chaotic():
    rng = np.random.default_rng(9)
    for n in (50, 84, 150):
        assert classify(np.cumprod(-rng.uniform(1.05, 1.3, n))).label.name == "DIVERGING"
