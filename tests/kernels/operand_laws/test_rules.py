"""The compiled rules and rests against NumPy, bit for bit."""

from __future__ import annotations

import operator

import numpy as np
import pytest

laws = pytest.importorskip("workbench.kernels.laws", reason="the compiled kernels are not built")

OPS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne}


def lag(y: np.ndarray, alike: float) -> int | None:
    """The lag by NumPy's standard deviations."""
    best, least, away = None, alike, 0.0
    for p in range(1, len(y) // 2 + 1):
        size = max(p, 16)
        scatter = float(y[-size:].std())
        unlike = float((y[p:] - y[:-p])[-size:].std()) / scatter if scatter > 0 else alike
        if unlike < least and p >= 3 and away >= 1.0:
            best, least = p, 0.8 * unlike
        away = max(away, unlike)
    return best


@pytest.mark.parametrize("seed", range(12))
def test_lags_are_those_of_numpy_to_the_last_bit(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 400))
    k = np.arange(n)
    wave, noise = np.sin(rng.uniform(0.05, 2.0) * k), rng.normal(size=n)
    for y in (noise, wave, wave + 0.1 * noise, (k % 7).astype(float), np.zeros(n)):
        assert [laws.repeat_lag(y, a, 8, 3, 1.0) for a in (0.5, 0.2)] == [lag(y, a) for a in (0.5, 0.2)]


def rests(x: np.ndarray, eps: float) -> bool:
    n = len(x)
    if n >= 8 and np.all(np.abs(np.diff(x[-max(4, n // 8) :])) <= 64 * eps * np.abs(x[-1])):
        return True
    same = np.flatnonzero(x[:-1] == x[-1])
    p = n - 1 - int(same[-1]) if same.size else n
    return n >= 6 and 2 * p <= n and bool(np.array_equal(x[n - p :], x[n - 2 * p : n - p]))


def test_rest_and_repetition_are_told_from_motion():
    k = np.arange(64)
    records = [0.5**k, 1.0 / (k + 1), k % 5, k % 5 + (k > 60), np.where(k > 50, 3.0, k), np.zeros(64), 1 + 0.3**k]
    answers = [laws.settled(x[:n].astype(float), 2.2e-16) for x in records for n in (3, 5, 6, 7, 8, 9, 40, 64)]
    assert answers == [rests(x[:n].astype(float), 2.2e-16) for x in records for n in (3, 5, 6, 7, 8, 9, 40, 64)]
    assert {True, False} == set(answers)
    assert laws.settled(np.array([1.0, np.nan, 2.0, 3.0]), 0.0) is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rules_are_continued_in_their_own_rounding(dtype):
    rng = np.random.default_rng(1)
    hits = 0
    for i in range(200):
        ufunc, op, size = (np.add, np.multiply)[i % 2], list(OPS)[i % 6], int(rng.integers(1, 300))
        x, c = dtype(rng.normal()), dtype(rng.choice([0.1, -0.1, 0.9, 1.1, 1e30, 0.0]))
        block = np.full(size + 1, c)
        block[0] = x
        with np.errstate(all="ignore"):
            values = ufunc.accumulate(block)
        t = float(values[rng.integers(len(values))]) if i % 3 else float(rng.normal())
        failed = np.flatnonzero(~OPS[op](values[1:], t))
        end = int(failed[0]) + 1 if failed.size else size
        hits += failed.size > 0
        found = laws.followed(float(x), float(c), ufunc is np.multiply, dtype is np.float32, size, op, t)
        assert found[0] == (end if failed.size else 0)
        np.testing.assert_array_equal(found[1:], [values[end], values[end - 1]])
    assert 50 < hits < 200
    with pytest.raises(ValueError, match="size must be 1 or more"):
        laws.followed(0.0, 1.0, False, False, 0, "<", 1.0)


def test_periods_of_steps():
    week = np.cumsum(np.tile([1.0, 2.0, 4.0], 12)).tolist()
    assert laws.step_period(week, 16, 1e-15) == 3
    assert laws.step_period(week[:8], 16, 1e-15) == 0  # two periods and less than three values more
    assert laws.step_period([float(k) for k in range(36)], 16, 1e-15) == 0  # even steps
    assert laws.step_period([0.0, 1.0, 3.0] * 12, 16, 1e-15) == 0  # it comes back to where it was
    assert laws.step_period([*week[:-1], week[-1] + 1.0], 16, 1e-15) == 0
    with pytest.raises(ValueError, match="3 to 64 values"):
        laws.step_period([1.0] * 65, 16, 0.0)
