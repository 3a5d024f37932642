"""A residual that falls by a factor with a little noise, and a threshold below its last digits: laws that pass zero on
the way, or rest just above it, fit equally well, and must not be believed.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import workbench as wb


@pytest.mark.parametrize("noise", [1e-12, 1e-9, 1e-6])
@pytest.mark.parametrize("rate", [0.998, 0.999, 0.9995])
def test_an_end_that_is_told_is_that_of_the_factor(rate, noise):
    draw = np.random.default_rng(0)
    monitor, error = wb.TerminationMonitor([("error", "tol")]), 1.0
    told = 0
    for k in range(3001):
        monitor.observe({"error": error}, error > 1e-300, [(error, ">", 1e-300)])
        if k in (20, 60, 200) or k and k % 500 == 0:
            answer = monitor.prediction()
            true = math.log(1e-300 / error) / math.log(rate)
            assert answer.outcome != "never", k
            if answer.outcome == "terminates":
                told += 1
                assert abs(answer.remaining - true) < 0.05 * true, k
        error *= rate * (1.0 + noise * draw.normal())
    assert told or noise > 1e-7


def test_a_line_to_zero_is_still_told():
    monitor = wb.TerminationMonitor([("left", "least")])
    for k in range(400):
        left = 1.0 - k / 2000 + 1e-9 * math.sin(k)
        monitor.observe({"left": left}, left > 1e-20, [(left, ">", 1e-20)])
    answer = monitor.prediction()
    assert answer.outcome == "terminates" and abs(answer.remaining - 1601) < 10


@pytest.mark.parametrize("length", [800, 900, 999])
def test_the_last_digits_are_those_of_the_records_own_dtype(length):
    """A square that falls to zero in float32: the line that its first values look like passes zero far too soon."""
    monitor = wb.TerminationMonitor([("error", "tol")])
    for k in range(21):
        error = np.float32((1 - k / length) ** 2)
        monitor.observe({"error": error}, True, [(error, ">", np.float32(1e-10))])
    answer = monitor.prediction()
    assert answer.outcome != "never"
    if answer.outcome == "terminates":
        low, high = answer.interval
        assert low <= length - 20 and (high is None or length - 20 <= high)
