"""Known numbers from sweeps: 2/L, Feigenbaum points, the window of period 3, Newton's fractal; refined grids."""

from __future__ import annotations

import re

import numpy as np
import pytest

import workbench as wb
from tests.sweep.graphs import descent, newton, raising
from tests.sweep.test_sweep import logistic
from workbench.errors import SweepError


def test_the_stability_limit_of_gradient_descent_to_12_digits():
    found = wb.boundary(descent(), {"lr": (0.1, 3.0)}, inputs={"start": [1.0, 1.0, 1.0]})
    assert abs(found.value - 0.5) < 0.5e-12  # 2 / L of the largest curvature, 4
    assert found.low < found.high and found.points < 80
    assert "converges changes at lr = 0.5" in str(found)


def test_where_a_run_ends_and_fails():
    b = wb.GraphBuilder("counts")
    step = b.placeholder("step")
    graph = b.build(b.while_loop(lambda x: x < 10.0, lambda x: x + step, {"x": 0.0}))
    found = wb.boundary(graph, {"step": (-0.0, 3.0)}, what="ends", work=10**6, tolerance=1e-3)
    assert 0 <= found.low < found.high < 0.01 and found.below == "endless" and found.above == "ended"


@pytest.mark.parametrize(
    ("arguments", "slug"),
    [
        ({"parameters": {"lr": (0.6, 3.0)}}, "same-answer"),
        ({"parameters": {"lr": (3.0, 0.1)}}, "bad-range"),
        ({"parameters": {"lr": (0.1, 3.0)}, "what": "shines"}, "bad-answer"),
        ({"parameters": {"lr": (0.1, np.nan)}}, "bad-range"),
        ({"parameters": {"lr": 0.1}}, "bad-range"),
        ({"parameters": {"rate": (0.1, 3.0)}}, "unknown-feed"),
        ({"parameters": {"lr": (0.1, 3.0)}, "variable": "y"}, "no-variable"),
        ({"parameters": {"lr": (0.1, 3.0)}, "tolerance": np.nan}, "bad-tolerance"),
        ({"parameters": {"lr": (0.1, 3.0)}, "what": "fails"}, "same-answer"),
    ],
)
def test_what_cannot_be_answered_is_said(arguments, slug):
    with pytest.raises(wb.WorkbenchError) as caught:
        wb.boundary(descent(), inputs={"start": [1.0, 1.0, 1.0]}, **arguments)
    assert caught.value.slug == slug


def test_a_parameter_of_whole_numbers_is_halved_in_whole_numbers():
    found = wb.boundary(raising(), {"d": (3, 9)}, inputs={"n": 6}, what="fails")
    assert (found.low, found.high, found.below, found.above) == (5, 6, "failed", "ended")


def test_where_a_period_doubles_the_range_of_the_place_is_told():
    """Steps that shrink ever less, towards those of a cycle, do not count as convergence."""
    b = wb.GraphBuilder("pond")
    r = b.placeholder("r")
    loop = b.while_loop(
        lambda x, d: abs(d) > 1e-12, lambda x, d: {"x": r * x * (1 - x), "d": r * x * (1 - x) - x}, {"x": 0.3, "d": 1.0}
    )
    graph = b.build({"x": loop["x"]})
    for what in ("converges", "ends"):
        with pytest.raises(SweepError) as caught:
            wb.boundary(graph, {"r": (2.5, 3.4)}, what=what)
        assert caught.value.slug == "undecided"
        low, high = map(float, re.findall(r"(\d\.\d+) \(", str(caught.value)))
        assert 2.997 < low < 3 < high < 3.002
    with pytest.raises(SweepError, match="has none"):
        b = wb.GraphBuilder("line")
        wb.boundary(b.build(b.placeholder("lr") + 1.0), {"lr": (0.0, 1.0)})


def doubling(period: int, low: float, high: float) -> float:
    """The r at which the cycle of this period of the logistic map doubles, read from a sweep.

    A cycle is stable as long as its multiplier, the product of r (1 - 2 x) over one turn, is above -1. It is computed
    from the newest values where they have settled on the cycle, and followed to -1 by a polynomial.
    """
    r = np.linspace(low, high, 61)
    found = wb.sweep(logistic.graph_for(3.2, 1), {"r": r}, inputs={"n": 20_000}, collect=["x[-32:]"], work=10**6)
    x = found["x[-32:]"]
    settled = np.abs(x[:, period:] - x[:, :-period]).max(axis=1) < 1e-13
    slope = np.prod(r[:, None] * (1 - 2 * x[:, -period:]), axis=1)
    near = settled & (slope > -0.98) & (slope < 0)
    assert near.sum() > 12
    return float(np.polynomial.Polynomial.fit(slope[near], r[near], 6)(-1.0))


