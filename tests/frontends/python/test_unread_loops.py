"""Loops whose results are not read: Python runs them, and hangs in one that never ends."""

import pytest

import workbench as wb
from workbench.analysis import Status


@wb.graph
def unread(x: float):
    i = x
    while i < 5.0:
        i -= 1.0
    return x


@wb.graph
def unread_inside(x: float):
    while x < 5.0:
        j = x
        while j < 10.0:
            j += 0.0
        x += 1.0
    return x


@wb.graph
def unread_and_finite(x: float):
    i = x
    while i < 5.0:
        i += 1.0
    for _ in range(3):
        i += 0.5
    return x


@pytest.mark.parametrize("function", [unread, unread_inside])
def test_an_endless_loop_that_nobody_reads_stays(function):
    graph = function.graph_for(1.0)
    with wb.Session(graph, {"x": 1.0}) as session:
        answer = session.termination()
        assert (answer.status, answer.outcome) == (Status.PROVED, "never")
        session.step(500)
        assert session.state != "finished"


def test_a_finite_loop_that_nobody_reads_is_run():
    graph = unread_and_finite.graph_for(1.0)
    assert [len(path) for path in graph.frames] == [0, 1]  # the for loop certainly ends, so it is removed
    assert unread_and_finite(1.0) == 1.0
    assert wb.parse(graph.text()) == graph
    with wb.Session(graph, {"x": 1.0}) as session:
        session.run()
        assert session.state == "finished" and session.value("i") == 5.0


def test_a_loop_that_never_ends_with_nothing_read_is_not_entered_where_it_is_not():
    assert unread(7.0) == 7.0
