"""Outputs and every firing of six real graphs equal what TensorFlow recorded."""

from __future__ import annotations

import pytest

from tests.conformance import corpora


@pytest.fixture(scope="module")
def corpus() -> corpora.Corpus:
    found = corpora.open_corpus()
    if found is None:
        pytest.skip(corpora.MISSING)
    return found


@pytest.mark.parametrize("name", corpora.NAMED)
def test_outputs_and_every_firing(corpus, name):
    result = corpora.compare(corpus, name)
    assert not result.problems
    assert result.firings > 20


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
