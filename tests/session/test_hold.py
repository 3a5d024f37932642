"""``session.hold``: a value that stays whatever the trace drops; ``session.memory``: what the run itself holds."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.widgets.graphs import nested
from workbench.ir import Ref, Tag


def growing(size=1000, trips=200):
    b = wb.GraphBuilder("growing")
    x = b.placeholder("x", "float64", (size,))
    out = b.while_loop(
        lambda v, i: i < trips, lambda v, i: (v * 1.01 + 1.0, i + 1), {"v": x, "i": b.constant(0, "int64")}
    )
    return b.build({"v": out["v"]})


def held():
    return next((m.live for m in wb.memory().managers if m.name == "held"), 0)


def test_a_held_value_survives_what_the_trace_drops():
    before = held()
    with wb.Session(growing(), {"x": np.zeros(1000)}, memory_budget=200_000) as session:
        session.run_to("v", iteration=4)
        session.step()
        early = session.hold("v", iteration=4)
        wanted = np.zeros(1000)
        for _ in range(4):
            wanted = wanted * 1.01 + 1.0
        session.run()
        assert session.trace.dropped
        np.testing.assert_array_equal(np.asarray(early), wanted)
        late = session.hold("v", iteration=3)  # recomputed
        np.testing.assert_array_equal(np.asarray(late * 1.01 + 1.0), wanted)
        assert early.origin.tag == Tag("while/v/Merge", 0, ("while",), (4,))
        assert session.hold("v").origin.tag.iteration == (200,)
        assert early.manager is None and held() == before + 2
    np.testing.assert_array_equal(np.asarray(early), wanted)  # the session is closed
    early.release()
    with pytest.raises(wb.ReleasedError, match="session of 'growing' as while/v/Merge:0.while 4.* is used") as caught:
        early.numpy()
    assert caught.value.released.how == "release"
    with pytest.raises(wb.ReleasedError, match="double-release"):
        early.release()
    del early, late
    assert held() == before


def test_a_held_value_can_be_given_to_a_manager():
    with wb.Session(growing(10, 3), {"x": np.zeros(10)}) as session, wb.ArrayManager("keep") as keep:
        session.run()
        kept = keep.attach(session.hold("v", iteration=1))
        assert kept.manager is keep and kept.tolist() == [1.0] * 10
    assert kept.released


def test_nested_frames_and_names_that_are_not_there():
    with wb.Session(nested(), {"n": 5}) as session:
        session.run()
        series = session.trace["t"]
        tag = series.tag(len(series) // 2)
        assert len(tag.iteration) == 2
        handle = session.hold("t", tag.iteration)
        assert handle.origin.tag == tag and handle.item() == series.values[len(series) // 2]
        with pytest.raises(wb.WorkbenchError):
            session.hold("no such value")
        with pytest.raises(wb.WorkbenchError):
            session.hold("s", iteration=99)


def test_the_memory_of_a_run():
    budget, chunk = 6 << 20, 2 << 20
    with wb.Session(growing(trips=3000), {"x": np.zeros(1000)}, memory_budget=budget) as session:
        first = session.memory_now()
        assert (first.event, first.feeds, first.budget) == (0, 8000, budget)
        session.run()
        last = session.memory_now()
        assert last.event > 9000 and last.rows > budget // 2
        assert last.total == last.rows + last.checkpoints + last.feeds
        assert last.rows <= budget + 2 * chunk and last.checkpoints <= budget // 4 + 4 * 8000


def test_the_result_of_an_inner_loop_is_held_with_the_iteration_around_it():
    """An Exit fires in the loop that it leaves, and its value is read in the loop around that one."""
    graph = nested()
    with wb.Session(graph, {"n": 4}) as session:
        session.run()
        names = [n for n in session.trace.names() if graph.nodes[graph.value(n).node].op == "Exit"]
        tags = [series.tag(k) for n in names for series in [session.trace[n]] for k in range(len(series))]
        assert any(len(tag.iteration) == 1 for tag in tags)
        for tag in tags:
            ref = Ref(tag.node, tag.output)
            held_one = session.hold(ref, tag.iteration or None)
            assert held_one.origin.tag == tag
            np.testing.assert_array_equal(np.asarray(held_one), session.value(ref, tag.iteration or None))


def test_the_result_of_an_inner_loop_that_no_output_needs_has_the_iterations_around_it():
    b = wb.GraphBuilder("nested")
    n = b.placeholder("n", "int64", ())
    results = []

    def body(i):
        (j,) = b.while_loop(lambda j: j < i + 2, lambda j: j + 1, (b.constant(0, "int64"),), name="inner")
        results.append(j)
        return i + 1

    (out,) = b.while_loop(lambda i: i < n, body, (b.constant(0, "int64"),), name="outer")
    graph = b.build({"i": out})
    with wb.Session(graph, {"n": 4}) as session:
        session.run()
        assert [int(session.value(results[-1].ref, k)) for k in range(4)] == [2, 3, 4, 5]
        with pytest.raises(wb.WorkbenchError, match="got 2 iteration numbers"):
            session.value(results[-1].ref, (1, 2))
