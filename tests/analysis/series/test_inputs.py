"""Inputs of ``classify``: types it takes, types it refuses, results as data, and its cost."""

from __future__ import annotations

import json
from functools import partial

import ml_dtypes
import numpy as np
import pytest

from tests.work import work_of
from workbench.analysis import HistoryError, Pattern, classify

K = np.arange(100)


class Series:
    """The parts of a pandas Series that matter: an index, which is ignored, and ``to_numpy``."""

    index = K[::-1]

    def __init__(self, values):
        self._values = values

    def to_numpy(self):
        return self._values


class Frame(Series):
    columns = ("loss", "norm")
    iloc = None


def test_series_lists_and_byte_orders():
    want = classify(1 + 0.8**K)
    for values in (Series(1 + 0.8**K), (1 + 0.8**K).tolist(), tuple(1 + 0.8**K), (1 + 0.8**K).astype(">f8")):
        answer = classify(values)
        assert (answer.label, answer.limit, answer.rate) == (want.label, want.limit, want.rate)
    assert classify((1 + 0.8**K)[:, None]).rate == want.rate
    assert classify(np.ma.masked_array(1 + 0.8**K)).rate == want.rate
    assert classify((1 + 0.8**K).astype(np.longdouble)).rate == pytest.approx(0.8, rel=1e-6)
    assert classify(np.repeat(1 + 0.8**K, 2)[::2]).rate == want.rate


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16])
def test_every_floating_dtype_has_its_own_rounding(dtype):
    answer = classify((1 + 0.7**K).astype(dtype))
    eps = float(ml_dtypes.finfo(dtype).eps)
    assert answer.label is Pattern.CONVERGING and answer.limit == pytest.approx(1, abs=4 * eps)
    grown = classify((2.0 ** np.arange(14)).astype(dtype))
    largest = float(np.log2(float(ml_dtypes.finfo(dtype).max)))
    assert grown.label is Pattern.DIVERGING and grown.issues["exploding"] == pytest.approx(largest, abs=1)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_big_integers_are_exact(dtype):
    """Neighbours beyond 2**53 differ, although their float64 values do not."""
    base = 2**62
    assert classify(np.array([base + i for i in range(20)], dtype=dtype)).label is Pattern.DIVERGING
    assert classify(np.array([base + i % 2 for i in range(20)], dtype=dtype)).period == 2
    assert classify(np.array([base] * 20, dtype=dtype)).label is Pattern.STABLE
    assert classify(np.array([base + 1000 // 2**i for i in range(30)], dtype=dtype)).label is Pattern.CONVERGING


@pytest.mark.parametrize(
    ("values", "slug", "word"),
    [
        (Frame(np.zeros((5, 2))), "bad-history-table", "column"),
        (np.ma.masked_array(K * 1.0, mask=K == 7), "bad-history-masked", "masked"),
        (np.array([1.0, None, 3.0], dtype=object), "bad-history-dtype", "object"),
        (np.ones(9, dtype=complex), "bad-history-dtype", "complex"),
        (np.ones((4, 4, 4)), "bad-history-shape", "(4, 4, 4)"),
        (np.float64(3), "bad-history-shape", "()"),
        ([10**400, 1], "bad-history-dtype", "object"),
        (Series(np.array(["a"])), "bad-history-dtype", "<U1"),
        ({1.0, 2.0}, "bad-history-dtype", "object"),
        ({}, "bad-history-dtype", "object"),
    ],
)
def test_refused_inputs_say_what_came_and_what_to_change(values, slug, word):
    with pytest.raises(HistoryError) as caught:
        classify(values)
    assert caught.value.slug == slug and word in str(caught.value) and caught.value.fix


def test_inputs_are_not_changed():
    values = 1 + 0.8**K
    before = values.copy()
    values.setflags(write=False)
    classify(values)
    assert np.array_equal(values, before)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int64, bool])
def test_rows_of_any_dtype(dtype):
    a = np.zeros((60, 30))
    a[:, 11] = np.arange(60) % 2
    a[:, 4] = 1
    answer = classify(a.astype(dtype))
    assert answer.label is Pattern.OSCILLATING and answer.component == 11 and answer.period == 2


def test_non_finite_components_are_looked_at():
    a = np.outer(0.5 ** np.arange(30), np.ones(50))
    a[20, 33] = np.nan
    assert classify(a).issues["nan"] == 20


def test_wide_tensors_cost_one_pass():
    a = np.outer(0.9 ** np.arange(60), np.random.default_rng(0).normal(size=100_000))
    answer = classify(a)
    assert answer.label is Pattern.CONVERGING and answer.rate == pytest.approx(0.9)
    narrow = work_of(lambda: classify(a[:, :100]))
    assert work_of(lambda: classify(a)) < 2 * narrow  # what there is per component is compiled


def test_table_is_json():
    for values in (1 + 0.8**K, K, np.sin(K), np.ones(9), [1.0], np.r_[1.0, np.nan, 1.0], np.outer(K, [1.0, 2.0])):
        answer = classify(values)
        table = json.loads(json.dumps(answer.table(), allow_nan=False))
        assert table["label"] == answer.label.name and table["why"] == answer.why and table["count"] == len(values)
        assert table["limit"] == answer.limit and table["component"] == answer.component
        reasons = [f": refused, {law['reason']}" for law in table["why_not"]]
        assert all(str(law).endswith(end) for law, end in zip(answer.why_not, reasons, strict=True))


@pytest.mark.parametrize(
    "law",
    [
        lambda k: 1 + 0.8**k,
        lambda k: 2 - (-0.7) ** k,
        lambda k: 3.0 * k - 7,
        lambda k: np.sin(0.3 * k),
        lambda k: 1.1**k,
        lambda k: 2 + 1 / (k + 1.0),
    ],
)
def test_fitted_values_follow_the_law(law):
    n, ahead, back = 50, 20, 10
    curve = classify(law(np.arange(float(n)))).fitted(ahead, back)
    k = np.array(curve["iteration"])
    assert k.tolist() == list(range(n - back, n + ahead))
    truth, low, high = law(k * 1.0), np.array(curve["low"]), np.array(curve["high"])
    scale = np.max(np.abs(truth))
    assert np.allclose(curve["value"], truth, atol=2e-3 * scale)
    assert np.all(low <= curve["value"]) and np.all(curve["value"] <= high)


def test_fitted_of_an_answer_without_a_model():
    assert classify(np.random.default_rng(0).normal(size=100)).fitted(5) is None
    for wrong in ((-1, 0), (0, -1), (10**7, 0)):
        with pytest.raises(ValueError, match="million"):
            classify(K).fitted(*wrong)


def test_work_of_a_query(capsys):
    """Half of the queries of 512 values make fewer than 1,000 calls, which take about 200 microseconds."""
    from tests.evaluation.random_histories.families import histories

    records = [h.values[:512] for h in histories(41, 205)]
    work = [work_of(partial(classify, values)) for values in records]
    median, worst = float(np.median(work)), max(work)
    with capsys.disabled():
        print(f"\nclassify, 512 values: median {median:.0f} calls, worst {worst}")
    assert median < 1000 and worst < 12_000


def test_long_records_cost_hardly_more():
    k = np.arange(1.0, 200_001)
    for f in (lambda k: np.cumsum(1 / k), lambda k: 3 + 1 / k, lambda k: 2.0 * k):
        assert work_of(partial(classify, f(k))) < 2 * work_of(partial(classify, f(k[:512])))
