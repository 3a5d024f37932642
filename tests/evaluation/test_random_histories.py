"""Quality on random histories: every parameter drawn, seeds that neither the table nor the rules were made from."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pytest

from tests.evaluation import calibrate_confidence
from tests.evaluation.random_histories.families import FAMILIES, histories
from tests.evaluation.scoring.calibration import calibration_error
from workbench.analysis import classify

COUNT = 30 * len(FAMILIES)


@pytest.fixture(scope="module")
def drawn():
    return [(h, classify(h.values)) for h in histories(31, COUNT)]


@pytest.fixture(scope="module")
def first_quarters():
    return [
        (h, classify(h.values[: len(h.values) // 4])) for h in histories(31, COUNT) if h.quarter and len(h.values) >= 48
    ]


@pytest.mark.slow
def test_macro_recall(drawn):
    by = defaultdict(list)
    for h, answer in drawn:
        by[h.label].append(answer.label.name == h.label)
    recalls = {label: float(np.mean(right)) for label, right in by.items()}
    assert len(recalls) == 5 and np.mean(list(recalls.values())) >= 0.98, recalls
    assert min(recalls.values()) >= 0.96, recalls


@pytest.mark.slow
def test_no_family_fails(drawn):
    by = defaultdict(list)
    for h, answer in drawn:
        by[h.family.split("+")[0]].append(answer.label.name == h.label)
    assert len(by) > 50 and min(np.mean(right) for right in by.values()) >= 0.75


@pytest.mark.slow
def test_first_quarter(first_quarters):
    assert np.mean([a.label.name == h.label for h, a in first_quarters]) >= 0.97


@pytest.mark.slow
def test_calibration(drawn, first_quarters):
    pairs = [(a.confidence, a.label.name == h.label) for h, a in [*drawn, *first_quarters]]
    assert calibration_error(pairs) <= 0.02


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fact", "within", "least"),
    [("rate", 0.05, 0.97), ("sublinear_exponent", 0.10, 0.98), ("order", 0.125, 0.95), ("period", 0.01, 0.99)],
)
def test_numbers(drawn, fact, within, least):
    name = "exponent" if fact == "sublinear_exponent" else fact
    known = [(h.facts[name], getattr(a, fact)) for h, a in drawn if name in h.facts]
    right = [v is not None and abs(v / truth - 1) <= within for truth, v in known]
    assert len(right) >= 15 and np.mean(right) >= least


@pytest.mark.slow
def test_limits(drawn):
    """Limits are hardly ever worse than the last value, gain digits, and lie within three stated errors."""
    worse, held, gained = [], [], []
    for h, a in drawn:
        if "limit" not in h.facts or h.label != "CONVERGING":
            continue
        truth = h.facts["limit"]
        floor = 4 * np.finfo(float).eps * abs(truth)
        before = abs(float(h.values[-1]) - truth)
        after = abs(a.limit - truth) if a.limit is not None else math.inf
        worse.append(after > before + floor)
        held.append(a.limit_error is not None and after <= 3 * a.limit_error + floor)
        if before > 8 * floor:
            gained.append(math.log10(before / max(after, floor, 1e-320)) if after < math.inf else 0.0)
    assert np.mean(worse) <= 0.02 and np.mean(held) >= 0.94
    assert np.median(gained) >= 4.5


def test_histories_are_deterministic():
    for a, b in zip(histories(5, len(FAMILIES)), histories(5, len(FAMILIES)), strict=True):
        assert a.family == b.family and a.facts == b.facts
        assert np.array_equal(a.values, b.values, equal_nan=a.values.dtype.kind == "f")


def test_isotonic_regression():
    assert calibrate_confidence.isotonic([0.9, 0.8, 0.7], [1, 1, 1]) == [0.9, 0.8, 0.7]
    assert calibrate_confidence.isotonic([0.7, 0.9, 0.5], [1, 3, 1]) == pytest.approx([0.85, 0.85, 0.5])
    assert calibrate_confidence.isotonic([0.1, 0.2, 0.3], [1, 1, 2]) == pytest.approx([0.225] * 3)


def test_the_table_of_one_kind():
    said = [calibrate_confidence.Said("label", k, i > 0, f"family {i % 3}") for i in range(21) for k in (0, 2)]
    ((row, families),) = calibrate_confidence.table(said).values()
    assert families == 3 and 0.9 < row[0] <= row[1] <= row[2] <= 0.995
