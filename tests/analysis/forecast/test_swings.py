"""Operands that keep swinging on one side: limit cycles, turning vectors; decays with ripples are not among them."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.analysis.forecast.endless.swings import swings_clear

K = np.arange(50.0)


def turning(rate: float, angle: float, excess: float = 0.0) -> np.ndarray:
    """max(|x|, |y|) of a vector that turns, whose length is a power, or tends to 1."""
    z = (rate**K) * (1 + excess * 0.85**K) * np.exp(1j * angle * K)
    return np.maximum(np.abs(z.real), np.abs(z.imag))


@pytest.mark.parametrize("angle", [0.4, 0.9, 2.2])
@pytest.mark.parametrize("excess", [0.0, 3.0])
def test_a_vector_that_turns_stays_away(angle, excess):
    gap = swings_clear(turning(1.0, angle, excess) - 0.3)
    assert gap is not None and 0.3 < gap < 0.8


@pytest.mark.parametrize("angle", [0.4, 0.9, 2.2])
@pytest.mark.parametrize("rate", [0.9, 0.97, 0.99])
def test_one_that_shrinks_may_arrive(angle, rate):
    assert swings_clear(turning(rate, angle) - 0.3 * turning(rate, angle)[-1]) is None


def test_noise_on_a_way_down_does_not_swing():
    rng = np.random.default_rng(3)
    for n in (30, 60, 200, 500):
        decay = 0.98 ** np.arange(n) * np.exp(0.05 * rng.normal(size=n))
        assert swings_clear(decay - 0.1 * decay[-1]) is None
        walk = 40 + np.cumsum(rng.choice([-1, 1], n))
        assert swings_clear(walk - walk.min() + 20.0) is None


def test_a_relay_between_two_levels_never_ends():
    monitor, x, on = wb.TerminationMonitor([("T", "goal")]), 30.0, False
    for _ in range(50):
        monitor.observe({"T": x}, True, [(x, ">", 12.0)])
        on = True if x < 19 else False if x > 22 else on
        x += 0.03 * ((35.0 if on else 5.0) - x)
    answer = monitor.prediction()
    assert answer.outcome == "never" and 0.8 < answer.confidence <= 0.99


def test_a_counter_that_starts_again_is_not_said_to_stay_below():
    patience = [0, 1, 2, 0, 0, 1, 0, 1, 2, 3, 4, 0, 1, 2, 0, 1, 2, 3, 0, 1, 2, 3, 4, 5]
    monitor = wb.TerminationMonitor([("since", "patience")])
    for k, v in enumerate(patience):
        monitor.observe({"since": v, "k": k}, True, [(v, "<", 20)])
    assert monitor.prediction().outcome != "never"
