"""The question set about small solvers: its truth is that of running, and no proof about it is wrong."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.evaluation.solver_questions.ask import LOOPS, ask, wrong_proof
from workbench.analysis import Status, Termination


def test_there_are_many_and_every_kind_of_question_is_asked():
    assert len(LOOPS) >= 190 and len({loop.name for loop in LOOPS}) == len(LOOPS)
    asked = sum(4 + (loop.length() is None) + bool(loop.label) for loop in LOOPS)
    assert asked >= 520 and sum(loop.length() is None for loop in LOOPS) >= 25


@pytest.mark.slow
def test_hardly_an_answer_is_wrong_and_no_proof():
    asked, wrong = [], 0
    for loop in LOOPS:
        answers, proofs = ask(loop)
        asked += answers
        wrong += proofs
    missed = [f"{a.loop.name}, {a.question}: {a.said}" for a in asked if not a.right]
    assert wrong == 0 and len(missed) <= 0.02 * len(asked), "\n".join(missed)


def test_the_graphs_run_as_long_as_the_truth_says():
    for loop in LOOPS[::9]:
        length = loop.length()
        graph, feeds = loop.build()
        if length is not None and length < 2000:
            with wb.Session(graph, feeds, trace="off") as session:
                session.run()
                assert next(k for p, k in session.snapshot().iterations.items() if p) == length, loop.name


def test_a_wrong_proof_would_be_seen():
    proved = Termination(Status.PROVED, "terminates", 5, (5, 5))
    assert wrong_proof(proved, 6) and wrong_proof(proved, None) and not wrong_proof(proved, 5)
    never = Termination(Status.PROVED, "never")
    assert wrong_proof(never, 5) and not wrong_proof(never, None)
