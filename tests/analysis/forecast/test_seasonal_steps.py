"""Steps that repeat with a period are continued exactly."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.analysis.forecast.laws.seasonal_steps import seasonal_steps

WEEK = [3, 17, 9, 4, 12, 1, 8]


def stock(days: int) -> list[int]:
    return (5000 - np.r_[0, np.cumsum(np.resize(WEEK, days))]).tolist()


@pytest.mark.parametrize("seen", range(19, 40))
def test_sales_of_a_week_end_at_the_very_day(seen):
    left = stock(2000)
    end = next(k for k, v in enumerate(left) if v <= 0)
    for values in (left[:seen], [0.5 * v for v in left[:seen]]):
        found = seasonal_steps(values, ">", 0)
        assert found is not None and found.k == end - (seen - 1)


def test_a_window_that_doubles_and_halves():
    window = 2.0 ** np.cumsum(np.where(np.arange(90) % 5 == 4, -1, 1))
    monitor = wb.TerminationMonitor([("window", "most")])
    for v in window[:30]:
        monitor.observe({"window": v}, True, [(v, "<", 2.0**40)])
    answer = monitor.prediction()
    assert answer.remaining == int(np.argmax(window >= 2.0**40)) - 29
    assert "steps that repeat" in answer.reason.sentence


def test_other_records_have_no_such_law():
    rng = np.random.default_rng(1)
    assert seasonal_steps([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], "<", 50) is None  # a plain counter
    assert seasonal_steps([3, 1, 2] * 8, "<", 50) is None  # a cycle
    assert seasonal_steps(rng.normal(size=60).tolist(), "<", 50.0) is None
    assert seasonal_steps(stock(10), ">", 0) is None  # too little of a second week
    assert seasonal_steps(stock(30), "<", 6000).why == "moves-away"


@pytest.mark.parametrize("power", [30, 36, 40])
def test_a_window_of_powers_of_two_is_told_from_the_next_number_beyond_it(power):
    """The logarithms of 2**36 and of 2**36 + 1/2 agree to twelve digits; the window is compared digit by digit."""
    window = 2.0 ** np.cumsum(np.where(np.arange(120) % 5 == 4, -1, 1))
    for mark in (2.0**power + 0.5, 2.0**power, 2.0**power - 0.5):
        truth = next(k for k, v in enumerate(window) if not v < mark)
        assert seasonal_steps(window[:22].tolist(), "<", mark).k == truth - 21
    assert seasonal_steps(window[:22].tolist(), "<", np.inf) is None
