"""Decisions, tokens and dead paths against what the trace says."""

from __future__ import annotations

import json

import numpy as np
import pytest

import workbench as wb
from tests.widgets.browser_side import click, open_view, until
from tests.widgets.graphs import EVIL, counter, evil, nested
from workbench.trace.series import Series
from workbench.widgets import ControlFlowView
from workbench.widgets.base.spec import whole_ticks
from workbench.widgets.control_flow.control_flow_view import SECTIONS
from workbench.widgets.control_flow.decisions_model import ControlFlowModel, runs
from workbench.widgets.control_flow.tokens_model import tokens_model
from workbench.widgets.live.selection import Moment, Selection

pytestmark = pytest.mark.usefixtures("nothing_is_left")


@pytest.fixture
def session():
    with wb.Session(nested(), {"n": 6}) as session:
        session.run()
        yield session


def row_of(outcomes, count=None):
    y = np.asarray(outcomes, dtype=np.float64)
    return {"x": np.arange(len(y), dtype=np.float64), "y": y, "count": len(y) if count is None else count}


def model(view):
    return view.model(view.source.snapshot())


# -- decisions --------------------------------------------------------------------------------------------------------
def test_runs_of_the_same_outcome():
    assert runs(row_of([]), 10, 5) == []
    single = runs(row_of([1, 1, 0]), 10, 5)
    assert [(r["begin"], r["length"], r["side"]) for r in single] == [(0, 1, True), (1, 1, True), (2, 1, False)]
    merged = runs(row_of([1] * 8 + [0] * 2), 10, 5)
    assert [(r["begin"], r["length"], r["side"]) for r in merged] == [(0, 8, True), (8, 2, False)]


def test_many_flips_are_summed_up_without_gaps():
    found = runs(row_of([0, 1] * 3000), 100, 50)
    assert len(found) <= 100 and all(r["side"] is None for r in found)
    ends = [r["begin"] + r["length"] for r in found]
    np.testing.assert_allclose(ends[:-1], [r["begin"] for r in found][1:])
    assert found[0]["begin"] == 0 and ends[-1] == pytest.approx(6000)


def test_strips_are_the_decisions_of_the_trace(session):
    view = ControlFlowView(session)
    spec = view.spec(model(view))
    drawn = {}
    for side, trace in zip((True, False), spec["data"], strict=False):
        for (pred, number), length in zip(trace["customdata"], trace["x"], strict=True):
            for k in range(int(length)):
                drawn[pred, number + k] = side
    for row in model(view)["rows"]:
        wanted = session.trace[row["pred"]].values
        assert [drawn[row["pred"], k] for k in range(len(wanted))] == wanted.tolist()
    assert spec["data"][0]["marker"]["pattern"]["shape"] != spec["data"][1]["marker"]["pattern"]["shape"]
    assert "T" in spec["data"][0]["text"][0] and "F" in spec["data"][1]["text"][0]
    view.close()


def test_a_click_looks_at_the_iteration_of_the_decision(session):
    selection = Selection()
    view = ControlFlowView(session, selection=selection)
    row = next(r for r in model(view)["rows"] if len(r["frame"]) == 2)
    iterations = session.trace[row["pred"]].iterations
    view.look_at(row["pred"], 7)
    assert selection.moment == Moment(("outer", "inner"), tuple(iterations[7].tolist()))
    assert model(view)["marks"].count(7) == 1, "and the decision is marked"
    view.look_at(row["pred"], 10**6)
    view.look_at("no such", 0)
    assert selection.moment.iteration == tuple(iterations[7].tolist())
    view.close()


