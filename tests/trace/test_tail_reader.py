"""The newest rows of a value, asked for directly, are the end of its series; at a cost that does not grow with it."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import workbench as wb
from tests.analysis.report.test_report import hang, sequential, slow
from tests.widgets.browser_side import until
from tests.widgets.graphs import nested, newton
from tests.work import Work
from workbench.analysis.termination.query import observe
from workbench.ir.node import Ref
from workbench.trace.tail_reader import Reading


def loop_values(session: wb.Session) -> list[Ref]:
    """Every value inside of loops, loop invariants left out."""
    graph = session.graph
    inside = [Ref(*key) for key in session.trace.layout.values if graph.frame_of(key[0])]
    nodes = graph.nodes
    return [r for r in inside if nodes[r.node].op != "Const" and not nodes[r.node].attrs.get("is_constant")]


@pytest.mark.parametrize(
    ("graph", "feeds"),
    [(newton(), {"a": 2.0, "x0": 90.0}), (nested(), {"n": 9}), (sequential(), {"n": 7}), (nested(), {"n": 0})],
)
@pytest.mark.parametrize("steps", [0, 7, 41, None])
@pytest.mark.parametrize("count", [1, 5, 1000])
def test_the_newest_firings_are_the_end_of_the_series(graph, feeds, steps, count):
    with wb.Session(graph, feeds) as session:
        if steps is None:
            session.run()
        else:
            session.step(steps) if steps else None
        for ref in loop_values(session):
            series = session.trace[ref]
            total = len(series)
            paths, values = Reading(session.trace, ref).newest(count)
            expected = series.window(max(0, total - count), total)
            assert np.array_equal(paths, expected[0]), ref
            assert len(values) == len(expected[1]) and np.array_equal(values, expected[1]), ref


def test_a_loop_invariant_is_read_where_it_was_made():
    with wb.Session(newton(), {"a": 2.0, "x0": 90.0}) as session:
        session.run()
        (enter,) = [n for n in session.graph.nodes.values() if n.op == "Enter" and n.name.startswith("while/a")]
        assert Reading(session.trace, enter.ref()).last() == 2.0


def test_the_monitor_sees_what_the_record_holds():
    with wb.Session(slow(), {"n": 1000}) as session:
        session.run_to("x", iteration=700)
        monitor = observe(session.trace, session.graph, ("while",), last=100)
        i = session.trace["i"].values
        (clause,) = monitor.clauses
        looked = int(session.trace["while/less"].iterations[-1, 0])
        assert list(clause.lhs)[-1] == i[looked] and set(clause.rhs) == {1000} and len(clause.lhs) >= 99
        # the iteration in progress is not included until its condition was evaluated
        assert monitor.prediction().remaining == 1000 - looked


def test_reading_does_not_number_all_rows():
    session = wb.Session(hang(), {"n": 10})
    session.run(wait=False)
    assert until(lambda: session.snapshot().event > 20_000_000)
    session.pause()
    rows = session.trace.coverages()["outer", "inner"].happened
    tracemalloc.start()
    try:
        with Work() as work:
            paths, _ = Reading(session.trace, session.trace.ref("j")).newest(100)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    session.close()
    assert rows > 1_000_000 and len(paths) == 100 and paths[-1, 1] - paths[0, 1] == 99
    assert most < rows and work.calls < 2000, "numbers of all rows would be eight bytes each"
