"""One small graph for each shape of frame that does not nest: hand-written values, and the reference's events.

``Frame`` writes the frame ops one by one; a loop counts ``i`` from what enters it, in steps of one.
"""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.plan import house
from tests.plan.house import to_end
from workbench.errors import DeadValueError, ExecutionError, FrameError
from workbench.ir import Value


class Frame:
    """Raw ops of one frame."""

    def __init__(self, b: wb.GraphBuilder, name: str = "loop") -> None:
        self.b, self.name = b, name

    def enter(self, value, name=None) -> Value:
        return self.b.enter(value, self.name, name=name)

    def constant(self, value, name=None) -> Value:
        """A loop invariant."""
        outer = value if isinstance(value, Value) else self.b.constant(value)
        return self.b.enter(outer, self.name, is_constant=True, name=name)

    def variable(self, start, name=None) -> Value:
        return self.b.merge(self.enter(start), name=name)[0]

    def back(self, merge: Value, value: Value, name=None) -> None:
        self.b.add_back_edge(merge, self.b.next_iteration(value, name=name))

    def counter(self, start, below, name: str = "i"):
        """(i, i < below, Switch of i on that); ``below`` is entered as an invariant."""
        i = self.variable(start, name=name)
        going = self.b.less(i, self.constant(below))
        off, on = self.b.switch(i, going)
        self.back(i, self.b.add(on, self.constant(1)))
        return i, going, off, on


def builder(**inputs: str) -> tuple[wb.GraphBuilder, list[Value]]:
    b = wb.GraphBuilder("raw")
    return b, [b.placeholder(name, dtype) for name, dtype in inputs.items()]


def check(b: wb.GraphBuilder, outputs: dict[str, Value], raw: bool = True, **feeds):
    """Outputs of a run that agrees with the reference in every firing and event, and through the whole house."""
    graph = b.build(outputs)
    arrays = {n: np.asarray(v) for n, v in feeds.items()}
    run = house.check_run(graph, arrays)
    assert run is not None and bool(run.plan.raw) == raw
    house.check_steps(run, graph, arrays)
    house.check_replay(run, graph, arrays, 0.6)
    house.check_session(run, graph, arrays, 0.4)
    house.check_views(graph, arrays)
    return {n: v.tolist() for n, v in run.outputs().items()}, run


def test_no_loop_cond():
    b, (x,) = builder(x="int64")
    _, _, off, _ = Frame(b).counter(x, 4)
    outputs, run = check(b, {"out": b.exit(off)}, x=1)
    assert outputs == {"out": 4} and "0 LoopCond" in run.plan.raw[("loop",)]
    assert run.trace["i"].values.tolist() == [1, 2, 3, 4]


def test_two_independent_loops_in_one_frame():
    """They run in lockstep; each ends on its own."""
    b, (x,) = builder(x="int64")
    f, found = Frame(b), {}
    for k, below in enumerate((2, 5)):
        i = f.variable(x, name=f"i{k}")
        cond = b.loop_cond(b.less(i, f.constant(below)))
        off, on = b.switch(i, cond)
        f.back(i, b.add(on, f.constant(1)))
        found[f"out{k}"] = b.exit(off)
    outputs, run = check(b, found, x=0)
    assert outputs == {"out0": 2, "out1": 5}
    assert (len(run.trace["i0"]), len(run.trace["i1"])) == (3, 6) and "2 LoopCond" in run.plan.raw[("loop",)]


def test_a_loop_that_starts_from_what_another_of_the_same_frame_gives():
    b, (x,) = builder(x="int64")
    value = x
    for k in range(3):
        f = Frame(b)
        i = f.variable(value, name=f"i{k}")
        cond = b.loop_cond(b.less(i, f.constant(3 * k + 2)))
        off, on = b.switch(i, cond)
        f.back(i, b.add(on, f.constant(1)))
        value = b.exit(off, name=f"left{k}")
    outputs, run = check(b, {"out": value}, x=0)
    assert outputs == {"out": 8} and "one of which waits for another" in run.plan.raw[("loop",)]
    assert [run.trace[f"i{k}"].values.tolist() for k in range(3)] == [[0, 1, 2], [2, 3, 4, 5], [5, 6, 7, 8]]
    assert {t.frame for t in run.trace.events() if t.node.startswith("i")} == {("loop",)}


