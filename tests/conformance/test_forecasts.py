"""In every loop of the named graphs the remaining iterations are proved exactly, from the first iteration on."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.conformance import corpora

LOOPS = [name for name in corpora.NAMED if "while" in name]


def body_runs(session: wb.Session, path: tuple[str, ...], outer: tuple[int, ...]) -> int:
    """How often the condition of a loop was true in one activation, from the record of a finished run."""
    graph = session.graph
    cond = next(n for n in graph.frames[path].nodes if graph.nodes[n].op == "LoopCond")
    series = session.trace[cond]
    decisions = zip(series.iterations.tolist(), series.values, strict=True)
    return sum(bool(taken) for iteration, taken in decisions if tuple(iteration[:-1]) == outer)


@pytest.mark.parametrize("name", LOOPS)
def test_remaining_iterations(name):
    corpus = corpora.open_corpus()
    if corpus is None:
        pytest.skip(corpora.MISSING)
    graph, inputs = corpus.graph(name), corpus.item(name).inputs
    with wb.Session(graph, inputs) as whole, wb.Session(graph, inputs) as session:
        whole.run()
        asked = 0
        session.next_iteration()
        while session.state == "paused":
            place = session.position
            if place.frame:
                answer = session.termination(place.frame)
                left = body_runs(whole, place.frame, place.iteration[:-1]) - place.iteration[-1]
                assert (answer.status.name, answer.remaining) == ("PROVED", left), (place, str(answer))
                asked += 1
            session.next_iteration()
    assert asked >= 3
