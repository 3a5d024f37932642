"""Updates by hand: exactly how many firings are computed again, and what is said about it."""

from __future__ import annotations

import random
import threading
import time

import numpy as np
import pytest

import workbench as wb
from tests.session.updates import check_update
from workbench import StopReason as R
from workbench.errors import FeedError


def updated(session: wb.Session, feeds: dict, **changes) -> wb.Update:
    """Update, and hold the session against a full run."""
    update = session.update(changes)
    everything = {n: np.asarray(a) for n, a in {**feeds, **changes}.items()}
    feeds.update(everything)
    check_update(session, update, session.graph, everything, random.Random(0))
    return update


def test_a_chain_with_a_changed_leaf():
    b = wb.GraphBuilder("chain")
    x, y = b.placeholder("x", "float64", ()), b.placeholder("y", "float64", ())
    root = np.sqrt(np.exp(x) + 1.0)
    graph = b.build({"out": b.op("add", root, y)})
    feeds = {"x": 1.0, "y": 2.0}
    with wb.Session(graph, feeds) as session:
        session.run()
        leaf = updated(session, feeds, y=3.0)
        assert dict(leaf.nodes) == {"y": 1, "add_1": 1} and leaf.recomputed == 2
        assert leaf.changed == ("y",) and leaf.full is None and not leaf.cut and not leaf.loops
        top = updated(session, feeds, x=0.5)
        assert dict(top.nodes) == {"x": 1, "exp": 1, "add": 1, "sqrt": 1, "add_1": 1}
        assert top.firings == session.position.event and top.reused == top.firings - 5


def test_a_diamond_cut_off():
    b = wb.GraphBuilder("diamond")
    x = b.placeholder("x", "float64", ())
    left, right = b.op("sign", x, name="left"), b.op("abs", x, name="right")
    graph = b.build({"left": b.op("exp", left, name="far"), "right": b.op("negative", right, name="near")})
    feeds = {"x": 2.0}
    with wb.Session(graph, feeds) as session:
        session.run()
        other = updated(session, feeds, x=5.0)
        assert dict(other.nodes) == {"x": 1, "left": 1, "right": 1, "near": 1} and other.cut == ("left",)
        back = updated(session, feeds, x=-5.0)  # abs cuts off, sign does not
        assert dict(back.nodes) == {"x": 1, "left": 1, "right": 1, "far": 1} and back.cut == ("right",)


@pytest.mark.parametrize("before, after", [(np.nan, np.nan), (0.0, 0.0), (3.0, 3)])
def test_the_same_bits_are_no_change(before, after):
    b = wb.GraphBuilder("same")
    graph = b.build({"out": b.placeholder("x", "float64", ()) * 2.0})
    with wb.Session(graph, {"x": before}) as session:
        session.run()
        update = session.update(x=after)
        assert update.recomputed == 0 and update.changed == () and not session.histories
        assert str(update).startswith("No input differs from before.")


def test_the_sign_of_zero_is_a_change():
    b = wb.GraphBuilder("zeros")
    graph = b.build({"out": b.constant(1.0) / b.placeholder("x", "float64", ())})
    feeds = {"x": 0.0}
    with wb.Session(graph, feeds) as session:
        session.run()
        updated(session, feeds, x=-0.0)
        assert session.outputs["out"] == -np.inf
        updated(session, feeds, x=np.array(np.nan))
        bits = np.array([np.nan]).view(np.uint64) + np.uint64(1)  # another NaN
        update = updated(session, feeds, x=bits.view(np.float64)[0])
        assert update.changed == ("x",)


def two_loops() -> wb.Graph:
    b = wb.GraphBuilder("two loops")
    x, y, a = (b.placeholder(n, "float64", ()) for n in "xya")
    (one,) = b.while_loop(lambda v: v < 50.0, lambda v: v * a + 1.0, [x], name="one")
    (two,) = b.while_loop(lambda v: v < 100.0, lambda v: v + 1.0, [y], name="two")
    return b.build({"one": one, "two": two, "sum": one + two})


