"""A failure ahead is counted from the current iteration of the run, also if an edit is pending in the body."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.errors import WorkbenchError


def failing():
    """The table is read one place too far in iteration 6; ``y`` is edited on the way and decides nothing."""
    b = wb.GraphBuilder("table")
    table = b.constant(np.array([1.0, 2.0, 3.0, 2.0, 1.0, 5.0]))
    end = b.while_loop(
        lambda i, y: y > -1.0,
        lambda i, y: {"i": i + 1, "y": y * 0.5 + b.gather(table, i)},
        {"i": b.placeholder("i", "int64", ()), "y": 9.0},
    )
    return b.build({"y": end["y"]})


@pytest.mark.parametrize("edited", [False, True])
def test_wherever_the_run_stands(edited):
    graph, edits = failing(), 0
    for events in range(1, 40):
        with wb.Session(graph, {"i": np.int64(0)}) as session:
            session.step(events)
            if edited:
                try:
                    session.set_value("while/y/Switch:1", 7.0)
                    edits += 1
                except WorkbenchError:  # not there yet
                    continue
            answer = session.termination()
            with session.fork() as fork:
                fork.run()
                assert fork.state == "failed"
                fails_in = fork.snapshot().iterations[("while",)]
            here = max(session.snapshot().iterations[("while",)], 0)
            assert answer.details["fails_after"] == fails_in - here, (events, answer)
            assert answer.first_bad == fails_in
            when = f"after {fails_in - here} more whole" if fails_in > here else "in this iteration"
            assert when in answer.reason.sentence
    assert edits > 10 or not edited


@pytest.mark.parametrize("seconds", [1e-4, 0.2])
def test_of_two_nodes_that_fail_the_second_one_is_never_named_as_the_first(seconds):
    b = wb.GraphBuilder("two")
    x, z = b.placeholder("x", "int64"), b.placeholder("z", "int64")
    places = b.constant(np.array([3, 9, 9, 1]))

    def body(x, z):
        return b.op("gather", places, x), b.op("floor_divide", 100, z - 12, checked=True)

    x, z = b.while_loop(lambda x, z: x < 20, body, [x, z], name="loop")
    graph = b.build({"x": x, "z": z})
    with wb.Session(graph, {"x": 1, "z": 12}) as session:
        answer = session.termination("loop", seconds)
        assert answer.details.get("fails_after") in ((0,) if seconds > 0.1 else (0, None)), str(answer)
        stop = session.run()
        assert stop.reason is wb.StopReason.FAILED and stop.tag.iteration[-1] == 0
