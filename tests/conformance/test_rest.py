"""How many of the 1,604 real graphs without control flow give what TensorFlow recorded."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conformance import rest, rest_draws
from tests.conformance.rest_worker import Worker, run_all

#: graphs that agree; raised whenever more do
REACHED = 1071


@pytest.fixture(scope="module")
def corpus() -> rest.RestCorpus:
    if not rest.ARCHIVE.exists():
        pytest.skip(f"the corpus is not there ({rest.ARCHIVE})")
    return rest.RestCorpus()


@pytest.mark.slow
def test_as_many_graphs_as_were_reached_agree(corpus):
    results = list(run_all(corpus.names(), rest.LIMIT))
    assert len(results) == 1604
    assert sum(r.status == "ok" for r in results) >= REACHED, rest.summary(results)


def test_the_comparison_sees_a_difference(corpus, monkeypatch):
    """A check that sees nothing cannot pass."""
    assert rest.compare(corpus, "abs/rank2_float32").status == "ok"
    real = rest.RestCorpus.record

    def changed(self, name):
        item = real(self, name)
        for value in item.outputs.values():
            value.flat[-1] += 1e-2
        return item

    monkeypatch.setattr(rest.RestCorpus, "record", changed)
    result = rest.compare(corpus, "abs/rank2_float32")
    assert (result.status, result.culprit) == ("FAIL", "Abs")


def test_only_an_empty_bool_may_differ_in_dtype():
    assert rest.same(np.zeros((1, 0), bool), np.zeros((1, 0)))
    assert not rest.same(np.zeros((0, 1), bool), np.zeros((1, 0)))
    assert not rest.same(np.zeros((1, 0), np.float32), np.zeros((1, 0)))
    assert not rest.same(np.zeros(1, bool), np.zeros(1))


def test_a_graph_that_takes_too_long_costs_only_itself(corpus, monkeypatch):
    monkeypatch.setattr("tests.conformance.rest_worker.START", 0.0)
    found = list(run_all(["abs/rank2_float32"], 1e-6))
    assert [r.status for r in found] == ["slow"]


def test_a_process_that_dies_costs_only_its_graph(corpus, monkeypatch):
    real, asked = Worker.ask, []

    def dying(self, name, limit):
        asked.append(name)
        if len(asked) == 1:
            self._process.kill()
            self._process.wait()
        return real(self, name, limit)

    monkeypatch.setattr(Worker, "ask", dying)
    found = list(run_all(["abs/rank2_float32", "abs/rank2_float64"], rest.LIMIT))
    assert [r.status for r in found] == ["slow", "ok"]


def test_draws_are_compared_in_distribution():
    rng = np.random.default_rng(1)
    a, b = rng.uniform(size=(100, 3)), rng.uniform(size=(100, 3))
    assert rest_draws.agrees_in_distribution(a, b) == ""
    assert "mean" in rest_draws.agrees_in_distribution(a + 0.5, b)
    assert "range" in rest_draws.agrees_in_distribution((a - a.mean()) * 4 + b.mean(), b)
    assert "float32" in rest_draws.agrees_in_distribution(a.astype(np.float32), b)
    assert "not finite" in rest_draws.agrees_in_distribution(np.full((100, 3), np.nan), b)
