"""The termination view: verdict in words, clause by clause, fixes that are tried, nested loops, and bad input."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import workbench as wb
from tests.evaluation.solver_reports import heron
from tests.widgets.browser_side import until
from tests.widgets.graphs import EVIL, counter, evil, flat, nested, newton
from tests.widgets.test_escaping import TAG, texts
from workbench.analysis import Status, Termination
from workbench.analysis.laws.posterior import outlook
from workbench.widgets import TerminationView
from workbench.widgets.live.selection import Moment, Selection
from workbench.widgets.termination.termination_model import TerminationModel
from workbench.widgets.termination.termination_words import describe
from workbench.widgets.termination.verdict_model import verdict_model


def floor() -> wb.Graph:
    """A counter that is not updated, and a value that floors above its threshold."""
    b = wb.GraphBuilder("floor")
    zero, one = b.constant(0, "int64"), b.constant(1.0)
    i, x = b.while_loop(lambda i, x: np.logical_and(i < 1000, x > 1e-9), lambda i, x: (i, x * 0.5 + 1e-7), (zero, one))
    return b.build({"i": i, "x": x})


@pytest.fixture
def made():
    views = []

    def make(*args, **options):
        views.append(TerminationView(*args, **options))
        return views[-1]

    yield make
    for view in views:
        view.close()


def press(view, name, value) -> None:
    view.verdict._browser_says(view.verdict, {"kind": "act", "name": name, "value": value}, [])


def test_a_loop_that_never_ends_says_who_is_to_blame(made):
    with wb.Session(floor()) as session:
        session.next_iteration(60)
        selection = Selection()
        view = made(session, selection=selection)
        told = view.verdict.status
        assert told["tone"] == "never" and told["sign"] == "\u221e" and "PROVED" in told["badge"]
        assert told["headline"] == "Proved: never stops" and "x stays 2e\u22127" in told["reason"]
        assert [c["blocks"] for c in told["clauses"]] == [False, True]
        assert told["clauses"][1]["word"] == "decides" and told["clauses"][1]["state"] == "true"
        assert told["root"] == ["x"] and told["facts"][0] == ["Iterations left", "unlimited"]
        press(view, "clause", 1)
        assert selection.node == "while/greater"
        press(view, "root", 0)
        assert selection.node == "x"
        press(view, "moment", 0)
        assert selection.moment == Moment(("while",), (session.termination().first_bad,))
        assert any(f"iteration {selection.moment.iteration[0]}" in a.text for a in view.figure.layout.annotations)


def test_a_fix_is_tried_beside_the_session(made):
    with wb.Session(floor()) as session:
        session.next_iteration(60)
        event, taken = session.snapshot().event, []
        view = made(session)
        press(view, "try", 0)
        assert until(lambda: view.verdict.status["fixes"][0]["state"] == "works")
        fix = view.verdict.status["fixes"][0]
        assert fix["result"].startswith("\u2713") and "The loop ends now" in fix["result"]
        assert len(view.forks) == 1 and view.forks[0].run().reason is wb.StopReason.FINISHED
        assert session.snapshot().event == event and session.state == "paused"
        fork = view.forks[0]
        view.on_fork(taken.append)
        press(view, "try", 2)
        assert until(lambda: bool(taken), 20) and len(view.forks) == 1
        press(view, "try", 9)
        assert "This fix is not available" in view.verdict.status["error"]
        view.close()
        assert fork.state == "closed" and taken[0].state != "closed"
        taken[0].close()


def test_a_fix_that_does_not_help_goes_and_one_that_does_says_so(made):
    inputs = {"a": np.float32(2.0), "x": np.float32(1.0), "tol": np.float32(1e-20)}
    with wb.Session(heron.graph_for(**inputs), inputs) as session:
        session.next_iteration(8)
        view = made(session)
        assert [fix.kind for fix in view._fixes] == ["tolerance", "dtype", "cap"]
        assert until(lambda: [f["number"] for f in view.verdict.status["fixes"]] == [0, 2])
        assert until(lambda: all(f["state"] == "helps" for f in view.verdict.status["fixes"]))
        assert "the loop then ends after 1000 iterations" in view.verdict.status["fixes"][1]["result"]
        assert session.forks == () and view.forks == () and session.state == "paused"
        press(view, "try", 2)
        assert until(lambda: view.verdict.status["fixes"][1]["state"] == "works")
        session.update(tol=np.float32(1e-3))  # other inputs: what was tried before says nothing about them
        session.next_iteration(1)
        view.show(session.snapshot())
        assert not view.verdict.status["fixes"]


def test_trying_does_not_block_who_presses(made):
    with wb.Session(floor()) as session:
        session.next_iteration(60)
        view, gate = made(session), threading.Event()
        view.on_fork(lambda fork: (gate.wait(60), fork.close()))
        press(view, "try", 0)  # comes back although nobody has taken the fork yet
        assert view.verdict.status["fixes"][0]["state"] in ("trying", "works")
        gate.set()


def test_a_fix_that_cannot_be_applied_says_so(made):
    class Broken:
        def apply_fix(self, fix, frame=None):
            raise wb.WorkbenchError(f"Not this one {EVIL}.", slug="fix-types", fix="another")

    with wb.Session(floor()) as session:
        session.next_iteration(60)
        view = made(session)
        view._trials.begin(Broken(), view._fixes[0], ("while",))
        assert until(lambda: view.verdict.status["fixes"][0]["state"] == "fails")
        assert "Not this one" in view.verdict.status["fixes"][0]["result"]


def test_after_the_end_there_is_no_forecast(made):
    with wb.Session(newton(), {"a": 2.0, "x0": 100.0}) as session:
        view = made(session)
        session.run_to("x", iteration=7)
        view.show(session.snapshot())
        session.run()
        figure = view.figure
        assert "ended in iteration 11" in " ".join(a.text for a in figure.layout.annotations)
        assert not any(len(t.x) for t in figure.data[1:-1])
        view.show(session.snapshot())
        told = view.verdict.status
        assert told["headline"].startswith("Ended after ") and told["tone"] == "ended"
        assert told["clauses"][0]["word"] == "ended it" and told["clauses"][0]["state"] == "false"
        session.run_to("x", iteration=3)
        assert "ended" not in " ".join(a.text for a in view.figure.layout.annotations)


@pytest.mark.parametrize("limit", [50.0, -1.0])
def test_both_sides_of_a_counter_are_drawn_on_a_linear_axis(made, limit):
    with wb.Session(counter(limit), {"start": 0.0}) as session:
        session.next_iteration(20)
        view = made(session)
        figure = view.figure
        side, ahead, *_ = figure.data
        assert figure.layout.yaxis.type == "linear" and np.array_equal(side.y, np.arange(len(side.y)))
        assert len(ahead.y) > 1, "proved either way: what comes was computed"
        level = [s for s in figure.layout.shapes if s.y0 == s.y1 == limit]
        assert len(level) == 1 and any(
            a.text == f"threshold {str(limit)[:-2]}".replace("-", "\u2212") for a in figure.layout.annotations
        )
        for scale in ("log", "linear"):
            view._chosen("scale", scale)
            assert view.figure.layout.yaxis.type == scale
    with pytest.raises(wb.WorkbenchError, match="no-scale"):
        made(session, scale="cubic")


def test_loops_inside_loops_show_one_activation(made):
    with wb.Session(nested(), {"n": 6}) as session:
        session.run_to("inner/j", (4, 2))
        selection = Selection()
        view = made(session, selection=selection)
        assert view.frame == ("outer", "inner"), "the loop in which the run stands"
        session.restart()
        view.update_now()
        assert view.frame == ("outer",), "the first one, before the run"
        session.run_to("inner/j", (4, 2))
        view.frame = ("outer",)
        view.update_now()
        assert view.frame == ("outer",), "what was chosen stays"
        view.frame = ("outer", "inner")
        clause = view.model(session.snapshot())["clauses"][0]
        assert clause["text"] == "j < i" and clause["y"].tolist() == [4.0, 3.0]
        selection.look_at(Moment(("outer",), (2,)))
        model = view.model(session.snapshot())
        assert model["clauses"][0]["y"].tolist() == [2.0, 1.0, 0.0] and model["ended"]
        with pytest.raises(wb.WorkbenchError, match="no-such-frame"):
            view.frame = ("nowhere",)
        with pytest.raises(wb.WorkbenchError, match="no-such-frame"):
            made(session, ("nowhere",))


def test_a_trace_alone_has_an_answer_too(made, tmp_path):
    with wb.Session(newton(), {"a": 2.0, "x0": 1e6}) as session:
        session.run_to("x", iteration=12)
        session.trace.save(tmp_path / "some.trace")
        loaded = wb.Trace.load(tmp_path / "some.trace")
        view = made(loaded)
        assert view.verdict.status["headline"] != "" and "PROVED" not in view.verdict.status["badge"]
        session.run()
        assert made(session.trace).verdict.status["headline"].startswith("Ended after ")


def test_graphs_without_loops_without_runs_and_with_odd_conditions(made):
    assert made(flat()).verdict.status["headline"] == "This graph has no loop."
    assert made(newton()).verdict.status["headline"] == "No forecast yet"
    b = wb.GraphBuilder("flag")
    go, k = b.while_loop(lambda go, k: go, lambda go, k: (k < 5, k + 1), (b.constant(True), b.constant(0, "int64")))
    with wb.Session(b.build({"go": go, "k": k})) as session:
        session.next_iteration(3)
        view = made(session)
        assert "does not compare two numbers" in view.figure.layout.annotations[0].text
        assert view.verdict.status["clauses"] == []


def test_nan_and_huge_gaps_are_survived(made):
    b = wb.GraphBuilder("nan")
    x = b.while_loop(lambda x: np.not_equal(x, 1.0), lambda x: x * x * -1e200, b.constant(2.0))
    with wb.Session(b.build({"x": x})) as session:
        session.next_iteration(12)
        view = made(session)
        assert view.verdict.status["tone"] == "never"
        for scale in ("linear", "log", "auto"):
            view._chosen("scale", scale)
            assert view.figure is not None


def test_names_are_shown_and_not_obeyed(made):
    with wb.Session(evil(), {f"x{EVIL}": 0.0}) as session:
        session.next_iteration(4)
        view = made(session)
        figure = view.figure.to_plotly_json()
        assert not [t for t in texts(figure) if TAG.search(t)]
        assert EVIL in view.verdict.status["clauses"][0]["text"] or "v <" in view.verdict.status["clauses"][0]["text"]


def test_left_and_sure_in_words():
    from workbench.analysis.standing import LoopEnd, Standing
    from workbench.analysis.verdict import Proof, Reason, Status, Termination

    soon = describe(Termination(Status.PREDICTED, "terminates", 12, (10, 15), confidence=0.93))
    assert soon["left"] == "12 iterations (90 % interval 10 to 15)" and "93 %" in soon["sure"]
    exact = describe(Termination(Status.PROVED, "terminates", 1, (1, 1), proof=Proof("lookahead", "the slice")))
    assert (
        exact["left"] == "exactly 1 iteration"
        and exact["sure"] == "the condition was computed ahead, iteration by iteration"
    )
    formula = (
        "4128 iterations ahead; from the state after these, k(t) = 4128 + t modulo 2^64; j(t) = 9 - 2 t: 8 evaluations"
    )
    counted = describe(Termination(Status.PROVED, "terminates", 9, (9, 9), proof=Proof("affine-counter", formula)))
    assert counted["sure"] == "k grows by 1 and j shrinks by 2 in each iteration"
    failing = describe(Termination(Status.UNKNOWN, details={"fails_after": 3}))
    shown = verdict_model({"loop": "l", "verdict": failing, "clauses": []})
    assert shown["badge"] == "\u2716 fails" and shown["headline"] == "A node fails after 3 more iterations"
    assert describe(Termination(Status.UNKNOWN, interval=(100, None)))["left"] == "at least 100 iterations"
    assert describe(Termination(Status.PROVED, "terminates", None, (0, 9)))["left"] == "at most 9 iterations"
    end = LoopEnd(Standing.ENDED, 4)
    ended = describe(Termination(Status.PROVED, "terminates", 0, (0, 0), Reason("ended", "It has."), end=end))
    assert ended["ended"] and ended["tone"] == "ended"
    model = {"loop": "l", "verdict": describe(None), "clauses": []}
    assert verdict_model(model)["headline"] == "No forecast"


def test_a_threshold_from_the_loop_around_is_that_of_each_activation():
    with wb.Session(nested(), {"n": 6}) as session:
        session.run()
        clause = TerminationModel(session.graph, ("outer", "inner")).update(session.trace)["clauses"][0]
        expected = [abs(j - i) for i in range(6) for j in range(i + 1)]
        assert clause["y"].tolist() == expected and (clause["left"], clause["right"]) == (5.0, 5.0)


def test_a_run_that_begins_anew_has_no_gaps_yet(made):
    """The threshold comes from outside of the loop, and has not fired either."""
    b = wb.GraphBuilder("count")
    n = b.while_loop(lambda n: n < b.placeholder("limit", "float64"), lambda n: n + 1.0, {"n": b.constant(0.0)})
    with wb.Session(b.build(n), {"limit": 6.0}) as session:
        view = made(session)
        session.run()
        clause = view.model(session.snapshot())["clauses"][0]
        assert len(clause["y"]) == 7 and clause["holds"] is False
        session.restart()
        clause = view.model(session.snapshot())["clauses"][0]
        assert len(clause["y"]) == 0 and clause["holds"] is None and clause["gap"] is None
        session.next_iteration(3)
        assert view.model(session.snapshot())["clauses"][0]["y"].tolist() == [6.0, 5.0]


def test_a_condition_on_arrays_says_for_how_many_elements_it_holds(made):
    b = wb.GraphBuilder("side by side")
    x = b.while_loop(lambda x: b.op("any", x > 1.0, axis=None), lambda x: x * 0.5, {"x": b.constant([2.0, 3.0, 20.0])})
    with wb.Session(b.build(x)) as session:
        view = made(session)
        assert verdict_model(view.model(session.snapshot()))["clauses"][0]["now"] == "no values yet"
        session.next_iteration(3)
        (clause,) = verdict_model(view.model(session.snapshot()))["clauses"]
        assert (clause["now"], clause["state"]) == ("3 elements", "true for 2")  # of 1, 1.5 and 10


def test_the_laws_of_a_forecast_are_told_with_their_shares_and_refusals():
    monitor = wb.TerminationMonitor([("loss", "goal")])
    for k in range(60):
        loss = float(0.93**k * np.exp(0.3 * np.sin(k * k)))
        monitor.observe({"loss": loss}, True, [(loss, ">", 1e-6)])
    answer = monitor.prediction()
    if not answer.candidates:  # a law that holds nearly was found before
        answer.candidates = list(outlook(0.93 ** np.arange(60.0) + 0.01, ">", 1e-6).candidates)
    told = describe(answer)["laws"]
    taken, _, refused = told.partition("; refused: ")
    for candidate in answer.candidates:
        assert candidate.law.what in (refused if candidate.refused else taken)
        assert candidate.refused in refused
    assert describe(Termination(Status.PROVED, "terminates", 9, (9, 9)))["laws"] == ""
