"""The line about values that are not finite: what it says, of which iteration, and where it leads."""

from __future__ import annotations

import threading

import numpy as np

import workbench as wb
from tests.widgets.browser_side import open_view, until
from workbench.widgets.panel.health_model import health_model
from workbench.widgets.panel.health_watch import HealthWatch
from workbench.widgets.panel.output_model import output_model
from workbench.widgets.panel.toolbar import Toolbar


def roots() -> wb.Graph:
    b = wb.GraphBuilder("roots")
    start = b.placeholder("start", "float64", ())
    _, y = b.while_loop(lambda k, y: k < 20, lambda k, y: (k + 1, np.sqrt(y - 1.0)), (b.constant(0, "int64"), start))
    return b.build({"y": y})


def test_the_node_the_iteration_and_the_operand():
    with wb.Session(roots(), {"start": 30.0}) as session:
        session.run()
        y = session.trace["while/sqrt"].values
        first = int(np.flatnonzero(np.isnan(y))[0])
        found = health_model(session)
        assert found["node"] == "while/sqrt" and found["iteration"] == [first] and found["frame"] == ["while"]
        since = f" has been NaN since iteration {first + 1}."
        assert f"{since} First NaN: sqrt in iteration {first}, sqrt(" in found["text"]


def test_a_run_of_numbers_has_nothing_to_tell():
    with wb.Session(roots(), {"start": 30.0}) as session:
        session.next_iteration(3)
        assert health_model(session) == {"finite": "in the recorded values"}


def test_of_a_very_long_run_only_the_newest_values_are_spoken_of(monkeypatch):
    monkeypatch.setattr("workbench.widgets.panel.health_model.MAX_FIRINGS", 2)
    with wb.Session(roots(), {"start": 30.0}) as session:
        session.next_iteration(3)
        assert health_model(session) == {"finite": "in the newest recorded values"}


def test_an_infinity_to_start_from_is_meant():
    b = wb.GraphBuilder("least")
    best = b.while_loop(
        lambda k, best: k < 5, lambda k, best: (k + 1, np.minimum(best, k * 1.0)), (b.constant(0.0), b.constant(np.inf))
    )
    with wb.Session(b.build({"best": best[1]}), {}) as session:
        session.run()
        assert health_model(session) == {"starts": "The run starts from an infinity"}


def test_an_edit_is_told_as_an_edit():
    with wb.Session(roots(), {"start": 1e9}) as session:
        session.next_iteration(2)
        session.run_to("y", iteration=2)
        session.step()
        session.set_value("y", np.nan)
        session.step(3)
        assert health_model(session)["text"].endswith(", set by hand")


def test_the_toolbar_tells_it_and_leads_there():
    with wb.Session(roots(), {"start": 30.0}) as session:
        toolbar = Toolbar(session)
        open_view(toolbar)
        assert toolbar.status["health"] == ""
        session.run()
        toolbar.update_now()
        assert until(lambda: "First NaN: " in toolbar.status["health"]), toolbar.status
        iteration = health_model(session)["iteration"]
        toolbar.handle_message("health", {})
        assert toolbar.selection.node == "while/sqrt" and list(toolbar.selection.moment.iteration) == iteration
        session.restart()
        toolbar.update_now()
        assert toolbar.status["state"] == "ready" and toolbar.status["health"] == toolbar.status["finite"] == ""
        session.step()
        toolbar.update_now()
        assert until(lambda: toolbar.status["health"] == ""), toolbar.status
        toolbar.close()
        assert not [t for t in threading.enumerate() if t.name.startswith("workbench-health")]


def test_only_the_last_of_many_stops_is_looked_at(monkeypatch):
    looked, gate = [], threading.Event()

    def slow(session):
        looked.append(session)
        gate.wait(20.0)
        return {"text": str(len(looked))}

    told = []
    monkeypatch.setattr("workbench.widgets.panel.health_watch.health_model", slow)
    monkeypatch.setattr("workbench.widgets.panel.health_watch.output_model", lambda _session: {})
    watch = HealthWatch(None, told.append)
    for stand in range(50):
        watch.stopped(stand)
    gate.set()
    assert until(lambda: told and not watch._busy)
    watch.stopped(49)  # seen
    watch.close()
    assert len(looked) <= 2 and told[-1] == {"text": str(len(looked))}


def test_a_finished_graph_without_a_loop_tells_its_output():
    b = wb.GraphBuilder("flat")
    x = b.placeholder("x", "float64", (1, 6))
    with wb.Session(
        b.build({"y": x * 2.0, "z": x + 1.0}), {"x": np.array([[0.5, 4.0, 1.0, 3.0, 2.0, 0.0]])}
    ) as session:
        assert output_model(session) == {}
        session.run()
        found = output_model(session)
        assert found["headline"] == "Output y and 1 more" and found["node"] == "y"
        assert found["detail"] == "float64[1,6] \u00b7 largest 8 at 1, next 6 at 3"
    with wb.Session(roots(), {"start": 30.0}) as session:
        session.run()
        assert output_model(session) == {}, "the end of the loop is told instead"
