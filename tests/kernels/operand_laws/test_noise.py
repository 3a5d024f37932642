"""The compiled tests for noise against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

laws = pytest.importorskip("workbench.kernels.laws", reason="the compiled kernels are not built")


def predicted(y: np.ndarray) -> bool:
    """True if an AR(4) with a constant predicts the steps."""
    d, p = np.diff(y), 4
    rows = np.stack([np.ones(len(d) - p)] + [d[p - 1 - i : len(d) - 1 - i] for i in range(p)], axis=1)
    e = d[p:] - rows @ np.linalg.lstsq(rows, d[p:], rcond=1e-10)[0]
    return bool(e @ e < 1e-6 * (d @ d)) or bool(e @ e <= 0.25 * np.sum((d[p:] - d[p:].mean()) ** 2))


@pytest.mark.parametrize("seed", range(20))
def test_noise_and_slopes_are_those_of_numpy(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(24, 500))
    k = np.arange(n)
    noise = rng.normal(size=n)
    records = [noise, np.cumsum(noise), 0.95**k, np.sin(0.3 * k), k + 0.1 * noise, np.cumsum(noise) + 5 * k, k**2.0]
    for y in records:
        assert laws.is_noisy(y) is not predicted(y)
        d, mid = np.diff(y), k - (n - 1) / 2
        lag = float((d - d.mean())[1:] @ (d - d.mean())[:-1] / max(float((d - d.mean()) @ (d - d.mean())), 1e-300))
        assert laws.lag_one(y) == pytest.approx(lag, abs=1e-9)
        b = float(mid @ y / (mid @ mid))
        rest = y - y.mean() - b * mid
        variance = float(rest @ rest) / (n - 2)
        ratio = variance / max(float(d.var(ddof=1)), 1e-300)
        told = (b, np.sqrt(variance / (mid @ mid)))
        if ratio > 0.7 and lag > -0.25 or ratio > 0.9 and lag > -0.4:  # of a walk
            told = (d.mean(), d.std(ddof=1) / np.sqrt(n - 1))
        np.testing.assert_allclose(laws.slope(y), told, rtol=1e-9, atol=1e-12)


def test_short_records_are_refused_or_are_no_noise():
    assert laws.is_noisy(np.random.default_rng(0).normal(size=16)) is False
    for function in (laws.slope, laws.lag_one):
        with pytest.raises(ValueError, match="values or more"):
            function(np.zeros(1))
