"""A streaming state is classified as the whole record is, although it keeps only 512 values and a summary."""

from __future__ import annotations

import numpy as np
import pytest

from tests.evaluation.corpus import cases
from tests.evaluation.random_histories.long_records import records
from workbench.analysis import HistoryError, classify
from workbench.kernels.streaming import ScalarState, VectorState

#: Steps that shrink by 0.5 % an iteration and end in rounding: of the whole record "stagnation", of the state the limit
#: that they have.
DIFFERENT = {"slow cosine"}


def state_of(values: np.ndarray) -> ScalarState:
    state = ScalarState()
    state.update(values)
    return state


@pytest.mark.sweep
@pytest.mark.timeout(300)
def test_labels_of_long_records_agree():
    long = [(c.family, c.values) for c in cases() if len(c.values) > 512]
    wrong = []
    for name, values in [*records(), *long]:
        whole, state = classify(values), classify(state_of(values))
        if whole.label is not state.label and name not in DIFFERENT:
            wrong.append(f"{name}: {whole.label.name} {whole.method} | {state.label.name} {state.method}")
        assert state.count == len(values)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("values", "label", "facts"),
    [
        (3 + 0.9 ** np.arange(5000.0), "CONVERGING", {"limit": 3.0, "rate": 0.9}),
        (np.r_[np.arange(2.0**24 - 300, 2.0**24), np.full(5000, 2.0**24)].astype(np.float32), "STABLE", {}),
        (np.resize(np.random.default_rng(0).normal(size=400), 9000), "OSCILLATING", {"period": 400.0}),
        (1 + (1 + np.arange(20_000.0)) ** -0.5, "CONVERGING", {"sublinear_exponent": 0.5, "limit": 1.0}),
        (np.random.default_rng(1).normal(size=9000), "STABLE", {}),
        (np.random.default_rng(1).normal(size=9000) + np.r_[np.full(300, 9.0), np.zeros(8700)], "CONVERGING", {}),
        (np.random.default_rng(1).normal(size=9000) * np.arange(1, 9001), "DIVERGING", {}),
        (np.full(9000, 7), "STABLE", {"limit": 7.0}),
        (np.r_[5, np.full(9000, 7)], "CONVERGING", {"limit": 7.0}),
    ],
)
def test_what_only_the_whole_record_shows(values, label, facts):
    answer = classify(state_of(values))
    assert answer.label.name == label, answer
    for name, wanted in facts.items():
        assert getattr(answer, name) == pytest.approx(wanted, rel=0.05), name


def test_stagnation_keeps_its_iteration():
    values = np.r_[np.arange(2.0**24 - 300, 2.0**24), np.full(5000, 2.0**24)].astype(np.float32)
    assert classify(state_of(values)).issues["stagnation"] == classify(values).issues["stagnation"]


def test_first_bad_values_keep_their_iterations():
    values = 1 + 0.999 ** np.arange(5000.0)
    values[[7, 100]] = np.nan, np.inf
    answer = classify(state_of(values))
    assert answer.issues["nan"] == 7 and answer.issues["inf"] == 100 and answer.label.name == "CONVERGING"


def test_the_worst_component_of_a_tensor_decides():
    k = np.arange(3000.0)[:, None]
    x = np.hstack([1 + 0.9**k, 0.5**k, 2.0 * np.ones_like(k), 0.01 * k])
    state = VectorState()
    state.update_many(x)
    answer = classify(state)
    assert answer.label.name == "DIVERGING" and answer.component == 3
    bad = x.copy()
    bad[40, 2] = np.nan
    state = VectorState()
    state.update_many(bad)
    assert classify(state).issues["nan"] == 40


def test_an_empty_state_has_no_history():
    for state in (ScalarState(), VectorState()):
        with pytest.raises(HistoryError) as caught:
            classify(state)
        assert caught.value.slug == "empty-history"


def test_gaps_leave_what_came_after():
    state = ScalarState()
    state.update(np.random.default_rng(0).normal(size=900))
    state.skip(100_000)
    state.update(5 + 0.9 ** np.arange(100.0))
    answer = classify(state)
    assert answer.count == 101_000 and answer.label.name == "CONVERGING"
    assert answer.limit == pytest.approx(5.0, abs=1e-3)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_tensor_that_arrives_flutters_in_its_own_last_bits(dtype):
    rng = np.random.default_rng(0)
    x, target, state = rng.normal(size=400).astype(dtype), rng.normal(size=400).astype(dtype), VectorState()
    for _ in range(900):
        state.update(x)
        x = (x + np.asarray(0.1, dtype) * (target - x)).astype(dtype)
    answer = classify(state)
    assert answer.label.name == "CONVERGING", answer
    again = classify(state.norm)
    assert again.label.name in ("CONVERGING", "STABLE")
