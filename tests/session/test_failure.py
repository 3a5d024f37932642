"""Nodes that fail, values that are dead or dropped, and what a session answers then."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.debugger.test_stepping import shown
from tests.ir.programs import count, failing, growing, nested, same, vectors
from workbench import StopReason as R
from workbench.errors import DeadValueError, ExecutionError, SessionError, TraceError

DATA = {"data": np.arange(6.0)}


def test_a_failing_node_stops_the_run_in_front_of_it():
    with wb.Session(failing(), DATA) as session:
        stop = session.run()
        assert stop.reason is R.FAILED and session.state == "failed"
        assert shown(stop) == "while/reshape[2]" and stop.position == session.position
        error = stop.error
        assert isinstance(error, ExecutionError) and error.slug == "node-failed" and error.node == "while/reshape"
        assert error.tag == stop.tag and error.tag.iteration == (2,)
        assert "programs.py" in str(error.source) and "reshape" in str(error)
        assert "while/data/Enter:0 = float64[6] min 0.0 max 5.0" in str(
            error
        ) and "while/stack:0 = int64[2] min 1 max 4" in str(error)


def test_the_session_survives_a_failure():
    with wb.Session(failing(), DATA) as session:
        session.run()
        assert session.run().reason is R.FAILED  # again, at the same place
        assert (
            session.value("s") == 30.0
            and session.value("n") == 2
            and session.trace["s"].values.tolist() == [0.0, 15.0, 30.0]
        )
        before = session.step_back()
        assert before.reason is R.STEP and before.event == session.position.event and session.state == "paused"
        session.run_to("while/reshape", 2)
        assert session.stop.reason is R.TARGET and shown(session.stop) == "while/reshape[2]"
        assert session.step().reason is R.FAILED and session.stop.error.node == "while/reshape"
        assert session.previous_iteration().reason is R.ITERATION and shown(session.stop) == "while/n/Merge[1]"
        assert session.restart().reason is R.STARTED and session.state == "ready"
        assert session.next_iteration(2).reason is R.ITERATION
        with pytest.raises(SessionError) as caught:
            _ = session.outputs
        assert caught.value.slug == "not-finished" and "paused" in str(caught.value)


def test_a_failure_in_every_way_to_run():
    with pytest.raises(ExecutionError) as caught:
        failing().run(DATA)
    assert caught.value.tag.iteration == (2,)
    for command, arguments in [("step", (1000,)), ("run_to", ("n", 4)), ("step_out", ()), ("next_iteration", (9,))]:
        with wb.Session(failing(), DATA) as session:
            session.next_iteration()
            stop = getattr(session, command)(*arguments)
            assert stop.reason is R.FAILED and shown(stop) == "while/reshape[2]", command
            assert not [p for p in session.breakpoints._table.values() if p.internal]


def test_a_failure_in_a_nested_loop_names_every_iteration():
    b = wb.GraphBuilder("deep")

    def body(i, s):
        def inner(j, t):
            return j + 1, t + b.sum(b.reshape(b.constant(np.zeros(6)), b.stack(3 - i - j, 2, axis=0)))

        return i + 1, b.while_loop(lambda j, t: j < 3, inner, (b.constant(0), s), name="inner")[1]

    graph = b.build(b.while_loop(lambda i, s: i < 3, body, (b.constant(0), b.constant(0.0)), name="outer"))
    with wb.Session(graph) as session:
        stop = session.run()
        assert stop.reason is R.FAILED and stop.tag.iteration == (0, 1) and "[outer 0, inner 1]" in str(stop.error)
        # the operand is the last value of an expression with both counters
        assert "int64[2] min 2 max 2" in str(stop.error)


def test_trace_off_keeps_little_and_answers_exactly():
    with wb.Session(count(500_000.0), {"start": 0.0}, trace="off") as session:
        assert session.run().reason is R.FINISHED and session.outputs == {"x": 500_000.0}
        assert session.trace.dropped and 0 < len(session.trace["x"]) < 500_001
        assert session._run.view.bytes < 6 << 20
        for k in (0, 1, 4095, 123_456, 499_999, 500_000):
            assert session.value("x", k) == float(k)
        assert session.step_back().reason is R.STEP
        assert session.run_to("x", 250_000).reason is R.TARGET and session.value("x", 249_999) == 249_999.0


@pytest.mark.parametrize("options", [{"trace": "some"}, {"memory_budget": 0}, {"memory_budget": -5}])
def test_bad_options(options):
    with pytest.raises(SessionError) as caught:
        wb.Session(count(), {"start": 0.0}, **options)
    assert caught.value.slug == "bad-retention"


BUDGET = 1 << 18


def test_dropped_vectors_are_recomputed_exactly():
    feeds = {"start": np.linspace(0, 1, 1000)}
    with wb.Session(vectors(), feeds) as whole, wb.Session(vectors(), feeds, memory_budget=BUDGET) as bounded:
        whole.run()
        bounded.run()
        assert bounded.trace.dropped and not whole.trace.dropped
        kept = bounded.trace["v"]
        assert 0 < len(kept) < len(whole.trace["v"])
        assert bounded._run.view.bytes < whole._run.view.bytes / 2
        for name in ("v", "n", "while/multiply", "while/v/Switch:1"):
            for k in range(0, 400, 37):
                assert same(bounded.value(name, k), whole.trace[name].at(k)), (name, k)
        # what is kept equals the end of the whole, tags included
        assert same(kept.values, whole.trace["v"].values[-len(kept) :])
        assert kept.iterations.tolist() == whole.trace["v"].iterations[-len(kept) :].tolist()
        with pytest.raises(TraceError) as caught:
            kept.at(0)
        assert caught.value.slug == "not-recorded" and "session.value" in str(caught.value)


def test_going_back_into_dropped_rows():
    feeds = {"start": np.linspace(0, 1, 1000)}
    with wb.Session(vectors(), feeds) as whole, wb.Session(vectors(), feeds, memory_budget=BUDGET) as bounded:
        whole.run()
        bounded.run()
        for k in (390, 150, 3, 270):
            assert bounded.run_to("v", k).reason is R.TARGET and bounded.position.iteration == (k,)
            bounded.step()
            assert same(bounded.value("v"), whole.trace["v"].at(k))
        bounded.restart()
        assert bounded.run().reason is R.FINISHED
        assert all(same(a, b) for a, b in zip(bounded.outputs.values(), whole.outputs.values(), strict=True))


def test_nested_rows_that_were_dropped():
    with (
        wb.Session(nested(700), {"start": 0.0}) as whole,
        wb.Session(nested(700), {"start": 0.0}, memory_budget=1) as bounded,
    ):
        whole.run()
        bounded.run()
        assert bounded.trace.dropped and len(bounded.trace["a"]) < len(whole.trace["a"])
        for path in [(0, 0), (5, 3), (300, 300), (699, 0), (699, 700)]:
            assert same(bounded.value("a", path), whole.trace["a"].at(path)), path
        for k in (0, 350, 700):
            assert same(bounded.value("acc", k), whole.trace["acc"].at(k))
        with pytest.raises(TraceError):
            bounded.value("a", (5, 99))


@pytest.mark.parametrize(
    ("iteration", "kind", "slug"),
    [(99, TraceError, "not-recorded"), (-1, TraceError, "not-recorded"), ((1, 2), TraceError, "bad-iteration")],
)
def test_values_that_are_not_there(iteration, kind, slug):
    with wb.Session(count(), {"start": 0.0}) as session:
        session.run()
        with pytest.raises(kind) as caught:
            session.value("x", iteration)
        assert caught.value.slug == slug


def test_values_before_anything_happened():
    with wb.Session(count(), {"start": 0.0}) as session:
        with pytest.raises(DeadValueError) as caught:
            session.value("x")
        assert caught.value.slug == "not-fired"


def test_values_whose_shape_changes_go_back_too():
    with wb.Session(growing(), {"start": 1.0}) as session:
        session.run()
        assert session.outputs["v"].tolist() == [1.0, 2.0, 4.0, 8.0, 16.0]
        session.run_to("v", 2)
        session.step()
        assert session.value("v").tolist() == [1.0, 2.0, 4.0]


def test_outputs_by_name_and_series_of_an_inner_value():
    with wb.Session(nested(), {"start": 0.0}, outputs=["acc", "even/add"]) as session:
        session.run()
        assert session.outputs["acc"] == 24.0 and session.outputs["even/add"].tolist() == [1.0, 2.0, 13.0, 24.0]


def test_a_stop_tells_its_story():
    with wb.Session(count(), {"start": 0.0}) as session:
        text = str(session.step(2))
        assert text == "Stepped. Next: while/x/Merge:0[while 0] (event 2)."
        assert (
            str(session.run()) == "The run is finished: every required output was computed. Next: the end (event 53)."
        )
        assert repr(session) == "<Session 'count': finished, next the end (event 53)>"
        assert all(r.value.endswith(".") and str(r) == r.value for r in R)


def test_the_report_of_a_failure_tells_the_whole_story():
    with wb.Session(failing(), DATA) as session:
        report = session.run().error.report
        assert report.op == "reshape" and report.tag == session.stop.tag and "programs.py" in str(report.source)
        data, shape = report.operands
        assert data.statistics == {"size": 6.0, "nan": 0.0, "inf": 0.0, "min": 0.0, "max": 5.0, "mean": 2.5}
        assert shape.value.tolist() == [1, 4] and "[1, 4]" in str(shape)
        assert [str(e) for e in report.events][-2:] == ["while/stack[while 2] = [1, 4]", "while/add_1[while 2] = 3"]
        assert all(e.tag.frame == ("while",) for e in report.events) and len(report.events) == 8
        text = str(report)
        for part in ("operands:", "last events of while", "what to do:", "session.step_back()", "session.explain("):
            assert part in text
        assert "<pre>" in report._repr_html_()


def test_a_report_says_where_to_look_for_nan():
    b = wb.GraphBuilder("nan")
    x = b.placeholder("x")
    y = b.check_numerics(b.log(x), message="the logarithm")
    with wb.Session(b.build({"y": y}), {"x": -1.0}) as session:
        report = session.run().error.report
        assert report.operands[0].statistics["nan"] == 1.0
        assert any("is not finite: session.explain('log:0')" in line for line in report.advice)
        assert session.explain("log:0").roots()[0].name == "x"
