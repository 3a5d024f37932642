"""The evolution view: kinds, choices, marks, zoom, other histories, and what cannot be drawn."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.widgets.browser_side import click, until
from tests.widgets.graphs import EVIL, chaotic, evil, nested, newton, one
from tests.widgets.test_escaping import TAG, texts
from workbench.kernels import typed
from workbench.widgets import EvolutionView
from workbench.widgets.evolution.evolution_lines import lines_of, measured_of, statistics_of, why_not
from workbench.widgets.evolution.evolution_model import EvolutionModel
from workbench.widgets.evolution.evolution_strips import frame_of, strips_of
from workbench.widgets.live.selection import Moment, Selection
from workbench.widgets.series import series_reader
from workbench.widgets.strips.strip_spec import strips_spec
from workbench.widgets.text.numerals import numeral


def vectors(n: int = 12, trips: int = 20) -> wb.Graph:
    """A loop with a counter and a vector of ``n`` elements that shrinks."""
    b = wb.GraphBuilder("vectors")
    start = b.constant(np.arange(1.0, n + 1))
    k, w = b.while_loop(lambda k, w: k < trips, lambda k, w: (k + 1, w * 0.5), (b.constant(0, "int64"), start))
    return b.build({"w": w, "k": k})


@pytest.fixture
def session():
    with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
        session.run()
        yield session


@pytest.fixture
def made():
    """Makes views, and closes them."""
    views = []

    def make(*args, **options):
        views.append(EvolutionView(*args, **options))
        return views[-1]

    yield make
    for view in views:
        view.close()


def lines(view) -> list:
    """The curves of what was computed: each has its place in the model."""
    return [t for t in view.figure.data if t.meta and len(t.x) and "looked ahead" not in t.name]


def notes(view) -> str:
    return " ".join(a.text for a in view.figure.layout.annotations)


def test_a_cobweb_goes_from_each_value_to_its_successor(session, made):
    selection = Selection()
    view = made(session, ["x"], kind="cobweb", selection=selection)
    x = session.trace["x"].values
    diagonal, way, points, now, curve = view.figure.data
    assert np.allclose(curve.y, 0.5 * (np.asarray(curve.x) + 2.0 / np.asarray(curve.x))), "the map of the graph itself"
    assert view.figure.layout.yaxis.scaleanchor == "x" and view.figure.layout.yaxis.scaleratio == 1
    assert np.array_equal(points.x, x[:-1]) and np.array_equal(points.y, x[1:])
    assert np.array_equal(diagonal.x, diagonal.y) and diagonal.x[0] == x.min()
    assert way.x[1] == way.x[0] == x[0] and way.y[0] == x[0] and way.y[1] == x[1]  # up to the point, not yet across
    assert (now.x[0], now.y[0]) == (x[-2], x[-1])
    selection.look_at(Moment(("while",), (3,)))
    now = view.figure.data[3]
    assert (now.x[0], now.y[0]) == (x[3], x[4])


def test_a_phase_portrait_has_the_change_or_another_value(session, made):
    x = session.trace["x"].values
    points = made(session, ["x"], kind="phase").figure.data[2]
    assert np.allclose(points.y, np.diff(x)) and np.array_equal(points.x, x[:-1])
    with wb.Session(vectors(2)) as other:
        other.run()
        names = [v.name for v in other.graph.frames[("while",)].variables]
        w = other.trace[names[1]].values
        points = made(other, [names[1]], kind="phase").figure.data[2]
        assert np.array_equal(points.x, w[:, 0]) and np.array_equal(points.y, w[:, 1])
        points = made(other, [names[0], names[1]], kind="phase", against=names[0]).figure.data[2]
        assert np.array_equal(points.x, points.y)


def test_arrays_have_a_heat_map_and_statistics(made):
    with wb.Session(vectors()) as session:
        session.run()
        name = session.graph.frames[("while",)].variables[1].name
        w = session.trace[name].values
        heat, bad = made(session, [name], kind="heat").figure.data
        assert np.array_equal(heat.z, w.T) and len(bad.x) == 0 and heat.y[3] == "[3]"
        view = made(session, [name], kind="statistics")
        drawn = {t.name.split(" ", 1)[1]: np.asarray(t.y) for t in lines(view)}
        assert np.allclose(drawn["max"], w.max(axis=1)) and np.allclose(drawn["mean"], w.mean(axis=1))
        assert np.allclose(drawn["2-norm"], np.linalg.norm(w, axis=1))
        view.kind = "cobweb"
        assert view.figure.data[2].x[0] == np.linalg.norm(w[0])


def test_kinds_that_a_value_does_not_have_say_why(session, made):
    view = made(session, ["x"], kind="heat")
    assert "is not an array with components" in notes(view) and view.figure.layout.xaxis.visible is False
    assert "x holds single numbers" in notes(made(session, ["x"], kind="statistics"))
    with pytest.raises(wb.WorkbenchError, match="no-kind"):
        made(session, kind="pie")
    with pytest.raises(wb.WorkbenchError, match="no-scale"):
        made(session, scale="cubic")


def test_the_moment_and_breakpoints_are_marked(session, made):
    selection = Selection()
    view = made(session, selection=selection)
    session.breakpoints.add("x", iteration=4)
    session.breakpoints.add("x", when="value > 1e6")
    session.breakpoints.add("x", log="x is {value}").enabled = False
    selection.look_at(Moment(("while",), (7,)))
    figure = view.figure
    assert any(s.type == "line" and s.x0 == s.x1 == 7 for s in figure.layout.shapes)
    signs = {a.text: a for a in figure.layout.annotations}
    assert "iteration 7" in notes(view) and signs["\u25cf"].x == 4
    # those of every iteration are words in the head
    words = view.live.figure.layout.meta["heads"][0]["notes"]
    assert any(w.startswith("\u25c6") and "value &gt; 1e6" in w for w in words), words
    assert any(w.startswith("\u25cb") for w in words), words
    selection.look_at(Moment(("other",), (7,)))
    assert "iteration 7" not in notes(view)


def test_a_click_looks_at_that_iteration(session, made):
    selection = Selection()
    view = made(session, selection=selection)
    view.show(session.snapshot())
    click(view, 0, 5, x=5.0)
    assert selection.moment == Moment(("while",), (5,)) and selection.node == "x"
    view.kind = "cobweb"
    click(view, 2, 7, x=0.5)
    assert selection.moment.iteration == (7,)


def test_a_selected_value_of_the_loop_is_shown_too(session, made):
    selection = Selection()
    view = made(session, selection=selection)
    selection.select("while/divide")
    x, quotient = lines(view)
    assert quotient.name == "divide" and quotient.line.width > x.line.width and quotient.yaxis == "y2"
    selection.select("a")  # not in the loop
    assert len(lines(view)) == 1


def test_the_curves_follow_the_run_into_a_loop_until_a_loop_is_chosen(made):
    with wb.Session(nested(), {"n": 6}) as session:
        view = made(session)
        assert view._choice.frame == ("outer",)
        session.run_to("inner/j", (4, 2))
        model = view.model(session.snapshot())
        assert view._choice.frame == ("outer", "inner") and model["now"] == 2.0
        session.step_out()
        view.model(session.snapshot())
        assert view._choice.frame == ("outer", "inner"), "stepping goes in and out"
        view._chosen("frame", "outer")
        session.run_to("inner/j", (5, 1))
        view.model(session.snapshot())
        assert view._choice.frame == ("outer",)


def test_one_activation_of_an_inner_loop(made):
    with wb.Session(nested(), {"n": 6}) as session:
        session.run()
        selection = Selection()
        view = made(session, frame=("outer", "inner"), selection=selection)
        j = session.trace["inner/j"]
        assert view.names == ["t"], "the counter is closed"
        view._chosen("open", "inner/j")
        view.names = ["inner/j"]
        assert "all activations" in view.figure.layout.xaxis.title.text
        assert len(view.figure.data[0].x) == len(j)
        for activation in (4, (4,), "4"):
            view.show_activation(activation) if activation != "4" else view._chosen("number", "4")
            assert view.figure.data[0].y.tolist() == [0, 1, 2, 3, 4]
            assert view.figure.layout.xaxis.title.text == "iteration"
        view.show_activation("looked at")
        assert len(view.figure.data[0].y) == 6  # the newest
        selection.look_at(Moment(("outer",), (2,)))
        assert view.figure.data[0].y.tolist() == [0, 1, 2]
        view.kind = "cobweb"
        assert view.figure.data[2].y.tolist() == [1, 2]
        for wrong in ("x", "1,2", "-1", ""):
            with pytest.raises(wb.WorkbenchError, match="bad-iteration"):
                view._chosen("number", wrong)


def test_an_activation_that_grows_is_followed(made):
    with wb.Session(nested(), {"n": 9}) as session:
        session.run_to("inner/j", (5, 2))
        model = EvolutionModel(["inner/j"], outer=(5,))
        assert model.update(session.trace)["lines"][0]["y"].tolist() == [0, 1]
        session.run_to("inner/j", (5, 4))
        assert model.update(session.trace)["lines"][0]["y"].tolist() == [0, 1, 2, 3]
        session.run()
        assert model.update(session.trace)["lines"][0]["y"].tolist() == [0, 1, 2, 3, 4, 5]
        session.restart()
        assert model.update(session.trace)["lines"] == []


def test_forecasts_end_with_the_loop(session, made):
    session.run_to("x", iteration=6)
    assert [t.name for t in made(session.trace).figure.data[1:-1] if len(t.x)] == ["x: 90 % band", "x: forecast"]
    session.run()
    assert not any(len(t.x) for t in made(session.trace).figure.data[1:-1])
    assert not any(len(t.x) for t in made(session).figure.data[1:-1])


def test_what_was_before_other_inputs_is_a_dashed_line(session, made):
    before = session.trace["x"].values.copy()
    view = made(session)
    session.update(x0=3.0)
    assert until(lambda: any("earlier inputs" in (t.name or "") for t in view.figure.data))
    ghost = next(t for t in view.figure.data if "earlier inputs" in (t.name or ""))
    assert np.array_equal(ghost.y, before) and ghost.line.dash != view.figure.data[0].line.dash and ghost.opacity == 1
    assert ghost.line.color != view.figure.data[0].line.color
    view._chosen("ghosts", False)
    assert not any("earlier inputs" in (t.name or "") for t in view.figure.data)


def test_forks_are_dashed_lines(session, made):
    session.run_to("x", iteration=4)
    session.step()
    with session.fork() as fork:
        fork.set_value("x", 50.0)
        fork.run()
        view = made(session)
        ghost = next(t for t in view.figure.data if "(copy 1)" in (t.name or ""))
        assert np.array_equal(ghost.y, fork.trace["x"].values) and len(ghost.y) > len(view.figure.data[0].y)
        view.show(session.snapshot())
        assert [c["shown"] for c in view.controls.status["controls"] if c["name"] == "ghosts"] == [True]
    assert not any("(copy" in (t.name or "") for t in view.figure.data)


def test_zooming_reads_the_stretch_again(made):
    with wb.Session(chaotic(300_000)) as session:
        session.run()
        view = made(session, [session.graph.frames[("while",)].variables[1].name])
        whole = np.asarray(view.figure.data[0].x)
        view.zoom(100_000, 101_000)
        x = np.asarray(view.figure.data[0].x)
        inside = x[(x >= 100_000) & (x <= 101_000)]
        assert np.array_equal(inside, np.arange(100_000, 101_001))
        assert np.sum((whole >= 100_000) & (whole <= 101_000)) < 100
        y = np.asarray(view.figure.data[0].y)
        assert np.array_equal(y[(x >= 100_000) & (x <= 101_000)], session.trace[view.names[0]][100_000:101_001])
        view.zoom(None)
        assert np.array_equal(view.figure.data[0].x, whole)


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (np.array(["a", "b"]), "text"),
        (np.zeros((3, 0)), "empty arrays"),
        (np.array([None, {}]), "no numbers"),
        (np.array([1.0, 2.0]), ""),
    ],
)
def test_what_has_no_line_says_why(values, why):
    assert why_not(values) == why and bool(lines_of(values)) == (not why)


def test_statistics_leave_nan_out_and_do_not_overflow():
    found = statistics_of(np.array([[1e200, np.nan, 1e200], [np.nan] * 3, [3.0, 4.0, 0.0]]))
    assert found[" max"][0] == 1e200 and np.isnan(found[" mean"][1]) and found[" 2-norm"][2] == 5.0
    big = lines_of(np.full((1, 9), 1e200))[" (2-norm)"][0]
    assert np.isclose(big, 3e200)
    ragged = np.empty(2, object)
    ragged[:] = [np.ones(4), np.ones((3, 3))]
    assert lines_of(ragged)[" (2-norm)"].tolist() == [2.0, 3.0]


def test_huge_values_flags_and_nothing_at_all_are_drawn(made):
    def model(**line):
        one = {"name": "x", "head": "x", "of": "x", "suffix": "", "number": 0, "width": 1, "bad": None, "bad_count": 0}
        one |= {"bad_last": -1.0, "last": 1.0, "count": 3, "bool": False, "whole": False, **line}
        model = {"lines": [one], "verdicts": [], "x_title": "iteration", "log": line.get("log", False), "kind": "line"}
        return strips_spec(strips_of(model), frame_of(model), 200, True)

    x = np.arange(3.0)
    spec = model(x=x, y=np.array([1.0, 1e308, -1e308]))
    assert np.isnan(spec["data"][0]["y"][1:]).all() and "log scale" in spec["layout"]["annotations"][0]["text"]
    spec = model(x=x, y=np.array([5e-324, 1.0, 1.7e308]), log=True)
    axis = spec["layout"]["yaxis"]
    assert axis["type"] == "log" and np.isfinite(axis["range"]).all() and 1 < len(axis["tickvals"]) <= 4
    spec = model(x=x, y=x > 0, bool=True)
    assert spec["layout"]["yaxis"]["ticktext"] == ["false", "true"]
    bad = model(x=x, y=np.full(3, np.nan), bad=(0.0, np.nan), bad_count=3, bad_last=2.0)
    told = [a["text"] for a in bad["layout"]["annotations"]]
    assert any("NaN: no value to draw" in t for t in told) and any("NaN from 0 to 2" in t for t in told)
    view = made(one())
    assert "No values yet" in notes(view)
    with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
        live = made(session.trace)
        assert "No values yet" in notes(live) and live.figure.layout.xaxis.visible is False
        session.run()
        live.update_now()
        assert live.figure.layout.xaxis.visible and "No values yet" not in notes(live)


def test_an_extreme_of_one_iteration_stays_visible_in_statistics(made):
    """A loop of 20,000 vectors; one element of one of them is a thousand times as large as all others."""
    b = wb.GraphBuilder("spike")
    w = b.placeholder("w", "float64", (3,))
    k, last = b.while_loop(
        lambda k, v: k < 20_000,
        lambda k, v: (k + 1, np.where(np.equal(k, 12_345), w * 1000.0, w)),
        (b.constant(0, "int64"), w),
    )
    with wb.Session(b.build({"k": k, "last": last}), {"w": np.array([1.0, -2.0, 0.5])}) as session:
        session.run()
        drawn = lines(made(session, ["v"], kind="statistics"))
        most, least = (next(t for t in drawn if word in t.name) for word in ("max", "min"))
        assert np.nanmax(most.y) == 1000.0 and np.nanmin(least.y) == -2000.0
        assert 12_346 in most.x and all(100 < len(t.x) < 6000 for t in (most, least))


def test_names_are_shown_and_not_obeyed(made):
    with wb.Session(evil(), {f"x{EVIL}": 0.0}) as session:
        session.run()
        for kind in ("strips", "line", "cobweb", "phase", "heat", "statistics"):
            view = made(session, kind=kind)
            view.show(session.snapshot())
            assert not [t for t in texts(view.figure.to_plotly_json()) if TAG.search(t)]
            assert not TAG.search(view.words.value)


def test_a_wrong_setting_from_the_browser_is_answered_in_place(session, made):
    view = made(session)
    view.controls._browser_says(view.controls, {"kind": "act", "name": "kind", "value": "<b>"}, [])
    assert "Unknown kind" in view.controls.status["error"] and view.kind == "strips"
    view.controls._browser_says(view.controls, {"kind": "act", "name": "__init__", "value": 1}, [])
    assert "Unknown setting" in view.controls.status["error"]
    view.controls._browser_says(view.controls, {"kind": "act", "name": "kind", "value": "phase"}, [])
    assert view.kind == "phase" and view.controls.status["error"] == ""


def test_statistics_of_arrays_that_were_dropped_come_from_the_trace(made):
    graph = vectors(1000, 400)
    with wb.Session(graph, {}) as whole, wb.Session(graph, {}, trace="stats") as kept:
        whole.run(), kept.run()
        assert len(kept.trace["w"].values) < len(whole.trace["w"].values) == 401, "arrays were dropped"
        models = (EvolutionModel(["w"], statistics=True).update(s.trace) for s in (kept, whole))
        ours, theirs = ({line["name"]: line for line in model["lines"]} for model in models)
        view = made(kept, ["w"], kind="statistics")
        assert len(lines(view)) == 4 and all(len(t.x) > 100 for t in lines(view)), "drawn from the first one on"
        assert set(ours) == set(theirs) and len(ours) == 4
        for label, line in theirs.items():
            np.testing.assert_array_equal(ours[label]["x"], line["x"])
            np.testing.assert_allclose(ours[label]["y"], line["y"], rtol=1e-12)


def test_measured_statistics_of_what_is_no_finite_number():
    rows = [[1.0, np.nan, 3.0], [np.inf, 1.0, 2.0], [-np.inf, np.inf, 0.0], [np.nan] * 3, [3.0, 4.0, 0.0]]
    values = np.array(rows)
    numbers = np.array([typed.stats(row) for row in values])
    ours, theirs = measured_of(numbers), statistics_of(values)
    for label in theirs:
        np.testing.assert_allclose(ours[label], theirs[label], err_msg=label)
    assert np.isnan(measured_of(np.array([typed.stats(np.array([1e200, 1e200]))]))[" 2-norm"][0])


def test_a_strip_says_how_many_values_of_a_long_record_of_arrays_were_read(monkeypatch):
    monkeypatch.setattr(series_reader, "SLICE_S", 0.0)  # one chunk a look, however fast the machine is
    with wb.Session(vectors(2000, 1600), {}) as session:
        session.run()
        model = EvolutionModel(["w"])
        (strip,) = strips_of({**model.update(session.trace), "kind": "lines"})
        read = len(strip.lines[0].x)
        assert model.behind and f"{numeral(read)} of 1601 values read so far" in strip.notes
        while model.behind:
            found = model.update(session.trace)
        (strip,) = strips_of({**found, "kind": "lines"})
        assert strip.lines[0].x[-1] == 1600 and not any("read so far" in words for words in strip.notes)
