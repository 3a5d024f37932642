"""Whatever the breakpoints are: the stops of reverse continue are those of continue, reversed; and nothing is left."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import workbench as wb
from tests.debugger.test_stepping import shown
from tests.ir.programs import count, nested
from tests.plan.random_graphs import Maker
from workbench import StopReason as R
from workbench.errors import FrameError, WorkbenchError

ENDS = (R.FINISHED, R.BEGINNING, R.NOT_REACHED)
MOST_STOPS = 60
CONDITIONS = [
    "value > 0",
    "any(value < 2)",
    "delta != 0",
    "previous == value",
    "iteration == 1",
    "isnan(value)",
    "abs(value) >= 2 and iteration > 0",
    "max - min > 0",
    "not value < 1 or delta > 0",
]


def walked(session: wb.Session, command: str, *arguments: Any) -> list[tuple[int, str]] | None:
    """(event, place) of every stop of a command until its end; None for too many."""
    found: list[tuple[int, str]] = []
    while (stop := getattr(session, command)(*arguments)).reason not in ENDS:
        assert stop.reason in (R.BREAKPOINT, R.TARGET), stop
        found.append((stop.event, shown(stop)))
        if len(found) > MOST_STOPS:
            return None
    assert not [p for p in session.breakpoints.all() if p.internal]
    return found


def check_both_ways(session: wb.Session) -> None:
    forward = walked(session, "run")
    if forward is None:
        return
    counts = [p.hits_seen for p in session.breakpoints]
    lines = list(session.breakpoints.log)
    for start in (False, True):
        back = walked(session, "reverse_continue")
        assert back is not None and session.position.event == 0
        # the very first node is stopped at on the way back only: a run that begins there stands on it
        back = back[:-1] if back and back[-1][0] == 0 else back
        assert back[::-1] == forward
        assert [p.hits_seen for p in session.breakpoints] == [0] * len(counts) or start or back != forward
        assert walked(session, "run") == forward
        assert [p.hits_seen for p in session.breakpoints] == counts
        assert session.breakpoints.log == lines


def some_points(r: random.Random, names: list[str]) -> list[dict[str, Any]]:
    found = []
    for _ in range(r.randint(1, 4)):
        point: dict[str, Any] = {"where": r.choice(names)}
        kind = r.randrange(8)
        if kind == 1:
            point["when"] = r.choice(CONDITIONS)
        elif kind == 2:
            point["health"] = r.choice(["zero", "unchanged", "overflow", "nan", "exploding", "vanishing"])
        elif kind == 3:
            point["watch"] = "change"
        elif kind == 4:
            point |= {"where": "*", "when": r.choice(["value == 1", "value < -3"])}
        elif kind == 5:
            point["log"] = "{tag} is {value}, it was {previous}"
        elif kind == 6:
            point |= {"where": "*", "op": r.choice(["Merge", "add", "Switch"])}
        if r.random() < 0.3:
            point["hits"] = r.randint(1, 4)
        if r.random() < 0.3:
            point["every"] = r.randint(1, 3)
        found.append(point)
    return found


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 1 << 32))
def test_in_random_programs(seed):
    graph, feeds = Maker(seed).make()
    r = random.Random(seed)
    try:
        session = wb.Session(graph, feeds)
    except FrameError:
        return
    with session:
        names = [n.name for n in session.plan.layout.nodes if not n.silent and graph.nodes[n.name].types]
        for point in some_points(r, names) if names else ():
            try:
                session.breakpoints.add(**point)
            except WorkbenchError as error:
                assert error.slug in ("unknown-value", "never-changes"), error
        check_both_ways(session)
        try:
            flips = walked(session, "next_branch") if session.restart() else None
            if flips is not None and not len(session.breakpoints):
                assert walked(session, "previous_branch") == flips[::-1]
        except WorkbenchError as error:
            assert error.slug == "no-branch"


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 1 << 32))
def test_recheck_says_what_a_run_would_have_hit(seed):
    graph, feeds = Maker(seed).make()
    try:
        session = wb.Session(graph, feeds)
    except FrameError:
        return
    with session:
        names = [n.name for n in session.plan.layout.nodes if not n.silent and graph.nodes[n.name].types]
        session.run()
        for point in some_points(random.Random(seed), names) if names else ():
            point.pop("log", None)
            try:
                added = session.breakpoints.add(**point)
            except WorkbenchError:
                continue
            hits = session.breakpoints.recheck(added)
            session.restart()
            there: list[Any] = []
            start = session.position
            plain = not added.after and not added.counted
            if plain and start.node in added.nodes and added.matches(start.iteration):
                there.append(start.tag)  # the run begins on it
            while (stop := session.run()).reason not in ENDS and len(there) <= MOST_STOPS:
                there.append(stop.fired)
            if len(there) <= MOST_STOPS:
                assert there == hits or _same_place(there, hits), added
            session.breakpoints.remove(added)
            session.run()


def _same_place(there: list[Any], hits: list[Any]) -> bool:
    """Several values of a pattern that are hit at one node make one stop."""
    return list(dict.fromkeys(t.node for t in there)) == list(dict.fromkeys(t.node for t in hits if t in there))


@pytest.mark.parametrize("hits", [None, 3])
@pytest.mark.parametrize("every", [None, 2])
def test_counts_begin_where_a_breakpoint_was_set_until_the_run_has_been_before(hits, every):
    with wb.Session(count(12.0), {"start": 0.0}) as session:
        session.run_to("x", 5)
        session.breakpoints.add("x", when="value >= 0", hits=hits, every=every)
        due = [k for k in range(1, 9) if session.breakpoints[1].due(k)]
        forward = walked(session, "run")
        assert [place for _, place in forward] == [f"while/less[{4 + k}]" for k in due]
        back = walked(session, "reverse_continue")
        assert back[: len(forward)] == forward[::-1]  # and then, in front of it, those that count from the beginning
        before = [k for k in range(1, 6) if session.breakpoints[1].due(k)]
        assert [place for _, place in back[len(forward) :]] == [f"while/less[{k - 1}]" for k in reversed(before)]
        due = [k for k in range(1, 14) if session.breakpoints[1].due(k)]
        assert [place for _, place in walked(session, "run")] == [f"while/less[{k - 1}]" for k in due]


@pytest.mark.usefixtures("steady_pace")
def test_reverse_in_the_middle_of_a_nested_loop_over_checkpoints():
    with wb.Session(nested(40), {"start": 0.0}) as session:
        session.breakpoints.add("a", when="value > 100 and delta > 0", every=37)
        session.breakpoints.add(frame="inner", iteration=(20, 0))
        session.breakpoints.add("even/add", hits=300)
        check_both_ways(session)


def test_more_hits_than_are_remembered(monkeypatch):
    monkeypatch.setattr("workbench.debugger.breakpoints.hit_counter.KEPT_HITS", 8)
    with wb.Session(count(500.0), {"start": 0.0}) as session:
        session.breakpoints.add("x", when="value >= 0", every=50)
        check_both_ways(session)


def test_a_session_that_keeps_only_the_newest_rows():
    with wb.Session(count(40_000.0), {"start": 0.0}, trace="off") as session:
        session.breakpoints.add("x", when="value % 9000 == 0 and delta > 0")
        session.breakpoints.add("x", when="norm >= 1", every=500, iteration=17)  # asked in Python
        check_both_ways(session)
        assert [t.iteration for t in session.breakpoints.recheck(1)] == [(9000 * k,) for k in range(1, 5)]
