"""Sentences as a person would write them: no None, no plural of one, no "loop loop"."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from workbench.analysis.termination.query import later, observe
from workbench.analysis.text import count, loop_named
from workbench.analysis.verdict import Reason, Status, Termination


@pytest.mark.parametrize(("n", "text"), [(0, "0 trips"), (1, "1 trip"), (2000, "2,000 trips")])
def test_counts(n, text):
    assert count(n, "trip") == text


def test_an_answer_that_is_one_iteration_old():
    reason, clause = Reason("r", "It ends."), "x < 3 (1 < 3)"
    answer = Termination(Status.PROVED, "terminates", 5, (5, 5), reason, blocking_clause=clause)
    old = later(answer, 1)
    assert old.reason.sentence == "Found 1 iteration ago: It ends." and old.blocking_clause.endswith("1 iteration ago)")
    assert "2 iterations ago" in later(answer, 2).reason.sentence
    assert later(answer, -1).reason.sentence.startswith("Found 1 iteration further on")
    counted = replace(answer, reason=Reason("r", "It ends after 5 more iterations."))
    assert later(counted, 1).reason.sentence == "It ends after 4 more iterations."
    assert later(counted, 5).reason.sentence == "It ends at once."


@pytest.mark.parametrize("name", ["loop", "while", "counting"])
def test_a_loop_is_not_called_loop_twice(name):
    assert loop_named(("outer", "loop")) == "loop outer/loop"
    b = wb.GraphBuilder("g")
    x = b.while_loop(lambda x: x < 1.0, lambda x: x + 1.0, b.constant(0.0), name=name)
    with wb.Session(b.build({"x": x})) as session:
        session.run()
        sentence = session.termination().reason.sentence
        assert sentence.startswith(f"The {loop_named(name)} has ended after 1 iteration")
        assert "loop loop" not in sentence
        assert "1 iterations" not in sentence + wb.analyze(session).report()


def test_large_arrays_are_not_all_read_to_answer():
    """The answer about a counter beside an array of 4 MB is the one beside a small array."""
    answers = []
    for size in (4, 1 << 19):
        b = wb.GraphBuilder("arrays")
        zero, big = b.constant(0, "int64"), b.constant(np.ones(size))
        k, w = b.while_loop(lambda k, w: k < 100, lambda k, w: (k + 1, w * 0.5), (zero, big))
        with wb.Session(b.build({"k": k, "w": w})) as session:
            session.next_iteration(20)
            monitor = observe(session.trace, session.graph, ("while",))
            answers.append((monitor.prediction().remaining, session.termination().remaining))
    assert answers[0] == answers[1] and None not in answers[0]