# -- tokens -----------------------------------------------------------------------------------------------------------
def test_tokens_of_a_loop_in_a_loop(session):
    found = tokens_model(session.graph, session.trace)
    labels = [p["label"] for p in found["places"]]
    links = {(labels[k["source"]], labels[k["target"]]): k["count"] for k in found["links"]}
    trace = session.trace
    assert links["start", "outer: condition"] == 2
    assert links["outer: next iteration", "outer: condition"] == 12
    assert links["outer: condition", "outer: body (true)"] == 12
    assert links["outer: condition", "outer: leaves (false)"] == 2
    assert links["outer: body (true)", "inner: condition"] == 12
    inner = trace.branch_counts()["inner/j/Switch"]
    assert links["inner: condition", "inner: body (true)"] == 2 * inner[1] == 30
    assert links["inner: condition", "inner: leaves (false)"] == 2 * inner[0] == 12
    for loop in ("outer", "inner"):
        into = sum(c for (_, b), c in links.items() if b == f"{loop}: condition")
        out = sum(c for (a, _), c in links.items() if a == f"{loop}: condition")
        assert into == out, "no token is lost"


def test_sides_that_were_never_taken_are_named():
    with wb.Session(nested(), {"n": 2}) as session:
        session.run()
        never = tokens_model(session.graph, session.trace)["never"]
        assert any(n.endswith(": true") for n in never)
    with wb.Session(nested(), {"n": 0}) as session:
        session.run()
        assert "body of outer" in tokens_model(session.graph, session.trace)["never"]


# -- dead paths -------------------------------------------------------------------------------------------------------
def test_dead_nodes_and_the_decision_against_them(session):
    selection = Selection()
    view = ControlFlowView(session, section="dead paths", selection=selection)
    preds = session.trace["outer/greater"].values
    for moment in range(6):
        selection.look_at(Moment(("outer",), (moment,)))
        paths = {(p["name"], p["side"]): p for p in model(view)["paths"]}
        for name, side in paths:
            if "go on" in name:
                continue
            path = paths[name, side]
            assert path["dead"] is (bool(preds[moment]) is not (side == "true"))
            for node in path["nodes"]:
                if path["dead"]:
                    with pytest.raises(wb.WorkbenchError):
                        session.value(node, moment)
                else:
                    session.value(node, moment)
    view.close()


def test_the_selected_node_is_explained(session):
    selection = Selection()
    view = ControlFlowView(session, section="dead paths", selection=selection)
    selection.look_at(Moment(("outer",), (0,)), node="outer/cond/subtract")
    told = view.part.status["answer"]
    assert told.startswith("outer/cond/subtract is dead at outer 0: greater is false, so Switch")
    selection.select("outer/cond/add")
    assert "is alive at outer 0" in view.part.status["answer"]
    selection.select("n")
    assert "cannot be dead" in view.part.status["answer"]
    selection.look_at(Moment(("outer",), (6,)), node="outer/add")
    assert "The condition of outer is false" in view.part.status["answer"]
    view._on_message("select", {"node": "outer/less"})
    assert selection.node == "outer/less"
    for nonsense in ("no such", None, 3, ["outer/less"]):
        view._on_message("select", {"node": nonsense})
    assert selection.node == "outer/less"
    view.close()


def test_before_anything_is_decided():
    with wb.Session(nested(), {"n": 6}) as session:
        for section in SECTIONS:
            view = ControlFlowView(session, section=section)
            assert not any(a.visible for a in (view.figure.layout.xaxis, view.figure.layout.yaxis)), "no empty axes"
            view.close()


# -- sections ---------------------------------------------------------------------------------------------------------
def test_sections_are_switched_live(session):
    view = ControlFlowView(session)
    open_view(view)
    for section, kind in (("tokens", "sankey"), ("dead paths", "bar"), ("decisions", "bar"), ("tokens", "sankey")):
        view.show_section(section)
        assert until(lambda kind=kind: view.live.figure.data and view.live.figure.data[0].type == kind)
        wanted = view.spec(model(view))["layout"]
        assert until(lambda wanted=wanted: len(view.live.figure.layout.annotations) == len(wanted["annotations"]))
        assert len(view.live.figure.layout.shapes) == len(wanted["shapes"]), "nothing of another section is left"
    view.show_section("decisions")
    assert until(lambda: view.live.figure.data and view.live.figure.data[0].type == "bar")
    click(view, 0, 0)
    node, number = view.live.figure.data[0].customdata[0]
    assert view.selection.node == node.rsplit(":", 1)[0] and view.selection.moment.iteration == (number,)
    with pytest.raises(wb.WorkbenchError, match="no-section"):
        view.show_section("pie")
    with pytest.raises(wb.WorkbenchError, match="no-section"):
        ControlFlowView(session, section="pie")
    view.close()


