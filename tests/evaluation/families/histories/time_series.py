"""Recursions of time series: ARMA, GARCH, unit roots, trends in noise, seasons, Kalman filters."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.signal import lfilter

from tests.evaluation.families.base import HISTORY, C, D, O, Rng, S, case, family, log_uniform, placed, size
from tests.evaluation.scoring.cases import Case


def _innovations(rng: Rng, n: int) -> np.ndarray:
    """Independent draws of unit spread: normal, uniform, Laplace or Student."""
    kind = int(rng.integers(4))
    e = (rng.normal(size=n), rng.uniform(-1, 1, n), rng.laplace(size=n), rng.standard_t(5, n))[kind]
    return e * (1, 3**0.5, 0.5**0.5, 0.6**0.5)[kind]


def _ar1(rng: Rng, phi: float, n: int) -> np.ndarray:
    """A stationary AR(1) of unit spread, from its start."""
    lead = int(20 / (1 - abs(phi))) + 10
    e = _innovations(rng, n + lead) * math.sqrt(1 - phi * phi)
    return lfilter([1.0], [1.0, -phi], e)[lead:]


@family(HISTORY)
def white_noise(rng: Rng) -> Case:
    return placed(rng, rng.normal() + _innovations(rng, size(rng, 60, 10_000)) * log_uniform(rng, 1e-3, 1), S)


@family(HISTORY)
def ar1_noise(rng: Rng) -> Case:
    phi = rng.uniform(0.3, 0.75) * rng.choice([-1, 1])
    return placed(rng, _ar1(rng, phi, size(rng, 300, 8000)), S, hard=True, quarter=False)


@family(HISTORY)
def ar1_near_one(rng: Rng) -> Case:
    """phi up to 0.97, over 60 and more of its memory: a unit root is excluded."""
    phi = rng.uniform(0.85, 0.97)
    return placed(rng, _ar1(rng, phi, size(rng, int(60 / (1 - phi)), 10_000)), S, hard=True, quarter=False)


@family(HISTORY)
def ma_noise(rng: Rng) -> Case:
    b = np.r_[1.0, rng.uniform(-0.8, 0.8, int(rng.integers(1, 6)))]
    return placed(rng, lfilter(b, [1.0], _innovations(rng, size(rng, 300, 8000)))[6:], S, quarter=False)


@family(HISTORY)
def arma_noise(rng: Rng) -> Case:
    v = lfilter([1, rng.uniform(-0.5, 0.5)], [1, -rng.uniform(0.3, 0.8)], _innovations(rng, size(rng, 500, 8000)))
    return placed(rng, v[50:], S, hard=True, quarter=False)


@family(HISTORY)
def garch_returns(rng: Rng) -> Case:
    """Noise whose spread wanders around a fixed one (a + b < 0.95)."""
    a, b = rng.uniform(0.05, 0.15), rng.uniform(0.6, 0.8)
    e, s, out = rng.normal(size=size(rng, 1000, 8000)), 1.0, []
    for z in e:
        out.append(math.sqrt(s) * z)
        s = (1 - a - b) + a * out[-1] ** 2 + b * s
    return placed(rng, np.array(out), S, hard=True, quarter=False)


@family(HISTORY)
def garch_variance_forecast(rng: Rng) -> Case:
    """Expected variance, step after step: geometric with a + b."""
    rate, long_run = rng.uniform(0.6, 0.98), log_uniform(rng, 1e-4, 10)
    k = np.arange(int(rng.uniform(6, 25) / -math.log(rate)) + 10)
    return case(long_run * (1 + rng.uniform(1, 6) * rate**k), C, rate=rate, limit=long_run)


@family(HISTORY)
def poisson_counts(rng: Rng) -> Case:
    return case(rng.poisson(rng.uniform(3, 80), size(rng, 100, 5000)).astype(rng.choice([np.int64, np.int32])), S)


@family(HISTORY)
def coin_flips(rng: Rng) -> Case:
    return case(rng.random(size(rng, 300, 6000)) < rng.uniform(0.3, 0.7), S, hard=True)


def _looks_stationary(v: np.ndarray) -> bool:
    """Dickey and Fuller's statistic (one lagged difference) in the lowest sixth of what a unit root gives.

    One walk in twenty falls below the usual bound of -2.86 by chance; no reader of such a record could tell.
    """
    d = np.diff(v)
    x = np.stack([v[1:-1] - v.mean(), d[:-1], np.ones(len(d) - 1)], axis=1)
    b, residual = np.linalg.lstsq(x, d[1:])[:2]
    spread = residual[0] / (len(d) - 4) * np.linalg.inv(x.T @ x)[0, 0]
    return bool(b[0] / math.sqrt(spread) < -2.4)


def _unit_root(draw: Callable[[], np.ndarray]) -> np.ndarray:
    """The first walk that a test does not take for a level."""
    while _looks_stationary(v := draw()):
        pass
    return v


@family(HISTORY)
def random_walk(rng: Rng) -> Case:
    """A unit root, over 1000 steps and more: no level is kept."""
    v = _unit_root(lambda: np.cumsum(_innovations(rng, size(rng, 1000, 10_000))))
    return placed(rng, v, D, hard=True, quarter=False)


@family(HISTORY)
def random_walk_with_drift(rng: Rng) -> Case:
    n, drift = size(rng, 300, 6000), rng.uniform(0.4, 1.5)
    return placed(rng, np.cumsum(drift + _innovations(rng, n)), D, quarter=False)


@family(HISTORY)
def integrated_ar(rng: Rng) -> Case:
    """ARIMA(1, 1, 0): a unit root with correlated steps."""
    v = _unit_root(lambda: np.cumsum(_ar1(rng, rng.uniform(0.2, 0.7), size(rng, 1000, 8000))))
    return placed(rng, v, D, hard=True, quarter=False)


@family(HISTORY)
def doubly_integrated_noise(rng: Rng) -> Case:
    """I(2), still on its way out at the end: its last fifth makes a third of its way and more."""
    while True:
        v = np.cumsum(np.cumsum(_innovations(rng, size(rng, 400, 6000))))
        if abs(v[-1] - v[-len(v) // 5]) > np.ptp(v) / 3:
            return placed(rng, v, D, hard=True, quarter=False)


@family(HISTORY)
def explosive_ar(rng: Rng) -> Case:
    """phi above 1: the first shocks grow for ever."""
    phi = rng.uniform(1.01, 1.2)
    n = min(int(rng.uniform(12, 60) / math.log(phi)), 3000)
    return placed(rng, lfilter([1.0], [1.0, -phi], 1 + _innovations(rng, n)), D, quarter=False, rate=phi)


@family(HISTORY)
def geometric_walk(rng: Rng) -> Case:
    """A price with a drift of several times what chance adds."""
    n = size(rng, 400, 4000)
    sigma = rng.uniform(0.005, 0.03)
    drift = rng.uniform(6, 12) * sigma / math.sqrt(n)
    return case(100 * np.exp(np.cumsum(drift + sigma * rng.normal(size=n))), D, hard=True, quarter=False)


@family(HISTORY)
def weak_trend(rng: Rng) -> Case:
    """A rise of 1 to 4 spreads over the record, with a t-value of 14 and more."""
    rise = rng.uniform(1, 4) * rng.choice([-1, 1])
    n = size(rng, int(2400 / rise**2), 10_000)
    return placed(rng, rise * np.arange(n) / n + _innovations(rng, n), D, hard=True, quarter=False)


@family(HISTORY)
def weak_trend_in_ar_noise(rng: Rng) -> Case:
    """A rise of 3 to 8 spreads of AR(1) noise; t-value of 14 and more for its memory."""
    rise, phi = rng.uniform(3, 8), rng.uniform(0.2, 0.7)
    n = size(rng, int(2400 / rise**2 * (1 + phi) / (1 - phi)) + 200, 8000)
    return placed(rng, rise * np.arange(n) / n + _ar1(rng, phi, n), D, hard=True, quarter=False)


@family(HISTORY)
def season_in_noise(rng: Rng) -> Case:
    """A pattern of p values, repeated, with noise of a tenth to a third of its spread."""
    p = int(rng.integers(4, 30))
    n = p * int(rng.integers(16, 60))
    pattern = rng.normal(size=p)
    pattern *= 1 / pattern.std()
    pattern[0] += 2.0
    v = np.resize(pattern, n) + rng.uniform(0.1, 0.3) * rng.normal(size=n)
    return placed(rng, v, O, hard=True, quarter=False, period=float(p))


@family(HISTORY)
def season_on_a_trend(rng: Rng) -> Case:
    p, n = rng.uniform(6, 40), size(rng, 300, 3000)
    k = np.arange(n)
    v = rng.uniform(6, 20) * k / n + np.sin(2 * math.pi * k / p) + 0.1 * rng.normal(size=n)
    return placed(rng, v, D, hard=True, quarter=False)


@family(HISTORY)
def poisson_process_total(rng: Rng) -> Case:
    return case(np.cumsum(rng.poisson(rng.uniform(0.5, 9), size(rng, 100, 5000))), D)
