"""The compiled streaming state against its plain twin."""

from __future__ import annotations

import sys
import threading
import time

import numpy as np
import pytest

streaming = pytest.importorskip("workbench.kernels.streaming", reason="the compiled kernels are not built")
twin = pytest.importorskip("tests.kernels.reference.streaming", reason="the compiled kernels are not built")

FACTS = (
    "count",
    "constant_run",
    "longest_constant_run",
    "monotone_run",
    "alternating_run",
    "first_nan",
    "first_inf",
    "nonfinite_count",
    "block_length",
)


def histories():
    rng = np.random.default_rng(0)
    yield "float64", rng.normal(size=3000)
    yield "float32", rng.normal(size=700).astype(np.float32)
    yield "float16", rng.normal(size=300).astype(np.float16)
    yield "monotone", np.linspace(0, 1, 200)
    yield "alternating", (-1.0) ** np.arange(100) * np.linspace(1, 2, 100)
    yield "runs", np.repeat([1.0, 2.0, 2.5, 7.0], [3, 20, 4, 9])
    yield "nan", np.array([1, 2, np.nan, 4, np.inf, -np.inf, np.nan, 3.0])
    yield "zeros", np.array([0.0, -0.0, 0.0, 0.0])
    yield "int64", rng.integers(-9, 9, 1000)
    yield "int64 edges", np.array([2**63 - 1, -(2**63), 0, 2**53, 2**53 + 1] * 30)
    yield "uint64", np.array([2**64 - 1, 0, 2**63] * 20, dtype=np.uint64)
    yield "int8", rng.integers(-128, 127, 200).astype(np.int8)
    yield "bool", rng.integers(0, 2, 600).astype(bool)
    yield "big endian", np.arange(40, dtype=">f8")
    yield "strided", np.arange(4000.0)[::3]
    yield "reversed", np.arange(100)[::-1]
    yield "one", np.array([5.0])


@pytest.mark.parametrize(("name", "values"), list(histories()), ids=lambda v: v if isinstance(v, str) else "")
@pytest.mark.parametrize("pieces", [1, 7])
def test_state_equals_its_twin(name, values, pieces):
    state, plain = streaming.ScalarState(), twin.ScalarStateTwin()
    for part in np.array_split(values, pieces):
        if len(part):
            state.update(part)
            plain.update(part)
    for fact in FACTS:
        assert getattr(state, fact) == getattr(plain, fact), fact
    kept, expected = state.values(), plain.values()
    assert kept.dtype == expected.dtype
    assert np.array_equal(kept.view(np.uint8), expected.view(np.uint8)), "not bit for bit"
    assert len(state.blocks_array()) <= 64
    np.testing.assert_allclose(state.blocks_array(), plain.blocks_array(), rtol=1e-9, atol=1e-9)


def test_state_is_bounded():
    state = streaming.ScalarState()
    state.update(np.arange(1_000_000.0))
    assert state.nbytes <= 8192
    assert len(state.values()) == 512
    assert len(state) == state.count == 1_000_000


def test_recurrence_is_exact_and_verified():
    state = streaming.ScalarState()
    state.update(np.r_[np.random.default_rng(1).normal(size=50), np.tile([1.0, 2.0, 3.0, 2.0], 100)])
    period, run = state.recurrence
    assert period % 4 == 0 and run > 100
    state.update(9.0)
    assert state.recurrence is None
    state.update(np.random.default_rng(2).normal(size=500))
    assert state.recurrence is None


def test_vector_state():
    rng = np.random.default_rng(3)
    xs = rng.normal(size=(20, 5, 7))
    state = streaming.VectorState()
    for before, x in zip([xs[0], *xs[:-1]], xs, strict=True):
        state.update(x)
        norm, step, top, bad = twin.fused_pass(x, before)
        assert state.norm.values()[-1] == pytest.approx(norm)
        if state.count > 1:
            assert state.step.values()[-1] == pytest.approx(step)
        assert state.max_abs_d == pytest.approx(top) and state.nonfinite_count == bad
    assert len(state.components) == 8
    for i, component in state.components.items():
        assert np.array_equal(component.values(), xs.reshape(20, -1)[:, i])
    again = streaming.VectorState()
    again.update(xs[-1])
    assert again.hash == state.hash
    again.update(xs[-2])
    assert again.hash != state.hash


def test_vector_norm_survives_large_values():
    state = streaming.VectorState()
    state.update(np.full(4, 1e300))
    assert state.norm.values()[0] == pytest.approx(2e300)


@pytest.mark.parametrize(
    ("value", "error"),
    [(["a"], TypeError), (1j, TypeError), (np.zeros((2, 2)), ValueError), (None, TypeError), ([object()], TypeError)],
)
def test_bad_input(value, error):
    state = streaming.ScalarState()
    with pytest.raises(error, match="expected"):
        state.update(value)
    assert state.count == 0


def test_kind_may_not_change():
    state = streaming.ScalarState()
    state.update(1.5)
    with pytest.raises(TypeError, match="as before"):
        state.update(np.array([1]))
    vector = streaming.VectorState()
    vector.update(np.zeros(3))
    with pytest.raises(ValueError, match="shape"):
        vector.update(np.zeros(4))


def test_gil_is_released():
    """The thread of an update is not asked for the interpreter: another one has it only if the update lets it go."""
    values = np.random.default_rng(0).normal(size=4_000_000)

    def beside() -> bool:
        """True if this thread had the interpreter while the other one was in the middle of its update."""
        steps = []

        def update() -> None:
            steps.append("begun")
            streaming.ScalarState().update(values)
            steps.append("ended")

        worker = threading.Thread(target=update)
        worker.start()
        while not steps:
            time.sleep(0)
        seen = steps[:]
        worker.join()
        return seen == ["begun"]

    interval = sys.getswitchinterval()
    try:
        sys.setswitchinterval(60.0)
        assert any(beside() for _ in range(20)), "this thread did not run beside the update"
    finally:
        sys.setswitchinterval(interval)
