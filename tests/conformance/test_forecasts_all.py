"""In every loop of every stored graph the remaining iterations are proved exactly, at every iteration of every loop."""

from __future__ import annotations

import workbench as wb
from tests.conformance import corpora
from tests.conformance.test_forecasts import body_runs


def test_every_iteration_of_every_loop():
    corpus = corpora.open_corpus()
    if corpus is None:
        import pytest

        pytest.skip(corpora.MISSING)
    asked, entered, graphs = 0, set(), 0
    for name in corpus.names():
        graph, inputs = corpus.graph(name), corpus.item(name).inputs
        if len(graph.frames) == 1:
            continue
        graphs += 1
        with wb.Session(graph, inputs) as whole, wb.Session(graph, inputs) as session:
            whole.run()
            session.next_iteration()
            while session.state == "paused":
                place = session.position
                if place.frame:
                    answer = session.termination(place.frame, seconds=0.2)  # not one that is kept
                    left = body_runs(whole, place.frame, place.iteration[:-1]) - place.iteration[-1]
                    assert (answer.status.name, answer.remaining) == ("PROVED", left), (name, place, str(answer))
                    asked += 1
                    entered.add((name, place.frame))
                session.next_iteration()
    assert graphs == 39 and len(entered) >= 50 and asked >= 230
