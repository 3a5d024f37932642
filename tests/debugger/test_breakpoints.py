"""Breakpoints on nodes, iterations, values and hits; forwards and in reverse."""

from __future__ import annotations

import numpy as np
import pytest

import workbench as wb
from tests.debugger.test_stepping import I, O, X, play, shown
from tests.ir.programs import count, nested
from workbench import StopReason as R
from workbench.errors import SessionError, TraceError


def stops(session, command="run", end=(R.FINISHED, R.BEGINNING)):
    """Places where a session stops until it comes to an end."""
    found = []
    while (stop := getattr(session, command)()).reason not in end:
        assert stop.reason is R.BREAKPOINT, stop
        found.append(shown(stop))
    return found


def session_with(graph, *points):
    session = wb.Session(graph, {"start": 0.0})
    for name, options in points:
        session.breakpoints.add(name, **options)
    return session


FORWARD = [
    (count(3.0), [("x", {})], [f"{X}Merge[{k}]" for k in range(4)]),
    (count(3.0), [("x", {"iteration": 2})], [f"{X}Merge[2]"]),
    (count(3.0), [("x", {"iteration": np.int64(2)})], [f"{X}Merge[2]"]),
    (count(3.0), [("x", {"iteration": 2}), ("x", {"iteration": 0})], [f"{X}Merge[0]", f"{X}Merge[2]"]),
    (count(3.0), [("x", {"iteration": 9})], []),
    (count(3.0), [("x", {"hits": 3})], [f"{X}Merge[2]"]),
    (count(3.0), [("while/x/Exit", {})], [f"{X}Exit"]),
    (count(3.0), [("x", {"when": "value >= 2"})], ["while/less[2]", "while/less[3]"]),
    (count(3.0), [("x", {"when": "value > 0", "hits": 2})], ["while/less[2]"]),
    (count(3.0), [("x", {"when": "value > 0", "iteration": 3})], ["while/less[3]"]),
    (count(3.0), [("x", {"when": "iteration == 1"})], ["while/less[1]"]),
    (count(3.0), [("while/x/Exit", {"when": "value == 3"})], ["end"]),
    (count(3.0), [("while/x/Switch:0", {"when": "value > -1"})], [f"{X}Exit"]),  # alive in the last iteration only
    (count(3.0), [("x", {"when": "value > 99"}), ("while/less", {"iteration": 2})], ["while/less[2]"]),
    (
        count(3.0),
        [("while/less", {"when": "value == 9"}), ("while/LoopCond", {})],
        [f"while/LoopCond[{k}]" for k in range(4)],
    ),  # the node after one whose condition does not hold
    (nested(), [("a", {"iteration": (1, 2)})], [f"{I}a/Merge[1, 2]"]),
    (nested(), [("a", {"iteration": (None, 1)})], [f"{I}a/Merge[{k}, 1]" for k in range(3)]),
    (nested(), [("a", {"iteration": (2, None)})], [f"{I}a/Merge[2, {k}]" for k in range(4)]),
    (nested(), [("a", {"iteration": 1})], [f"{I}a/Merge[{k}, 1]" for k in range(3)]),
    (
        nested(),
        [("a", {"iteration": (0, 1)}), ("a", {"iteration": (2, 0)})],
        [f"{I}a/Merge[0, 1]", f"{I}a/Merge[2, 0]"],
    ),
    (nested(), [("inner/a/Exit", {"iteration": 1})], [f"{I}a/Exit[1]"]),
    (nested(), [("even/add_1", {})], ["even/add_1[1, 1]", "even/add_1[2, 1]"]),  # the odd side only
    (nested(), [("i", {"iteration": 1}), ("j", {"iteration": (1, 1)})], [f"{O}i/Merge[1]", f"{I}j/Merge[1, 1]"]),
]


@pytest.mark.parametrize(("graph", "points", "expected"), FORWARD)
def test_forwards_and_in_reverse(graph, points, expected):
    with session_with(graph, *points) as session:
        for _ in range(2):
            assert stops(session) == expected
            counts = [p.hits_seen for p in session.breakpoints]
            assert stops(session, "reverse_continue") == expected[::-1]
            assert session.state == "ready" and [p.hits_seen for p in session.breakpoints] == [0] * len(counts)


@pytest.mark.usefixtures("steady_pace")
def test_reverse_over_many_checkpoints():
    with session_with(count(100_000.0), ("x", {"iteration": 50_000})) as session:
        assert stops(session) == [f"{X}Merge[50000]"] == stops(session, "reverse_continue")