@pytest.mark.parametrize("p", [False, True])
def test_two_enters_of_one_variable(p):
    """A Merge of three: the Enter from the side taken, then the NextIteration."""
    b, (x, p_in) = builder(x="int64", p="bool")
    f = Frame(b)
    off, on = b.switch(x, p_in)
    i, index = b.merge(f.enter(b.negative(off)), f.enter(on), name="i")
    going = b.less(i, f.constant(3))
    left, stays = b.switch(i, going)
    f.back(i, b.add(stays, f.constant(1)))
    outputs, run = check(b, {"out": b.exit(left), "index": b.op("Identity", index, name="seen")}, x=1, p=p)
    assert outputs["out"] == 3 and run.trace["i"].values.tolist() == ([1, 2, 3] if p else [-1, 0, 1, 2, 3])
    assert run.trace["seen"].values.tolist() == [1 if p else 0] + [2] * (2 if p else 4)


def test_two_next_iterations_of_one_variable():
    """while i < 10: i = i * 2 if i < 4 else i + 1, as a `continue`: each way has a NextIteration of its own."""
    b, (x,) = builder(x="int64")
    f = Frame(b)
    i = f.variable(x, name="i")
    off, on = b.switch(i, b.less(i, f.constant(10)))
    large, small = b.switch(on, b.less(on, f.constant(4)))
    f.back(i, b.add(small, small), name="double")
    f.back(i, b.add(large, f.constant(1)), name="step")
    outputs, run = check(b, {"out": b.exit(off)}, x=1)
    assert outputs == {"out": 10} and run.trace["i"].values.tolist() == [1, 2, 4, 5, 6, 7, 8, 9, 10]
    assert (run.trace.count("double"), run.trace.count("step")) == (2, 6)
    assert run.trace["i:1"].values.tolist() == [0, 1, 1, 2, 2, 2, 2, 2, 2]


def test_switches_on_other_predicates_than_the_condition():
    """The sum of the even i below 6: in the odd iterations the sum's NextIteration takes it as it is."""
    b, (n,) = builder(n="int64")
    f = Frame(b)
    i = f.variable(b.constant(0), name="i")
    s = f.variable(b.constant(0), name="s")
    cond = b.loop_cond(b.less(i, f.constant(n)))
    _, on = b.switch(i, cond)
    left, going = b.switch(s, cond)
    f.back(i, b.add(on, f.constant(1)))
    even, odd = b.switch(going, b.equal(b.remainder(i, f.constant(2)), f.constant(1)))
    f.back(s, b.add(even, i), name="takes")
    f.back(s, odd, name="keeps")
    outputs, run = check(b, {"out": b.exit(left)}, n=6)
    assert outputs == {"out": 0 + 2 + 4} and run.trace["s"].values.tolist() == [0, 0, 0, 2, 2, 6, 6]


def test_several_exits_from_different_places():
    """A loop that ends at 5 or breaks where i is `stop`: one of two Exits is alive, and a Merge takes it."""
    for stop, wanted, place in ((9, 5, 0), (2, 102, 1)):
        b, (n,) = builder(n="int64")
        f = Frame(b)
        i = f.variable(b.constant(0), name="i")
        off, on = b.switch(i, b.loop_cond(b.less(i, f.constant(5))))
        goes, breaks = b.switch(on, b.equal(on, f.constant(n)))
        f.back(i, b.add(goes, f.constant(1)))
        normal, early = b.exit(off, name="normal"), b.exit(b.add(breaks, f.constant(100)), name="early")
        value, index = b.merge(normal, early)
        outputs, run = check(b, {"out": value, "index": index}, n=stop)
        assert outputs == {"out": wanted, "index": place}
        assert (run.trace.count("normal"), run.trace.count("early")) == (1 - place, place)


