"""Python's checks in runs: compiled where nothing goes wrong, a stop in front of the node where Python would raise."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from workbench.errors import ExecutionError
from workbench.ops import checked
from workbench.plan import reachability


def collatz() -> wb.Graph:
    b = wb.GraphBuilder("collatz")

    def body(n, steps):
        even = b.op("equal", b.op("remainder", n, 2, checked=True), 0)
        n = b.cond(
            even,
            lambda: b.op("floor_divide", n, 2, checked=True),
            lambda: b.op("add", b.op("multiply", n, 3, checked=True), 1, checked=True),
        )
        return n, b.op("add", steps, 1, checked=True)

    start = [b.placeholder("start", "int64", ()), b.constant(np.int64(0))]
    n, steps = b.while_loop(lambda n, steps: b.op("greater", n, 1), body, start)
    return b.build({"n_end": n, "steps_end": steps})


def items() -> wb.Graph:
    """v[i] = v[i - 1] + 1 for i in 1 ... n - 1."""
    b = wb.GraphBuilder("items")
    v, n = b.placeholder("v0", "float64", (5,)), b.placeholder("n", "int64", ())

    def body(v, i):
        before = b.op("getitem", v, b.op("subtract", i, 1, checked=True), index=(("input", 0),))
        return b.op("setitem", v, b.op("add", before, 1.0), i, index=(("input", 0),)), b.op("add", i, 1, checked=True)

    found = b.while_loop(lambda v, i: b.op("less", i, n), body, [v, b.constant(np.int64(1))])
    return b.build({"v_end": found[0]})


def test_checks_are_compiled(monkeypatch):
    def never(*_):
        raise AssertionError("Python was called")

    monkeypatch.setattr(checked, "checked", never)
    graph = collatz()
    assert graph.run(start=np.int64(27)) == {"n_end": 1, "steps_end": 111}
    session = wb.Session(graph, {"start": np.int64(27)})
    kinds = {session.plan.reasons[n.name][0] for n in graph.nodes.values() if n.attrs.get("checked")}
    assert kinds == {"checked"}
    while session.step().reason is not wb.StopReason.FINISHED:
        pass
    assert session.value("steps_end") == 111


@pytest.mark.parametrize("trace", ["all", "off", "stats"])
def test_an_overflow_stops_in_front_of_its_node(trace):
    """n = 2**62 + 1 is odd, and 3 * n does not fit."""
    session = wb.Session(collatz(), {"start": np.int64(2**62 + 1)}, trace=trace)
    stop = session.run()
    assert stop.reason is wb.StopReason.FAILED
    assert session.graph.nodes[stop.tag.node].op == "multiply" and stop.tag.iteration == (0,)
    error = session.stop.error
    assert error.slug == "integer-overflow" and error.tag.node == stop.tag.node and error.source is not None
    assert "64 bits" in error.message and "float(x)" in error.fix
    back = session.step_back(2)
    assert back.event < stop.event - 1
    again = session.run()
    assert (again.reason, again.tag, again.event) == (stop.reason, stop.tag, stop.event)


def test_after_an_edit_the_run_goes_on():
    session = wb.Session(collatz(), {"start": np.int64(2**62 + 1)})
    stop = session.run()
    node = session.graph.nodes[stop.tag.node]
    session.set_value(str(node.inputs[0].node), 1)
    assert session.run().reason is wb.StopReason.FINISHED
    assert session.value("steps_end") == 3  # 1 -> 4 -> 2 -> 1


def test_stepping_and_running_compute_the_same():
    graph = collatz()
    quick, slow = (wb.Session(graph, {"start": np.int64(97)}) for _ in range(2))
    quick.run()
    while slow.step().reason is not wb.StopReason.FINISHED:
        pass
    for name in graph.nodes:
        if graph.nodes[name].attrs.get("checked"):
            np.testing.assert_array_equal(quick.trace[name].values, slow.trace[name].values)


def test_items_at_computed_places_are_compiled():
    graph = items()
    feeds = {"v0": np.zeros(5), "n": np.int64(5)}
    session = wb.Session(graph, feeds)
    session.run()
    np.testing.assert_array_equal(session.value("v_end"), np.arange(5.0))
    for op in ("getitem", "setitem"):
        name = next(n.name for n in graph.nodes.values() if n.op == op)
        assert session.plan.reasons[name][0] == "checked"
    np.testing.assert_array_equal(
        session.trace["v"].values, [np.where(np.arange(5) <= k, np.arange(5.0), 0) for k in range(5)]
    )


def test_an_index_out_of_range_stops_in_front_of_its_node():
    session = wb.Session(items(), {"v0": np.zeros(5), "n": np.int64(9)})
    stop = session.run()
    assert stop.reason is wb.StopReason.FAILED and session.graph.nodes[stop.tag.node].op == "setitem"
    assert stop.tag.iteration == (4,)
    assert isinstance(session.stop.error.__cause__, IndexError)
    np.testing.assert_array_equal(session.trace["v"][-1], np.arange(5.0))
    session.previous_iteration()
    assert session.run().tag == stop.tag


@pytest.mark.parametrize("at, wanted", [((1,), 1), ((-1,), 1), ((0, 2), 0), ((1, -3), 0)])
def test_rows_and_items_of_matrices(at, wanted):
    b = wb.GraphBuilder("matrix")
    m = b.placeholder("m", "float64", (2, 3))
    places = [b.placeholder(f"i{k}", "int64", ()) for k in range(len(at))]
    found = b.op("getitem", m, *places, index=tuple(("input", k) for k in range(len(at))))
    array = np.arange(6.0).reshape(2, 3)
    feeds = {f"i{k}": np.int64(i) for k, i in enumerate(at)}
    graph = b.build({"part": found})
    np.testing.assert_array_equal(graph.run({"m": array, **feeds})["part"], array[at])
    with pytest.raises(ExecutionError) as caught:
        graph.run({"m": array, **feeds, "i0": np.int64(-(2**63))})
    assert isinstance(caught.value.__cause__, IndexError)


def test_what_python_would_raise_in_is_kept_when_nobody_reads_it():
    b = wb.GraphBuilder("unread")
    x, v = b.placeholder("x", "int64", ()), b.placeholder("v", "float64", (2,))
    b.op("floor_divide", 10, x, checked=True)
    b.op("getitem", v, x, index=(("input", 0),), _raises=True)
    graph = b.build({"y": b.op("add", x, 1)})
    assert len(reachability.may_raise(graph)) == 2
    feeds = {"v": np.zeros(2)}
    assert graph.run({**feeds, "x": np.int64(1)})["y"] == 2
    for value, cause in ((0, ZeroDivisionError), (5, IndexError)):
        with pytest.raises(ExecutionError) as caught:
            graph.run({**feeds, "x": np.int64(value)})
        assert isinstance(caught.value.__cause__, cause)


def test_termination_sees_through_checks():
    b = wb.GraphBuilder("counter")
    n = b.placeholder("n", "int64", ())
    i = b.while_loop(lambda i: b.op("less", i, n), lambda i: b.op("add", i, 3, checked=True), b.constant(np.int64(0)))
    session = wb.Session(b.build({"i_end": i}), {"n": np.int64(3_000_000)})
    session.next_iteration()
    session.next_iteration()
    found = session.termination()
    assert found.outcome == "terminates" and abs(found.remaining - 999_999) <= 2