@pytest.mark.parametrize(
    ("period", "low", "high", "known"),
    [(1, 2.4, 3.1, 3.0), (2, 3.2, 3.45, 3.449489743), (4, 3.49, 3.545, 3.544090359), (8, 3.553, 3.565, 3.564407266)],
)
def test_feigenbaum_points_to_6_digits(period, low, high, known):
    assert abs(doubling(period, low, high) - known) < 0.5e-6


def test_the_window_of_period_three_is_found():
    r = np.linspace(3.80, 3.88, 801)
    found = wb.sweep(logistic.graph_for(3.2, 1), {"r": r}, inputs={"n": 20_000}, collect=["x[-12:]"], work=10**6)
    newest = found["x[-12:]"]
    three = (np.abs(newest[:, 3:] - newest[:, :-3]).max(axis=1) < 1e-6) & (np.ptp(newest, axis=1) > 0.1)
    window = r[three]
    # it opens at 1 + sqrt(8) by a tangent bifurcation, and the cycle of 3 doubles at 3.8415
    assert abs(window.min() - (1 + np.sqrt(8))) < 2e-4 and abs(window.max() - 3.8415) < 2e-4


def test_newtons_fractal_equals_numpy_pixel_by_pixel():
    @wb.graph
    def fractal(re, im):
        x, y, n = re, im, 0
        while n < 40:
            xx, yy = x * x - y * y, 2.0 * x * y  # z * z
            down = 3.0 * (xx * xx + yy * yy)
            cx, cy = xx * x - yy * y - 1.0, xx * y + yy * x  # z ** 3 - 1
            x, y = x - 3.0 * (cx * xx + cy * yy) / (down * 3.0) * 1.0, y - (cy * xx - cx * yy) / down
            n = n + 1
        return x, y

    side = np.linspace(-1.5, 1.5, 64) + 1e-3
    found = wb.sweep(fractal.graph_for(1.0, 1.0), {"re": side, "im": side})
    x, y = (a.copy() for a in np.meshgrid(side, side, indexing="ij"))
    for _ in range(40):
        xx, yy = x * x - y * y, 2.0 * x * y
        down = 3.0 * (xx * xx + yy * yy)
        cx, cy = xx * x - yy * y - 1.0, xx * y + yy * x
        x, y = x - 3.0 * (cx * xx + cy * yy) / (down * 3.0) * 1.0, y - (cy * xx - cx * yy) / down
    outputs = list(found.columns.all.values.values())
    assert (outputs[0].reshape(64, 64) == x).all() and (outputs[1].reshape(64, 64) == y).all()
    roots = np.exp(2j * np.pi * np.arange(3) / 3)
    basin = np.abs((x + 1j * y)[..., None] - roots).argmin(axis=-1)
    assert set(np.unique(basin)) == {0, 1, 2}


def test_refinement_runs_points_where_neighbours_differ():
    coarse = wb.sweep(descent(), {"lr": np.linspace(0.1, 0.9, 9)}, inputs={"start": [1.0, 1.0, 1.0]}, collect=["label"])
    fine = coarse.refine("label")
    assert fine.shape == (17,) and fine.state == "finished"
    ran = fine["outcome"] != "waiting"
    assert ran[::2].all() and 0 < ran[1::2].sum() < 8
    assert (fine.grid("label") != "").all()
    for k in np.flatnonzero(ran):
        alone = wb.sweep(descent(), {"lr": [fine["lr"][k]]}, inputs={"start": [1.0, 1.0, 1.0]}, collect=["label"])
        assert alone["label"][0] == fine["label"][k] and alone["iterations"][0] == fine["iterations"][k]


def test_refinement_of_two_axes_and_of_other_designs():
    coarse = wb.sweep(newton(), {"a": np.linspace(-4.0, 4.0, 9), "tol": np.geomspace(1e-12, 1e-3, 4)})
    fine = coarse.refine()
    assert fine.shape == (17, 7) and np.isclose(fine.design.axes["tol"][1], np.sqrt(1e-12 * 1e-9))
    assert (fine.grid("outcome") != "waiting").all() and (fine["outcome"] == "waiting").any()
    with pytest.raises(SweepError, match="have no neighbours"):
        wb.sweep(newton(), {"a": (1.0, 2.0)}, inputs={"tol": 1e-9}, design="random", points=4).refine()
