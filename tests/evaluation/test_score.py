"""Floors under the figures of the development set, and the arithmetic of the score itself.

A floor is what was reached, rounded towards what is wanted; it is raised when the figures rise, never lowered.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.evaluation import corpus, score
from tests.evaluation.known_loops import observed
from tests.evaluation.scoring import blackbox, calibration, labels, numbers, rows, tables, whitebox
from tests.evaluation.scoring.cases import LABELS, Case, GraphLoop, Watched
from workbench.analysis import Evolution, Pattern, Proof, Status, Termination


@pytest.fixture(scope="module")
def results():
    return score.run()


@pytest.fixture(scope="module")
def first():
    return labels.quarters(corpus.cases())


@pytest.fixture(scope="module")
def black():
    return blackbox.score(observed.loops()).figures()


@pytest.fixture(scope="module")
def white():
    return whitebox.score(observed.graphs(), seconds=0.4).figures()


@pytest.mark.slow
def test_the_development_set_is_large_and_even():
    cases = list(corpus.cases())
    counts = {label: sum(c.label == label for c in cases) for label in LABELS}
    assert len(cases) >= 900 and min(counts.values()) >= 75, counts
    assert len({c.family for c in cases}) >= 150 and sum(c.hard for c in cases) >= 400
    assert {c.values.dtype.name for c in cases} >= {"bool", "float16", "float32", "float64", "int8", "int64", "uint64"}
    assert len(observed.loops()) >= 600 and len(observed.graphs()) >= 50
    assert len(list(corpus.tolerances())) >= 90


@pytest.mark.slow
def test_labels(results, first):
    assert labels.macro(results) >= 0.98
    assert labels.hard(results) >= 0.97
    assert labels.share([r.right for r in first]) >= 0.955
    assert labels.calibration_error(results) <= 0.02
    assert labels.calibration_error([*results, *first]) <= 0.02


@pytest.mark.slow
def test_numbers(results):
    found = numbers.shares(results)
    assert found["rate"] >= 0.97 and found["exponent"] >= 0.98 and found["order"] >= 0.95 and found["period"] >= 0.97
    limit = numbers.limits(results)
    assert limit["gained"] >= 7.0 and limit["worse"] <= 0.025 and limit["kept"] >= 0.95


@pytest.mark.slow
def test_tolerances():
    found = numbers.tolerance_shares(corpus.tolerances())
    assert found[10] >= 0.8 and found[30] >= 0.8 and found[50] >= 0.8


@pytest.mark.slow
def test_black_box(black):
    assert black["exact 10"] >= 0.92 and black["exact 30"] >= 0.96 and black["exact 50"] >= 0.98
    assert black["error 30"] <= 0.03 and black["false never"] <= 0.01 and black["never found"] >= 0.88
    assert black["false proofs"] == black["raised"] == 0


@pytest.mark.slow
def test_white_box(white):
    assert whitebox.hurried(observed.graphs()) == (0, 0) and white["false_never"] == white["raised"] == 0
    assert white["wrong proofs"] == 0
    assert white["exact"] == 1.0 and white["detected"] == 1.0 and white["root"] == 1.0
    assert white["reason"] >= 0.98 and white["proved"] >= 0.75


def _answered(label: str, answer: Pattern, confidence: float, **more) -> labels.Answered:
    return labels.Answered(Case("f", np.arange(9.0), label, **more), Evolution(answer, confidence), 0.0)


def test_calibration_by_chance_shrinks_with_the_answers():
    few, many = [(0.9, True)] * 20, [(0.9, True)] * 2000
    assert 0.03 < calibration.error_by_chance(few) < 0.08
    assert calibration.error_by_chance(many) == pytest.approx(calibration.error_by_chance(few) / 10, rel=0.3)
    assert calibration.error_by_chance([(1.0, True)] * 5) == 0.0


def test_recall_confusion_and_calibration_by_hand():
    C, S = Pattern.CONVERGING, Pattern.STABLE
    some = [_answered("CONVERGING", C, 0.95)] * 3 + [_answered("CONVERGING", S, 0.95), _answered("STABLE", S, 0.55)]
    assert labels.recalls(some) == {"CONVERGING": 0.75, "STABLE": 1.0} and labels.macro(some) == 0.875
    assert labels.confusion(some)["CONVERGING"] == {"CONVERGING": 3, "STABLE": 1}
    assert labels.calibration_error(some) == pytest.approx(0.8 * 0.2 + 0.2 * 0.45)
    text = tables.of_confusion(some) + tables.of_reliability(some)
    assert "0.950     0.750       4" in text


def test_limit_and_tolerance_by_hand():
    case = Case("f", np.array([1.0, 0.1, 0.01]), "CONVERGING", facts={"limit": 0.0})
    near, far = (Evolution(Pattern.CONVERGING, limit=v, limit_error=1.0) for v in (1e-7, 0.2))
    good, bad = labels.Answered(case, near, 0.0), labels.Answered(case, far, 0.0)
    assert numbers.limits([good])["gained"] == pytest.approx(5.0) and numbers.limits([good])["worse"] == 0
    assert numbers.limits([good, bad])["worse"] == 0.5


def test_a_wrong_proof_is_seen():
    loop = GraphLoop("f", lambda: (None, {}), 10)
    ends, never, proof = "terminates", "never", Proof("lookahead", "")
    for answer, truth, wrong in (
        (Termination(Status.PROVED, ends, 10, (10, 10), proof=proof), 10, False),
        (Termination(Status.PROVED, ends, 11, (11, 11), proof=proof), 10, True),
        (Termination(Status.PROVED, ends, None, (0, 9), proof=proof), 10, True),
        (Termination(Status.PROVED, never, proof=proof), 10, True),
        (Termination(Status.PROVED, never, proof=proof), None, False),
        (Termination(Status.PROVED, ends, 5, (5, 5), proof=proof), None, True),
        (Termination(Status.PREDICTED, never), 10, False),
    ):
        assert whitebox.is_wrong_proof(loop, truth, answer) is wrong, answer
    impure = GraphLoop("f", lambda: (None, {}), None, impure=True)
    assert whitebox.is_wrong_proof(impure, None, Termination(Status.PROVED, never, proof=proof))


def test_black_box_tallies(monkeypatch):
    answers = iter(
        [
            Termination(Status.PREDICTED, "never"),
            Termination(Status.PREDICTED, "terminates", 91, (80, 95)),
            Termination(Status.PREDICTED, "terminates", 60, (60, 60)),
            Termination(Status.PREDICTED, "never"),
        ]
    )
    monkeypatch.setattr(blackbox, "ask", lambda loop, upto: next(answers))
    law = Watched("law", [("i", np.arange(200), "<", 100)], 100)
    found = blackbox.score([Watched("stuck", [("i", np.zeros(60), "<", 1)], None), law]).figures()
    assert (found["never found"], found["exact 10"], found["exact 30"], found["exact 50"]) == (1.0, 1.0, 0.0, 0.0)
    assert found["false never"] == pytest.approx(1 / 3) and found["coverage exact"] == 0.5


def test_an_error_is_an_answer_that_counts(monkeypatch):
    def fails(self):
        raise ZeroDivisionError("by hand")

    monkeypatch.setattr(blackbox.TerminationMonitor, "prediction", fails)
    found = blackbox.score([Watched("law", [("i", np.arange(200), "<", 100)], 100)])
    assert found.figures()["raised"] == 3 and "raised-an-error" in found.notes[0]


def test_rows_mark_what_is_missed():
    assert str(rows.Row("a", 0.971, 0.98)).endswith("MISSED") and not rows.Row("a", 0.981, 0.98).missed
    assert rows.Row("a", 0.93, 0.88, 0.92).missed and rows.Row("a", 0.87, 0.88, 0.92).missed
    assert not rows.Row("a", math.nan, 0.9).missed and "none asked" in str(rows.Row("a", math.nan, 0.9))
    assert "<= 200 us" in str(rows.Row("a", 180.0, None, 200.0, "us"))


@pytest.mark.slow
def test_loops_end_where_they_say():
    from workbench.analysis.comparisons import OPS

    for loop in observed.loops():
        held = [
            [bool(OPS[op](a, right[k] if np.ndim(right) else right)) for k, a in enumerate(left)]
            for _, left, op, right in loop.clauses
        ]
        joined = [(any if loop.logic == "or" else all)(truths) for truths in zip(*held, strict=True)]
        assert (joined.index(False) if False in joined else None) == loop.n, loop.family
