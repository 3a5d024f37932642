"""A point of a sweep equals a single session, bit for bit: outcome, iterations, events, outputs, failures."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.sweep.graphs import DRAWN
from workbench.sweep.runners import make_runner

#: events of a point; enough for every loop of DRAWN that ends
WORK = 20_000
POINTS = 400


def drawn(name: str, seed: int, n: int = POINTS) -> tuple[wb.Graph, dict[str, np.ndarray]]:
    make, draw = DRAWN[name]
    return make(), draw(np.random.default_rng(seed), n)


def found_outputs(found: wb.Sweep) -> list[str]:
    return [
        name
        for name in found.names
        if name.removesuffix(" (output)") in found.graph.outputs and name not in found.points
    ]


def check_point(found: wb.Sweep, k: int) -> str:
    """Compare one point with a separate session, and return its outcome."""
    outcome = str(found["outcome"][k])
    with found.session(k, trace="off") as session:
        loop = found.problem.loop
        if outcome in ("ended", "not finite", "failed"):
            session.run()
            state = session.snapshot()
            assert session.state == ("failed" if outcome == "failed" else "finished"), found.inputs(k)
            assert state.event == found["events"][k]
            assert state.iterations.get(loop, 0) == max(found["iterations"][k], 0)
        if outcome in ("ended", "not finite"):
            for name, value in session.outputs.items():
                got = found.columns.all.values[name][k]
                assert got.dtype == value.dtype and got.tobytes() == value.tobytes(), (k, name, got, value)
        elif outcome == "failed":
            error, failure = session.stop.error, found.failures[k]
            assert error.node == failure.node and failure.message in error.message
            assert error.tag.iteration == failure.iteration
        elif outcome == "endless":
            # the state that returned is there, in this very run, and returns again
            period, at = int(found["recurs_after"][k]), int(found["iterations"][k])
            names = [v.name for v in found.graph.frames[loop].variables]
            session.run_to(names[0], iteration=at + period + 1)
            states = [[session.value(v, at + shift).tobytes() for v in names] for shift in (-period, 0, period)]
            assert states[0] == states[1] == states[2]
    return outcome


@pytest.mark.slow
@pytest.mark.parametrize("name", DRAWN)
def test_points_equal_single_sessions(name):
    graph, points = drawn(name, seed=24)
    found = wb.sweep(graph, points, design="list", work=WORK, threads=2)
    assert found.state == "finished" and not (found["outcome"] == "waiting").any()
    outcomes = [check_point(found, k) for k in range(POINTS)]
    expected = {"newton": "endless", "collatz": "endless", "nested": "ended", "descent": "ended", "raising": "failed"}
    assert expected[name] in outcomes and "ended" in outcomes
    assert "undecided" not in outcomes or name in ("newton", "descent")


def test_the_compiled_runner_is_used():
    for name in DRAWN:
        graph, points = drawn(name, seed=1, n=3)
        found = wb.sweep(graph, points, design="list", threads=1)
        runner = make_runner(found.problem, {n: c[0] for n, c in found.points.items()})
        assert type(runner).__name__ == "CompiledRunner", name


def test_the_same_points_in_any_order_and_number_of_threads():
    graph, points = drawn("nested", seed=5)
    one = wb.sweep(graph, points, design="list", threads=1)
    three = wb.sweep(graph, {n: c[::-1] for n, c in points.items()}, design="list", threads=3)
    for name in ("iterations", "events", "outcome", *found_outputs(one)):
        assert (one[name] == three[name][::-1]).all(), name
