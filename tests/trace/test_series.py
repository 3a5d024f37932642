"""Series, windows, tables: every value hand-computed."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.ir.programs import count, growing, nested, same
from tests.plan.random_graphs import Maker
from workbench.errors import DeadValueError, FrameError, TraceError
from workbench.ir import Ref, Tag


def finished(graph, **feeds):
    session = wb.Session(graph, feeds)
    session.run()
    session.close()
    return session


@pytest.fixture(scope="module")
def trace():
    return finished(nested(), start=0.0).trace


def test_a_loop_variable(trace):
    series = trace["acc"]
    assert series.values.tolist() == [0.0, 1.0, 12.0, 24.0] and series.values.dtype == np.float64
    assert series.iterations.tolist() == [[0], [1], [2], [3]] and series.iterations.dtype == np.int64
    assert len(series) == 4 and series.frame == ("outer",) and series.name == "acc" and str(series.type) == "float64[]"


def test_a_variable_of_the_inner_loop(trace):
    series = trace["a"]
    assert series.iterations.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1], [1, 2], [2, 0], [2, 1], [2, 2], [2, 3]]
    assert series.values.tolist() == [0.0, 1.0, 1.0, 2.0, 12.0, 12.0, 13.0, 23.0, 24.0]
    assert trace["inner/j"].values.tolist() == [0, 1, 0, 1, 2, 0, 1, 2, 3]
    assert trace["i"].values.tolist() == [0, 1, 2, 3]


def test_values_on_one_side_of_a_branch(trace):
    on_even, on_odd = trace["even/add"], trace["even/add_1"]
    assert on_even.iterations.tolist() == [[0, 0], [1, 0], [2, 0], [2, 2]] and on_even.values.tolist() == [
        1.0,
        2.0,
        13.0,
        24.0,
    ]
    assert on_odd.iterations.tolist() == [[1, 1], [2, 1]] and on_odd.values.tolist() == [12.0, 23.0]
    assert on_even.at((2, 0)) == 13.0
    with pytest.raises(DeadValueError, match="its branch was not taken"):
        on_even.at((2, 1))


def test_indices_and_slices_are_those_of_the_array(trace):
    series, values = trace["a"], trace["a"].values
    for index in (0, 3, -1, -9):
        assert series[index] == values[index] and series[index].shape == ()
    for index in (
        slice(2, 5),
        slice(None),
        slice(-3, None),
        slice(None, None, 2),
        slice(5, 2),
        slice(100, 200),
        slice(-2, 1),
    ):
        np.testing.assert_array_equal(series[index], values[index])
    for index in (9, -10):
        with pytest.raises(IndexError, match="9 firings"):
            series[index]
    assert series.tag(-1) == Tag("inner/a/Merge", 0, ("outer", "inner"), (2, 3))
    with pytest.raises(IndexError):
        series.tag(9)


@pytest.mark.parametrize(
    ("start", "stop", "step"), [(0, 9, 1), (2, 7, 2), (8, 100, 1), (0, 9, 4), (5, 5, 1), (3, 8, 100)]
)
def test_windows(trace, start, stop, step):
    series = trace["a"]
    iterations, values = series.window(start, stop, step)
    np.testing.assert_array_equal(iterations, series.iterations[start:stop:step])
    np.testing.assert_array_equal(values, series.values[start:stop:step])


def test_windows_of_a_long_series_cross_chunks():
    """1,000,000 rows lie in many chunks; windows and strides must not care."""
    session = finished(count(1_000_000.0), start=0.0)
    series = session.trace["x"]
    assert len(series) == 1_000_001
    for start, stop, step in [
        (0, 1_000_001, 1),
        (0, 1_000_001, 997),
        (123_456, 654_321, 13),
        (999_990, 1_000_001, 3),
        (5, 6, 1),
    ]:
        iterations, values = series.window(start, stop, step)
        expected = np.arange(start, stop, step)
        np.testing.assert_array_equal(values, expected)
        np.testing.assert_array_equal(iterations[:, 0], expected)
    assert series[-1] == 1e6 and series.at(777_777) == 777_777.0


def test_at(trace):
    assert trace["acc"].at(2) == trace["acc"].at((2,)) == 12.0 and trace["a"].at((2, 1)) == 13.0
    assert trace["start"].at(()) == 0.0
    refused = {
        (0, 5): "not-recorded",
        (9, 0): "not-recorded",
        (-1, 0): "not-recorded",
        1: "bad-iteration",
        (1, 2, 3): "bad-iteration",
    }
    for path, slug in refused.items():
        with pytest.raises(TraceError) as caught:
            trace["a"].at(path)
        assert caught.value.slug == slug and "'a'" in str(caught.value)
    dead = "inner/a/Switch:1"  # the loop goes on
    assert trace[dead].at((1, 1)) == 2.0
    with pytest.raises(DeadValueError, match="outer 1, inner 2"):
        trace[dead].at((1, 2))


def test_firings_and_counts(trace):
    assert [float(v) for v in trace.firings("outer/acc/Merge:0")] == [0.0, 1.0, 12.0, 24.0]
    assert [int(v) for v in trace.firings("outer/acc/Merge:1")] == [0, 1, 1, 1]
    assert trace.firings("acc") and trace.count("inner/a/Merge") == 9 and trace.count("inner/a/Exit") == 3
    assert trace["inner/a/Exit"].iterations.tolist() == [[0], [1], [2]]
    assert [float(v) for v in trace.firings("inner/a/Exit")] == [1.0, 12.0, 24.0]


def test_names(trace):
    assert {"acc", "i", "a", "j", "start"} <= set(trace.names()) and "acc" in trace and "nothing" not in trace
    with pytest.raises(TraceError) as caught:
        trace["accc"]
    assert caught.value.slug == "unknown-value" and "did you mean 'acc'" in str(caught.value)


def test_branches(trace):
    table = trace.branches(loops=False)
    rows = [(t.node, t.iteration, bool(k)) for t, k in zip(table, table.taken, strict=True)]
    evens = {(0, 0): True, (1, 0): True, (1, 1): False, (2, 0): True, (2, 1): False, (2, 2): True}
    assert {(i, k) for _, i, k in rows} == set(evens.items())
    assert [i for n, i, _ in rows if n == rows[0][0]] == sorted(evens)
    assert trace.last_branch("even/a/Switch") is True
    counts = trace.branch_counts()
    assert counts["inner/a/Switch"] == (3, 6) and counts["outer/acc/Switch"] == (1, 3)
    assert trace.last_branch("outer/acc/Switch") is False
    with pytest.raises(TraceError, match="nowhere"):
        trace.last_branch("nowhere")


def test_branch_tables_have_plain_columns(trace):
    columns = trace.branches().columns()
    assert set(columns) == {"decision", "node", "frame", "iteration_0", "iteration_1", "taken"}
    lengths = {len(v) for v in columns.values()}
    assert lengths == {sum(sum(c) for c in trace.branch_counts().values())}


def test_a_value_whose_shape_changes():
    trace = finished(growing(), start=1.0).trace
    assert [v.tolist() for v in trace.firings("v")] == [[1.0, 2.0, 4.0, 8.0, 16.0][: k + 1] for k in range(5)]
    values = trace["v"].values
    assert values.dtype == object and values.shape == (5,)
    assert trace["v"][1:3].tolist()[1].tolist() == [1.0, 2.0, 4.0] and trace["v"].at(4).shape == (5,)


def test_recorded_values_cannot_be_changed():
    trace = finished(growing(), start=1.0).trace
    first = trace["v"][0]
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 7
    numbers = finished(count(), start=0.0).trace["x"]
    numbers.values[0] = 7.0
    assert numbers[0] == 0.0


def expected_order(trace):
    """Every event comes after the events of its inputs."""
    graph, at = trace.graph, {}
    for k, tag in enumerate(trace.events()):
        node = graph.nodes[tag.node]
        for source in {*(r.node for r in node.inputs), *node.control}:
            other = graph.nodes[source].op
            if node.op == "Merge" or other == "Exit" or node.op == "Exit":
                continue  # one side may be dead; frames differ
            path = tag.iteration[:-1] if node.op == "Enter" else tag.iteration
            assert at[source, path] < k, (tag, source)
        at[tag.node, tag.iteration] = k
    return at


def test_events(trace):
    at = expected_order(trace)
    table = trace.events()
    assert len(table) == len(at) == sum(trace.count(n.name) for n in trace.layout.nodes)
    assert table.number.tolist() == list(range(len(table)))
    loud = trace.events(silent=False)
    silent = {n.name for n in trace.layout.nodes if n.silent}
    assert list(loud) == [t for t in table if t.node not in silent]
    assert [table.tag(int(k)) for k in loud.number] == list(loud)  # the numbers stay those of the run


@pytest.mark.parametrize("seed", range(40))
def test_order_of_events_in_random_programs(seed):
    graph, feeds = Maker(seed).make()
    try:
        session = finished(graph, **feeds)
    except FrameError:
        pytest.skip("a raw Merge that does not nest")
    expected_order(session.trace)


def test_a_session_in_progress_shows_what_has_happened():
    with wb.Session(nested(), {"start": 0.0}) as session:
        assert len(session.trace["acc"]) == 0 and session.trace["acc"].values.shape == (0,)
        while len(session.trace["a"]) < 4:
            session.step()
        assert session.trace["a"].values.tolist() == [0.0, 1.0, 1.0, 2.0]
        assert session.trace["acc"].values.tolist() == [0.0, 1.0]
        with pytest.raises(DeadValueError) as caught:
            session.value("outer/acc/Exit")
        assert caught.value.slug == "not-fired"
        assert len(session.trace.events()) == session.position.event


def test_traces_can_be_read_by_ref_or_name():
    trace = finished(count(), start=3.0).trace
    assert same(trace["x"].values, trace[Ref("while/x/Merge", 0)].values) and trace.graph == count()
    assert repr(trace["x"]) == "<Series 'x' float64[]: 3 firings>" and "while" in repr(trace)
