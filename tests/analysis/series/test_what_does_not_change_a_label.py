"""Labels do not change where the mathematics says so: waits, holds, rounded digits, noise under a growth."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.analysis import classify
from workbench.analysis.series.result import Pattern

K = np.arange(1, 1001.0)


def _label(values):
    return classify(values).label


def _noise(seed, n=400):
    return np.random.default_rng(seed).normal(size=n)


@pytest.mark.parametrize("seed", range(3))
def test_noise_that_begins_after_a_wait_is_noise(seed):
    noise = _noise(seed)
    assert _label(np.concatenate([np.repeat(noise[:1], 30), noise])) is Pattern.STABLE


@pytest.mark.parametrize("held", [2, 3])
def test_values_that_are_held_have_the_label_of_the_values(held):
    chaos, growth = [0.3], np.concatenate([1e-3 * _noise(5, 100), 1e-3 * 1.5 ** np.arange(1, 30)])
    while len(chaos) < 300:
        chaos.append(3.9 * chaos[-1] * (1 - chaos[-1]))
    assert _label(np.repeat(chaos, held)) is Pattern.CHAOTIC
    assert _label(np.repeat(growth, held)) is Pattern.DIVERGING
    assert _label(np.repeat(_noise(1), held)) is Pattern.STABLE


@pytest.mark.parametrize(
    ("law", "label"),
    [
        (np.sqrt(K) / 10, Pattern.DIVERGING),
        (np.log(K), Pattern.DIVERGING),
        (2 - 2 * K**-0.5, Pattern.CONVERGING),
        (1 / K, Pattern.CONVERGING),
    ],
)
def test_few_digits_of_a_law_have_its_label(law, label):
    assert _label(np.round(law, 2)) is label


@pytest.mark.parametrize("sign", [1, -1])
def test_growth_that_rises_out_of_noise_diverges(sign):
    growth = (1.12 * sign) ** np.arange(200.0)
    assert _label(growth / np.abs(growth[-1]) + 0.01 * _noise(3, 200)) is Pattern.DIVERGING


def test_noise_about_the_end_of_a_way_is_no_chaos():
    way = np.concatenate([0.9 ** np.arange(300.0), np.zeros(80)])
    assert _label(way + 1e-8 * _noise(2, 380)) is Pattern.CONVERGING


def test_whole_numbers_that_die_out_repeat_by_chance():
    rng = np.random.default_rng(0)
    for _ in range(8):
        assert _label(rng.poisson(30 * np.exp(-8 * np.arange(400) / 400))) is Pattern.CONVERGING


def test_running_extremes_of_noise_are_no_noise_and_not_certain():
    rng = np.random.default_rng(1)
    answers = [classify(np.maximum.accumulate(rng.pareto(1.2, size=800))) for _ in range(12)]
    assert sum(a.label in (Pattern.DIVERGING, Pattern.CONVERGING) for a in answers) >= 10
    steps = [classify(np.minimum.accumulate(rng.uniform(size=800) ** 2)) for _ in range(12)]
    assert sum(a.label is Pattern.CONVERGING for a in steps) >= 10


def test_chaos_beside_larger_noise_is_chaos():
    rng = np.random.default_rng(2)
    p, t, orbit = 1.0, 2.0, []
    for _ in range(1000):
        p = (p + 5.0 * np.sin(t)) % (2 * np.pi)
        t = (t + p) % (2 * np.pi)
        orbit.append(p)
    assert _label(np.stack([np.array(orbit), 20 * rng.normal(size=1000)], axis=1)) is Pattern.CHAOTIC
