"""Loops of public questions: what is said of each is held against plain Python and against what is known of it."""

from __future__ import annotations

import warnings

import pytest

import workbench as wb

from . import ends_and_floats, integers_and_guards, solvers_and_steps, tables_and_counters
from .public_loop import FAILS, OPEN, PublicLoop

PARTS = ends_and_floats, integers_and_guards, solvers_and_steps, tables_and_counters
LOOPS = [loop for part in PARTS for loop in part.LOOPS]


def _answer(loop: PublicLoop) -> wb.Termination:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        graph = loop.function.graph_for(*loop.arguments)
        session = wb.Session(graph, dict(zip(graph.inputs, loop.arguments, strict=True)))
        session.next_iteration()
        return session.termination()


@pytest.mark.slow
@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.name)
def test_what_is_said_is_true(loop: PublicLoop) -> None:
    answer, truth = _answer(loop), loop.truth
    trips = loop.trips(3000)
    if truth is OPEN:
        assert trips is None and answer.outcome != "terminates"
        return
    if truth is FAILS:
        assert trips is None and answer.outcome is None and "does not fit 64 bits" in str(answer)
        return
    assert answer.status.name == "PROVED" and answer.outcome == truth.outcome, str(answer)
    if truth.outcome == "terminates":
        assert answer.remaining == truth.iterations == trips
        return
    assert trips is None
    assert any(words in str(answer) for words in truth.cause), str(answer)
    kinds = {claim.kind for claim in answer.claims}
    assert not truth.kinds or kinds & set(truth.kinds), (kinds, str(answer))
    assert answer.claims and all(claim.check() for claim in answer.claims)


def test_there_are_eighty() -> None:
    assert len({loop.name for loop in LOOPS}) == len(LOOPS) >= 80
