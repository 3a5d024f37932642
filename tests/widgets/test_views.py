"""The views: figures, files, settings, closing."""

from __future__ import annotations

import json
import sys
import threading

import ipywidgets
import numpy as np
import plotly.graph_objects as go
import pytest

import workbench as wb
from tests.widgets.browser_side import open_view, until
from tests.widgets.graphs import nested, newton
from workbench.widgets import (
    ControlFlowView,
    Debugger,
    EvolutionView,
    GraphView,
    LiveFigure,
    TerminationView,
    ValueInspector,
    debug,
)

VIEWS = (GraphView, EvolutionView, TerminationView, ControlFlowView, ValueInspector)


def comms() -> list[str]:
    return sorted(type(w).__name__ for w in ipywidgets.widgets.widget._instances.values())


@pytest.fixture(autouse=True)
def no_comm_and_no_thread_is_left():
    widgets = ipywidgets.widgets.widget._instances
    before, threads = set(widgets), threading.active_count()
    yield
    # those of an earlier test may be there still, or go when a test closes all
    assert sorted(type(w).__name__ for key, w in widgets.items() if key not in before) == []
    assert until(lambda: threading.active_count() <= threads)


@pytest.fixture
def session():
    with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
        yield session


@pytest.mark.parametrize("kind", VIEWS)
def test_every_view_takes_a_session_a_trace_or_a_graph(kind, session):
    session.run()
    for source in (session, session.trace, session.graph):
        view = kind(source)
        assert type(view.figure) is go.Figure
        assert repr(view).startswith(f"<{kind.__name__}")
        view.close()
        view.close()


@pytest.mark.parametrize("kind", VIEWS)
def test_html_files_are_complete_and_need_no_network(kind, session, tmp_path):
    session.run()
    view = kind(session)
    text = view.to_html(tmp_path / "view.html").read_text(encoding="utf-8")
    head = text.replace(text[text.find("/**") : text.rfind("*/")], "")
    assert "Plotly.newPlot" in text and '<script src="http' not in head
    assert '"showSendToCloud": false' in text or '"showSendToCloud":false' in text
    view.close()


def test_anything_else_is_refused():
    with pytest.raises(wb.WorkbenchError, match="no-view-source"):
        EvolutionView(42)


def test_evolution_shows_all_values_and_the_verdict(session):
    view = EvolutionView(session)
    assert len(view.figure.data[0].x) == 0
    session.run()
    line = view.figure.data[0]
    assert np.array_equal(line.y, session.trace["x"].values)
    assert any("converging" in a.text for a in view.figure.layout.annotations)
    session.step_back(20)
    assert len(view.figure.data[0].y) == len(session.trace["x"]) < len(line.y)
    view.log_scale = True
    assert view.figure.layout.yaxis.type == "log"
    view.close()


def test_control_flow_counts_decisions():
    with wb.Session(nested(), {"n": 6}) as session:
        session.run()
        view = ControlFlowView(session)
        model = view.model(session.snapshot())
        counts = session.trace.branch_counts()
        assert len(model["rows"]) == 3
        for row in model["rows"]:
            assert (row["n_false"], row["n_true"]) == counts[row["switches"][0]]
        view.close()


def test_termination_follows_the_gap(session):
    view = TerminationView(session)
    session.run_to("x", iteration=4)
    (clause,) = view.model(session.snapshot())["clauses"]
    x = session.trace["x"].values
    assert clause["text"] == "|x \u00d7 x \u2212 a| > 1e\u221212" and clause["holds"] is True
    assert clause["gap"] == abs(x[-1] ** 2 - 2.0) - 1e-12
    assert np.allclose(clause["y"], abs(x**2 - 2.0) - 1e-12)
    view.close()


def test_inspector_follows_the_selection(session):
    session.run()
    view = ValueInspector(session)
    view.select("while/divide")
    assert view.name == "while/divide"
    assert float(view.model(session.snapshot())["text"]) == session.value("while/divide")
    with pytest.raises(wb.WorkbenchError):
        view.select("no such value")
    with pytest.raises(wb.WorkbenchError):
        ValueInspector(session, "no such value")
    view.close()


