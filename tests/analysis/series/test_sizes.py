"""Sizes: residuals, losses and norms do not cross zero and may jump by decades, and norms say little about their
arrays.
"""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.analysis.series.result import Pattern

K = np.arange(200.0)


def noise(size: float) -> np.ndarray:
    return size * np.random.default_rng(5).normal(size=len(K))


@pytest.mark.parametrize(
    "loss", [0.4 + 0.25 * np.log(220 / (K + 1)) + noise(0.002), 1 - 0.1 * np.log1p(K) + noise(1e-3)]
)
def test_a_loss_that_falls_ever_more_slowly_does_not_diverge(loss):
    assert (loss > 0).all() and wb.classify(loss).label is Pattern.CONVERGING
    assert wb.classify(loss - 2.0).label is Pattern.DIVERGING, "what lies below zero may fall for ever"


def test_a_loss_that_has_turned_diverges():
    loss = 0.9**K + 0.2 + 0.002 * np.maximum(0, K - 80) + noise(1e-3)
    assert wb.classify(loss).label is Pattern.DIVERGING


def test_a_law_of_arithmetic_goes_on_below_zero():
    assert wb.classify(100.0 - 0.25 * K).label is Pattern.DIVERGING
    assert wb.classify(300 - K.astype(int)).label is Pattern.DIVERGING


def test_values_that_are_never_negative_have_no_negative_limit():
    for values in (1.2 / (1 + 0.05 * K) ** 0.4, 1 / np.sqrt(1 + K), 3 * 0.9 ** K[:12] - 0.5):
        found = wb.classify(values)
        assert found.limit is None or found.limit >= 0 and found.limit_error < values[-1] + 0.5
    assert wb.classify(3 * 0.9**K - 0.5).limit == pytest.approx(-0.5)


def test_a_residual_that_jumps_and_falls_by_decades_is_not_stable():
    jumps = np.exp(1.5 * np.random.default_rng(2).normal(size=len(K)))
    residual = jumps * np.where(K < 170, 1.0, 10 ** (-(K - 170) / 4))
    assert wb.classify(residual).label is Pattern.CONVERGING
    assert wb.classify(1 / residual).label is Pattern.DIVERGING
    assert wb.classify(jumps).label is Pattern.STABLE


def test_a_norm_tells_whether_an_array_vanishes_or_grows():
    turning = np.stack([np.cos(K), np.sin(K)], axis=1)
    assert wb.classify(np.linalg.norm(turning, axis=1)).of_norm().label is Pattern.UNKNOWN
    assert wb.classify(0.9**K).of_norm().label is Pattern.CONVERGING
    assert wb.classify(1.1**K).of_norm().label is Pattern.DIVERGING
