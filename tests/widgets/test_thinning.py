"""Thinned series keep their extremes."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.widgets.series.thinning import Thinned, thin


def test_short_series_are_left_alone():
    x, y = np.arange(10.0), np.arange(10.0) ** 2
    assert thin(x, y)[1] is y


@pytest.mark.parametrize("chunks", [1, 7, 60])
def test_extremes_first_and_last_are_kept(chunks):
    rng = np.random.default_rng(3)
    y = rng.standard_normal(200_000).cumsum()
    y[123_456] = 1e4
    line = Thinned(budget=400)
    for part in np.array_split(np.arange(len(y)), chunks):
        line.extend(part, y[part])
    assert line.seen == len(y) and len(line.y) <= 2 * 400 + 2
    assert line.y.max() == 1e4 and line.y.min() == y.min()
    assert line.x[0] == 0 and line.x[-1] == len(y) - 1
    assert np.all(np.diff(line.x) > 0)
    assert np.array_equal(y[line.x.astype(int)], line.y)


def test_the_first_bad_value_is_remembered_and_extremes_survive_it():
    y = np.sin(np.arange(50_000) / 100.0)
    y[20_000] = 7.0
    y[30_000:30_010] = np.nan
    y[40_000] = np.inf
    line = Thinned(budget=400)
    line.extend(np.arange(len(y)), y)
    assert line.first_bad is not None and line.first_bad[0] == 30_000 and np.isnan(line.first_bad[1])
    assert np.nanmax(line.y[np.isfinite(line.y)]) == 7.0


def test_all_nan():
    line = Thinned(budget=100)
    line.extend(np.arange(1000), np.full(1000, np.nan))
    assert line.first_bad is not None and line.first_bad[0] == 0.0


def test_old_parts_keep_their_shape_however_much_follows():
    line = Thinned(budget=400)
    y = np.full(2_000_000, 1.0)
    y[:5] = [3.0, 2.0, 1.5, 1.1, 1.01]
    for part in np.array_split(np.arange(len(y)), 100):
        line.extend(part, y[part])
    assert line.y.max() == 3.0
    # after the first bucket the line is flat: no long slope from an early extreme to the next point that was kept
    assert np.all(line.y[line.x > len(y) / 50] == 1.0) and np.diff(line.x).max() < len(y) / 50
