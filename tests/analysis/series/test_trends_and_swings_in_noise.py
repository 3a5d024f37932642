"""Trends and swings under noise: laws with a limit and without, swings that grow or shrink, waves that keep phase."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.analysis import classify
from workbench.analysis.series.result import Pattern

N = 600
K = np.arange(1, N + 1.0)


def _label(law, noise=0.01, seed=4):
    law = (law - law.min()) / np.ptp(law)
    return classify(law + noise * np.random.default_rng(seed).normal(size=len(law))).label


@pytest.mark.parametrize("offset", [1, 5])
@pytest.mark.parametrize(
    ("law", "label"),
    [
        (np.log, Pattern.DIVERGING),
        (np.sqrt, Pattern.DIVERGING),
        (np.cbrt, Pattern.DIVERGING),
        (lambda k: -(k**-0.5), Pattern.CONVERGING),
        (lambda k: -1 / k, Pattern.CONVERGING),
        (lambda k: np.exp(-4 * k / N), Pattern.CONVERGING),
    ],
)
def test_the_law_of_a_moving_mean(law, label, offset):
    assert _label(law(K + offset)) is label
    assert _label(-law(K + offset)) is label


@pytest.mark.parametrize("angle", [0.3, np.pi])
@pytest.mark.parametrize(("size", "label"), [(K, Pattern.DIVERGING), (K**-0.5, Pattern.CONVERGING)])
def test_swings_that_grow_or_shrink_by_a_power(size, label, angle):
    assert _label(size * np.cos(angle * K)) is label


def test_a_wave_on_a_trend_diverges():
    assert _label(0.2 * np.sin(0.3 * K) + K / N) is Pattern.DIVERGING


def test_the_rise_to_a_level_converges():
    assert _label(1 / (1 + np.exp(-12 * (K / N - 0.4)))) is Pattern.CONVERGING


def test_waves_under_noise_oscillate():
    assert _label(np.sin(0.3 * K), noise=0.2) is Pattern.OSCILLATING
    assert _label(np.sin(0.3 * K) + np.sin(0.7854 * K), noise=0.1) is Pattern.OSCILLATING


def test_noise_that_turns_at_a_rate_of_its_own_is_noise():
    steps = np.random.default_rng(6).normal(size=N)
    for k in range(2, N):
        steps[k] += 1.6 * steps[k - 1] - 0.9 * steps[k - 2]
    assert classify(steps).label is Pattern.STABLE


def test_fading_swings_about_a_power_without_a_limit_diverge():
    k = np.arange(1.0, 301.0)
    assert classify(10 * k**0.3 + 4 * np.cos(0.7 * k) / k).label is Pattern.DIVERGING
