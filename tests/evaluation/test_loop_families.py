"""The families of loops: reproducible, of the length that they say; and proofs about random programs, run on."""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np
import pytest

import workbench as wb
from tests.evaluation import random_proofs
from tests.evaluation.families import score_loops
from tests.evaluation.families.base import GRAPH, WATCHED, Family, families
from tests.evaluation.families.loop_cases import RECORDED, FailingLoop, observed
from tests.evaluation.heldout.ending import truth
from tests.evaluation.scoring.cases import GraphLoop, Watched

#: a loop that takes longer is not run here: its length is arithmetic
SHORT = 3_000


@cache
def of_loops(kind: str) -> list[Family]:
    return [f for f in families(kind) if f.generate.__module__.rpartition(".")[2].startswith("loops_")]


def test_there_are_many_in_every_third():
    for kind in (WATCHED, GRAPH):
        assert len(of_loops(kind)) >= 40
        assert all(sum(f.third == third for f in of_loops(kind)) >= 12 for third in (0, 1, 2))


@pytest.mark.slow
def test_watched_loops_are_reproducible_and_end_where_they_say():
    for f in of_loops(WATCHED):
        loop, again = f.case(3, 0), f.case(3, 0)
        assert isinstance(loop, Watched) and loop.family == f.name
        for (_, left, op, right), (_, left_again, op_again, right_again) in zip(
            loop.clauses, again.clauses, strict=True
        ):
            assert op == op_again and np.asarray(left).tobytes() == np.asarray(left_again).tobytes()
            assert np.asarray(right).tobytes() == np.asarray(right_again).tobytes()
        found = truth(loop.clauses, loop.logic)
        if loop.trip_limit is not None:
            assert found is None and loop.n == loop.trip_limit
        else:
            assert found == loop.n, f.name
        assert all(len(left) >= (loop.n or RECORDED) for _, left, _, _ in loop.clauses)


def run_for_real(loop: GraphLoop) -> tuple[str, int]:
    """State of the session and iterations of the loop, after running it for a while."""
    graph, feeds = loop.build()
    with wb.Session(graph, feeds, trace="off") as session:
        path = tuple(loop.frame) if loop.frame else next(p for p in graph.frames if p)
        if loop.n is None:
            session.step(2000)
        else:
            session.run()
        return session.state, session.snapshot().iterations[path]


def test_loops_in_graphs_end_where_they_say():
    for f in of_loops(GRAPH):
        loop = f.case(3, 0)
        assert isinstance(loop, GraphLoop) and (loop.n, loop.done) == (f.case(3, 0).n, f.case(3, 0).done)
        if loop.n is not None and loop.n > SHORT or loop.impure and not isinstance(loop, FailingLoop):
            continue
        state, iterations = run_for_real(loop)
        if isinstance(loop, FailingLoop):
            assert (state, iterations) == ("failed", loop.n), f.name
        elif loop.n is None:
            assert state == "paused", f.name
        else:
            assert (state, iterations) == ("finished", loop.n), f.name


def test_values_keep_their_dtype_and_endless_loops_must_be_endless():
    loop = observed({"i": np.uint8(250)}, lambda k, i: {"i": i + 1}, lambda i: [("i", i, "!=", 200)])
    assert loop.n == 206 and loop.clauses[0][1].dtype == np.uint8
    with pytest.raises(AssertionError, match="false condition"):
        observed({"i": 0}, lambda k, i: {"i": i + 1}, lambda i: [("i", i, "<", 20)], ends=False)


def test_the_score_has_every_figure(monkeypatch):
    monkeypatch.setattr(score_loops, "families", lambda kind, thirds: of_loops(kind)[: 6 if kind == WATCHED else 12])
    found = score_loops.score_loops(0, seed=3, each=1)
    assert found["raised"] == 0 and found["white box: wrong proofs"] == 0
    assert {"black box: exact N at 30 %", "white box: exact N", "never: calibration error"} <= set(found)


@pytest.mark.slow
def test_no_proof_about_random_programs_is_wrong():
    tally = random_proofs.main(["--programs", "60", "--seed", "18", "--bound", "500"])
    assert tally.counts["wrong"] == tally.counts["raised"] == 0, tally.report()
    assert tally.counts["confirmed"] > 60 and tally.counts["not built"] < 12, tally.report()


def test_a_wrong_proof_would_be_seen(monkeypatch):
    """The check itself: a count that is one too large, and a "never" of a loop that ends."""
    honest = wb.Session.termination

    def off_by_one(self, frame=None, seconds=None):
        answer = honest(self, frame, seconds)
        return dataclasses.replace(answer, remaining=answer.remaining + 1) if answer.remaining else answer

    def pessimistic(self, frame=None, seconds=None):
        answer = honest(self, frame, seconds)
        return dataclasses.replace(answer, outcome="never", remaining=None) if answer.remaining else answer

    for wrong in (off_by_one, pessimistic):
        monkeypatch.setattr(wb.Session, "termination", wrong)
        tally = random_proofs.main(["--programs", "8", "--seed", "18", "--bound", "500"])
        assert tally.counts["wrong"] > 0, tally.report()
        assert "moves: Session(" in tally.report() and "while " in tally.report()