@pytest.mark.parametrize("section", SECTIONS)
def test_hostile_names_and_files(section, tmp_path):
    with wb.Session(evil(), {f"x{EVIL}": 0.0}) as session:
        session.run()
        view = ControlFlowView(session, section=section)
        figure = view.figure.to_plotly_json()
        for trace in figure["data"]:
            trace.pop("customdata", None)
        assert "<img" not in json.dumps(figure, default=str)
        assert "<img src=x" not in view.to_html(tmp_path / "flow.html").read_text(encoding="utf-8").replace(
            json.dumps("customdata"), ""
        )
        view.close()


def test_long_loops_at_full_speed():
    with wb.Session(counter(300_000.0), {"start": 0.0}) as session:
        session.run()
        view = ControlFlowView(session)
        for _ in range(20):
            found = model(view)
            if not view.behind:
                break
        bars = sum(len(t["x"]) for t in view.spec(found)["data"])
        assert bars == 2, "true all the way, then false once"
        view.close()


def test_a_decision_on_a_branch_is_followed_at_a_bounded_cost(monkeypatch):
    """A predicate that is asked in every second iteration: counting its firings looks at every row."""
    b = wb.GraphBuilder("branching")

    def body(i):
        inner = lambda: b.cond(np.remainder(i, 3.0) < 1.0, lambda: i + 1.0, lambda: i * 1.0 + 1.0)  # noqa: E731
        return b.cond(np.remainder(i, 2.0) < 1.0, inner, lambda: i + 1.0)

    graph = b.build(b.while_loop(lambda i: i < np.inf, body, b.placeholder("start", "float64", ())))
    looked = []
    within = Series.within
    monkeypatch.setattr(Series, "within", lambda s, a, z: (looked.append(z - a), within(s, a, z))[1])
    monkeypatch.setattr(Series, "__len__", lambda s: pytest.fail("counted") if s.conditional else len(s._rows()))
    with wb.Session(graph, {"start": 0.0}) as session:
        model = ControlFlowModel(graph)
        session.run(wait=False)
        assert until(lambda: session.snapshot().iterations.get(("while",), 0) > 300_000)
        rows = model.update(session.trace, running=True)["rows"]
        assert sum(looked) <= 2 * 40_000, "of what was recorded a part"
        inner = next(r for r in rows if session.trace[r["pred"]].conditional)
        assert not inner["exact"] and inner["text"].startswith("about") and inner["count"] > 100_000
        session.pause()
        monkeypatch.undo()
        while True:
            rows = model.update(session.trace)["rows"]
            if not model.behind:
                break
        for row in rows:
            values = session.trace[row["pred"]].values
            assert (row["n_true"], row["n_false"]) == (values.sum(), len(values) - values.sum()) and row["exact"]
            assert row["last"] == values[-1] and row["x"][-1] <= session.trace[row["pred"]].iterations[-1, 0]
        session.step_back(200)
        rows = model.update(session.trace)["rows"]
        while model.behind:
            rows = model.update(session.trace)["rows"]
        for row in rows:
            assert row["n_true"] + row["n_false"] == len(session.trace[row["pred"]]), "what was taken back is gone"


def test_a_step_of_one_does_not_outlive_few_decisions():
    """Plotly keeps a step that is taken away; under a long axis it would lay out labels for half a minute."""
    assert whole_ticks(12.0) == {"tickmode": "linear", "dtick": 1}
    assert whole_ticks(13.0) == whole_ticks(0.0) == {"tickmode": "auto"}
    with wb.Session(counter(), {"start": 0.0}) as session:
        view = ControlFlowView(session)
        session.step(20)
        assert view.figure.layout.xaxis.tickmode == "linear"
        session.run(wait=False)
        assert until(lambda: session.snapshot().event > 1000)
        session.pause()
        assert view.figure.layout.xaxis.tickmode == "auto"
        view.close()
