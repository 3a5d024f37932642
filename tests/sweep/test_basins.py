"""Basins: attractors are found, counted and named; boxes are swept again."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.sweep.graphs import descent, newton
from tests.sweep.test_sweep import logistic
from workbench.errors import SweepError
from workbench.sweep.basins import groups


def test_cycles_are_found_and_named():
    found = wb.sweep(
        logistic.graph_for(3.2, 1), {"r": [2.5, 3.2, 3.2, 3.9]}, design="list", inputs={"n": 3000}, collect=["x[-64:]"]
    )
    basins = found.basins()
    assert basins.names == ["cycle of 2: x = 0.513, 0.7995", "x = 0.6"] and basins.counts == [2, 1]
    assert found["basin"].tolist() == ["x = 0.6", basins.names[0], basins.names[0], "elsewhere"]
    turn = found["x[-64:]"][1][-2:]
    assert sorted(basins.values[0][:, 0]) == sorted(turn)
    assert "2 points, 50.0%" in str(basins) and "x = 0.6" in basins._repr_html_()


def test_groups_part_where_there_is_a_gap():
    rng = np.random.default_rng(4)
    centres = np.array([[0, 0], [0, 1], [1, 0], [3, 3]])
    which = rng.integers(0, 4, 500)
    found = groups(centres[which] + rng.uniform(-1e-4, 1e-4, (500, 2)), 1e-2)
    assert all(len(set(found[which == k])) == 1 for k in range(4)) and len(set(found)) == 4


def test_values_that_cover_a_range_are_told_as_one():
    b = wb.GraphBuilder("same")
    x = b.placeholder("x")
    found = wb.sweep(b.build({"y": x * 1.0}), {"x": np.linspace(0, 1, 5000)})
    assert found.basins().names == ["y = 0 to 1"]
    assert found.basins(tolerance=1e-9).names == [] and set(found.basins(tolerance=1e-9).column) == {"elsewhere"}


def test_names_have_the_digits_that_tell_them_apart():
    b = wb.GraphBuilder("same")
    x = b.placeholder("x")
    found = wb.sweep(b.build({"y": x * 1.0}), {"x": [1.0, 1.00001]})
    assert found.basins(tolerance=1e-7).names == ["y = 1", "y = 1.00001"]


def test_what_cannot_tell_attractors_is_refused():
    found = wb.sweep(descent(), {"lr": [0.1, 0.2]}, inputs={"start": [1.0, 2.0, 3.0]})  # arrays
    with pytest.raises(SweepError, match="cannot be told") as caught:
        found.basins()
    assert caught.value.slug == "no-column"
    found = wb.sweep(newton(), {"a": [4.0]}, inputs={"tol": 1e-9})
    for arguments, slug in (({"by": "y"}, "no-column"), ({"tolerance": 0}, "bad-tolerance")):
        with pytest.raises(SweepError) as caught:
            found.basins(**arguments)
        assert caught.value.slug == slug


def test_a_box_of_a_grid_and_of_drawn_points():
    found = wb.sweep(newton(), {"a": np.linspace(1.0, 9.0, 9), "tol": np.geomspace(1e-12, 1e-3, 4)})
    fine = found.refine({"a": (2.0, 4.0)})
    assert fine.shape == found.shape and fine.design.axes["a"].tolist() == np.linspace(2, 4, 9).tolist()
    assert (fine.design.axes["tol"] == found.design.axes["tol"]).all() and (fine["outcome"] == "ended").all()
    with fine.session((3, 1)) as session:
        session.run()
        assert session.outputs["x"].tobytes() == fine.grid("x")[3, 1].tobytes()
    ranges = {"a": (1.0, 9.0), "tol": (1e-9, 1e-3, "log")}
    drawn = wb.sweep(newton(), ranges, design="sobol", points=32).refine({"tol": (1e-5, 1e-4)})
    assert len(drawn) == 32 and 1e-5 <= drawn["tol"].min() and drawn["tol"].max() <= 1e-4 and np.ptp(drawn["a"]) > 6


def test_a_box_of_whole_numbers_has_those_that_there_are():
    b = wb.GraphBuilder("double")
    n = b.placeholder("n", "int64", ())
    found = wb.sweep(b.build({"m": n + n}), {"n": np.arange(0, 100, 10)})
    assert found.refine({"n": (2.5, 6.2)})["n"].tolist() == [3, 4, 5, 6]
    with pytest.raises(SweepError, match="no whole number"):
        found.refine({"n": (2.2, 2.8)})


@pytest.mark.parametrize("box", [{}, {"b": (1, 2)}, {"a": (2, 1)}, {"a": (1, np.nan)}, {"a": 3}, {"a": (1, 1)}, 7])
def test_boxes_that_do_not_fit_are_refused(box):
    found = wb.sweep(newton(), {"a": np.linspace(1.0, 9.0, 9)}, inputs={"tol": 1e-9})
    with pytest.raises(SweepError) as caught:
        found.refine(box)
    assert caught.value.slug == "bad-box"
