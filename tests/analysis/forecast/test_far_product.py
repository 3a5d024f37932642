"""Products whose end is too far away to be followed: by logarithms, and in agreement with products that are."""

from __future__ import annotations

import math

import numpy as np
import pytest

import workbench as wb
from workbench.analysis.forecast.laws import exact_continuation
from workbench.analysis.forecast.laws.far_product import far_product

DOUBLE = (float(np.finfo(float).eps), float(np.finfo(float).tiny))


@pytest.mark.parametrize("factor, mark", [(0.999, 1e-60), (0.99, 1e-300), (1.0005, 1e100), (0.5, 3e-200)])
def test_logarithms_give_the_end_of_products_that_are_followed(factor, mark):
    values = [1.0]
    while (values[-1] > mark) == (factor < 1.0):
        values.append(values[-1] * factor)
    k, least, most = far_product(1.0, factor, mark, DOUBLE)
    assert least <= len(values) - 1 <= most <= least + 4 and abs(k - (len(values) - 1)) <= 1


def test_in_single_precision_the_range_holds_the_end():
    factor, x, count = np.float32(0.9999), np.float32(1.0), 0
    while x > np.float32(1e-20):
        x, count = x * factor, count + 1
    info = np.finfo(np.float32)
    _, least, most = far_product(1.0, float(factor), 1e-20, (float(info.eps), float(info.tiny)))
    assert least <= count <= most < 1.1 * count


@pytest.mark.parametrize(
    "x, factor, mark",
    [(1.0, 1.1, 0.5), (1.0, 0.9, 2.0), (1.0, 0.9, -1.0), (1.0, -0.9, 0.1), (1.0, 0.9, 1e-320), (1.0, 1.1, math.inf)],
)
def test_what_goes_the_other_way_or_loses_digits_has_no_answer(x, factor, mark):
    assert far_product(x, factor, mark, DOUBLE) is None


@pytest.mark.parametrize("iterations", [30, 1000, 3000])
def test_a_monitor_sees_the_end_of_a_slow_product_far_ahead(iterations):
    monitor, error = wb.TerminationMonitor([("error", "tol")]), 1.0
    for k in range(iterations):
        error *= 0.999 if k else 1.0
        monitor.observe({"error": error}, error > 1e-300, [(error, ">", 1e-300)])
    left = math.log(1e-300 / error) / math.log(0.999)
    assert left > exact_continuation.SIMULATED
    answer = monitor.prediction()
    assert answer.outcome == "terminates" and answer.interval[0] <= math.ceil(left) + 1 <= answer.interval[1] + 1
    assert abs(answer.remaining - left) < 3