def test_an_exit_under_a_further_condition():
    """The Exit leaves in the middle of the loop, which goes on."""
    b, (n,) = builder(n="int64")
    f = Frame(b)
    i, _, off, _ = f.counter(b.constant(0), 6)
    _, now = b.switch(i, b.equal(i, f.constant(n)))
    graph = {"out": b.exit(b.multiply(now, now), name="middle"), "end": b.exit(off)}
    outputs, run = check(b, graph, n=3)
    assert outputs == {"out": 9, "end": 6}
    session = wb.Session(b.build(graph), {"n": 7})
    session.run()
    with session, pytest.raises(DeadValueError) as caught:
        _ = session.outputs
    assert caught.value.node == "middle" and caught.value.slug == "dead-value"


def test_an_exit_of_the_merge_itself_leaves_once_or_is_an_error():
    b, (x,) = builder(x="int64")
    i, *_ = Frame(b).counter(x, 3)
    out = {"out": b.exit(i, name="always")}
    assert check(b, out, x=3)[0] == {"out": 3}
    with wb.Session(b.build(out), {"x": 1}) as session:
        stop = session.run()
        assert session.state == "failed" and stop.position.node == "always"
        assert "is alive in iteration 0 of 'loop' and again in iteration 1" in stop.detail
        assert session.trace["i"].values.tolist() == [1, 2]  # the record is whole
        for back in (lambda: session.step_back(2), session.previous_iteration, session.reverse_continue):
            back()
            assert session.state in ("paused", "ready") and session.position.event < stop.event
            assert session.run().reason.name == "FAILED" and session.position == stop.position
    with pytest.raises(ExecutionError) as caught:
        b.build(out).run(x=1)
    assert caught.value.node == "always" and caught.value.__cause__.slug == "exit-fired-twice"


def test_enters_alive_in_iteration_0_only():
    """A reader of a loose Enter fires once; a Merge takes something else afterwards."""
    b, (x, y) = builder(x="int64", y="int64")
    f = Frame(b)
    i, _, off, _ = f.counter(b.constant(0), 3)
    loose = b.add(f.enter(y, name="loose"), i, name="once")
    either, index = b.merge(loose, b.negative(i), name="either")
    s = f.variable(x, name="s")
    out, on = b.switch(b.add(s, either), b.less(i, f.constant(3)))
    f.back(s, on)
    outputs, run = check(b, {"out": b.exit(out), "end": b.exit(off), "index": index}, x=0, y=10)
    assert run.trace["once"].values.tolist() == [10] and run.trace["either"].values.tolist() == [10, -1, -2, -3]
    assert outputs == {"out": 10 - 1 - 2 - 3, "end": 3, "index": [0, 1, 1, 1]}
    assert "alive in iteration 0 only" in run.plan.raw[("loop",)] or "LoopCond" in run.plan.raw[("loop",)]


@pytest.mark.parametrize(("p", "q"), [(False, False), (False, True), (True, False), (True, True)])
def test_enters_under_different_conditions(p, q):
    """The frame starts when any Enter is alive; each loop in it runs where its own was."""
    b, (x, *preds) = builder(x="int64", p="bool", q="bool")
    f, found = Frame(b), {}
    for k, pred in enumerate(preds):
        _, on = b.switch(x, pred)
        _, _, off, _ = f.counter(on, 2 + k, name=f"i{k}")
        found[f"out{k}"] = b.merge(b.exit(off), b.constant(-1))[0]
    outputs, run = check(b, found, x=0, p=p, q=q)
    assert outputs == {"out0": 2 if p else -1, "out1": 3 if q else -1}
    assert (len(run.trace["i0"]), len(run.trace["i1"])) == (3 * p, 4 * q)


