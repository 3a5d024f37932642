"""Floats on a parabola: the crossing to the iteration, and no answer where the bend is not above the rounding."""

from __future__ import annotations

import numpy as np
import pytest

from tests.analysis.forecast.exact import exact


def _thrown(h: float, v: float, count: int) -> np.ndarray:
    y, out = 1.0, []
    for _ in range(count):
        out.append(y)
        y, v = y + h * v, v - h * 9.81
    return np.array(out)


@pytest.mark.parametrize(("h", "v"), [(0.01, 12.0), (0.003, 25.0), (0.02, 7.5)])
def test_a_stone_is_followed_up_and_down_to_the_ground(h, v):
    y = _thrown(h, v, 3000)
    ends = int(np.flatnonzero(y <= 0)[0])
    for seen in (12, ends // 3, ends // 2):
        found = exact(y[:seen], ">", 0.0, "parabola")
        assert found is not None and found.span is not None
        assert found.span[0] <= ends - (seen - 1) <= found.span[1] and found.span[1] - found.span[0] <= 0.02 * ends
    assert found.k == ends - (seen - 1)


def test_a_bound_on_the_way_up_is_met_on_the_way_up():
    k = np.arange(40.0)
    y = 0.5 * k * k
    found = exact(y[:20], "<", 300.0, "parabola")
    assert found is not None and found.k == int(np.flatnonzero(y >= 300)[0]) - 19


def test_what_bends_no_more_than_its_rounding_has_no_parabola():
    k = np.arange(30.0)
    assert exact(1.0 - 0.01 * k + 1e-15 * k * k, ">", 0.0, "parabola") is None
    assert exact(0.9**k, ">", 1e-3, "parabola") is None
    assert exact(k * k, ">", -1.0, "parabola") is None
    assert exact((k * k).astype(np.float32)[:6], "<", 500.0, "parabola") is None
