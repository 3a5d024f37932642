"""Movements that recur are told from rules that forget by what values of long ago say about the present one."""

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


def test_noise_that_is_integrated_twice_diverges():
    rng = np.random.default_rng(6)
    assert all(
        classify(np.cumsum(np.cumsum(rng.normal(size=n)))).label.name == "DIVERGING" for n in (500, 900, 2000, 4000)
    )


def test_a_season_on_a_trend_diverges():
    k, rng = np.arange(1170), np.random.default_rng(7)
    season = np.sin(2 * np.pi * k / 26.3) + 0.1 * rng.normal(size=len(k))
    assert classify(season + 8 * k / len(k)).label.name == "DIVERGING"
    assert classify(season).label.name == "OSCILLATING"
