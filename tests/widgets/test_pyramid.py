"""Stretches of long series keep their extremes, whatever was merged or cut."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.widgets.series.minmax_pyramid import Pyramid


@pytest.mark.parametrize("most", [8, 1 << 14])
@pytest.mark.parametrize("chunk", [1, 77, 4096, 100_000])
def test_any_stretch_keeps_its_extremes(chunk, most):
    rng = np.random.default_rng(chunk)
    n = 40_000 if chunk > 1 else 3_000
    x, y = np.arange(float(n)), rng.standard_normal(n).cumsum()
    y[n // 3] = 1e6
    blocks = Pyramid(64, most)
    for start in range(0, n, chunk):
        blocks.extend(x[start : start + chunk], y[start : start + chunk])
    for low, high in ((0, n), (n // 3 - 10, n // 3 + 10), (n - 50, n), (5, 6), (n // 2, n // 2 + 5000)):
        px, py = blocks.between(low, high)
        assert np.all(np.diff(px) > 0) and np.array_equal(y[px.astype(int)], py)
        inside = y[low : high + 1]
        assert py.max() >= inside.max() and py.min() <= inside.min()
        assert px[0] <= low and px[-1] >= min(high, n - 1)
    assert len(blocks._x) <= most


def test_a_cut_forgets_and_the_line_goes_on():
    x = np.arange(10_000.0)
    blocks = Pyramid(64)
    blocks.extend(x, x)
    blocks.cut(9_990)
    assert blocks.between(9_930, 10_000)[0].tolist() == list(range(9_929, 9_990))  # the open end is exact
    blocks.cut(500)
    assert 500 - 64 <= blocks.between(0, 1e9)[0][-1] < 500  # all of the blocks before, and none of what was cut
    blocks.extend(x[500:], -x[500:])
    px, py = blocks.between(0, 1e9)
    assert px[-1] == 9_999 and py.min() == -9_999 and np.all(np.diff(px) > 0)
    blocks.cut(0)
    assert len(blocks.between(0, 1e9)[0]) == 0 and blocks.size == 64


def test_nothing_but_nan_and_infinities():
    x = np.arange(1000.0)
    y = np.full(1000, np.nan)
    y[300], y[301], y[700] = np.inf, -np.inf, 2.0
    blocks = Pyramid(64)
    blocks.extend(x, y)
    px, py = blocks.between(0, 1000)
    assert 700.0 in px and np.nanmax(py[np.isfinite(py)]) == 2.0
