"""Stepping: rows of (command, expected stop); and stepping back visits the same stops in reverse with equal values."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import workbench as wb
from tests.ir.programs import count, nested, same
from tests.plan.random_graphs import Maker
from workbench import StopReason as R
from workbench.errors import FrameError, SessionError
from workbench.ir import Ref


def shown(stop: wb.Stop) -> str:
    """node[iteration], or "end"."""
    return "end" if stop.tag is None else stop.tag.node + (str(list(stop.tag.iteration)) if stop.tag.iteration else "")


def play(session: wb.Session, rows: list[tuple[Any, ...]]) -> None:
    """Carry out (command, *arguments, reason, place) rows; no internal breakpoint may be left after any of them."""
    for number, (command, *arguments, reason, place) in enumerate(rows):
        stop = getattr(session, command)(*arguments)
        assert (stop.reason, shown(stop)) == (reason, place), f"row {number}: {command}{tuple(arguments)}: {stop}"
        assert session.stop == stop and session.position == stop.position
        assert not [p for p in session.breakpoints._table.values() if p.internal]


X = "while/x/"
LOOP = [X + "Merge", "while/less", "while/LoopCond", X + "Switch", "while/pivot", "while/add", X + "NextIteration"]


def test_every_stop_of_a_short_loop():
    rows = [("step", R.STEP, f"{X}Enter[0]")]
    for i in range(2):
        rows += [("step", R.STEP, f"{n}[{i}]") for n in LOOP]
    rows += [("step", R.STEP, f"{n}[2]") for n in LOOP[:4]]
    rows += [("step", R.STEP, f"{X}Exit"), ("step", R.FINISHED, "end"), ("step", R.FINISHED, "end")]
    with wb.Session(count(2.0), {"start": 0.0}) as session:
        assert session.state == "ready" and session.stop.reason is R.STARTED and shown(session.stop) == "start"
        play(session, rows)
        assert session.state == "finished" and session.outputs == {"x": 2.0}


def test_rows_on_a_flat_loop():
    with wb.Session(count(3.0), {"start": 0.0}) as session:
        play(
            session,
            [
                ("step_back", R.BEGINNING, "start"),
                ("next_iteration", R.ITERATION, f"{X}Enter[0]"),
                ("next_iteration", R.ITERATION, f"{X}Merge[1]"),
                ("step", 3, R.STEP, f"{X}Switch[1]"),
                ("step_back", R.STEP, "while/LoopCond[1]"),
                ("step_back", 3, R.STEP, f"{X}NextIteration[0]"),
                ("next_iteration", 2, R.ITERATION, f"{X}Merge[2]"),
                ("previous_iteration", R.ITERATION, f"{X}Merge[1]"),
                ("next_iteration", 2, R.ITERATION, f"{X}Merge[3]"),
                ("next_iteration", R.FINISHED, "end"),
                ("previous_iteration", R.ITERATION, f"{X}Merge[3]"),
                ("step_out", R.FINISHED, "end"),
                ("restart", R.STARTED, "start"),
                ("run", R.FINISHED, "end"),
                ("run", R.FINISHED, "end"),
            ],
        )


O, I = "outer/", "inner/"  # noqa: E741


def test_rows_on_nested_loops():
    with wb.Session(nested(), {"start": 0.0}) as session:
        play(
            session,
            [
                ("run_to", "i", 1, R.TARGET, f"{O}i/Merge[1]"),
                ("next_iteration", R.ITERATION, f"{O}i/Merge[2]"),
                ("previous_iteration", R.ITERATION, f"{O}i/Merge[1]"),
                ("step_into", R.FRAME_ENTERED, f"{I}j/Enter[1, 0]"),
                ("next_iteration", R.ITERATION, f"{I}j/Merge[1, 1]"),
                ("previous_iteration", R.ITERATION, f"{I}j/Enter[1, 0]"),
                ("step_out", R.FRAME_LEFT, f"{O}acc/NextIteration[1]"),
                ("step_out", R.FINISHED, "end"),
                ("run_to", "a", (2, 1), R.TARGET, f"{I}a/Merge[2, 1]"),
                ("run_to", "a", (2, 1), R.TARGET, f"{I}a/Merge[2, 1]"),
                ("run_to", "a", (0, 0), R.TARGET, f"{I}a/Merge[0, 0]"),
                ("run_to", "acc", 3, R.TARGET, f"{O}acc/Merge[3]"),
                ("run_to", "start", (), R.TARGET, "start"),
                ("run_to", "acc", 7, R.NOT_REACHED, "end"),
                ("run_to", "outer/acc/Exit", (), R.TARGET, f"{O}acc/Exit"),
            ],
        )


def stops_forward(session: wb.Session) -> list[tuple[Any, ...]]:
    """(position, trace lengths) of every stop, the first and the last included."""
    found = [record(session)]
    while session.step().reason is not R.FINISHED:
        found.append(record(session))
    return [*found, record(session)]


def record(session: wb.Session) -> tuple[Any, ...]:
    trace = session.trace
    values = [trace[Ref(*key)].firings() for key in session.plan.layout.values]
    return session.position, values


def assert_same(one: tuple[Any, ...], two: tuple[Any, ...]) -> None:
    assert one[0] == two[0]
    for a, b in zip(one[1], two[1], strict=True):
        assert len(a) == len(b) and all(map(same, a, b))


def check_there_and_back(graph: wb.Graph, feeds: dict[str, Any]) -> None:
    with wb.Session(graph, feeds) as session:
        forward = stops_forward(session)
        for expected in reversed(forward[:-1]):
            # constants at the very front are no stop of their own: the way back over them ends at the beginning
            silent_start = expected[0].event == 0 and expected[0].silent
            assert session.step_back().reason is (R.BEGINNING if silent_start else R.STEP)
            assert_same(record(session), expected)
        assert session.step_back().reason is R.BEGINNING and session.state == "ready"
        for expected in forward[1:]:  # and once more forward
            session.step()
            assert_same(record(session), expected)


@pytest.mark.parametrize("graph", [count(3.0), nested(3)])
def test_stepping_back_is_stepping_in_reverse(graph):
    check_there_and_back(graph, {"start": 0.0})


@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 1 << 32))
def test_stepping_back_in_random_programs(seed):
    graph, feeds = Maker(seed).make()
    try:
        with wb.Session(graph, feeds) as session:
            session.run()
            if session.position.event > 150:
                return
    except FrameError:
        return
    check_there_and_back(graph, feeds)


@pytest.mark.slow
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                ["step", "step_back", "next_iteration", "previous_iteration", "step_into", "step_out", "run", "restart"]
            ),
            st.integers(1, 30),
        ),
        max_size=8,
    )
)
def test_any_walk_ends_where_its_event_number_says(walk):
    """However a position was reached, it and the whole record equal those of stepping straight to it."""
    with wb.Session(nested(), {"start": 0.0}) as walker, wb.Session(nested(), {"start": 0.0}) as straight:
        by_event = {r[0].event: r for r in stops_forward(straight)}
        for command, n in walk:
            getattr(walker, command)(*([n] if command in ("step", "step_back", "next_iteration") else []))
            assert_same(record(walker), by_event[walker.position.event])


@pytest.mark.parametrize("n", [0, -1, 1.5, "2", None])
@pytest.mark.parametrize("command", ["step", "step_back", "next_iteration"])
def test_bad_counts(command, n):
    with wb.Session(count(), {"start": 0.0}) as session:
        with pytest.raises(SessionError) as caught:
            getattr(session, command)(n)
        assert caught.value.slug == "bad-count" and command in str(caught.value)
        assert session.step().reason is R.STEP  # and it goes on


@pytest.mark.usefixtures("steady_pace")
def test_a_long_way_back_uses_checkpoints():
    with wb.Session(count(300_000.0), {"start": 0.0}) as session:
        session.run()
        assert len(session._run.checkpoints) > 3
        play(
            session,
            [
                ("run_to", "x", 250_000, R.TARGET, f"{X}Merge[250000]"),
                ("step_back", R.STEP, f"{X}NextIteration[249999]"),
                ("run_to", "x", 7, R.TARGET, f"{X}Merge[7]"),
                ("run_to", "while/x/Exit", (), R.TARGET, f"{X}Exit"),
            ],
        )
        assert session.value("x") == 300_000.0


def test_the_whole_trace_is_kept_when_going_back_and_on():
    with wb.Session(count(200_000.0), {"start": 0.0}) as session:
        session.run()
        session.run_to("x", 150_000)
        assert len(session.trace["x"]) == 150_000
        session.run()
        values = session.trace["x"].values
        assert len(values) == 200_001 and (values == range(200_001)).all()
