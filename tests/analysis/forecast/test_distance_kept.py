"""A "never" from the distance to the threshold: returns, settling, growth, scatter; and records that look alike but
end.
"""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.analysis.forecast.endless.diverges_from import outgrows
from workbench.analysis.forecast.endless.pace import closes_in, is_walk
from workbench.analysis.forecast.endless.returns import returns_clear
from workbench.analysis.forecast.endless.scatter import scattered_clear

K = np.arange(50.0)


def prey(count: int, step: float = 0.4) -> np.ndarray:
    """The prey of Lotka and Volterra's cycle by the midpoint rule: a smooth curve of long lows and short peaks."""
    x, y, out = 0.5, 1.0, []
    for _ in range(count):
        out.append(x)
        for _ in range(20):
            u, v = x, y
            for _ in range(8):
                a, b = (x + u) / 2, (y + v) / 2
                u, v = x + step / 20 * a * (1 - b), y + step / 20 * b * (a - 1)
            x, y = u, v
    return np.array(out)


def answer(values: np.ndarray, op: str, threshold: float) -> wb.Termination:
    monitor = wb.TerminationMonitor([("x", "t")])
    for x in values.tolist():
        monitor.observe({"x": x}, True, [(x, op, threshold)])
    return monitor.prediction()


def test_a_cycle_whose_lows_are_far_nearer_than_its_peaks_never_ends():
    values = prey(50)
    gap = returns_clear(values - 0.5 * values.min())
    assert gap is not None and 0.45 * values.min() < gap < 0.51 * values.min()  # its lows lie between the samples
    assert answer(values, ">", 0.5 * float(values.min())).outcome == "never"


@pytest.mark.parametrize("fall", [0.002, 0.01, 0.05])
@pytest.mark.parametrize("period", [7.3, 12.0, 17.0])
def test_swings_on_a_level_that_falls_may_arrive(fall, period):
    swings = 1 + 0.3 * np.sin(2 * np.pi * K / period)
    assert returns_clear((1 - fall * K) + 0.3 * np.sin(2 * np.pi * K / period) + 49 * fall - 0.6) is None
    assert returns_clear(swings * (1 - fall) ** K - 0.01) is None or 0.01 > (1 - fall) ** 600 * 0.7


def test_a_walk_is_not_taken_for_swings():
    rng = np.random.default_rng(8)
    walks = [20.0 + np.cumsum(rng.normal(size=60)) for _ in range(200)]
    kept = [y for y in walks if y.min() > 1]
    assert len(kept) > 100
    assert sum(returns_clear(y) is not None for y in kept) <= len(kept) // 50
    assert sum(is_walk(y) for y in kept) > 0.8 * len(kept)
    assert not is_walk(np.sin(0.7 * K)) and not is_walk(rng.normal(size=60))


def test_steady_growth_goes_away_and_growth_that_slackens_does_not():
    ripple = 1 + 0.3 * np.sin(2.0 * K)
    assert outgrows(1.2**K) and outgrows(1.15**K * ripple)
    assert not outgrows(1.01**K) and not outgrows(K + 1.0)
    m = 0.9 * np.eye(9) + 0.3 * np.eye(9, k=1)
    vectors = [np.eye(9)[-1]]
    while len(vectors) < 50:
        vectors.append(m @ vectors[-1])
    norms = np.linalg.norm(vectors, axis=1)
    for n in (24, 30, 45, 50):
        assert not outgrows(norms[:n])


def test_a_chaotic_residual_stays_far_from_a_tolerance_and_may_cross_a_near_one():
    x, values = 1.1, []
    for _ in range(50):
        values.append(abs(2.9 * np.sin(x) - x))
        x = 2.9 * np.sin(x)
    residual = np.array(values)
    assert scattered_clear(np.log(residual / 1e-12)) is not None
    assert answer(residual, ">", 1e-12).outcome == "never"
    assert scattered_clear(np.log(residual / (0.5 * residual.min()))) is None
    assert scattered_clear(np.log(residual * 0.9**K / 1e-6)) is None