@pytest.mark.usefixtures("steady_pace")
def test_the_stop_of_a_condition_may_fall_on_a_checkpoint():
    """Checkpoints lie at the first node of an iteration: just where a condition on the last node of the body stops."""
    with session_with(count(3_000.0)) as session:
        session.run()
        frame = session.plan.numbers["while",]
        row = next(c.row(frame) for c in session._run.checkpoints[1:])
        session.breakpoints.add("while/x/NextIteration", when=f"iteration == {row - 2}")
        checkpoints = [c.events for c in session._run.checkpoints]
        stop = session.reverse_continue()
        assert stop.reason is R.BREAKPOINT and shown(stop) == f"{X}Merge[{row - 1}]" and stop.event in checkpoints
        assert stops(session) == [] and session.restart() and stops(session) == [f"{X}Merge[{row - 1}]"]


def test_a_breakpoint_on_the_very_first_node():
    with session_with(count(3.0), ("start", {})) as session:
        assert stops(session) == []  # the run stands on it from the beginning
        assert stops(session, "reverse_continue") == ["start"]


def test_a_condition_on_the_node_in_front_counts():
    with wb.Session(count(3.0), {"start": 0.0}) as session:
        session.run_to("x", 1)
        session.breakpoints.add("x", when="value == 1")
        stop = session.run()
        assert (stop.reason, shown(stop)) == (R.BREAKPOINT, "while/less[1]") and "x" not in shown(stop)
        assert "value == 1" in stop.detail and "while/x/Merge:0[while 1]" in stop.detail


def test_steps_count_right_over_conditions_that_do_not_hold():
    with (
        wb.Session(count(3.0), {"start": 0.0}) as plain,
        session_with(count(3.0), ("x", {"when": "value > 99"})) as watched,
    ):
        for _ in range(12):
            assert watched.step(2).position == plain.step(2).position


def test_breakpoints_stop_steps_and_iterations_too():
    with session_with(count(3.0), ("while/add", {"iteration": 1})) as session:
        play(
            session,
            [
                ("next_iteration", 2, R.ITERATION, f"{X}Merge[1]"),
                ("next_iteration", R.BREAKPOINT, "while/add[1]"),
                ("next_iteration", R.ITERATION, f"{X}Merge[2]"),
                ("restart", R.STARTED, "start"),
                ("step", 100, R.BREAKPOINT, "while/add[1]"),
                ("step_out", R.FINISHED, "end"),
                ("run_to", "x", 0, R.TARGET, f"{X}Merge[0]"),
                ("run_to", "x", 3, R.BREAKPOINT, "while/add[1]"),
            ],
        )


def test_add_list_remove_clear():
    with session_with(
        count(), ("x", {}), ("while/less", {"iteration": 3}), ("x", {"when": "isnan(value)", "hits": 2})
    ) as session:
        points = session.breakpoints
        assert [str(p) for p in points] == ["x", "while/less, iteration 3", "x, when isnan(value), at hit 2"]
        first, second, third = (p.number for p in points)
        assert points[second].iteration == (3,)
        points.remove(first)
        assert len(points) == 2 and stops(session) == ["while/less[3]"]
        points.clear()
        assert len(points) == 0 and session.restart() and stops(session) == []
        with pytest.raises(SessionError) as caught:
            points.remove(third)
        assert caught.value.slug == "no-such-breakpoint" and str(third) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "options", "kind", "slug", "word"),
    [
        ("y", {}, TraceError, "unknown-value", "'y'"),
        ("x", {"iteration": (1, 2)}, SessionError, "bad-iteration", "1 loop"),
        ("x", {"iteration": -1}, SessionError, "bad-iteration", "-1"),
        ("x", {"iteration": 1.5}, SessionError, "bad-iteration", "1.5"),
        ("start", {"iteration": 3}, SessionError, "bad-iteration", "'start'"),
        ("x", {"hits": 0}, SessionError, "bad-hits", "0"),
        ("x", {"when": "value >"}, SessionError, "bad-condition", "value >"),
    ],
)
def test_bad_breakpoints(name, options, kind, slug, word):
    with wb.Session(count(), {"start": 0.0}) as session:
        with pytest.raises(kind) as caught:
            session.breakpoints.add(name, **options)
        assert caught.value.slug == slug and word in str(caught.value)
        assert len(session.breakpoints) == 0


def test_breakpoints_set_while_the_run_goes_on():
    """From another thread, at full speed: the worker arms it at its next look."""
    with wb.Session(count(1e12), {"start": 0.0}, trace="off") as session:
        session.run(wait=False)
        while session.snapshot().event == 0:
            pass
        session.breakpoints.add("x")
        stop = session.wait(5.0)
        assert stop is not None and stop.reason is R.BREAKPOINT and shown(stop).startswith(f"{X}Merge")


@pytest.mark.parametrize(
    ("name", "iteration", "slug"),
    [("nothing", None, "unknown-value"), ("x", (1, 2), "bad-iteration"), ("x", "a", "bad-iteration")],
)
def test_bad_targets(name, iteration, slug):
    with wb.Session(count(), {"start": 0.0}) as session:
        with pytest.raises(wb.WorkbenchError) as caught:
            session.run_to(name, iteration)
        assert caught.value.slug == slug
        assert session.run().reason is R.FINISHED