def test_a_while_in_a_branch_and_a_loop_whose_inputs_are_dead():
    """All of the loop is dead on the side not taken; its invariants, which are not in the branch, still arrive."""
    for p in (False, True):
        b, (x, pred) = builder(x="int64", p="bool")
        f = Frame(b)
        other, start = b.switch(x, pred)
        three = f.constant(3, name="three")
        i = f.variable(start, name="i")
        off, on = b.switch(i, b.less(i, three))
        f.back(i, b.add(on, f.constant(1)))
        out, _ = b.merge(b.exit(off), b.negative(other))
        outputs, run = check(b, {"out": out}, x=1, p=p)
        assert outputs == {"out": 3 if p else -1}
        assert run.trace["three"].iterations.tolist() == ([[0], [1], [2]] if p else [[0]])


def test_a_while_in_a_condition_and_a_branch_in_a_while():
    """The outer condition is what an inner loop computes: how many doublings of i stay below 20, more than 1."""
    b, (x,) = builder(x="int64")
    outer, inner = Frame(b, "outer"), Frame(b, "inner")
    i = outer.variable(x, name="i")
    one, limit = outer.constant(1), outer.constant(20)
    j, n = inner.variable(i, name="j"), inner.variable(b.subtract(one, one), name="n")
    going = b.less(j, inner.constant(limit))
    _, on = b.switch(j, going)
    left, stays = b.switch(n, going)
    inner.back(j, b.add(on, on))
    inner.back(n, b.add(stays, inner.constant(one)))
    count = b.exit(left, name="count")
    more = b.less(one, count)
    off, goes = b.switch(i, more)
    odd, even = b.switch(goes, b.equal(b.remainder(goes, outer.constant(2)), outer.constant(0)))
    outer.back(i, b.merge(b.add(odd, one), b.add(even, outer.constant(4)), name="branch")[0])
    outputs, run = check(b, {"out": b.exit(off)}, x=1)
    assert run.trace["i"].values.tolist() == [1, 2, 6, 10] and run.trace["count"].values.tolist() == [5, 4, 2, 1]
    assert outputs == {"out": 10} and set(run.plan.raw) == {("outer",), ("outer", "inner")}


def test_frames_that_invariants_alone_wake():
    """Nodes that need only invariants fire in iteration 0, also where no loop variable comes in."""
    b, (x, pred) = builder(x="int64", p="bool")
    f = Frame(b)
    _, start = b.switch(x, pred)
    _, _, off, _ = f.counter(start, 2)
    free = b.add(f.constant(x, name="c"), f.constant(5), name="free")
    out = {"freed": b.exit(free), "end": b.merge(b.exit(off), b.constant(-1))[0]}
    outputs, run = check(b, out, x=1, p=False)
    assert outputs == {"freed": 6, "end": -1} and run.trace["free"].iterations.tolist() == [[0]]


def test_control_edges():
    """A Merge waits for its control inputs and takes no deadness from them; every other node does."""
    b, (x, pred) = builder(x="int64", p="bool")
    f = Frame(b)
    i, going, off, _ = f.counter(x, 3)
    _, on = b.switch(f.constant(x), f.constant(pred))
    taken = b.op("Identity", on, name="taken")
    merged = b.op("Merge", i, i, control=[taken], name="merged")[0]
    strict = b.op("Identity", i, control=[taken], name="strict")
    left = b.op("Exit", off, control=[merged], name="left")
    gone = b.op("Exit", b.switch(strict, going)[0], name="gone")
    for p in (False, True):
        outputs, run = check(b, {"out": left, "gone": b.merge(gone, b.constant(-1))[0]}, x=0, p=p)
        assert outputs == {"out": 3, "gone": 3 if p else -1}
        assert (run.trace.count("merged"), run.trace.count("strict")) == (4, 4 * p)


def test_dead_ways_around():
    """A variable whose start is dead comes alive in iteration 1, from another variable's value."""
    b, (x,) = builder(x="int64")
    f = Frame(b)
    _, never = b.switch(b.switch(x, b.constant(True))[0], b.constant(False))
    i, going, off, on = f.counter(x, 3)
    late = f.variable(never, name="late")
    f.back(late, b.negative(on))
    _, last = b.switch(late, b.equal(i, f.constant(3)))
    outputs, run = check(b, {"out": b.exit(last), "end": b.exit(off)}, x=0)
    assert outputs == {"out": -2, "end": 3} and run.trace["late"].iterations.tolist() == [[1], [2], [3]]
    assert run.trace["late"].values.tolist() == [0, -1, -2]


