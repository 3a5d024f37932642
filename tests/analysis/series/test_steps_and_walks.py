"""Staircases, integers that are divided, walks with correlated steps, and vectors whose components differ in speed."""

from __future__ import annotations

import numpy as np
import pytest

from tests.analysis.forecast.test_monitor import watch
from workbench.analysis import classify
from workbench.analysis.forecast.laws.integer_division import division


def divided(x, rule, floor=0, most=400):
    out = [x]
    while abs(out[-1]) > floor and len(out) < most and rule(out[-1]) != out[-1]:
        out.append(rule(out[-1]))
    return out


RULES = [
    (lambda x: x >> 1, 2**61 - 3, 0),
    (lambda x: x >> 1, -(2**61) + 5, -1),
    (lambda x: -(-x // 2), 10**15 + 7, 1),
    (lambda x: x // 3, 10**17 + 1, 0),
    (lambda x: x - x // 7, 10**9, 6),
    (lambda x: x - x // 25, 123456, 24),
]


@pytest.mark.parametrize(("rule", "start", "rest"), RULES)
def test_an_integer_that_is_divided_comes_to_rest_where_its_rounding_says(rule, start, rest):
    values = divided(start, rule)
    step = division(values)
    assert step is not None and all(step(a) == b for a, b in zip(values, values[1:], strict=False))
    assert step(rest) == rest
    assert classify(np.array(values[: len(values) // 2], dtype=np.int64)).label.name == "CONVERGING"


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_the_black_box_continues_the_division(share):
    values = np.array(divided(10**9, lambda x: x - x // 12), dtype=np.int64)
    end = int(np.argmax(values < 30))
    upto = int(share * end)
    assert watch(values, ">=", 30, upto).prediction().remaining == end - (upto - 1)


def test_a_counter_is_not_a_share():
    assert division([100, 99, 98, 97, 96, 95, 94]) is None
    assert classify(np.repeat(np.arange(8), 30)).label.name == "DIVERGING"


def test_a_staircase_has_the_label_of_its_steps_in_the_time_of_the_record():
    k = np.arange(1, 900)
    harmonic = np.repeat(np.cumsum(1.0 / k), 3)
    halved = np.repeat(0.5 ** np.arange(40), 5) + 2.0
    assert classify(harmonic[:-1]).label.name == "DIVERGING"
    e = classify(halved[:-2])
    assert e.label.name == "CONVERGING" and e.rate == pytest.approx(0.5**0.2, rel=1e-6)
    assert e.limit == pytest.approx(2.0, abs=1e-9)
    assert e.model.predict(np.array([1, 2, 3]))[0] == halved[-2]


def test_a_walk_whose_steps_are_correlated_diverges_and_noise_that_returns_does_not():
    rng = np.random.default_rng(5)
    wrong = []
    for _ in range(20):
        steps = np.convolve(rng.normal(size=3000), 0.6 ** np.arange(30))[:3000]
        wrong.append(classify(np.cumsum(steps)).label.name != "DIVERGING")
        wrong.append(classify(steps).label.name == "DIVERGING")
    assert sum(wrong) <= 2


def test_the_slowest_component_decides():
    k = np.arange(200)[:, None]
    e = classify(np.array([0.5, 0.97, 0.8]) ** k * np.array([9.0, 1.0, 3.0]))
    assert e.label.name == "CONVERGING" and e.component == 1 and e.rate == pytest.approx(0.97, rel=1e-6)


def test_five_values_that_take_turns():
    e = classify(np.array([True, False, True, False, True]))
    assert e.label.name == "OSCILLATING" and e.period == 2
    assert e.confidence < 0.985  # from there on an answer counts as certain


def test_the_last_tread_of_a_schedule_is_not_its_limit():
    values = 0.1 * 0.5 ** (np.arange(133) // 20)
    e = classify(values)
    assert e.label.name == "CONVERGING" and e.limit == pytest.approx(0.0, abs=1e-12), str(e)
    assert e.rate == pytest.approx(0.5 ** (1 / 20), rel=1e-9)
    ahead = 0.1 * 0.5 ** (np.arange(133, 200) // 20)
    assert e.model.predict(np.arange(1, 68)) == pytest.approx(ahead, rel=1e-9)


def test_noise_that_forgets_slowly_is_told_from_a_walk():
    """An AR(1) record of twenty times its memory leans back to its level; of walks one in forty seems to."""
    rng, n = np.random.default_rng(22), 500
    slow = np.zeros((200, n + 400))
    for k in range(1, n + 400):
        slow[:, k] = 0.96 * slow[:, k - 1] + rng.normal(size=200)
    walks = np.cumsum(rng.normal(size=(200, n)), axis=1)
    assert sum(classify(row[400:]).label.name == "STABLE" for row in slow) >= 170
    assert sum(classify(row).label.name == "DIVERGING" for row in walks) >= 190


def test_whole_numbers_that_step_by_chance_repeat_nothing():
    rng = np.random.default_rng(4)
    for _ in range(40):
        walk = np.cumsum(rng.choice([-1, 1], 700))
        assert classify(walk).label.name != "OSCILLATING"
    assert classify(np.abs(np.arange(120) % 16 - 8)).label.name == "OSCILLATING"
