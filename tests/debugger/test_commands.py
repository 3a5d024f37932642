"""Commands over frames and to branch flips, both ways; nothing internal is left behind."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.debugger.test_stepping import I, O, X, play
from tests.ir.programs import count, endless, nested
from workbench import StopReason as R
from workbench.errors import SessionError, TraceError

OUTER = [  # what fires in iteration 1 of the outer loop, the inner one as a part of outer/i/NextIteration
    f"{O}acc/Merge[1]",
    "outer/less[1]",
    "outer/LoopCond[1]",
    f"{O}i/Switch[1]",
    f"{O}acc/Switch[1]",
    "outer/pivot[1]",
    "outer/add[1]",
    f"{O}i/NextIteration[1]",
    f"{I}a/Exit[1]",
    f"{O}acc/NextIteration[1]",
    f"{O}i/Merge[2]",
]
FLIPS = [
    f"{I}j/Switch[0, 1]",
    "even/a/Switch[1, 1]",
    f"{I}j/Switch[1, 2]",
    "even/a/Switch[2, 1]",
    "even/a/Switch[2, 2]",
    f"{I}j/Switch[2, 3]",
    f"{O}i/Switch[3]",
]


def test_a_frame_is_one_step_both_ways():
    with wb.Session(nested(), {"start": 0.0}) as session:
        session.run_to("i", 1)
        play(session, [("step_over", R.STEP, place) for place in OUTER])
        play(session, [("step_back_over", R.STEP, place) for place in [*OUTER[-2::-1], f"{O}i/Merge[1]"]])
        play(session, [("step_over", 11, R.STEP, OUTER[-1]), ("step_back_over", 11, R.STEP, f"{O}i/Merge[1]")])


def test_over_the_whole_loop_and_back():
    with wb.Session(count(3.0), {"start": 0.0}) as session:
        play(
            session,
            [
                ("step_over", R.STEP, f"{X}Exit"),
                ("step_over", R.FINISHED, "end"),
                ("step_back_over", R.STEP, f"{X}Exit"),
                ("step_back_over", R.STEP, "start"),
                ("step_back_over", R.BEGINNING, "start"),
                ("run_to", "x", 2, R.TARGET, f"{X}Merge[2]"),
                ("step_back_out", R.FRAME_LEFT, "start"),
                ("step_back_out", R.BEGINNING, "start"),
            ],
        )


def test_out_of_frames_both_ways():
    with wb.Session(nested(), {"start": 0.0}) as session:
        play(
            session,
            [
                ("run_to", "a", (2, 1), R.TARGET, f"{I}a/Merge[2, 1]"),
                ("step_back_out", R.FRAME_LEFT, f"{O}i/NextIteration[2]"),
                ("step_into", R.FRAME_ENTERED, f"{I}j/Enter[2, 0]"),
                ("step_back_out", R.FRAME_LEFT, f"{O}i/NextIteration[2]"),
                ("step_back_out", R.FRAME_LEFT, "start"),
                ("run_to", "a", (1, 0), R.TARGET, f"{I}a/Merge[1, 0]"),
                ("step_out", R.FRAME_LEFT, f"{O}acc/NextIteration[1]"),
                ("step_back_over", R.STEP, f"{I}a/Exit[1]"),
                ("step_back_out", R.FRAME_LEFT, f"{O}i/NextIteration[1]"),  # an Exit stands in the frame that it leaves
            ],
        )


def test_a_breakpoint_inside_stops_a_step_over():
    with wb.Session(nested(), {"start": 0.0}) as session:
        session.breakpoints.add("a", iteration=(1, 1))
        play(
            session,
            [
                ("run_to", "i", 1, R.TARGET, f"{O}i/Merge[1]"),
                ("step_over", 8, R.STEP, f"{O}i/NextIteration[1]"),
                ("step_over", R.BREAKPOINT, f"{I}a/Merge[1, 1]"),
                ("step_out", R.FRAME_LEFT, f"{O}acc/NextIteration[1]"),
            ],
        )


def test_branch_flips_both_ways():
    with wb.Session(nested(), {"start": 0.0}) as session:
        play(session, [("next_branch", R.TARGET, place) for place in FLIPS] + [("next_branch", R.NOT_REACHED, "end")])
        play(session, [("previous_branch", R.TARGET, place) for place in FLIPS[::-1]])
        play(session, [("previous_branch", R.BEGINNING, "start")])
        play(session, [("next_branch", "even/a/Switch", R.TARGET, place) for place in FLIPS if "even" in place])
        play(session, [("previous_branch", "even/a/Switch", R.TARGET, FLIPS[3])])
        assert "to its false side" in session.stop.detail


def test_to_a_side_of_a_branch():
    with wb.Session(nested(), {"start": 0.0}) as session:
        play(
            session,
            [
                ("run_to_branch", "even/a/Switch", R.TARGET, "even/a/Switch[0, 0]"),
                ("run_to_branch", "even/a/Switch", False, R.TARGET, "even/a/Switch[1, 1]"),
                ("run_to_branch", "even/a/Switch", True, R.TARGET, "even/a/Switch[2, 0]"),
                ("run_to_branch", "even/a/Switch", None, R.TARGET, "even/a/Switch[2, 1]"),
            ],
        )


@pytest.mark.parametrize("command", ["next_branch", "previous_branch", "run_to_branch"])
def test_what_decides_nothing(command):
    with wb.Session(nested(), {"start": 0.0}) as session:
        with pytest.raises(SessionError, match="decides no branch"):
            getattr(session, command)("acc")
        with pytest.raises(TraceError, match="did you mean 'even/a/Switch'"):
            getattr(session, command)("even/a/Swich")
        with pytest.raises(SessionError, match="side must be True, False or None"):
            session.run_to_branch(None, "left")  # type: ignore[arg-type]
        assert not session.breakpoints.all() and session.step().reason is R.STEP


def test_over_a_long_loop_at_full_speed():
    """Event by event two million of them would take seconds."""
    with wb.Session(count(300_000.0), {"start": 0.0}, trace="carried") as session:
        play(session, [("step_over", R.STEP, f"{X}Exit"), ("step_back_over", R.STEP, "start")])
        session.run_to("x", 100)
        play(session, [("step_out", R.FINISHED, "end"), ("previous_iteration", R.ITERATION, f"{X}Merge[300000]")])
        play(session, [("previous_iteration", 3, R.ITERATION, f"{X}Merge[299997]")])


def test_run_to_a_node_outside_of_loops_goes_back_to_its_only_firing():
    with wb.Session(count(6.0), {"start": 0.0}) as session:
        for name in ("start", "while/x/Exit"):
            session.restart()
            forward = session.run_to(name) if name != "start" else session.stop
            where = forward.position
            for end in (session.step, session.run):
                end()
                stop = session.run_to(name)
                assert stop.reason is R.TARGET and stop.position == where
                assert session.run_to(name).position == where  # it stands there already
        session.restart()
        session.step(22)
        assert session.run_to("while/add").position.iteration == (3,)  # in loops it is the next one
        session.run()
        assert session.run_to("while/add").reason is R.NOT_REACHED


def test_run_to_a_dead_node_that_lies_behind_stays():
    b = wb.GraphBuilder("dead")
    a = b.placeholder("a")
    y = b.cond(a > 0.0, lambda: a + 1.0, lambda: a - 1.0)
    with wb.Session(b.build({"y": y * 2.0}), {"a": 1.0}) as session:
        session.run_to("multiply")
        here = session.position
        stop = session.run_to("cond/subtract")
        assert stop.reason is R.NOT_REACHED and "dead" in stop.detail and stop.position == here == session.position


def test_into_without_a_loop_ahead_is_a_step():
    b = wb.GraphBuilder("two")
    x = b.placeholder("x", "float64", ())
    first = b.while_loop(lambda i: i < 3.0, lambda i: i + 1.0, {"i": x}, name="first")["i"]
    second = b.while_loop(lambda k: k < 5.0, lambda k: k + 1.0, {"k": first * 1.0}, name="second")["k"]
    graph = b.build({"y": second * 2.0 + 1.0})
    with wb.Session(graph, {"x": 0.0}) as session, wb.Session(endless(), {"start": 0.0}) as forever:
        assert session.step_into().reason is R.FRAME_ENTERED and session.position.frame == ("first",)
        for _ in range(3):  # in the innermost loop
            event = session.position.event
            assert session.step_into().reason is R.STEP and event < session.position.event <= event + 3
            assert session.position.frame == ("first",)
        session.step_out()
        assert session.step_into().reason is R.FRAME_ENTERED and session.position.frame == ("second",)
        session.step_out()
        event = session.position.event
        assert session.step_into().reason is R.STEP and event < session.position.event <= event + 3
        while session.state != "finished":
            session.step_into()
        assert session.outputs["y"] == 11.0
        assert forever.step_into().reason is R.FRAME_ENTERED
        assert forever.step_into().reason is R.STEP  # and does not run for ever
