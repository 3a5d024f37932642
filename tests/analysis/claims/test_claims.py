"""Claims are data and sentences that recompute themselves; one whose numbers are changed does not hold."""

from __future__ import annotations

import copy
import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from workbench.analysis.claims import Claim, FirstBad, Period, checked
from workbench.analysis.claims.checks import CHECKS
from workbench.analysis.claims.sentences import SENTENCES
from workbench.errors import WorkbenchError
from workbench.kernels import machine as core


@wb.graph
def turning(n: int) -> int:
    i = 0
    while i != n:
        i = i * i % 23 + 1
    return i


def asked(function, **feeds):
    with wb.Session(function.graph_for(**feeds), feeds) as session:
        return session.termination()


def test_the_period_of_a_loop_is_a_claim():
    """x -> x^2 mod 23 + 1 from 0: 1, 2, 5, 3, 10, 9, 13, 9: 9 and 13 return."""
    (period,) = [c for c in asked(turning, n=99).claims if c.kind == "period"]
    assert period.data["n"] == 2 and period.check()
    for wrong in ({"n": 1}, {"n": 3}, {"n": 4}):
        assert not replace(period, **wrong).check()


def test_claims_are_plain_data_and_go_into_the_table():
    answer = asked(turning, n=99)
    table = json.loads(json.dumps(answer.table()))
    assert table["claims"] == [c.to_dict() for c in answer.claims] and table["claims"]
    assert all(set(c) == {"kind", "sentence", "data"} for c in table["claims"])


def test_a_claim_that_was_pickled_says_what_it_said_and_cannot_recompute_itself():
    (period,) = [c for c in asked(turning, n=99).claims if c.kind == "period"]
    for other in (pickle.loads(pickle.dumps(period)), copy.copy(period)):
        assert other == period and other.sentence == period.sentence
        with pytest.raises(WorkbenchError) as caught:
            other.check()
        assert caught.value.slug == "no-evidence"
    assert period.check()


def test_first_bad_iterations_recompute_themselves_and_what_does_not_hold_is_not_said():
    first = FirstBad(names=("x",), iteration=7, n=2, evidence=({b"a", b"b"}, {7: b"a", 6: b"c"}))
    assert first.check()
    for pattern, here, before in (({b"a"}, b"a", b"c"), ({b"a", b"b"}, b"d", b"c"), ({b"a", b"b"}, b"a", b"b")):
        assert not replace(first, evidence=(pattern, {7: here, 6: before})).check()
    wrong = [replace(first, iteration=8), replace(first, n=3), replace(first, evidence=())]
    assert checked([first, *wrong]) == [first]


def test_every_kind_has_a_sentence():
    kinds = {c.kind for c in (Period, FirstBad)}
    assert kinds <= set(SENTENCES)


def test_every_kind_tells_how_it_is_checked_with_numbers_of_its_own():
    told = {"ended", "left-by-break", "ended-by-nan", "stopped-by-caller", "cut-off", "about-to-begin"}
    assert set(SENTENCES) - set(CHECKS) == told
    (period,) = [c for c in asked(turning, n=99).claims if c.kind == "period"]
    turns = [f"{period.since + k * period.n:,}" for k in range(3)]
    assert all(turn in period.checked_by for turn in turns), period.checked_by


@pytest.mark.skipif(not core.can_flush(), reason="this processor has no such switch")
def test_a_claim_is_recomputed_in_the_arithmetic_of_its_graph():
    class HalvesToZero(Claim):
        """Half of the value is zero."""

        kind = "halves-to-zero"

        def _holds(self, run):
            return run * np.float64(0.5) == 0

    least = np.finfo(np.float64).smallest_normal
    with core.Subnormals(True):
        flushed = HalvesToZero(evidence=least)
    assert flushed.check() and not core.flushes()
    assert not HalvesToZero(evidence=least).check() and "flushed" not in flushed.data
    with core.Subnormals(True):
        assert not HalvesToZero(evidence=least, flushed=False).check()


@pytest.mark.skipif(not core.can_flush(), reason="this processor has no such switch")
@pytest.mark.parametrize("flushed", [False, True])
def test_an_answer_has_claims_of_the_arithmetic_of_its_graph(flushed):
    b = wb.GraphBuilder("halving")
    b.flushes_subnormals = flushed
    start = b.placeholder("x")
    graph = b.build(b.while_loop(lambda x: x > -1.0, lambda x: x * 0.5, {"x": start}))
    with wb.Session(graph, {"x": 1.0}) as session:
        session.next_iteration(3)
        claims = session.termination().claims
    assert claims and all(claim.flushed is flushed and claim.check() for claim in claims)
