"""The cache of a session's proofs: valid until something changes, and not longer. Edited runs get right answers."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import workbench as wb
from tests.widgets.browser_side import until
from workbench.analysis import Status
from workbench.analysis.termination import proof_cache
from workbench.execution.run import Run


def counter_graph():
    b = wb.GraphBuilder("g")
    n = b.placeholder("n", np.int64, ())
    limit = n * 1
    out = b.while_loop(lambda i, x: i < limit, lambda i, x: (i + 1, x + 1.0), (np.int64(0), 1.0))
    return b.build(out)


@pytest.mark.parametrize("steps", range(1, 9))
@pytest.mark.parametrize(("name", "value"), [("i", 40), ("while/multiply/Enter", 20), ("multiply", 20)])
def test_edits_of_carried_and_of_invariant_values(name, value, steps):
    with wb.Session(counter_graph(), {"n": 50}) as session:
        session.next_iteration(4)
        session.step(steps)
        session.termination()
        try:
            session.set_value(name, value)
        except wb.WorkbenchError:
            return  # it has not fired here
        done = session.snapshot().iterations[("while",)]
        answer = session.termination()
        assert answer.status is Status.PROVED, str(answer)
        session.step_back()
        before = session.termination()  # an edit lies ahead, or the answer that is known
        session.run()
        total = session.snapshot().iterations[("while",)]
        assert answer.remaining == total - done
        assert before.status is Status.UNKNOWN or before.remaining in (answer.remaining, answer.remaining + 1)


def test_a_proof_is_kept_and_counts_down(monkeypatch):
    with wb.Session(counter_graph(), {"n": 10**15}) as session:
        session.next_iteration()
        first = session.termination()
        assert first.remaining == 10**15
        session.next_iteration(1000)
        asked = []
        monkeypatch.setattr(proof_cache, "answer_of", lambda *a: asked.append(a))
        second = session.termination()
        assert not asked, "the answer is the one that is kept"
        monkeypatch.undo()
        assert second.remaining == 10**15 - 1000 and second.proof == first.proof
        session.previous_iteration()
        assert session.termination().remaining == 10**15 - 999
        session.restart()
        session.next_iteration()
        assert session.termination().remaining == 10**15


def test_other_inputs_are_asked_anew():
    with wb.Session(counter_graph(), {"n": 500}) as session:
        session.next_iteration(3)
        assert session.termination().remaining == 498
        session.update(n=300)
        session.run_to("i", iteration=2)
        assert session.termination().remaining == 298


def test_a_live_view_takes_its_share_and_no_more(monkeypatch):
    """On a clock that moves only while an answer is worked out, and beside it a run that takes 0.01 s for a look."""
    now, ran, granted = [0.0], [0.0], []
    seen_only = proof_cache.seen_only

    def costly(run, trace, path, seconds, failed=None):
        granted.append(seconds)
        now[0] += 1.5 * seconds  # it exceeds its share
        return proof_cache.unknown("no-proof", "It has found nothing.")  # it is computed again

    def cheap(*args):
        now[0] += 0.001
        return seen_only(*args)

    monkeypatch.setattr(proof_cache, "answer_of", costly)
    monkeypatch.setattr(proof_cache, "seen_only", cheap)
    monkeypatch.setattr(proof_cache, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    monkeypatch.setattr(Run, "spent", property(lambda run: (10**9, ran[0])))
    with wb.Session(counter_graph(), {"n": 10**15}, trace="off") as session:
        session.run(wait=False)
        assert until(lambda: session.snapshot().event > 1000)
        for _ in range(1000):
            ran[0] += 0.01
            assert session.termination().outcome != "never"
            assert session._proofs.spent <= 0.02 * ran[0] + 1.5 * proof_cache.AT_ONCE
        session.pause()
    assert len(granted) > 3 and session._proofs.spent > 0.01 * ran[0], "its share, and no less"


def test_a_loop_that_is_not_entered_yet_is_asked_about_once_until_something_changes(monkeypatch):
    asked = []
    monkeypatch.setattr(proof_cache, "answer_of", lambda *a, f=proof_cache.answer_of: asked.append(1) or f(*a))
    b = wb.GraphBuilder("later")
    x = b.placeholder("x", "float64")
    x, _ = b.while_loop(lambda x, i: i < 5, lambda x, i: (x * 0.5, i + 1), [x, 0], name="loop")
    with wb.Session(b.build({"x": x}), {"x": 1.0}) as session:
        answers = [session.termination() for _ in range(3)]
        assert session.look_ahead() is not None and len(asked) == 1
        assert all(a is answers[0] for a in answers) and answers[0].remaining == 5
        session.update(x=2.0)
        session.restart()
        assert session.termination().remaining == 5 and len(asked) == 2
        session.next_iteration()
        session.next_iteration()
        assert session.termination().remaining == 4
        session.run()
        ended = session.termination()
        assert ended.remaining == 0 and session.termination().remaining == 0
