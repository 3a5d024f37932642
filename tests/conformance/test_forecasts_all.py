"""In every loop of every stored graph the remaining iterations are proved exactly, at every iteration of every loop."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.conformance import corpora
from tests.conformance.test_forecasts import body_runs


@pytest.mark.slow
def test_every_iteration_of_every_loop():
    corpus = corpora.open_corpus()
    if corpus is None:
        pytest.skip(corpora.MISSING)
    asked, entered, graphs = 0, set(), 0
    for name in corpus.names():
        graph, inputs = corpus.graph(name), corpus.item(name).inputs
        if len(graph.frames) == 1:
            continue
        graphs += 1
        with wb.Session(graph, inputs) as whole, wb.Session(graph, inputs) as session:
            whole.run()
            session.step()
            last = None
            while session.state == "paused":
                place, here = session.position, (session.position.frame, session.position.iteration)
                if place.frame and here != last:
                    last = here
                    answer = session.termination(place.frame, seconds=0.2)  # not one that is kept
                    left = body_runs(whole, place.frame, place.iteration[:-1]) - place.iteration[-1]
                    assert (answer.status.name, answer.remaining) == ("PROVED", left), (name, place, str(answer))
                    asked += 1
                    entered.add((name, place.frame))
                session.step()
    assert graphs == 39 and len(entered) == 51 and asked >= 246
