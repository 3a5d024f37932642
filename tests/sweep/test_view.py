"""Pictures of sweeps: what they show, points that are selected, pages without a kernel."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.sweep.graphs import newton
from tests.sweep.test_sweep import logistic
from workbench.errors import SweepError
from workbench.widgets.base.figure.point_event import PointEvent
from workbench.widgets.sweep.sweep_spec import OUTCOMES, columns_to_show, sweep_spec


@pytest.fixture(scope="module")
def grid():
    axes = {"a": np.linspace(-4.0, 9.0, 14), "tol": np.geomspace(1e-12, 1e-2, 5)}
    return wb.sweep(newton(), axes, work=20_000, collect=["x", "label"])


@pytest.fixture(scope="module")
def diagram():
    return wb.sweep(logistic.graph_for(3.2, 1), {"r": np.linspace(2.8, 4, 50)}, inputs={"n": 300}, collect=["x[-32:]"])


def test_a_map_shows_each_point_in_its_place(grid):
    (trace,) = sweep_spec(grid, "iterations")["data"]
    assert trace["type"] == "heatmap" and trace["z"].shape == (5, 14)
    k = grid.index({"a": 4.0, "tol": 1e-12})
    assert trace["z"][0, list(trace["x"]).index(4.0)] == grid["iterations"][k]
    assert sweep_spec(grid, "iterations")["layout"]["yaxis"]["type"] == "log"


def test_outcomes_have_colours_of_their_own_that_the_bar_names(grid):
    (trace,) = sweep_spec(grid, "outcome")["data"]
    names = trace["colorbar"]["ticktext"]
    assert set(names) == set(np.unique(grid["outcome"])) and names[0] == "ended"
    colours = [colour for _, colour in trace["colorscale"][::2]]
    assert colours == [OUTCOMES[name] for name in names] and len(set(OUTCOMES.values())) == len(OUTCOMES)
    at = names.index(grid["outcome"][0])
    assert trace["z"][0, 0] == at


def test_points_that_wait_are_not_drawn(grid):
    fine = grid.refine()
    (trace,) = sweep_spec(fine, "iterations")["data"]
    assert np.isfinite(trace["z"]).all()  # each has the entry of the nearest point that was run
    part = wb.sweep(newton(), {"a": np.linspace(-5, -1, 64), "tol": [1e-9, 1e-8]}, work=200_000, wait=False)
    part.cancel()
    (trace,) = sweep_spec(part, "iterations")["data"]
    waits = part.grid("outcome").T == "waiting"
    assert np.isnan(trace["z"][waits]).all() and np.isfinite(trace["z"][~waits]).all()


def test_outputs_that_were_not_computed_are_not_drawn(grid):
    (trace,) = sweep_spec(grid, "x")["data"]
    ended = (grid.grid("outcome") == "ended").T
    assert np.isfinite(trace["z"][ended]).all() and not ended.all() and np.isnan(trace["z"][~ended]).all()
    assert trace["text"][0, 0] == grid["outcome"][0]


def test_a_bifurcation_diagram_has_all_newest_values(diagram):
    (trace,) = sweep_spec(diagram, "x[-32:]")["data"]
    assert len(trace["x"]) == 50 * 32
    r = diagram["r"][10]
    assert sorted(trace["y"][trace["x"] == r]) == sorted(diagram["x[-32:]"][10])


def test_curves_and_scatters(diagram):
    (trace,) = sweep_spec(diagram, "iterations")["data"]
    assert trace["y"].tolist() == [300.0] * 50
    drawn = wb.sweep(newton(), {"a": (1.0, 9.0), "tol": (1e-9, 1e-3, "log")}, design="sobol", points=32)
    (trace,) = sweep_spec(drawn, "iterations")["data"]
    assert trace["type"] == "scattergl" and len(trace["x"]) == 32
    assert sweep_spec(drawn, "outcome")["data"][0]["name"] == "ended"


def test_a_click_selects_the_point_and_opens_that_run(grid):
    view = grid.view(["iterations", "outcome"])
    view._clicked(PointEvent({}, (0, 8), x=4.0, y=1e-12))
    assert view.point == grid.index({"a": 4.0, "tol": 1e-12})
    assert f"Point {view.point}" in view._words.value and "a 4" in view._words.value
    panel = view.open_run()
    panel.session.run()
    assert panel.session.outputs["x"].tobytes() == grid["x"][view.point].tobytes()
    view.close()
    assert panel.session.state == "closed"


def test_a_view_fills_while_the_sweep_runs():
    found = wb.sweep(newton(), {"a": np.linspace(-5, 9, 200), "tol": [1e-9, 1e-6]}, work=20_000, wait=False)
    view = found.view("iterations")
    found.wait()
    z = view._figures[0].spec["data"][0]["z"]
    assert np.isfinite(z).all() and view._stop.layout.display == "none"
    view.show("outcome")
    assert "outcome" in view._figures[0].spec["layout"]["title"]["text"]
    view.close()


def test_a_page_works_offline(grid, tmp_path):
    view = grid.view(["outcome", "label"])
    page = view.to_html(tmp_path / "sweep.html").read_text(encoding="utf-8")
    assert page.count("plotly-graph-div") >= 2 and "70 points" in page and "src=" not in page.split("<script", 1)[0]
    assert view.figure_in("dark").layout.template is not None
    view.close()


def test_what_has_no_picture_is_refused(grid):
    assert columns_to_show(grid)[0] == "outcome" and "failure" not in columns_to_show(grid)
    for source, columns, slug in ((grid, "nothing", "no-column"), ("x", "outcome", "no-view-source")):
        with pytest.raises(SweepError) as caught:
            wb.widgets.SweepView(source, columns)
        assert caught.value.slug == slug
    with pytest.raises(SweepError, match="no point is selected"):
        wb.widgets.SweepView(grid).open_run()
