"""Fixes in a report were tried: those that help are shown with the outcome, those that do not are left out."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import workbench as wb
from tests.evaluation.solver_reports import analysis_of, heron


@wb.graph
def descent(x: float, rate: float, tol: float):
    while abs(x - 1.0) > tol:
        x = x - rate * (x - 1.0)
    return x


def analysed(function, **inputs):
    with wb.Session(function.graph_for(**inputs), inputs) as session:
        session.next_iteration(6)
        position, fixed = session.position, session.fixed
        found = wb.analyze(session)
        assert session.position == position and session.fixed is fixed and session.forks == ()
    (loop,) = found.loops.values()
    return loop, str(found)


def test_a_fix_that_helps_says_when_the_loop_then_ends():
    loop, text = analysed(descent, x=3.0, rate=2.0, tol=1e-3)  # swings between 3 and -1
    halved = [f for f in loop.fixes if "halve" in f]
    assert halved and "Tried: it then ends after 1 iteration." in halved[0]
    assert "Tried: it then ends after 1 iteration." in " ".join(text.split())


def test_a_fix_that_does_not_help_is_not_there():
    f32 = np.float32
    # float64 comes to rest above 1e-20, too
    loop, _ = analysed(heron, a=f32(2.0), x=f32(1.0), tol=f32(1e-20))
    assert loop.outcome == "never" and [f.kind for f in loop.termination.fix] == ["tolerance", "dtype"]
    assert [f.partition(" Tried: ")[0] for f in loop.fixes] == [
        str(f) for f in loop.termination.fix if f.kind != "dtype"
    ]


def test_no_copy_is_kept():
    inputs = {"x": 3.0, "rate": 2.0, "tol": 1e-3}
    with wb.Session(descent, inputs) as session:
        session.next_iteration(6)
        copies = [weakref.ref(session.try_fix(session.termination(), f).fork) for f in session.termination().fix]
        gc.collect()
        assert copies and [copy() for copy in copies] == [None] * len(copies)


def test_float32_is_tried_in_float64():
    (loop,) = analysis_of("float32").loops.values()
    assert [f.rpartition(" Tried: ")[2] for f in loop.fixes] == [
        "it then ends after 4 iterations.",
        "it then ends after 4 iterations.",
    ]


def test_what_cannot_be_tried_is_told_as_it_is():
    b = wb.GraphBuilder("still")
    x = b.while_loop(lambda x, k: x < 5.0, lambda x, k: (x, k + 1), [b.constant(1.0), b.constant(np.int64(0))])
    with wb.Session(b.build({"x": x[0]}), {}) as session:
        session.next_iteration(3)
        (loop,) = wb.analyze(session).loops.values()
    assert any("assign" in f and "Tried" not in f for f in loop.fixes)
    (loop,) = wb.analyze(session.trace).loops.values()
    assert loop.fixes == [str(f) for f in loop.termination.fix]


@pytest.mark.parametrize("seconds", [0.0, -1.0])
def test_a_trial_of_no_time_is_refused(seconds):
    inputs = {"x": 3.0, "rate": 2.0, "tol": 1e-3}
    with wb.Session(descent.graph_for(**inputs), inputs) as session:
        session.next_iteration(6)
        answer = session.termination()
        if seconds < 0:
            with pytest.raises(wb.WorkbenchError):
                session.try_fix(answer, answer.fix[0], seconds)
        else:
            assert session.try_fix(answer, answer.fix[0], seconds).fork.state == "closed"


def test_a_loop_that_ends_only_by_a_wrap_of_64_bits_has_fixes_that_can_be_tried():
    b = wb.GraphBuilder("wraps")
    y, low = b.placeholder("y", "int64"), np.int64(np.iinfo(np.int64).min)
    (y,) = b.while_loop(lambda y: y >= low, lambda y: (b.op("where", y != 7, y + 1, y - 1),), [y], name="loop")
    with wb.Session(b.build({"y": y}), {"y": low}) as session:
        answer = session.termination()
        assert answer.outcome == "never" and "never" in str(answer)