def test_a_loop_that_is_not_touched():
    feeds = {"x": 0.5, "y": 1.0, "a": 1.5}
    with wb.Session(two_loops(), feeds) as session:
        session.run()
        inside = {n.name for n in session.plan.layout.nodes if n.name.startswith("one/")}
        update = updated(session, feeds, y=90.0)
        assert not inside & set(update.nodes) and [loop.loop for loop in update.loops] == ["two"]
        assert update.loops[0].first == 0 and "start values" in update.loops[0].why
        assert update.nodes["two/v/Merge"] == 11 and "add" not in update.nodes  # it ends with 100, as before


def test_a_start_value_runs_one_loop_again():
    feeds = {"x": 0.5, "y": 1.0, "a": 1.5}
    with wb.Session(two_loops(), feeds) as session:
        session.run()
        whole = session.position.event
        update = updated(session, feeds, y=2.5)
        again = sum(k for n, k in update.nodes.items() if n.startswith("two/"))
        outside = {n: k for n, k in update.nodes.items() if not n.startswith("two/")}
        assert update.recomputed == again + sum(outside.values()) < whole
        assert outside == {"y": 1, "add": 1}
        counts = session.trace.count
        assert again == sum(counts(n.name) for n in session.plan.layout.nodes if n.name.startswith("two/"))


N = 40


def reads(n: int = N) -> wb.Graph:
    """s = s / 2 + x[i] for all i but the last ten, of which nothing is read."""
    b = wb.GraphBuilder("reads")
    x, s0 = b.placeholder("x", "float64", (n,)), b.placeholder("s", "float64", ())
    i, s = b.while_loop(lambda i, s: i < n - 10, lambda i, s: (i + 1, s * 0.5 + x[i]), [b.constant(np.int64(0)), s0])
    return b.build({"s": s, "i": i})