def test_graph_shows_the_next_node_and_folds_frames():
    with wb.Session(nested(), {"n": 4}) as session:
        view = GraphView(session)
        session.step(3)
        state = view.model(session.snapshot())["state"]
        assert state["current"] == view._picture["home"][session.position.node]
        boxes = len(view._picture["nodes"])
        view.collapse(("outer", "inner"))
        assert view.collapsed == (("outer", "inner"),) and len(view._picture["nodes"]) < boxes
        chosen = []
        view.on_select(chosen.append)
        view.select("outer/less")
        assert chosen == ["outer/less"] == [view.selected]
        view.close()


def test_the_panel_is_closed_with_all_its_parts():
    panel = debug(newton(), {"a": 2.0, "x0": 100.0})
    assert isinstance(panel, Debugger)
    for part in (panel.toolbar, *panel.parts):
        open_view(part)
    panel.toolbar.press("run")
    assert until(lambda: panel.toolbar.status["state"] == "finished")
    assert "Finished" in repr(panel) and "event" in repr(panel)
    session = panel.session
    panel.close()
    panel.close()
    assert session.state == "closed"


def test_a_panel_on_a_session_leaves_it_open(session):
    panel = debug(session)
    panel.close()
    assert session.state == "ready"
    assert session.run().reason is wb.StopReason.FINISHED


def test_the_whole_panel_in_one_file(session, tmp_path):
    session.run()
    panel = Debugger(session)
    text = panel.to_html(tmp_path / "panel.html", "dark").read_text(encoding="utf-8")
    assert all(f'"title":"{view.title}"' in text for view in panel.parts) and "iteration 3" in text
    assert len(text) < 7_000_000
    panel.close()


def test_many_figures_share_one_bundle():
    figures = [LiveFigure(go.Figure(go.Scatter(y=[1, 2]))) for _ in range(5)]
    assert comms().count("PlotlyBundle") == 1
    assert max(len(f._esm) for f in figures) < 1500
    assert max(len(json.dumps(f.get_state(), default=str)) for f in figures) < 22_000, "all that opens a figure"
    for figure in figures:
        figure.close()
    assert "PlotlyBundle" not in comms()


def test_arrays_travel_as_binary(session):
    session.run()
    view = EvolutionView(session)
    figure = view.figure
    assert figure.data[0].x.dtype == np.float64 and figure.data[0].y.dtype == np.float64
    view.close()


def test_closing_the_widgets_behind_our_back_does_no_harm(session):
    view = EvolutionView(session)
    open_view(view)
    ipywidgets.Widget.close_all()
    session.run()
    view.close()


def test_a_picture_needs_a_known_ending_and_kaleido(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "kaleido", None)
    with wb.Session(newton(), {"a": 2.0, "x0": 2.0}) as session:
        view = EvolutionView(session)
        for name, slug in (("a.txt", "bad-picture"), ("a", "bad-picture"), ("a.svg", "missing-library")):
            with pytest.raises(wb.WorkbenchError) as caught:
                view.to_image(tmp_path / name)
            assert caught.value.slug == slug
        view.close()
    assert not list(tmp_path.iterdir())


def test_the_value_gets_the_largest_part_where_it_is_an_image():
    for graph, inputs, field in ((plate(), {"u": np.ones((6, 6))}, True), (newton(), {"a": 2.0, "x0": 100.0}, False)):
        panel = wb.debug(graph, inputs)
        assert panel.layout_part.status["field"] is field and panel.layout_part.status["loop"]
        panel.close()


def plate() -> wb.Graph:
    """A loop on one array of two axes."""
    b = wb.GraphBuilder("plate")
    u = b.placeholder("u", "float64", (6, 6))
    return b.build(b.while_loop(lambda u: np.max(u) > 0.1, lambda u: u * 0.5, {"u": u}))
