"""Area-preserving rules, waves and correlated noise differ in how well neighbours and a linear map predict."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import signal

from workbench.analysis import classify
from workbench.kernels import fits


def _gingerbread(n: int) -> np.ndarray:
    x, y, out = -0.1, 0.02, []
    for _ in range(n):
        out.append(x)
        x, y = 1 - y + abs(x), x
    return np.array(out)


def _kicked(n: int) -> np.ndarray:
    """The angle of a kicked rotor between two torus maps of large kicks."""
    p, x, out = 1.0, 2.0, []
    for _ in range(n):
        out.append(x)
        p = (p + 3.5 * math.sin(x)) % (2 * math.pi)
        x = (x - 3.5 * math.sin(p)) % (2 * math.pi)
    return np.array(out)


def _mira(n: int) -> np.ndarray:
    force = lambda x: 0.2 * x + 1.6 * x * x / (1 + x * x)  # noqa: E731
    x, y, out = 0.05, 0.0, []
    for _ in range(n):
        out.append(x)
        last, x = x, y + force(x)
        y = -last + force(x)
    return np.array(out)


@pytest.mark.parametrize("values", [_gingerbread(2000), _kicked(900)])
def test_chaos_that_keeps_area_is_chaotic_also_when_measured(values):
    noise = 0.01 * values.std() * np.random.default_rng(1).normal(size=len(values))
    assert classify(values).label.name == "CHAOTIC"
    assert classify(values + noise).label.name == "CHAOTIC"


def test_an_island_and_two_waves_under_noise_oscillate():
    rng, t = np.random.default_rng(2), np.arange(700)
    waves = np.sin(2 * np.pi * t / 9.7) + 0.7 * np.sin(2 * np.pi * t / 23.1)
    assert classify(_mira(700)).label.name == "OSCILLATING"
    assert classify(waves + 0.03 * rng.normal(size=700)).label.name == "OSCILLATING"


@pytest.mark.parametrize("a", [[1, 0.8], [1, -1.2, 0.72], [1, 0.3, -0.5]])
def test_correlated_noise_is_stable(a):
    rng = np.random.default_rng(3)
    noise = signal.lfilter([1], a, rng.normal(size=1100))[200:]
    assert classify(noise).label.name == "STABLE"


def test_local_maps_foretell_a_map_and_a_linear_one_its_errors():
    x = np.empty(600)
    x[0] = 0.3
    for k in range(599):
        x[k + 1] = 3.9 * x[k] * (1 - x[k])
    near, far = fits.local_maps(x, 1, [1, 32], 4, 64)
    assert near < 1e-3 and far > 0.3
    error, agree = fits.linear_map(x, 4)
    assert error > 0.3 and agree < 0.3
    assert min(fits.close_pairs(x, np.argsort(x), 2, 4, 0.05)) > 0.9
    assert fits.local_maps(np.ones(600), 2, [1], 4, 64) == [] == fits.local_maps(x[:20], 2, [1], 4, 64)
    assert fits.linear_map(x[:8], 4) == (math.inf, 0.0)
    with pytest.raises(ValueError, match="too many"):
        fits.local_maps(x, 5, [1], 4, 64)
    with pytest.raises(TypeError, match="order"):
        fits.close_pairs(x, np.argsort(x[:9]), 2, 4, 0.05)
