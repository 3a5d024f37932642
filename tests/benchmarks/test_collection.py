"""The shape of the two curves of the proposal's experiment, by counts and bytes; times are printed by the benchmark."""

from __future__ import annotations

import numpy as np
import pytest

from tests.benchmarks import collection
from tests.benchmarks.collection import BATCH, ROWS, main, slope, train

EPOCHS = 12


@pytest.fixture(scope="module")
def curves():
    return train(EPOCHS, collect=False), train(EPOCHS, collect=True)


def test_off_memory_grows_by_the_same_amount_each_epoch(curves):
    off, _ = curves
    steps = np.diff([e.bytes for e in off]), np.diff([e.live for e in off])
    assert len(set(steps[0])) == len(set(steps[1])) == 1
    assert steps[1][0] >= 10 * ROWS // BATCH  # at least ten arrays of each step are left behind
    assert slope([e.bytes for e in off]) == pytest.approx(steps[0][0])


def test_on_memory_stays_as_it_is_after_the_first_epoch(curves):
    off, on = curves
    assert len({e.bytes for e in on}) == len({e.live for e in on}) == 1
    assert on[0].live == 4  # the weights
    assert off[-1].bytes > 50 * on[-1].bytes


def test_the_loop_computes_the_same(curves):
    off, on = curves
    assert [e.loss for e in off] == [e.loss for e in on]
    assert on[-1].loss < 0.6 * on[0].loss


def test_what_an_epoch_looks_at_grows_with_what_was_left_behind(monkeypatch):
    """The cause of the growing duration, counted: arrays that clearing the gradients asks."""
    counts: list[int] = []
    clear = collection.GradientCollector.clear

    def counting(self):
        before = self.looked_at
        clear(self)
        counts.append(self.looked_at - before)

    monkeypatch.setattr(collection.GradientCollector, "clear", counting)
    train(3, collect=False)
    assert np.all(np.diff(counts) > 0) and len(set(np.diff(counts))) == 1
    counts.clear()
    train(3, collect=True)
    assert set(counts) == {4}


@pytest.mark.bench
def test_the_experiment(capsys):
    main([])
    print(capsys.readouterr().out)
