"""The laws that a label was not made of, as data: which were asked, and the numbers that spoke against them."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.analysis import classify
from workbench.analysis.series.value_series import LAWS

NOISE = np.random.default_rng(0).normal(size=200)


@pytest.mark.parametrize(
    ("values", "method", "refused"),
    [
        (1 + 0.5 ** np.arange(20.0), "geometric", {"level", "periodic", "counter", "superlinear"}),
        (np.sin(0.7 * np.arange(100.0)), "linear_prediction", {"level", "geometric"}),
        (NOISE, "noise_ball", {"linear_prediction", "spectrum", "map", "random_walk", "envelope"}),
        (np.zeros(20), "level", set()),
    ],
)
def test_what_a_label_is_not_made_of(values, method, refused):
    found = classify(values)
    told = {r.law: r for r in found.why_not}
    assert found.method == method and refused <= set(told) <= set(LAWS) - {method}
    assert all(str(r).startswith(f"{LAWS[law]}: refused, ") and "{" not in str(r) for law, r in told.items())


def test_numbers_of_a_refusal_are_those_of_the_values():
    told = {r.law: r for r in classify(3.0 * NOISE).why_not}
    assert told["level"].numbers["range"] == pytest.approx(np.ptp(3.0 * NOISE))
    assert 0.0 <= told["spectrum"].numbers["share"] < 0.3 and told["constant_tail"].numbers["run"] == 1
