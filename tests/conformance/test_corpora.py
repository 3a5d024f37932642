"""Outputs, recorded intermediates and every firing of 93 real graphs equal what TensorFlow recorded."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conformance import corpora
from workbench.ops.state.tensor_array import ArrayFlow, ArrayHandle

CORPUS = corpora.open_corpus()
NAMES = CORPUS.names() if CORPUS else ()
#: graphs, firings (those of handles among them), intermediates, and intermediates that have lost their values
TOTALS = (93, 13999, 486, 2528, 47)

pytestmark = pytest.mark.skipif(CORPUS is None, reason=corpora.MISSING)


@pytest.fixture(scope="module")
def corpus() -> corpora.Corpus:
    assert CORPUS is not None
    return CORPUS


@pytest.fixture(scope="module")
def totals() -> list[corpora.Result]:
    return []


@pytest.mark.parametrize("name", NAMES)
def test_outputs_intermediates_and_every_firing(corpus, totals, name):
    result = corpora.compare(corpus, name)
    totals.append(result)
    assert not result.problems
    assert result.firings > 0


def test_nothing_was_left_out(totals):
    if len(totals) < len(NAMES):
        pytest.skip("not all graphs were run")
    counts = [(r.firings, r.handles, r.intermediates, r.lost) for r in totals]
    assert (len(totals), *map(sum, zip(*counts, strict=True))) == TOTALS


def test_the_comparison_sees_a_difference(corpus, monkeypatch):
    """A check that sees nothing cannot pass."""
    real = corpora.Corpus.trace

    def changed(self, name):
        trace = real(self, name)
        trace["while/add:0"][1] = trace["while/add:0"][1] + 1
        del trace["while/Less:0"][-1]
        return trace

    monkeypatch.setattr(corpora.Corpus, "trace", changed)
    problems = corpora.compare(corpus, "while1/iter_3").problems
    assert problems == ["while/Less:0 fired 4 times instead of 3", "while/add:0 fired other values"]


def test_the_comparison_sees_a_difference_in_an_intermediate(corpus, monkeypatch):
    real = corpora.Corpus.item

    def changed(self, name):
        item = real(self, name)
        return corpora.Item(item.inputs, item.outputs, {k: v + 1 for k, v in item.intermediates.items()})

    monkeypatch.setattr(corpora.Corpus, "item", changed)
    problems = corpora.compare(corpus, "simplewhile_1").problems
    assert problems and all(p.startswith("intermediate ") for p in problems)


def test_a_handle_is_no_number():
    handle, flow = ArrayHandle("a", "float32", 2), ArrayFlow()
    assert corpora.equal(handle, corpora.HANDLE) and corpora.equal(flow, np.float32(0))
    assert not corpora.equal(flow, corpora.HANDLE) and not corpora.equal(np.float32(0), corpora.HANDLE)
    assert not corpora.equal(handle, np.float32(0)) and not corpora.equal(flow, np.float32(1))
    assert not corpora.equal(flow, np.float64(0))


def test_only_arrays_of_booleans_have_lost_their_values():
    true = np.array([True, True])
    assert corpora.lost(np.zeros(2, bool), [true]) and corpora.lost(np.zeros(0), [np.zeros(0, bool)])
    assert not corpora.lost(np.zeros(2, bool), [~true]) and not corpora.lost(true, [~true])
    assert not corpora.lost(np.zeros(2), [np.ones(2)]) and not corpora.lost(np.array(False), [np.array(True)])