def test_a_level_that_falls_under_its_swings_closes_in():
    swings = 0.4 * np.sin(0.9 * K)
    assert closes_in(3.0 - 0.02 * K + swings, 2.0) and not closes_in(3.0 + swings, 2.5)


def test_whole_numbers_that_go_to_and_fro_by_chance_are_no_cycle():
    values = np.array([1, 0, 1, 0, 1, 0, 1])
    assert answer(values, "<", 10).outcome != "never"
    assert answer(np.resize([1, 0, 3], 50), "<", 10).outcome == "never"


def test_a_limit_is_reached_by_what_does_not_change():
    monitor = wb.TerminationMonitor([("x", "t")], trip_limit=90)
    for _ in range(10):
        monitor.observe({"x": 3.0}, True, [(3.0, ">", 0.5)])
    found = monitor.prediction()
    assert (found.outcome, found.remaining, found.reason.slug) == ("terminates", 81, "trip-limit")
    assert 0.9 < found.confidence < 0.95


def test_noise_without_memory_keeps_its_edge():
    rng = np.random.default_rng(3)
    heavy = np.log(1.0 + rng.standard_cauchy((40, 50)) ** 2) + 8.0
    assert sum(scattered_clear(z) is not None for z in heavy) >= 16
    for _ in range(20):
        assert scattered_clear(rng.random(50) + 0.02) is None  # its tail may lead there
        assert scattered_clear(np.cumsum(rng.normal(size=50)) + 30.0) is None
        assert scattered_clear(np.sin(rng.uniform(0.1, 1.0) * K[:50]) + 8.0) is None


@pytest.mark.parametrize("lengths", [2.0, 4.0, 6.0])
def test_noise_on_its_way_is_not_taken_for_a_level(lengths):
    rng = np.random.default_rng(7)
    for noise in (rng.random, rng.exponential, rng.normal):
        for _ in range(20):
            values = 12.0 * (1.0 - np.arange(60) / 60 / lengths) + 0.5 * noise(size=60)
            assert scattered_clear(values) is None


def test_the_monitor_says_so():
    rng = np.random.default_rng(11)
    said = answer(0.7 + rng.standard_cauchy(50) ** 2, ">", 1e-4)
    assert said.outcome == "never" and said.reason.slug == "noise-floor"


def test_a_residual_that_fell_and_grows_again_may_fall_again():
    k = np.arange(24.0)
    values = 9.0 * 0.2**k + 0.2 * 0.7**k + 0.005 * 1.07**k
    assert answer(values, ">", 1e-9).outcome != "never"
    assert answer(0.01 * 1.2 ** np.arange(40.0), ">", 1e-9).outcome == "never"


def test_a_walk_on_a_few_whole_numbers_is_no_cycle():
    walk = [1, 0, 1, 0, 1, 2, 1, 2, 1, 0, 1, 0, 1, 0, 1, 0]
    assert answer(np.array(walk, dtype=float), "<", 17.0).outcome != "never"


#: The first 59 of 198 residuals of Broyden's diagonal method on a system that saturates; the run gets there.
# fmt: off
OF_BROYDEN = np.array(
    [
        13, 15.4, 17.3, 18.9, 20.5, 22.3, 24.4, 26.9, 30.2, 36, 32.8, 37, 41.6, 50.2, 81.5, 74.1, 102, 87.3,
        69.6, 85.3, 82.5, 53.2, 57.4, 61.9, 67.4, 74.3, 85.5, 84.6, 77.1, 83.8, 91.8, 102, 121, 104, 113, 127,
        168, 129, 139, 153, 169, 194, 279, 213, 239, 277, 497, 291, 329, 387, 643, 430, 502, 667, 652, 633,
        745, 1030, 711,
    ]
)
# fmt: on


def test_a_residual_that_grows_between_jumps_may_come_back():
    assert not outgrows(OF_BROYDEN - 1e-6)
    assert answer(OF_BROYDEN, ">", 1e-6).outcome != "never"
    assert outgrows(OF_BROYDEN * 1.15 ** np.arange(len(OF_BROYDEN)))