# -- editing and listeners --------------------------------------------------------------------------------------------
def test_an_edited_breakpoint_keeps_its_number_and_counts_anew():
    with session_with(count(6.0), ("x", {"when": "value >= 1", "hits": 3}), ("while/add", {})) as session:
        points = session.breakpoints
        points.toggle(2)
        session.run()
        assert points[1].hits_seen == 3
        edited = points.edit(1, when="value >= 2", hits=None)
        assert points[1] is edited and [p.number for p in points] == [1, 2], "it stands where it stood"
        assert edited.text == "x, when value >= 2" and edited.hits_seen == 0 and edited.enabled
        assert session.run().reason is R.BREAKPOINT and edited.hits_seen == 1
        assert not points.edit(2, hits=2).enabled, "what was off stays off"
        assert points.add("x").number == 3, "no number is lost"


@pytest.mark.parametrize(
    "changes",
    [
        {"when": "value +"},
        {"when": 3},
        {"hits": 0},
        {"where": "nowhere"},
        {"ignore": "x"},
        {"enabled": 1},
        {"iteration": -1},
        {"log": "{value.__class__}"},
    ],
)
def test_what_is_refused_leaves_a_breakpoint_as_it_was(changes):
    with session_with(count(3.0), ("x", {"when": "value > 1"})) as session:
        (before,) = session.breakpoints
        with pytest.raises(wb.WorkbenchError):
            session.breakpoints.edit(1, **changes)
        assert session.breakpoints[1] is before and session.breakpoints.add("x").number == 2
        with pytest.raises(SessionError, match="no-such"):
            session.breakpoints.edit(77, when="value > 1")


class Listener:
    def __init__(self):
        self.heard = 0

    def hear(self):
        self.heard += 1
        raise RuntimeError("a view that fails")


def test_listeners_hear_of_each_change_of_the_users_and_are_held_weakly():
    with session_with(count(3.0)) as session:
        points, listener, other = session.breakpoints, Listener(), Listener()
        end = points.on_change(listener.hear)
        points.on_change(other.hear)
        changes = [
            lambda: points.add("x"),
            lambda: points.toggle(1),
            lambda: setattr(points[1], "enabled", True),
            lambda: points.edit(1, when="value > 9"),
            lambda: points.ignore("x", health="nan"),
            lambda: points.remove(2),
            lambda: points.load_data([{"where": "x"}, {"where": "while/add"}]),
            lambda: points.remove(1),
            points.clear,
        ]
        for number, change in enumerate(changes, 1):
            change()
            assert listener.heard == number, "once, also of many that were loaded"
        for command in ("step_over", "next_iteration", "next_branch", "step_out", "step_back", "run"):
            getattr(session, command)()
        assert listener.heard == len(changes), "the debugger's own breakpoints are nobody's business"
        end()
        end()
        del other
        points.add("x")
        assert listener.heard == len(changes) and not points._listeners


def test_hits_that_the_machine_counts_are_those_of_the_record():
    """Of values that are dead in two of three iterations, when what stood there before is still NaN, and of living
    ones; alone at their node and two at a node; with a rewind in between."""
    b = wb.GraphBuilder("branch")

    def body(k, x):
        y = b.cond(k % 3.0 < 1.0, lambda: b.sqrt(x - 40.0, name="root"), lambda: x * 2.0)
        return {"k": k + 1.0, "x": b.where(b.isnan(y), x + 1.0, x + 0.5)}

    graph = b.build(b.while_loop(lambda k, x: k < 3000.0, body, {"k": 0.0, "x": 0.0}))
    root = next(n for n in graph.nodes if n.endswith("root"))
    asked = [
        ({"where": root, "health": "nan"}, lambda v, k: np.isnan(v)),
        ({"where": root}, lambda v, k: v == v),
        ({"where": root, "when": "value > 3 and iteration > 500"}, lambda v, k: (v > 3) & (k > 500)),
        ({"where": "k", "when": "value > 100"}, lambda v, k: v > 100),
        ({"where": "x"}, lambda v, k: k >= 0),
        ({"where": "x", "when": "value > 90", "iteration": 700}, lambda v, k: (v > 90) & (k == 700)),
    ]
    for chosen in ([a] for a in asked), [asked], [asked[::-1]]:
        for some in chosen:
            with wb.Session(graph) as session:
                points = [session.breakpoints.add(**given, hits=10**9) for given, _ in some]
                assert session.run().reason is R.FINISHED
                for back in (False, True):
                    for point, (given, holds) in zip(points, some, strict=True):
                        series = session.trace[given["where"]]
                        values, at = series.values, series.iterations[:, -1]
                        expected = int(holds(values, at).sum()) if "when" in given or "health" in given else len(values)
                        assert point.hits_seen == expected, (given, back)
                    session.step_back(5000)
