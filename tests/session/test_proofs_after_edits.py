"""Proofs about a loop after edits, steps both ways, forks and restarts, against a fresh run with these edits.

Random commands; at each stand the answer is asked for. A fresh run has the session's edits at their events and goes to
the end: where the session was given a proof, that run must agree.
"""

from __future__ import annotations

import os
import random
from collections import Counter

import pytest

import workbench as wb
from tests.ir.programs import count
from workbench.errors import WorkbenchError
from workbench.execution import Run

MOST = 6_000


def loop(r: random.Random) -> tuple[wb.Graph, dict[str, float]]:
    """A loop whose condition an edit can change: of what it carries, its step, its limit; alone or in another one."""
    b = wb.GraphBuilder("loop")
    limit, step = b.placeholder("limit"), b.placeholder("step")
    bound = limit + 0.0

    def once(start: wb.Value, name: str) -> wb.Value:
        def body(x: wb.Value, y: wb.Value) -> tuple[wb.Value, wb.Value]:
            z = x + step
            return (b.cond(y > 2.0, lambda: z + 0.5, lambda: z, name="more") if branch else z), y + 1.0

        return b.while_loop(lambda x, y: x < bound, body, (start, b.constant(0.0)), name=name)[0]

    branch = r.random() < 0.5
    if r.random() < 0.4:

        def outer(i: wb.Value, t: wb.Value) -> tuple[wb.Value, wb.Value]:
            return i + 1, t + once(b.constant(1.0) * i.astype("float64"), "inner")

        out = b.while_loop(lambda i, t: i < 3, outer, (b.constant(0), b.constant(0.0)), name="outer")[1]
    else:
        out = once(b.constant(0.0), "inner")
    return b.build({"out": out}), {"limit": float(r.randint(3, 8)), "step": 1.0}


def truth(session: wb.Session, frame: tuple[str, ...]) -> tuple[int, ...] | None:
    """The iteration in which the present activation of a loop ends; None if it does not within many events."""
    run: Run = session._run
    number = session.plan.numbers[frame]
    around = run.iteration_of(number)[:-1]
    fresh = Run(run.plan, dict(run.feeds), 1 << 26)
    fresh.edits = list(run.edits)
    fresh.to_event(run.event, skip_silent=True)
    assert fresh.position() == run.position()
    assert fresh.edits_ahead == run.edits_ahead
    while not fresh.finished and fresh.event < MOST:
        fresh.go(fresh.event + 1, exact=True, skip_silent=False)
        if number not in fresh.active_frames():
            break
    if number in fresh.active_frames():
        return None
    return (*around, fresh.view.iteration(number))


def move(r: random.Random, session: wb.Session, outcomes: Counter[str]) -> None:
    """One random command."""
    kind = r.choice("step step back back edit edit edit next previous to reverse restart run".split())
    outcomes[kind] += 1
    try:
        if kind == "step":
            session.step(r.choice([1, 1, 2, 5]))
        elif kind == "back":
            session.step_back(r.choice([1, 1, 2, 5, 20]))
        elif kind == "edit":
            session.set_value(r.choice([f"{node}:{k}" for node, k in session.plan.layout.values]), r.randint(-1, 9))
            outcomes["edited"] += 1
        elif kind == "next":
            session.next_iteration()
        elif kind == "previous":
            session.previous_iteration()
        elif kind == "to":
            session.run_to(r.choice(["inner/add", "inner/less"]), None)
        elif kind == "reverse":
            session.reverse_continue()
        elif kind == "restart" and r.random() < 0.3:
            session.restart()
        elif kind == "run" and r.random() < 0.2:
            session.run()
    except WorkbenchError as error:
        assert error.slug, error


def check(session: wb.Session, outcomes: Counter[str]) -> None:
    for number in session._run.active_frames()[1:]:
        frame = session.plan.layout.frames[number].path
        answer = session.termination(frame, seconds=0.05)
        outcomes[answer.status.name] += 1
        if answer.status.name != "PROVED":
            continue
        ends = truth(session, frame)
        if answer.outcome == "never":
            assert ends is None, f"proved never to end, and ends in iteration {ends}"
        else:
            assert ends is not None, "proved to end, and does not"
            left = ends[-1] - session._run.iteration_of(number)[-1]
            if answer.remaining is not None:
                assert answer.remaining == left, f"PROVED {answer.remaining}, {left} are run: {answer.reason}"


def played(seed: int, moves: int = 14) -> Counter[str]:
    r = random.Random(seed)
    graph, feeds = loop(r)
    outcomes: Counter[str] = Counter()
    with wb.Session(graph, feeds) as session:
        session.step(r.randint(1, 40))
        for _ in range(moves):
            move(r, session, outcomes)
            check(session, outcomes)
            if r.random() < 0.15:
                with session.fork() as fork:
                    outcomes["forks"] += 1
                    assert fork.position == session.position and fork._run.edits_ahead == session._run.edits_ahead
                    for _ in range(2):
                        move(r, fork, outcomes)
                        check(fork, outcomes)
    return outcomes


def test_random_commands():
    outcomes = sum((played(seed) for seed in range(25)), Counter())
    assert outcomes["PROVED"] > 20 and outcomes["edited"] > 10 and outcomes["forks"] > 5, outcomes


@pytest.mark.sweep
def test_random_commands_swept():
    """Fixed seeds; WORKBENCH_SWEEP sets how many."""
    seeds = range(1000, 1000 + int(os.environ.get("WORKBENCH_SWEEP", "120")))
    outcomes = sum((played(seed) for seed in seeds), Counter())
    assert outcomes["PROVED"] > 100 and outcomes["edited"] > 50, outcomes


@pytest.mark.parametrize("back", [1, 2, 3, 7])
def test_an_edit_that_lies_right_ahead_is_no_part_of_a_proof(back):
    """Whatever way leads to the place of an edit again: there it is written; in front of it, it is still to come."""
    with wb.Session(count(6.0), {"start": 0.0}) as session:
        session.run_to("while/add", 1)
        place = session.position
        session.set_value("x", 3.0)
        session.step_back(back)
        assert session.termination().reason.slug == "edit-ahead"
        with session.fork() as fork:
            assert fork.position == session.position and fork.termination().reason.slug == "edit-ahead"
            fork.run()
            assert fork.trace["x"].values.tolist() == [0.0, 3.0, 4.0, 5.0, 6.0]
        for _ in range(back):
            session.step()
        assert session.position == place and session.value("x", 1) == 3.0
        answer = session.termination()
        assert (answer.status.name, answer.remaining) == ("PROVED", 3)
        with session.fork() as fork:
            assert fork.value("x", 1) == 3.0 and fork.termination().remaining == 3
        session.run()
        assert session.trace["x"].values.tolist() == [0.0, 3.0, 4.0, 5.0, 6.0]


@pytest.mark.parametrize("retention", ["all", "off", wb.Retention(keep="none"), wb.Retention(keep="carried")], ids=str)
def test_a_fork_has_the_edits_whatever_is_kept(retention):
    with wb.Session(count(6.0), {"start": 0.0}, trace=retention) as session:
        session.run_to("while/add", 1)
        session.set_value("x", 3.0)
        session.step_back(2)
        with session.fork() as fork:
            assert fork.position == session.position
            fork.run()
            session.run()
            assert fork.outputs == session.outputs and fork.value("x", 1) == session.value("x", 1) == 3.0
