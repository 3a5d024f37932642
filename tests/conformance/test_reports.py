"""Every real graph with control flow can be analyzed, in the middle and at the end; each loop has an exact answer."""

from __future__ import annotations

import json

import pytest

import workbench as wb
from tests.conformance import corpora
from workbench.analysis import Status


@pytest.mark.slow
def test_reports_of_all_graphs():
    corpus = corpora.open_corpus()
    if corpus is None:
        pytest.skip(corpora.MISSING)
    loops = 0
    for name in corpus.names():
        graph, inputs = corpus.graph(name), corpus.item(name).inputs
        for steps in (5, None):
            with wb.Session(graph, inputs) as session:
                if steps is None:
                    session.run()
                else:
                    for _ in range(steps):
                        session.next_iteration()
                a = wb.analyze(session, seconds=60.0)  # as long as it takes, however busy the machine is
                assert max(map(len, a.report(80).splitlines())) <= 80, name
                assert a.report(80, ascii=True).isascii(), name
                json.dumps(a.data(), allow_nan=False)
                for loop in a.loops.values():
                    loops += 1
                    assert not loop.notes and loop.termination.status is Status.PROVED, (name, str(loop))
                    assert not (steps is None and loop.open), (name, str(loop))
    assert loops >= 100
