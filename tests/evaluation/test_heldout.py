"""The held-out set: that it is what it says. Its figures are reported by the score command and are not pinned here."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tests.evaluation import corpus, heldout, score
from tests.evaluation.heldout.ending import truth
from tests.evaluation.known_loops import observed
from tests.evaluation.scoring import whitebox
from tests.evaluation.scoring.cases import LABELS


@pytest.mark.sweep
def test_it_is_large_and_even():
    cases = heldout.histories()
    counts = Counter(c.label for c in cases)
    assert len(cases) >= 700 and min(counts[label] for label in LABELS) >= 50, counts
    assert sum(c.hard for c in cases) >= 300 and len({c.family for c in cases}) >= 140
    assert {8, 10_000} <= {len(c.values) for c in cases}
    assert len(heldout.tolerances()) >= 80 and len(heldout.watched()) >= 700 and len(heldout.graphs()) >= 450


def test_it_is_deterministic():
    for a, b in zip(heldout.histories(), heldout.histories(), strict=True):
        assert a.family == b.family and a.values.tobytes() == b.values.tobytes()


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["histories", "tolerances", "watched"])
def test_the_halves_make_the_whole(kind):
    whole, a, b = (getattr(heldout, kind)(half) for half in (None, "A", "B"))
    assert len(a) + len(b) == len(whole) and min(len(a), len(b)) > len(whole) / 3
    assert Counter(c.family for c in a) + Counter(c.family for c in b) == Counter(c.family for c in whole)


def test_no_history_is_in_the_development_set():
    known = {c.values.tobytes() for c in corpus.cases() if c.label != "STABLE"}
    assert not [c.family for c in heldout.histories() if c.values.tobytes() in known and len(np.unique(c.values)) > 40]


@pytest.mark.sweep
def test_loops_end_where_they_say():
    for loop in heldout.watched():
        assert truth(loop.clauses, loop.logic) == loop.n, loop.family
    ours = {(loop.family, loop.n) for loop in observed.loops()}
    assert len({(loop.family, loop.n) for loop in heldout.watched()} - ours) > 100


def test_tolerances_hold_from_where_they_say():
    for case in heldout.tolerances():
        later = case.values[case.iteration :]
        assert np.ptp(later) <= 2.000001 * case.tol and case.iteration >= 40, case.family


@pytest.mark.sweep
def test_no_wrong_proof():
    """The one figure that is pinned: a proof that is wrong is the worst defect there can be."""
    assert whitebox.score(heldout.graphs()).wrong_proofs == 0


@pytest.mark.sweep
def test_the_command_prints_it(capsys, monkeypatch):
    for kind in ("histories", "tolerances", "watched", "graphs"):
        full = getattr(heldout, kind)("A")
        monkeypatch.setattr(heldout, kind, lambda half=None, some=full: some[::25])
    score.main(["--heldout", "--half", "A", "--quick", "--wrong"])
    text = capsys.readouterr().out
    for name in ("macro recall", "wrong proofs", "confidence", "never-ending found within 50", "truth \\ answer"):
        assert name in text
