"""The families draw, again the same from the same seed, with consistent truth, in thirds of fair size."""

from __future__ import annotations

import numpy as np
import pytest

from tests.evaluation import score_families
from tests.evaluation.families.base import HISTORY, KINDS, LABELS, THIRDS, UNKNOWN, C, D, O, digest, families, family
from tests.evaluation.scoring.cases import Case

FACTS = {"rate", "order", "limit", "period", "exponent"}


def _same(a: Case, b: Case) -> bool:
    same = a.values.dtype == b.values.dtype and np.array_equal(a.values, b.values, equal_nan=a.values.dtype.kind == "f")
    return same and (a.label, a.facts, a.hard, a.quarter) == (b.label, b.facts, b.hard, b.quarter)


def _consistent(case: Case) -> None:
    v, facts = case.values, case.facts
    assert v.dtype.kind in "fiub" and v.ndim in (1, 2) and 1 <= len(v) <= 10_000
    assert case.label in (*LABELS, UNKNOWN) and set(facts) <= FACTS and np.all(np.isfinite(list(facts.values())))
    if v.dtype.kind == "f":
        assert np.all(np.isfinite(v)) or case.label == D
    if "limit" in facts:
        assert case.label == C and v.ndim == 1
        assert abs(float(v[-1]) - facts["limit"]) <= np.max(np.abs(v.astype(float) - facts["limit"]))
    if "rate" in facts:
        assert 0 < facts["rate"] < 1 if case.label == C else facts["rate"] > 1 and case.label == D
    if "period" in facts:
        assert case.label == O and 2 <= facts["period"] <= max(len(v) / 2, 2)
    assert case.label != O or np.ptp(v[len(v) // 2 :].astype(float)) > 0
    assert facts.get("order", 2) > 1 and facts.get("exponent", 1) > 0


@pytest.mark.slow
def test_every_history_draws_again_the_same_with_consistent_truth():
    found = families(HISTORY)
    for f in found:
        case = f.case(7, 0)
        assert case.family == f.name
        assert _same(case, f.case(7, 0)), f.name
        try:
            _consistent(case)
        except AssertionError as error:
            raise AssertionError(f"{f.name}: {case.label}, {case.facts}, n={len(case.values)}") from error
    assert len(found) >= 100


def test_thirds_follow_from_the_name_and_hold_a_fair_share():
    every = families()
    for third in (0, 1, 2):
        mine = families(HISTORY, [third])
        assert all(f.third == digest(f.name) % 3 == third for f in mine)
        assert len(mine) >= 0.25 * len(families(HISTORY, [0, 1, 2]))
    for new, least in ((1, 50), (2, 15), (3, 30), (4, 30), (5, 30), (6, 15), (7, 45), (8, 45), (9, 35), (10, 35)):
        assert all(f.new == new for f in families(thirds=[2 + new])) and len(families(thirds=[2 + new])) >= least
    assert {f.kind for f in every} <= set(KINDS) and len({f.name for f in every}) == len(every)
    assert digest("epoch_counter") == digest("epoch_counter") != digest("step_decay")


def test_names_are_registered_once_and_kinds_are_known():
    def epoch_counter(rng):
        raise AssertionError("is never drawn")

    families()
    with pytest.raises(ValueError, match="rename"):
        family(HISTORY)(epoch_counter)
    with pytest.raises(ValueError, match="expected one of"):
        family("story")


def test_score_prints_both_sides_and_wrong_answers_of_development_only(monkeypatch, capsys):
    few = {thirds: families(HISTORY, thirds)[:8] for thirds in score_families.SIDES.values()}
    monkeypatch.setattr(score_families, "families", lambda kind, thirds: few[tuple(thirds)])
    score_families.main(["--seed", "3", "--each", "1", "--wrong"])
    out = capsys.readouterr().out
    assert out.startswith("seed 3, 1 of each family") and "macro recall" in out and "left out" in out
    assert sorted(t for thirds in score_families.SIDES.values() for t in thirds) == list(THIRDS)
    assert not any(f.name in out for thirds in few for f in few[thirds] if thirds != (0,))


def test_wrong_answers_of_any_third_are_listed_where_it_is_named(monkeypatch, capsys):
    few = families(HISTORY, (12,))[:2]
    monkeypatch.setattr(score_families, "families", lambda kind, thirds: few if tuple(thirds) == (12,) else [])
    score_families.main(["--third", "12", "--wrong", "--each", "1", "--seed", "3"])
    out = capsys.readouterr().out
    assert "third 12" in out and "Wrong labels" in out
