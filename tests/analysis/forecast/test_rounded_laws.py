"""Exact ends of whole numbers that change by a rounded share, and of logarithms of the iteration."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import workbench as wb
from tests.analysis.forecast.exact import exact
from workbench.analysis.forecast.laws.rounded_share import rounded_share


def orbit(step, start, count):
    out = [start]
    while len(out) < count:
        out.append(step(out[-1]))
    return out


@pytest.mark.parametrize(
    "step",
    [
        lambda x: x + x * 5 // 1200 - 6500,
        lambda x: x + x * 7 // 1200 - 9000,
        lambda x: x + x // 40 + 1,
        lambda x: x - x * 3 // 100 - 11,
    ],
)
def test_a_share_and_a_whole_number(step):
    values = orbit(step, 1_000_000, 80)
    rule = rounded_share(values)
    assert rule is not None
    assert orbit(rule, values[-1], 30) == orbit(step, values[-1], 30)


def test_no_share_is_read_into_other_whole_numbers():
    rng = np.random.default_rng(4)
    assert rounded_share([1000 + 3 * k for k in range(30)]) is None
    assert rounded_share([1000 + k * k for k in range(30)]) is None
    assert rounded_share(np.cumsum(rng.integers(1, 20, 30)).tolist()) is None
    assert rounded_share([int(1000 * 0.9**k + 3 * rng.normal()) for k in range(30)]) is None


def test_a_debt_in_cents_ends_to_the_month():
    step = lambda debt: debt + debt * 5 // 1200 - 7777  # noqa: E731
    values = orbit(step, 1_234_567, 400)
    n = next(k for k, v in enumerate(values) if v <= 0)
    monitor = wb.TerminationMonitor([("debt", "0")])
    for debt in values[: n // 3]:
        monitor.observe({"debt": debt}, True, [(debt, ">", 0)])
    assert monitor.prediction().remaining == n - (n // 3 - 1)


@pytest.mark.parametrize("w", [2.0, math.e, 10.0])
@pytest.mark.parametrize("end", [200, 3000])
def test_cooling_by_a_logarithm(w, end):
    values = 7.0 / np.log(np.arange(60.0) + w)
    found = exact(values, ">", 7.0 / math.log(end + w - 0.5), "logarithm")
    assert found is not None and found.k == end - 59
    rising = exact(7.0 * np.log(np.arange(60.0) + w), "<", 7.0 * math.log(end + w - 0.5), "logarithm")
    assert rising is not None and rising.k == end - 59


def test_other_curves_are_no_logarithms():
    k = np.arange(60.0)
    for values in (0.97**k, 1 / (k + 3), (k + 2) ** -0.1, 2.0 - 0.01 * k, 1 / np.log(k + 3) * (1 + 1e-9 * (k % 3))):
        assert exact(values, ">", 0.5 * float(values.min()), "logarithm") is None
    assert exact((2000 + k).astype(np.float16), "<", 4096.0, "logarithm") is None


def test_the_calendar_is_known_after_thirteen_months():
    months = np.resize([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31], 200)
    days = np.r_[0, np.cumsum(months)]
    monitor = wb.TerminationMonitor([("day", "end")])
    for day in days[:26].tolist():
        monitor.observe({"day": day}, True, [(day, "<", 3000)])
    assert monitor.prediction().remaining == int(np.argmax(days >= 3000)) - 25


def test_plainest_fraction():
    from workbench.analysis.forecast.laws.rounded_share import _plainest

    assert _plainest(0.33, 0.34) == Fraction(1, 3)
    assert _plainest(0.3, 0.4) == Fraction(1, 3)
    assert _plainest(1.5, 1.6) == Fraction(3, 2)
    assert _plainest(2.5, 3.5) == 3
