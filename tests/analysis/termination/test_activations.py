"""Answers about an inner loop at every event: an earlier activation says nothing about the current one."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.analysis import Status
from workbench.analysis.termination.query import place_in, seen_only


def nest(draws: bool) -> wb.Graph:
    """An inner loop whose trips differ from one activation to the next: by a draw, or by the outer variable."""
    b = wb.GraphBuilder("nest")
    shape = b.constant(np.zeros(0, np.int64))

    def limit(y):
        if draws:
            return np.floor(b.random_uniform(shape, seed=5, dtype="float64") * 5.0)
        return np.remainder(y * 3.0, 4.0)

    def body(y):
        j = b.while_loop(lambda j, z: j < limit(z), lambda j, z: (j + 1.0, z), (b.constant(0.0), y), name="inner")[0]
        return y + 1.0 + 0.0 * j

    return b.build(b.while_loop(lambda y: y < 6.0, body, {"y": b.constant(0.0)}, name="loop"))


def trips_of(graph: wb.Graph) -> dict[int, int]:
    """Iterations of the inner loop in each iteration of the outer one."""
    with wb.Session(graph, {}) as session:
        session.run()
        paths = session.trace[graph.frames["loop", "inner"].loop_cond].iterations.tolist()
    return {outer: max(inner for o, inner in paths if o == outer) for outer, _ in paths}


@pytest.mark.parametrize("from_the_record", [False, True], ids=["asked", "from the record"])
@pytest.mark.parametrize(
    "draws", [pytest.param(True, marks=pytest.mark.slow, id="draws"), pytest.param(False, id="variable")]
)
def test_a_proof_is_about_the_present_activation(draws, from_the_record):
    graph, path = nest(draws), ("loop", "inner")
    trips, proved = trips_of(graph), 0
    assert len(set(trips.values())) > 1
    with wb.Session(graph, {}) as session:
        while session.stop.reason is not wb.StopReason.FINISHED:
            session.step(3 if draws else 1)  # runs with other draws are simulated each time
            run, here = session._run, place_in(session._run, path)
            found = seen_only(run, run.trace, path) if from_the_record else session.termination(path)
            if here is None or found.status is not Status.PROVED:
                continue
            assert found.outcome == "terminates"
            if found.remaining is not None:
                proved += 1
                assert found.remaining == trips[here[0]] - here[1], (session.position, str(found))
    assert proved > 0


def test_a_trace_does_not_take_an_earlier_activation_for_the_present_one():
    graph = nest(True)
    with wb.Session(graph, {}) as session:
        session.run_to(graph.frames["loop", "inner"].loop_cond, iteration=(1, 0))
        assert session.position.iteration == (1, 0)  # its variables have fired, its condition has not
        found = wb.analyze(session.trace).loops["loop/inner"].termination
    assert found.status is not Status.PROVED
