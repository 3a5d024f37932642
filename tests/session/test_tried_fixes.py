"""Fixes of an answer are tried when it is printed: those that do not help are left out, and nothing else happens."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref

import numpy as np

import workbench as wb
from tests.evaluation.solver_reports import heron

F32 = np.float32
#: float64 comes to rest above this tolerance, too
INPUTS = {"a": F32(2.0), "x": F32(1.0), "tol": F32(1e-20)}


def kinds(fixes) -> list[str]:
    return [fix.kind for fix in fixes]


def stalled() -> wb.Session:
    session = wb.Session(heron.graph_for(**INPUTS), INPUTS)
    session.next_iteration(8)
    return session


def test_a_fix_that_does_not_help_is_not_printed():
    with stalled() as session:
        position, fixed = session.position, session.fixed
        answer = session.termination()
        assert kinds(answer.fix) == ["tolerance", "dtype"] and answer.fuse.kind == "cap"
        assert kinds(answer.fixes_that_help()) == ["tolerance"]
        text = str(answer)
        assert text.count("To fix it") == 1 and answer.fix[1] not in text and f"As a fuse: {answer.fuse}" in text
        assert session.position == position and session.fixed is fixed and session.forks == ()
        assert answer.fixes_that_help() is answer.fixes_that_help()  # tried once


def test_the_answer_itself_takes_no_trial(monkeypatch):
    with stalled() as session:
        monkeypatch.setattr(wb.Session, "try_fix", lambda *_: 1 / 0)
        answer = session.termination()
        assert kinds(answer.fix) == ["tolerance", "dtype"] and answer.table()["fix"]


def test_what_cannot_be_tried_is_printed():
    with stalled() as session:
        answer = session.termination()
    assert str(answer).count("To fix it") == 2  # the session is closed
    with stalled() as session:
        others = [copy.deepcopy(session.termination()), pickle.loads(pickle.dumps(session.termination()))]
        assert [kinds(other.fixes_that_help()) for other in others] == [["tolerance", "dtype"]] * 2


def test_an_answer_does_not_keep_its_session():
    session = stalled()
    answer = session.termination()
    session.close()
    gone = weakref.ref(session)
    del session
    gc.collect()
    assert gone() is None and len(answer.fixes_that_help()) == 2


def test_a_loop_that_ends_has_nothing_to_try():
    with wb.Session(heron.graph_for(**INPUTS), {**INPUTS, "tol": F32(1e-3)}) as session:
        answer = session.termination()
        assert answer.outcome == "terminates" and answer.fixes_that_help() is answer.fix