@pytest.mark.parametrize("at", [0, 1, N // 2, N - 11, N - 10, N - 1])
def test_one_element_of_an_array_that_a_loop_reads(at):
    """The loop goes on from the iteration that reads it; what is not read changes nothing."""
    x = np.arange(float(N))
    feeds = {"x": x, "s": 1.0}
    with wb.Session(reads(), feeds) as session:
        session.run()
        body = sum(n.frame == 1 and not n.first for n in session.plan.layout.nodes)
        header = sum(n.frame == 1 and not n.guard and not n.first for n in session.plan.layout.nodes)
        firsts = sum(n.first for n in session.plan.layout.nodes)
        exits = sum(n.op == "Exit" for n in session.plan.layout.nodes)
        other = x.copy()
        other[at] += 1.0
        update = updated(session, feeds, x=other)
        (loop,) = update.loops
        trips = N - 10
        if at >= trips:
            assert dict(update.nodes) == {"x": 1} and loop.first is None
            assert update.compared == loop.compared == trips and update.cut == ("while/gather",)
        else:
            expected = (trips - at) * body + header + exits + (firsts if at == 0 else 0)
            assert update.recomputed == expected + 1 and loop.first == at  # the input itself
            assert update.compared == at + 1


def nested() -> wb.Graph:
    """Each outer iteration sums x[j] for j up to its own number."""
    b = wb.GraphBuilder("nested")
    x, n = b.placeholder("x", "float64", (12,)), b.placeholder("n", "int64", ())

    def body(k, total):
        j, inner = b.while_loop(
            lambda j, s: j < k,
            lambda j, s: (j + 1, s + b.op("sqrt", x[j])),
            [b.constant(np.int64(0)), total],
            name="in",
        )
        return k + 1, inner * 0.5

    k, total = b.while_loop(lambda k, t: k < n, body, [b.constant(np.int64(0)), b.constant(0.0)], name="out")
    return b.build({"k": k, "total": total})


@pytest.mark.slow
@pytest.mark.parametrize("at", [0, 3, 9, 10, 11])
def test_nested_loops_go_on_from_the_outer_iteration(at):
    x = np.arange(12.0)
    feeds = {"x": x, "n": 11}
    with wb.Session(nested(), feeds) as session:
        session.run()
        other = x.copy()
        other[at] = 7.5
        update = updated(session, feeds, x=other)
        assert update.loops[0].first == (at + 1 if at < 10 else None)  # outer iteration k reads x[0] to x[k - 1]
        if at < 10:
            assert update.nodes["in/gather"] == sum(range(at + 1, 11))
        update = updated(session, feeds, n=8)
        assert update.loops[0].first == 8


def test_a_branch_is_switched_over():
    b = wb.GraphBuilder("branch")
    x, y = b.placeholder("x", "float64", ()), b.placeholder("y", "float64", ())

    def climb() -> list:
        return list(b.while_loop(lambda v: v < 100.0, lambda v: v * 2.0, [y], name="climb"))

    (out,) = b.cond(x > 0.0, climb, lambda: [np.exp(y)])
    feeds = {"x": 1.0, "y": 3.0}
    with wb.Session(b.build({"out": out, "more": out + 1.0}), feeds) as session:
        session.run()
        assert updated(session, feeds, x=2.0).cut == ("greater",)
        over = updated(session, feeds, x=-2.0)
        assert over.loops[0].first is None and "no longer runs" in over.loops[0].why
        assert len(session.trace["climb/v"]) == 0 and len(session.trace["cond/exp"]) == 1
        back = updated(session, feeds, x=2.0, y=4.0)
        assert back.loops[0].first == 0 and "first time" in back.loops[0].why
        assert session.outputs["out"] == 128.0


def test_draws_stay_unless_they_depend_on_the_change():
    b = wb.GraphBuilder("draws")
    x = b.placeholder("x", "float32", ())
    low = b.placeholder("rows", "int32", (1,))
    noise = b.op("random_normal", low, seed=3, seed2=4, dtype="float32")
    graph = b.build({"out": noise * x, "noise": noise})
    feeds = {"x": np.float32(2.0), "rows": np.array([5], np.int32)}
    with wb.Session(graph, feeds) as session:
        session.run()
        before = session.outputs["noise"]
        update = updated(session, feeds, x=np.float32(3.0))
        assert "random_normal" not in update.nodes and session.outputs["noise"].tobytes() == before.tobytes()
        update = updated(session, feeds, rows=np.array([4], np.int32))
        assert update.nodes["random_normal"] == 1 and session.outputs["noise"].shape == (4,)


def test_checks_are_made_again_where_they_are_computed_again():
    b = wb.GraphBuilder("prints")
    x, y = b.placeholder("x", "float64", ()), b.placeholder("y", "float64", ())
    shown = b.op("check_numerics", x, message="x")
    graph = b.build({"out": shown + y})
    feeds = {"x": 1.0, "y": 2.0}
    with wb.Session(graph, feeds) as session:
        session.run()
        assert "check_numerics" not in updated(session, feeds, y=5.0).nodes
        assert not session.update(x=np.nan).finished and session.state == "failed"
        assert session.stop.reason is R.FAILED and "check" in str(session.stop.error)
        update = updated(session, feeds, x=3.0)  # a failed run is updated like one that was paused
        assert update.full is None and session.outputs["out"] == 8.0


def test_other_shapes_are_a_full_run():
    b = wb.GraphBuilder("shapes")
    x = b.placeholder("x", "float64", (None,))
    graph = b.build({"out": b.op("sum", x * 2.0)})
    with wb.Session(graph, {"x": np.ones(3)}) as session:
        session.run()
        session.breakpoints.add("multiply")
        kept = session.trace
        update = session.update(x=np.ones(4))
        assert update.full is not None and "shape" in update.full and update.reused == 0
        assert update.recomputed == session.position.event and session.outputs["out"] == 8.0
        assert len(kept["x"].values[0]) == 3 and len(session.trace["x"].values[0]) == 4
        assert len(session.histories[0].trace["x"].values[0]) == 3
        session.restart()
        assert session.run().reason is R.BREAKPOINT


def test_what_does_not_fit_changes_nothing():
    feeds = {"x": 0.5, "y": 1.0, "a": 1.5}
    with wb.Session(two_loops(), feeds) as session:
        session.run()
        before = session.outputs["sum"]
        for changes in ({"z": 1.0}, {"x": np.ones(3)}, {"x": "text"}):
            with pytest.raises(FeedError):
                session.update(changes)
        assert session.outputs["sum"] == before and not session.histories and session.state == "finished"


def test_edits_belong_to_the_old_inputs():
    feeds = {"x": 0.5, "y": 1.0, "a": 1.5}
    with wb.Session(two_loops(), feeds) as session:
        session.run_to("two/v")
        session.set_value("x", 3.0)
        session.run()
        update = updated(session, feeds, y=5.0)
        assert update.full is not None and "edited" in update.full and len(session.histories) == 2


@pytest.mark.parametrize("trace", ["stats", "off"])
def test_sessions_that_keep_less(trace):
    feeds = {"x": np.arange(float(N)), "s": 1.0}
    with wb.Session(reads(), feeds, trace=trace) as session:
        session.run()
        other = np.arange(float(N))
        other[20] = -1.0
        update = updated(session, feeds, x=other)
        assert update.loops[0].first == 20


def limited() -> wb.Graph:
    b = wb.GraphBuilder("limit")
    n, x = b.placeholder("n", "int64", ()), b.placeholder("x", "float64", ())
    i, v = b.while_loop(lambda i, v: i < n, lambda i, v: (i + 1, v * 1.01), [b.constant(np.int64(0)), x])
    return b.build({"i": i, "v": v})


def test_a_limit_is_moved():
    """Only the condition reads it: a loop goes on, or ends earlier."""
    feeds = {"n": 100, "x": 1.0}
    with wb.Session(limited(), feeds) as session:
        session.run()
        for limit in (150, 140, 3, 300, 0, 5):
            before = int(feeds["n"])
            update = updated(session, feeds, n=limit)
            assert update.loops[0].first == min(before, limit)
            assert update.nodes.get("while/multiply", 0) == max(0, limit - before)


def test_dropped_rows_start_a_loop_from_its_beginning():
    n = 300_000
    with wb.Session(limited(), {"n": n, "x": 1.0}, trace="off") as session:
        session.run()
        assert session.trace.dropped
        update = session.update(n=n + 5)
        assert update.loops[0].first == 0 and "dropped" in update.loops[0].why
        with wb.Session(limited(), {"n": n + 5, "x": 1.0}, trace="off") as fresh:
            fresh.run()
            assert session.outputs["v"].tobytes() == fresh.outputs["v"].tobytes()
            assert session.value("v", 1234).tobytes() == fresh.value("v", 1234).tobytes()
            assert session.position == fresh.position and update.reused == 2  # x and the constant


def test_the_old_history_is_kept():
    feeds = {"x": 0.5, "y": 1.0, "a": 1.5}
    with wb.Session(two_loops(), feeds) as session:
        session.run()
        values, events = session.trace["v"].values, session.position
        updated(session, feeds, x=3.0)
        updated(session, feeds, x=4.0)
        first, second = session.histories
        assert first.feeds["x"] == 0.5 and second.feeds["x"] == 3.0 and first.event == events.event
        assert first.trace["v"].values.tobytes() == values.tobytes()
        assert "inputs changed" in repr(first)
        session.restart()  # with the new inputs
        session.run()
        check_update(session, session.update(), session.graph, feeds, random.Random(1))


def test_a_pause_leaves_a_run_that_goes_on():
    """Amid a long loop: the rest of the program is not there yet, and comes with the next command."""
    b = wb.GraphBuilder("pause")
    n, m = b.placeholder("n", "int64", ()), b.placeholder("m", "int64", ())
    (i,) = b.while_loop(lambda i: i < n, lambda i: i + 1, [b.constant(np.int64(0))], name="one")
    (j,) = b.while_loop(lambda j: j < m, lambda j: j + 1, [i], name="two")
    graph = b.build({"i": i, "j": j})
    with wb.Session(graph, {"n": 10, "m": 100}) as session:
        session.run()
        found: list[wb.Update] = []
        thread = threading.Thread(target=lambda: found.append(session.update(n=1 << 40)))
        thread.start()
        while session.snapshot().event < 1000:
            time.sleep(0.001)
        session.pause()
        thread.join()
        (update,) = found
        assert not update.finished and session.state == "paused" and "not reached its end" in str(update)
        assert update.loops == () or update.loops[0].first == 10
        assert len(session.trace.firings("j")) == 0
        update = session.update(n=12)
        check_update(session, update, graph, {"n": np.int64(12), "m": np.int64(100)}, random.Random(2))
        assert session.outputs["i"] == 12


def test_breakpoints_are_passed_over_and_stay():
    feeds = {"x": np.arange(float(N)), "s": 1.0}
    with wb.Session(reads(), feeds) as session:
        session.run()
        session.breakpoints.add("while/gather", iteration=(25,))
        other = np.arange(float(N))
        other[20] = -1.0
        assert session.update(x=other).finished
        assert session.reverse_continue().tag.iteration == (25,)
