"""Explanations of loops of known cause: root, clause, reason, first bad iteration, and a fix that works."""

from __future__ import annotations

import json

import numpy as np
import pytest

import workbench as wb
from tests.evaluation.score_causes import Verdict, cases, judge, shares
from workbench.analysis import Fix, Status


@pytest.fixture(scope="module")
def verdicts() -> list[Verdict]:
    return [judge(case) for case in cases()]


@pytest.mark.slow
def test_there_are_hundreds(verdicts):
    assert len(verdicts) >= 280 and sum(v.case.ends is None for v in verdicts) >= 270
    assert len({v.case.slug for v in verdicts}) >= 15


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "share"),
    [("root first", 1.0), ("clause", 1.0), ("reason", 0.98), ("first bad", 0.98), ("fix works", 0.98)],
)
def test_shares(verdicts, question, share):
    wrong = [(v.case.family, str(v.answer)) for v in verdicts if v.right[question] is False]
    assert shares(verdicts)["all"][question] >= share, wrong


@pytest.mark.slow
def test_no_answer_contradicts_the_truth(verdicts):
    for v in verdicts:
        if v.answer.status is Status.PROVED:
            assert v.right["outcome"], str(v.answer)


@pytest.mark.slow
def test_every_answer_is_data_and_text(verdicts):
    for v in verdicts:
        table = json.loads(json.dumps(v.answer.table(), allow_nan=False))
        assert table["root"] == v.answer.root and table["reason"]["slug"] == v.answer.reason.slug
        text = str(v.answer)
        assert text.replace("\n", "").isprintable() and v.answer.clause_when in text
        for fix in v.answer.fix:
            assert isinstance(fix, Fix) and str(fix) in text and fix.table()["sentence"] == fix
        if v.answer.chain:
            ops = [link.op for link in v.answer.chain]
            assert ops[0] == "Merge" and ops[-1] == "NextIteration"


@wb.graph
def descent(x: float, rate: float, tol: float) -> float:
    while abs(x - 1.0) > tol:
        gradient = 4.0 * (x - 1.0)
        x = x - rate * gradient
    return x


def test_the_chain_has_the_source_lines():
    graph = descent.graph_for(3.0, 0.5, 1e-6)
    with wb.Session(graph, {"x": 3.0, "rate": 0.5, "tol": 1e-6}) as session:
        answer = session.termination()
        lines = [link.source.expression for link in answer.chain if link.source is not None]
        assert "rate * gradient" in lines and "x - rate * gradient" in lines
        assert all(link.source.file == __file__ for link in answer.chain)
        assert answer.gap is not None and answer.gap.trend == "constant" and answer.gap.values[-1] == 2.0 - 1e-6
        assert answer.details["flag_cause" if "flag_cause" in answer.details else "cause"] == "step-too-large"
        assert answer.fix[0] == "halve the step of x, from 0.5 to 0.25: it overshoots its goal."


def test_the_first_bad_iteration_far_ahead():
    """float32 counts in ones from 2^24 - 60,000: it stalls 60,000 iterations from the start, wherever the question is
    asked.
    """
    b = wb.GraphBuilder("count")
    start, limit, one = np.float32(2**24 - 60_000), np.float32(2**25), np.float32(1)
    graph = b.build(b.while_loop(lambda i: i < limit, lambda i: i + one, {"i": start}))
    with wb.Session(graph) as session:
        answer = session.termination(seconds=5.0)
        assert (answer.outcome, answer.reason.slug, answer.first_bad) == ("never", "absorbed", 60_000)
        for _ in range(7):
            session.next_iteration()
        assert session.termination(seconds=5.0).first_bad == 60_000


def test_an_answer_about_the_past():
    """The answer about a finished loop names the clause that ended it."""
    b = wb.GraphBuilder("both")
    out = b.while_loop(lambda i, x: b.logical_and(i < 100, x > 1.0), lambda i, x: (i + 1, x * 0.5), (np.int64(0), 64.0))
    with wb.Session(b.build(out)) as session:
        session.run()
        answer = session.termination()
        assert answer.reason.slug == "ended" and answer.root[0] == "x"
        assert answer.blocking_clause == "x > 1.0 (1.0 > 1.0)" and answer.gap.trend == "shrinking"


def test_asking_does_not_move_the_session():
    b = wb.GraphBuilder("still")
    graph = b.build(b.while_loop(lambda x: x < 3.0, lambda x: x * 0.5 + 1.0, {"x": 0.0}))
    with wb.Session(graph) as session:
        for _ in range(5):
            session.next_iteration()
        position, values = session.position, session.trace["x"].values.copy()
        first = session.termination()
        assert session.position == position and np.array_equal(session.trace["x"].values, values)
        assert str(session.termination()) == str(first)


@pytest.mark.slow
@pytest.mark.parametrize("trace", ["all", "off"])
def test_the_answer_is_the_same_from_the_middle_of_the_run(trace):
    """30 iterations later the answer has the same variable, clause, cause and first bad iteration."""
    asked = 0
    for number, case in enumerate(cases()):
        if number % 7 or case.ends is not None or case.frame is not None or case.wraps_after is not None:
            continue
        with wb.Session(case.graph, case.feeds, trace=trace) as session:
            for _ in range(30):
                session.next_iteration()
            answer = session.termination(seconds=2.0)
        told = f"{case.family}: {answer}"
        assert answer.root[0] in case.root and answer.reason.slug == case.slug, told
        assert all(word in answer.blocking_clause for word in case.clause), told
        assert case.first_bad is None or answer.first_bad == case.first_bad, told
        asked += 1
    assert asked >= 30


def test_nan_and_floors_name_their_nodes():
    b = wb.GraphBuilder("root")
    out = b.while_loop(lambda x: b.not_equal(x, -1.0), lambda x: {"x": b.sqrt(x - 2.0)}, {"x": 7.0})
    with wb.Session(b.build(out)) as session:
        details = session.termination().details
        assert session.graph.nodes[details["origin"]].op == "sqrt" and "iteration 2" in details["origin_text"]
    b = wb.GraphBuilder("newton")
    two, half, tol = np.float32(2), np.float32(0.5), np.float32(1e-9)
    out = b.while_loop(lambda x: abs(x * x - two) > tol, lambda x: (x + two / x) * half, {"x": np.float32(1)})
    with wb.Session(b.build(out)) as session:
        details = session.termination().details
        assert session.graph.nodes[details["cancellation"]].op == "subtract"
