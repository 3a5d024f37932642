"""Rules of many coordinates are told from noise by the errors of a linear map, which agree between neighbours."""

from __future__ import annotations

import math

import numpy as np
import pytest

from workbench.analysis import classify
from workbench.kernels import fits


def _double_pendulum(n: int, every: int) -> np.ndarray:
    """Speed of the upper of two equal arms that start nearly upright, one value each ``every`` steps of 0.02 s."""

    def slope(s: np.ndarray) -> np.ndarray:
        a, b, u, v = s.tolist()
        c, w = math.cos(a - b), math.sin(a - b)
        under = 2 - c * c
        du = (-w * (v * v + c * u * u) - 19.62 * math.sin(a) + 9.81 * c * math.sin(b)) / under
        dv = (w * (2 * u * u + c * v * v) + 19.62 * c * math.sin(a) - 19.62 * math.sin(b)) / under
        return np.array([u, v, du, dv])

    s, h, out = np.array([2.4, 2.7, 0.0, 0.0]), 0.02, []
    for k in range(n * every):
        if k % every == 0:
            out.append(s[2])
        k1 = slope(s)
        k2 = slope(s + h / 2 * k1)
        k3 = slope(s + h / 2 * k2)
        s = s + h / 6 * (k1 + 2 * k2 + 2 * k3 + slope(s + h * k3))
    return np.array(out)


def _driven(step, n: int, seed: int) -> np.ndarray:
    x, out = 0.0, []
    for e in np.random.default_rng(seed).normal(size=n + 50).tolist():
        x = step(x, e)
        out.append(x)
    return np.array(out[50:])


def test_a_flow_of_four_variables_that_is_sampled_seldom_is_chaotic():
    values = _double_pendulum(500, 8)
    for n in (400, 500):
        found = classify(values[:n])
        assert (found.label.name, found.method) == ("CHAOTIC", "agreeing_errors") and found.confidence < 0.99


@pytest.mark.parametrize(
    "step",
    [
        lambda x, e: (0.9 if x > 0 else -0.6) * x + 0.3 * e,  # two regimes
        lambda x, e: e * math.sqrt(0.2 + 0.7 * x * x),  # volatility that clusters
        lambda x, e: x - 0.1 * x**3 + 0.3 * e,  # a bent way back to the level
    ],
)
@pytest.mark.parametrize("n", [260, 900])
def test_noise_with_a_bent_rule_or_a_spread_that_depends_on_the_state_is_not_chaotic(step, n):
    assert all(classify(_driven(step, n, seed)).label.name != "CHAOTIC" for seed in range(4))


def test_a_static_function_of_linear_noise_is_not_chaotic():
    x = _driven(lambda x, e: 0.9 * x + 0.4 * e, 800, 3)
    assert all(classify(f(x)).label.name != "CHAOTIC" for f in (np.exp, np.abs, np.square))


def test_errors_agree_where_they_are_a_function_of_the_state():
    rng = np.random.default_rng(2)
    state = [rng.normal(size=800) for _ in range(3)]
    order, noise = np.argsort(state[0]), rng.normal(size=800)
    rule = np.sin(2 * state[0]) * state[1] - state[2] ** 2
    assert min(fits.alike_errors(state, order, rule, 8)) > 0.8
    assert max(map(abs, fits.alike_errors(state, order, noise, 8))) < 0.3
    assert max(map(abs, fits.alike_errors(state, order, noise * np.exp(state[0]), 8))) < 0.3
    assert min(fits.alike_errors(state, order, rule, 8)) > min(fits.alike_errors(state, order, rule + noise, 8))


def test_pairs_of_neighbours_are_as_far_apart_in_time_as_asked_and_count_once():
    x = np.repeat(np.arange(200.0), 2)  # each value twice, side by side
    errors = np.tile([1.0, 1.0, -1.0, -1.0], 100)  # alike at equal values, opposite at the next ones
    order = np.argsort(x, kind="stable")
    assert fits.alike_errors([x], order, errors, 1) == pytest.approx((1.0, 1.0))
    assert fits.alike_errors([x], order, errors, 3) == pytest.approx((-1.0, -1.0))
    assert fits.alike_errors([x[:200]], order[:200].copy(), errors[:200], 1) == ()  # 100 pairs of 200 points


def test_what_the_errors_are_asked_with_is_checked():
    x, order = np.arange(300.0), np.arange(300)
    with pytest.raises(ValueError, match="1 to 6 coordinates"):
        fits.alike_errors([x] * 7, order, x, 1)
    with pytest.raises(ValueError, match="1024 values"):
        fits.alike_errors([np.zeros(1025)], np.arange(1025), np.zeros(1025), 1)
    with pytest.raises(ValueError, match="several lengths"):
        fits.alike_errors([x, x[:100]], order, x, 1)
    with pytest.raises(TypeError, match="order"):
        fits.alike_errors([x], order[:100], x, 1)