def test_arrays_and_shapes_that_grow_in_a_raw_frame():
    b = wb.GraphBuilder("raw")
    x, v = b.placeholder("x", "int64"), b.placeholder("v", "float64", (200_000,))
    f = Frame(b)
    i, going, off, _ = f.counter(x, 3)
    a = f.variable(v, name="a")
    left, on = b.switch(a, going)
    f.back(a, b.multiply(on, b.enter(b.constant(2.0), "loop", is_constant=True)))
    g = f.variable(b.placeholder("start", "float64", (None,)), name="g")
    done, grows = b.switch(g, going)
    f.back(g, b.concat(grows, grows, axis=0))
    graph = b.build({"va": b.exit(left), "vg": b.exit(done), "end": b.exit(off)})
    feeds = {"x": np.int64(0), "v": np.arange(200_000.0), "start": np.ones(2)}
    run = house.check_run(graph, feeds)
    assert np.array_equal(run.outputs()["va"], np.arange(200_000.0) * 8) and run.outputs()["vg"].shape == (16,)
    house.check_replay(run, graph, feeds, 0.7)
    with wb.Session(graph, feeds, memory_budget=1 << 22) as session:
        session.run()
        assert np.array_equal(session.value("a", 1), np.arange(200_000.0) * 2)


def test_a_loop_that_waits_for_itself_inside_is_refused():
    """The second Enter brings back, in iteration 0, what the same loop gives when it is done."""
    b, (x,) = builder(x="int64")
    f = Frame(b)
    i, _, off, _ = f.counter(x, 3)
    again = f.enter(b.exit(off, name="out"), name="again")
    graph = b.build({"sum": b.exit(b.add(again, i), name="sum")})
    with pytest.raises(FrameError) as caught:
        graph.run(x=0)
    error = caught.value
    assert error.slug == "frame-not-nesting" and error.node == "again" and error.source is not None
    assert "'again'" in str(error) and "'out'" in str(error) and "'loop'" in str(error)


def test_an_invariant_that_only_a_later_part_of_a_frame_could_read():
    """The value that returns to the frame is a loop invariant; it is an output, and nothing inside reads it."""
    b, (x,) = builder(x="int64")
    f = Frame(b)
    _, _, off, _ = f.counter(x, 3)
    again = f.constant(b.exit(off), name="again")
    run = house.check_run(b.build({"again": again}), {"x": np.int64(0)})
    assert run.outputs()["again"].tolist() == [3] * 4  # in every iteration that the frame has


def test_termination_of_raw_frames_is_open_until_they_end():
    b, (x,) = builder(x="int64")
    _, _, off, _ = Frame(b).counter(x, 3)
    with wb.Session(b.build({"out": b.exit(off)}), {"x": 0}) as session:
        session.run_to("i", iteration=1)
        found = session.termination()
        assert found.status.name == "UNKNOWN" and found.reason.slug == "raw-frame" and "LoopCond" in str(found.reason)
        session.run()
        assert session.termination("loop").outcome == "terminates" and session.termination("loop").remaining == 0


def test_a_raw_loop_runs_compiled():
    """No token is looked at in Python: a million iterations in well under a minute."""
    b, (x,) = builder(x="int64")
    _, _, off, _ = Frame(b).counter(x, 1_000_000)
    run = house.run_of(b.build({"out": b.exit(off)}), {"x": np.int64(0)})
    assert run.plan.raw and to_end(run).outputs()["out"] == 1_000_000
    assert set(run.plan.reasons.values()) and all(slug == "compiled" for slug, _ in run.plan.reasons.values())
    with wb.Session(run.plan.graph, {"x": 0}, trace="off") as session:  # only the newest rows are kept
        session.run()
        assert session.trace.dropped and session.value("i", 123_456) == 123_456
        session.step_back(3)
        assert session.position.event < run.event and session.run_to("i", iteration=500_000).position.node == "i"
