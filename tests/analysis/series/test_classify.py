"""Labels and numbers on the corpus of known truth, and the rules that the corpus rests on."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from tests.evaluation import score
from tests.work import work_of
from workbench.analysis import HistoryError, Pattern, classify, iterations_to_tolerance


@pytest.fixture(scope="module")
def results():
    return score.run()


def test_macro_recall(results):
    recalls = score.recalls(results)
    assert np.mean(list(recalls.values())) >= 0.97
    assert min(recalls.values()) >= 0.95, recalls


def test_hard_subset(results):
    hard = [a.label.name == c.label for c, a, _ in results if c.hard]
    assert np.mean(hard) >= 0.95


def test_first_quarter():
    assert score.first_quarter() >= 0.94


@pytest.mark.parametrize(
    ("what", "least"),
    [
        ("rate within 5 %", 0.94),
        ("exponent within 10 %", 0.95),
        ("order within 0.25", 0.95),
        ("period within 1 %", 0.97),
        ("limit not worse than the last value", 0.95),
        ("limit within 3 stated errors", 0.93),
    ],
)
def test_numbers(results, what, least):
    assert score.numeric(results)[what] >= least


def test_calibration(results):
    assert score.calibration_error(results) <= 0.03


def test_score_table(results):
    text = score.table(results)
    assert "macro recall" in text and "CHAOTIC" in text


def test_corpus_is_deterministic():
    from tests.evaluation.corpus import cases

    for a, b in zip(cases(), cases(), strict=True):
        assert a.family == b.family and np.array_equal(a.values, b.values, equal_nan=a.values.dtype.kind == "f")


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1.0, 1e150, 1e300])
@pytest.mark.parametrize("seed", [0, 1])
def test_scale_does_not_matter(scale, seed):
    values = 2 + 0.8 ** np.arange(40) * np.cos(np.arange(40) * (1 + seed))
    answer = classify(values * (scale / 4))
    assert answer.label is Pattern.CONVERGING
    assert answer.limit == pytest.approx(2 * (scale / 4))
    assert answer.rate == pytest.approx(0.8, rel=0.01)


def test_issues_and_first_bad_iteration():
    answer = classify([1.0, 2.0, 4.0, np.inf, np.nan, np.nan])
    assert answer.label is Pattern.DIVERGING and answer.issues == {"inf": 3, "nan": 4}
    answer = classify(np.minimum(np.arange(2**24 - 50, 2**24 + 50), 2**24).astype(np.float32))
    assert answer.label is Pattern.STABLE and answer.issues == {"stagnation": 50}
    answer = classify(2.0 ** np.arange(100.0))
    assert answer.issues["overflow_eta"] == pytest.approx(1024, abs=1)


def test_few_values_are_unknown():
    for values in ([1.0], [1.0, 2.0], [1, 2, 3, 4]):
        answer = classify(values)
        assert answer.label is Pattern.UNKNOWN and answer.confidence == 0.0 and "needed" in answer.why[0]


def test_vectors_worst_component_decides():
    k = np.arange(100)
    still, falling, turning = np.ones(100), 0.9**k, np.cos(0.7 * k)
    assert classify(np.column_stack([still, falling])).label is Pattern.CONVERGING
    answer = classify(np.column_stack([still, falling, turning]))
    assert answer.label is Pattern.OSCILLATING and answer.component == 2
    many = np.column_stack([falling] * 20 + [1.1**k])
    assert classify(many).label is Pattern.DIVERGING


def test_pandas_like_and_lists():
    class Series:
        def to_numpy(self):
            return 0.5 ** np.arange(30)

    assert classify(Series()).label is Pattern.CONVERGING
    assert classify([True, False] * 10).period == 2


@pytest.mark.parametrize(
    ("values", "slug"),
    [
        ([], "empty-history"),
        (np.zeros((0, 3)), "empty-history"),
        (["a", "b"], "bad-history-dtype"),
        (None, "bad-history-dtype"),
        (np.zeros((3, 2, 2)), "bad-history-shape"),
        (3.0, "bad-history-shape"),
        ([[1, 2], [3]], "bad-history"),
        (np.array([1j, 2j]), "bad-history-dtype"),
        (np.array([object()]), "bad-history-dtype"),
        (np.zeros((3, 0)), "bad-history-shape"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), "bad-history-dtype"),
    ],
)
def test_bad_input(values, slug):
    with pytest.raises(HistoryError) as caught:
        classify(values)
    assert caught.value.slug == slug and "values" in str(caught.value)


@pytest.mark.parametrize("seed", range(40))
def test_never_fails_on_odd_records(seed):
    """Whatever the numbers, there is an answer with a sentence and a probability."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 80))
    kind = seed % 8
    values = [
        rng.normal(size=n) * 10.0 ** rng.integers(-308, 308, n),
        rng.choice([0.0, -0.0, np.nan, np.inf, -np.inf, 1.0], n),
        rng.integers(-(2**63), 2**63 - 1, n),
        rng.integers(0, 2**64 - 1, n, dtype=np.uint64),
        rng.normal(size=n).astype(np.float16) * np.float16(6e4),
        5e-324 * rng.integers(0, 9, n),
        rng.integers(0, 3, n).astype(np.int8),
        np.where(np.arange(n) == n // 2, 1e308, 1e-308),
    ][kind]
    answer = classify(values)
    assert answer.why and 0.0 <= answer.confidence <= 1.0 and str(answer)


def test_cost_of_a_query(capsys):
    k = np.arange(10_000)
    rng = np.random.default_rng(0)
    worst = 0
    for values in (
        np.cumsum(1 / (k + 1.0)),
        rng.normal(size=len(k)),
        np.sin(k * 0.1),
        5 * 0.99**k + rng.normal(size=len(k)),
    ):
        worst = max(worst, work_of(partial(classify, values)))
    with capsys.disabled():
        print(f"\nclassify of 10,000 values: at worst {worst} calls")
    assert worst < 6000


@pytest.mark.parametrize(
    ("values", "tol", "truth"),
    [
        (0.9 ** np.arange(30), 1e-6, 132),
        (1 / np.arange(1.0, 100), 1e-3, 999),
        (0.5 ** np.arange(20), 1e-3, 10),
        (np.full(10, 3.0), 1e-9, 0),
        (2 + (-0.8) ** np.arange(40), 1e-5, 52),
    ],
)
def test_iterations_to_tolerance(values, tol, truth):
    forecast = iterations_to_tolerance(values, tol)
    assert (
        forecast is not None
        and abs(forecast.iteration - truth) <= 1
        and forecast.low <= forecast.iteration <= forecast.high
    )


def test_no_tolerance_of_what_does_not_converge():
    assert iterations_to_tolerance(np.arange(20), 1e-3) is None
    assert iterations_to_tolerance(np.sin(np.arange(200)), 1e-3) is None
    for tol in (0, -1, float("nan"), "x"):
        with pytest.raises(HistoryError, match="tolerance"):
            iterations_to_tolerance([1.0, 2.0], tol)
