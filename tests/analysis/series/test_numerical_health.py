"""Numerical threats to a variable, found from its values alone, and the sentences about them."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.analysis import Pattern, classify
from workbench.analysis.series.classify import classify_history
from workbench.analysis.series.value_series import History

K = np.arange(60)


@pytest.mark.parametrize(
    ("values", "at"),
    [
        (0.5 ** K.astype(float), 1022),  # 2**-1022 is the smallest normal float64
        ((0.5**K).astype(np.float32), 126),
        (3e-30 * (0.5**K), 1022 - 98),
        (0.4 ** K[:30] * np.cos(K[:30]), 773),
    ],
)
def test_vanishing(values, at):
    answer = classify(values)
    assert answer.label is Pattern.CONVERGING
    assert answer.issues["vanishing"] == pytest.approx(at, rel=0.03)
    assert any("smallest normal" in sentence for sentence in answer.why)


def test_vanished_already():
    answer = classify((0.5 ** np.arange(22)).astype(np.float16))
    assert answer.issues["vanishing"] == 15  # 2**-14 is the smallest normal float16
    assert any("from iteration 15 on" in sentence for sentence in answer.why)


@pytest.mark.parametrize(
    ("values", "at"),
    [
        ((1.5**K).astype(np.float32), 219),  # 1.5**219 > 3.4e38
        ((-2.0) ** K, 1024),
        (1e250 * 1.1 ** K.astype(float), 1408),
        (np.float16(1.25) ** np.arange(20, dtype=np.float16), 50),
    ],
)
def test_exploding(values, at):
    answer = classify(values)
    assert answer.label is Pattern.DIVERGING and answer.issues["exploding"] == pytest.approx(at, abs=3)
    assert any("Exploding" in sentence and str(answer.issues["exploding"]) in sentence for sentence in answer.why)


@pytest.mark.parametrize(
    "values",
    [np.arange(100.0), np.cumsum(1 / (1.0 + np.arange(100))), np.sqrt(np.arange(100.0)), 5.0 - 2 * np.arange(50)],
)
def test_slow_growth_is_no_explosion(values):
    answer = classify(values)
    assert answer.label is Pattern.DIVERGING and not answer.issues


@pytest.mark.parametrize("offset", [1.0, 1e6, -3e4])
def test_cancellation_shows_in_the_last_bits(offset):
    """(offset + e) - offset has the spacing of the offset, however small it gets."""
    values = (offset + 0.7**K) - offset
    answer = classify(values)
    spacing = np.spacing(abs(offset))
    left = np.abs(values) / spacing
    at = answer.issues["cancellation"]
    assert np.all(left[at:] <= 2.0**27) and left[at - 1] > 2.0**25  # half of 53 digits
    assert any("binary digits are left" in sentence for sentence in answer.why)


def test_cancellation_shows_in_noise_of_the_first_rounding():
    rng = np.random.default_rng(0)
    answer = classify(0.5**K + 1e-15 * np.abs(rng.normal(size=60)))
    assert answer.label is Pattern.CONVERGING and 38 <= answer.issues["cancellation"] <= 50
    assert any("noise" in sentence for sentence in answer.why)


@pytest.mark.parametrize(
    "values",
    [
        0.5**K,  # exact powers have one digit each, but nothing was subtracted
        0.7**K,
        1 + 0.7**K,
        (10**6 // 2**K).astype(float),  # whole numbers have a spacing of their own
        np.round(5 * 0.9**K, 3),
        5 * 0.8**K + 0.01 * np.random.default_rng(1).normal(size=60),
        np.zeros(60),
        0.4**K * np.cos(K),
        0.9 ** np.arange(400) * np.cos(0.7 * np.arange(400)),
        1 / (1.0 + K) ** 3,
    ],
)
def test_no_cancellation_where_none_is_told(values):
    assert "cancellation" not in classify(values).issues


def test_issues_keep_their_iteration_numbers():
    answer = classify_history(History(0.95 ** np.arange(1500.0, 2000.0), 1500))
    assert answer.count == 2000 and answer.issues["vanishing"] == pytest.approx(13811, rel=1e-3)


def test_nan_and_infinity_come_first():
    values = np.r_[1.5 ** np.arange(30), np.inf, np.nan]
    answer = classify(values)
    assert answer.label is Pattern.DIVERGING and answer.issues == {"inf": 30, "nan": 31}
