"""Pictures of sweeps: their contents, selected points, pages without a kernel."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.sweep.graphs import newton
from tests.sweep.test_sweep import logistic
from workbench.errors import SweepError
from workbench.widgets.base.figure.point_event import PointEvent
from workbench.widgets.sweep.kinds import OUTCOMES
from workbench.widgets.sweep.sweep_spec import columns_to_show, sweep_spec


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


def test_outcomes_have_colours_of_their_own_that_the_legend_names(grid):
    trace, *legend = sweep_spec(grid, "outcome")["data"]
    names = [entry["name"] for entry in legend]
    assert [entry["marker"]["color"] for entry in legend] == [OUTCOMES[name] for name in names]
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
    view._clicked(0, PointEvent({}, (0, 8), x=4.0, y=1e-12))
    assert view.point == grid.index({"a": 4.0, "tol": 1e-12})
    assert f"Point {view.point}" in view._words.value and "a 4" in view._words.value
    (panel,) = view._panels.children
    panel.session.run()
    assert panel.session.outputs["x"].tobytes() == grid["x"][view.point].tobytes()
    view._clicked(0, PointEvent({}, (0, 9), x=5.0, y=1e-12))  # the next one takes its place
    assert panel.session.state == "closed" and len(view._panels.children) == 1
    panel = view.open_run()
    assert panel.session.inputs["a"] == 5.0
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


def test_a_box_that_is_dragged_is_swept_again(grid):
    view = grid.view("iterations")
    view._dragged(0, (-1.0, 30.0), (1e-30, 1e-8))  # parts beyond the map are cut off
    fine = view.sweep
    fine.wait()
    assert fine.shape == grid.shape and (fine["a"].min(), fine["a"].max()) == (-1.0, 9.0)
    assert np.isclose(fine.design.axes["tol"], np.geomspace(1e-12, 1e-8, 5)).all()
    assert view._figures[0].spec["data"][0]["x"][0] == -1.0 and view._box.value.startswith("a=-1:9, tol=1e-12:")
    view._box.value = "a=2:3"  # at the keyboard
    assert view.sweep.wait()["a"].min() == 2.0 and len(view._earlier) == 2
    view.back()
    view.back()
    assert view.sweep is grid and view._back.layout.display == "none"
    for text, word in (("a=3", "not the range"), ("b=1:2", "no parameter"), ("a=3:2", "smaller one first")):
        view._box.value = text
        assert word in view._words.value and view.sweep is grid
    view.close()


def test_a_list_of_points_has_no_box_to_drag():
    found = wb.sweep(newton(), {"a": [1.0, 4.0], "tol": [1e-9, 1e-6]}, design="list")
    for sweep, finer in ((found, False), (wb.sweep(newton(), {"a": [1.0, 4.0], "tol": [1e-9]}), True)):
        view = sweep.view("iterations")
        assert "Click a point for its results" in view._words.value and ("drag a box" in view._words.value) == finer
        view.close()


def test_of_a_third_parameter_there_is_a_picture_for_each_value():
    b = wb.GraphBuilder("sum")
    x, y, z = (b.placeholder(n) for n in "xyz")
    axes = {"x": [0.0, 1.0], "y": [0.0, 10.0], "z": [0.0, 100.0, 200.0]}
    found = wb.sweep(b.build({"sum": x + y + z}), axes)
    view = found.view("sum")
    pictures = [figure.spec["data"][0]["z"].tolist() for figure in view._figures]
    assert pictures == [[[k, k + 1], [k + 10, k + 11]] for k in (0, 100, 200)]
    ranges = {(f.spec["data"][0]["zmin"], f.spec["data"][0]["zmax"]) for f in view._figures}
    assert ranges == {(0, 211)}  # the same colours for the same numbers
    assert view._figures[2].spec["layout"]["title"]["text"].endswith("z = 200")
    view._clicked(2, PointEvent({}, (1, 0), x=0.0, y=10.0))
    assert found["sum"][view.point] == 210
    view.close()


def test_basins_have_names_a_legend_and_colours_of_their_own():
    b = wb.GraphBuilder("root")
    start = b.placeholder("start")
    side = b.placeholder("side")
    x = b.while_loop(lambda x: abs(x * x - 4.0) > 1e-9, lambda x: (x + 4.0 / x) * 0.5, {"x": start + side})
    found = wb.sweep(b.build(x), {"start": np.linspace(-5, 5, 11), "side": [0.0, 0.5]}, work=2000)
    trace, *legend = sweep_spec(found, "basin")["data"]
    names = [entry["name"] for entry in legend]
    assert names[:2] == ["x = -2", "x = 2"] and trace["z"][0, 0] == 0 and trace["z"][0, -1] == 1
    assert found["outcome"][found.index((5, 0))] not in ("ended", "waiting")  # 0 / 0
    assert names[2:] == [found["outcome"][found.index((5, 0))]]
    assert len({entry["marker"]["color"] for entry in legend}) == 3


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


def test_iterations_that_span_decades_are_drawn_by_their_logarithms_with_their_numbers_at_the_scale():
    b = wb.GraphBuilder("rates")
    rate, far = b.placeholder("rate"), b.placeholder("far")
    left = b.while_loop(lambda x: x > 1e-3, lambda x: x * rate, {"x": far})
    sweep = wb.sweep(b.build(left), {"rate": np.linspace(0.05, 0.99, 8), "far": np.linspace(1.0, 1.9, 6)})
    trace = sweep_spec(sweep, "iterations")["data"][0]
    numbers = sweep.grid("iterations").T.astype(float)
    assert numbers.max() >= 100 * numbers.min() > 0
    np.testing.assert_allclose(10.0 ** trace["z"], numbers)
    np.testing.assert_array_equal(trace["customdata"], numbers)  # the text at the pointer
    texts = trace["colorbar"]["ticktext"]
    assert texts and [float(t) for t in texts] == [10.0**k for k in trace["colorbar"]["tickvals"]]
    layout = sweep_spec(sweep, "iterations")["layout"]
    assert layout["yaxis"]["scaleanchor"] == "x"  # one is as long as the other, so the picture is square
    uneven = wb.sweep(b.build(left), {"rate": np.linspace(0.05, 0.99, 4), "far": np.linspace(1.0, 90.0, 4)})
    assert "scaleanchor" not in sweep_spec(uneven, "outcome")["layout"]["yaxis"]


def test_newest_values_that_were_collected_over_one_parameter_are_shown_at_first():
    b = wb.GraphBuilder("logistic")
    r = b.placeholder("r")
    _, x = b.while_loop(
        lambda k, x: k < 60, lambda k, x: (k + 1, r * x * (1.0 - x)), (b.constant(0, "int64"), b.constant(0.3))
    )
    graph = b.build({"x": x})
    name = graph.frames[("while",)].variables[1].name
    sweep = wb.sweep(graph, {"r": np.linspace(2.5, 3.9, 12)}, collect=[f"{name}[-8:]"])
    with_newest, without = sweep.view(), wb.sweep(graph, {"r": np.linspace(2.5, 3.9, 12)}).view()
    assert with_newest.names == [f"{name}[-8:]"] and without.names == ["outcome"]
    with_newest.close()
    without.close()
