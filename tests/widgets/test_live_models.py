"""View models against real traces, also while the loop runs at full speed."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.ir.programs import failing
from tests.widgets.browser_side import until
from tests.widgets.graphs import counter, nested, newton, quotients
from tests.work import Work
from workbench.trace.series import Series
from workbench.widgets.control_flow.decisions_model import ControlFlowModel, decisions
from workbench.widgets.evolution.evolution_lines import lines_of
from workbench.widgets.evolution.evolution_model import EvolutionModel, default_names
from workbench.widgets.panel.status_model import status_model, status_text
from workbench.widgets.series.series_reader import HEAD, LIVE
from workbench.widgets.termination.termination_clauses import clauses_of
from workbench.widgets.termination.termination_model import TerminationModel, loops
from workbench.widgets.termination.termination_words import describe


def test_default_names_are_the_loop_variables():
    assert default_names(newton()) == ["x"]
    assert [n.rsplit("/")[-1] for n in default_names(nested())] == ["i", "s", "j", "t"]


def test_lines_of_arrays():
    assert list(lines_of(np.zeros(3))) == [""]
    assert list(lines_of(np.zeros((3, 2)))) == ["[0]", "[1]"]
    assert list(lines_of(np.ones((3, 50)))) == [" (2-norm)"]
    assert lines_of(np.ones((3, 4, 4)))[" (2-norm)"].tolist() == [4.0] * 3
    assert lines_of(np.array(["a"])) == {}
    assert lines_of(np.array([3 + 4j]))[""].tolist() == [5.0]


@pytest.fixture
def rows_read(monkeypatch):
    """How many rows each question of a series has got."""
    rows: list[int] = []
    for name in ("window", "within"):
        method = getattr(Series, name)

        def counting(*args, _method=method):
            found = _method(*args)
            rows.append(len(found[1]))
            return found

        monkeypatch.setattr(Series, name, counting)
    for name in ("values", "iterations", "statistics"):
        whole = getattr(Series, name)

        def reading(series, _whole=whole):
            found = _whole.__get__(series)
            rows.append(len(found))
            return found

        monkeypatch.setattr(Series, name, property(reading))
    return rows


def test_a_loop_at_full_speed_is_followed_at_bounded_cost(rows_read):
    with wb.Session(counter(), {"start": 0.0}) as session:
        evolution = EvolutionModel(default_names(session.graph))
        control = ControlFlowModel(session.graph)
        termination = TerminationModel(session.graph)
        session.run(wait=False)
        assert until(lambda: session.snapshot().iterations.get(("while",), 0) > 20 * LIVE, 60.0)
        for _ in range(10):
            at = session.snapshot().iterations["while",]
            assert until(lambda: session.snapshot().iterations["while",] > at + LIVE, 60.0)  # noqa: B023
            rows_read.clear()
            with Work() as work:
                model = evolution.update(session.trace, running=True, verdicts=False)
                control.update(session.trace, running=True)
                termination.update(session.trace, running=True)
            # the four values that are followed; the whole record is many times that
            assert 0 < sum(rows_read) <= 4 * (LIVE + HEAD) and work.calls < 20_000
        session.pause()
        (line,) = model["lines"]
        assert len(line["x"]) < 5000 and line["last"] > 1000
        # at rest the whole record is read, bit for bit
        while True:
            model = evolution.update(session.trace, running=False)
            if not evolution.behind:
                break
        (line,) = model["lines"]
        assert line["last"] == session.value("i") and line["x"][-1] == session.trace["i"].iterations[-1, 0]


def test_nested_loops_are_followed_in_firing_order():
    with wb.Session(nested(), {"n": 5}) as session:
        session.run()
        model = EvolutionModel(default_names(session.graph)).update(session.trace)
        lines = {line["name"]: line for line in model["lines"]}
        assert lines["j"]["y"].tolist() == session.trace["inner/j"].values.tolist()
        assert "all activations" in model["x_title"]


def test_decisions_of_loops_and_branches():
    rows = decisions(nested())
    assert [r["loop"] for r in rows].count(True) == 2 and len(rows) == 3


def test_clauses_are_found_through_logic():
    b = wb.GraphBuilder("two clauses")
    n = b.placeholder("n", "int64", ())
    i, x = b.while_loop(
        lambda i, x: np.logical_and(i < n, np.logical_not(x > 100.0)),
        lambda i, x: (i + 1, x * 2.0),
        (b.constant(0, "int64"), b.constant(1.0)),
    )
    graph = b.build({"i": i, "x": x})
    (path,) = loops(graph)
    assert [c["text"] for c in clauses_of(graph, path)] == ["i < n", "x > 100"]
    with wb.Session(graph, {"n": 50}) as session:
        session.run()
        rows = TerminationModel(graph).update(session.trace)["clauses"]
        assert [(r["left"], r["right"], r["holds"]) for r in rows] == [(7.0, 50.0, True), (128.0, 100.0, True)]
        assert rows[0]["y"].tolist() == [50.0 - k for k in range(8)]


def test_describe_says_what_a_forecast_means():
    from workbench.analysis.verdict import Proof, Reason, Status, Termination

    never = Termination(
        Status.PROVED,
        "never",
        reason=Reason("r", "It recurs."),
        root=["x"],
        fix=["Raise tol."],
        proof=Proof("recurrence", "period 1."),
    )
    told = describe(never)
    assert told["headline"] == "Proved: never stops" and told["reason"] == "It recurs." and told["root"] == ["x"]
    soon = describe(Termination(Status.PREDICTED, "terminates", 12, (10, 15)))
    assert soon["headline"] == "Predicted: stops after 12 more iterations (10 to 15)"
    ended = describe(Termination(Status.PROVED, "terminates", 0))
    assert ended["headline"] == "Proved: stops at once"
    assert describe(Termination(Status.UNKNOWN))["headline"] == "No forecast yet"
    assert describe(None)["status"] == "UNKNOWN"


def test_status_in_words():
    with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
        assert status_model(session.snapshot(), session.graph)["word"] == "Ready"
        session.run_to("x", iteration=2)
        status = status_model(session.snapshot(), session.graph)
        assert (
            status["state"] == "paused" and status["next"] == "while/x/Merge" and "iteration 2" in status["iteration"]
        )
        session.run()
        status = status_model(session.snapshot(), session.graph)
        assert status["next"] == "" and "finished" in status_text(status) and status["report"] == ""
    with wb.Session(failing(), {"data": np.arange(6.0)}) as session:
        session.run()
        status = status_model(session.snapshot(), session.graph)
        assert status["state"] == "failed" and "last events of while" in status["report"]
        session.set_value("while/stack:0", [2, 3])
        assert status_model(session.snapshot(), session.graph)["report"] == ""


def test_rows_that_were_dropped_leave_what_was_seen_of_them():
    with wb.Session(counter(), {"start": 0.0}, memory_budget=1 << 22) as session:
        model = EvolutionModel(default_names(session.graph))
        session.next_iteration()
        for _ in range(40):
            session.next_iteration()
        model.update(session.trace, running=True)
        session.run(wait=False)
        assert until(lambda: session.trace.dropped)
        session.pause()
        (line,) = model.update(session.trace)["lines"]
        assert session.trace.dropped
        assert line["x"][0] == 0 and line["y"][0] == 0.0  # no longer in the trace, but it was drawn
        assert line["last"] == session.value("i")


def test_a_step_back_and_a_restart_shorten_the_line():
    with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
        model = EvolutionModel(["x"])
        session.run()
        assert len(model.update(session.trace)["lines"][0]["x"]) == len(session.trace["x"]) == 12
        session.step_back(100)
        assert len(model.update(session.trace)["lines"][0]["x"]) == len(session.trace["x"]) < 12
        session.restart()
        assert model.update(session.trace)["lines"] == []
        session.run()
        assert len(model.update(session.trace)["lines"][0]["x"]) == 12


def test_operands_of_a_failure_are_called_as_on_the_screens():
    with wb.Session(quotients(4), {"n": 4}) as session:
        session.run()
        told = status_model(session.snapshot(), session.graph)["error"]
    assert told.startswith("100 // k failed: k is 0 (") and "ZeroDivisionError" in told, told
    assert "Operands: 100 = int64[] 100; k = int64[] 0." in told and "while" not in told, told
