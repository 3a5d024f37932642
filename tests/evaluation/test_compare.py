"""The other methods of the comparison: each does what its source says, on cases where that is known."""

from __future__ import annotations

import numpy as np
import pytest

from tests.evaluation import compare
from tests.evaluation.corpus.orbit import iterate
from tests.evaluation.methods import entropy
from tests.evaluation.methods.plain import Plain
from tests.evaluation.methods.textbook import Textbook, autocorrelation, zero_one
from tests.evaluation.methods.upstream import Upstream
from tests.evaluation.scoring.cases import Case, Watched

CHAOS = iterate(lambda x: 3.97 * x * (1 - x), 0.3, 1000)
WAVE = np.sin(np.arange(1000) * 0.37)
COUNTER = Watched("counter", [("i", np.arange(100), "<", 90)], 90)
STUCK = Watched("stuck", [("i", np.full(60, 3), "<", 90)], None)


def test_zero_one_test_tells_chaos_from_regular_motion():
    # Gottwald and Melbourne, section 3: K is near 1 for the logistic map at 3.97 and near 0 at 3.55
    assert zero_one(CHAOS) > 0.9
    assert zero_one(iterate(lambda x: 3.55 * x * (1 - x), 0.3, 1000)) < 0.2
    assert abs(zero_one(WAVE)) < 0.2


def test_autocorrelation_finds_the_period():
    peak, lag = autocorrelation(WAVE)
    assert peak > 0.95 and lag in (17, 34, 51)


@pytest.mark.parametrize(
    ("method", "values", "label"),
    [
        (Upstream(), np.full(20, 3.0), "STABLE"),
        (Upstream(), 0.5 ** np.arange(20), "CONVERGING"),
        (Upstream(), 2.0 ** np.arange(20), "DIVERGING"),
        (Upstream(), np.tile([1.0, -1.0], 10), "OSCILLATING"),
        (Plain(), 0.5 ** np.arange(30), "CONVERGING"),
        (Plain(), np.arange(40), "DIVERGING"),
        (Plain(), np.tile([1.0, 5.0, 2.0], 30), "OSCILLATING"),
        (Plain(), CHAOS, "CHAOTIC"),
        (Textbook(), 0.9 ** np.arange(60), "CONVERGING"),
        (Textbook(), np.cumsum(1 / np.arange(1.0, 400)), "DIVERGING"),
        (Textbook(), WAVE, "OSCILLATING"),
        (Textbook(), CHAOS, "CHAOTIC"),
    ],
)
def test_labels(method, values, label):
    assert method.label(values) == label


def test_ends():
    assert Upstream().end(COUNTER, 30) is None
    for method in (Plain(), Textbook()):
        assert method.end(COUNTER, 30) == 61
        assert method.end(STUCK, 50) == "never"
    both = Watched("both", [("i", np.arange(200), "<", 90), ("j", np.arange(200), "<", 70)], 70, "and")
    assert Plain().end(both, 30) == 41
    both.logic = "or"
    assert Plain().end(both, 30) == 61


def test_table_without_the_optional_packages(monkeypatch):
    monkeypatch.setattr(entropy, "available", lambda: False)
    cases = [Case("c", 0.5 ** np.arange(20), "CONVERGING", True), Case("d", np.arange(30), "DIVERGING")]
    text = compare.report(cases, [COUNTER, STUCK], [], None)
    rows = [line for line in text.splitlines() if line.startswith(("plain", "workbench "))]
    assert [row.split()[-6:-1] for row in rows if "white" not in row][1] == ["100.0%"] * 4 + ["0"]
    assert "not installed" in text and "pip install nolds antropy" in text


def test_fitted_tree_is_judged_on_other_families():
    pytest.importorskip("antropy")
    if not entropy.available():
        pytest.skip("nolds cannot be imported here")
    rng = np.random.default_rng(0)
    cases = [Case(f"rise{i}", np.arange(60.0) * (i + 1) + rng.normal(size=60), "DIVERGING") for i in range(5)]
    cases += [Case(f"noise{i}", rng.normal(size=80), "STABLE") for i in range(5)]
    assert entropy.by_family(cases) == [c.label for c in cases]
