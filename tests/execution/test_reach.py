"""Every value of a long run under a small budget: kept ones at once, others soon, and bit for bit the right one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.execution.loops import arrays, counter, draws, nest, nest_value, newton, newton_values, objects
from tests.ir.programs import same
from tests.work import Work
from workbench.debugger import StopReason
from workbench.execution import Run

MIB = 1 << 20
TRIPS = 2_000_000
#: calls of functions that any value may take
SOON = 5_000


def cost(call):
    """The result of a call, the calls of functions that it makes, and the events that are executed for it."""
    run_machine, events = Run._run_machine, [0]

    def counting(run, limits):
        before = run.event
        try:
            return run_machine(run, limits)
        finally:
            events[0] += run.event - before

    with pytest.MonkeyPatch.context() as patch, Work() as work:
        patch.setattr(Run, "_run_machine", counting)
        found = call()
    return found, work.calls, events[0]


class Asked:
    """Values of a session, each within the work allowed: no more is executed again than lies between two checkpoints,
    and Python calls functions only where the operations of the graph do."""

    def __init__(self, session: wb.Session, calls_of_an_event: int = 0) -> None:
        self.session, self.calls_of_an_event = session, calls_of_an_event

    def __call__(self, name: str, iteration: Any) -> np.ndarray:
        found, calls, events = cost(lambda: self.session.value(name, iteration))
        assert calls < SOON + self.calls_of_an_event * events, f"{name} at {iteration}: {calls} calls"
        run = self.session._run
        kept = [c.events for c in run.checkpoints]
        between = max(int(np.diff([*kept, max(run.event, kept[-1])]).max()), 64) + 1  # and the event that gives it
        assert events <= between, f"{name} at {iteration}: {events} events"
        return found


def iterations(trips: int, count: int = 25) -> list[int]:
    """The first, the last, the middle, and others drawn by chance."""
    drawn = np.random.default_rng(trips).integers(0, trips, count).tolist()
    return [0, 1, 2, trips // 2, trips - 2, trips - 1, *drawn]


@pytest.fixture(scope="module")
def newton_session():
    with wb.Session(newton(TRIPS), memory_budget=MIB) as session:
        session.run()
        yield session


@pytest.fixture(scope="module")
def truth() -> list[float]:
    return newton_values(1.0, 0, TRIPS)


def test_values_of_a_loop_of_numbers(newton_session, truth):
    ask = Asked(newton_session)
    assert newton_session._run.held_bytes <= MIB and len(newton_session.trace["x"]) < TRIPS // 50
    assert newton_session.outputs["x"] == newton_session.value("x") == truth[-1]
    for k in iterations(TRIPS):
        assert ask("x", k) == truth[k] and ask("i", k) == k
        assert ask("next", k) == truth[k + 1] and ask("a", k) == k * 1e-3 + 2.0


def test_going_back_in_a_loop_of_numbers(truth):
    with wb.Session(newton(TRIPS), memory_budget=MIB) as session:
        session.run()
        all_of_it = session.position.event
        for k in (TRIPS - 7, TRIPS // 3, 12):
            before = session._run.spent[0]
            assert session.run_to("next", k).reason is StopReason.TARGET
            assert session.position.iteration == (k,)
            session.step()
            assert session.value("next") == truth[k + 1] and session.value("x", k) == truth[k]
            session.step_back(40)
            assert session.position.iteration[0] < k
            assert session._run.spent[0] - before < all_of_it, "it does not begin from the beginning each time"
            at = session.position.iteration[0]
            assert session.value("x", at - 1) == truth[at - 1]
            assert session._run.held_bytes <= MIB
        session.run_to("next", TRIPS // 2)  # forwards
        assert session.position.iteration == (TRIPS // 2,)
        session.run()
        assert session.outputs["x"] == truth[-1]
        assert Asked(session)("x", TRIPS // 5) == truth[TRIPS // 5]


def test_values_of_a_counter():
    with wb.Session(counter(TRIPS), memory_budget=MIB) as session:
        session.run()
        ask = Asked(session)
        assert session.value("i") == TRIPS and all(ask("i", k) == k for k in iterations(TRIPS))


@pytest.mark.parametrize(("outer", "inner"), [(2000, 1000), (700_000, 3), (4, 500_000)])
def test_values_of_nested_loops(outer, inner):
    with wb.Session(nest(outer, inner), memory_budget=MIB) as session:
        session.run()
        ask = Asked(session)
        assert session.value("i") == outer and session.value("s") == nest_value(outer, inner, outer, 0)
        rng = np.random.default_rng(inner)
        paths = [(0, 0), (0, 1), (outer - 1, inner), (outer // 2, inner), (outer // 2, 0), (1, inner - 1)]
        paths += [(int(rng.integers(outer)), int(rng.integers(inner))) for _ in range(15)]
        values = session.plan.layout.values
        merge = next(n for n, _ in values if n.startswith("inner/s") and session.graph.nodes[n].op == "Merge")
        for i, j in paths:
            assert ask("j", (i, j)) == j
            assert ask(merge, (i, j)) == nest_value(outer, inner, i, j)
            assert ask("i", i) == i
        for path in [(0, inner + 1), (outer // 2, inner + 7), (outer, 0), (outer // 2, -1)]:
            with pytest.raises(wb.WorkbenchError):
                session.value("j", path)


def test_going_back_in_nested_loops():
    outer, inner = 300_000, 3
    with wb.Session(nest(outer, inner), memory_budget=MIB) as session:
        session.run()
        for i, j in [(outer // 3, 1), (outer - 2, 2), (17, 0)]:
            assert session.run_to("j", (i, j)).reason is StopReason.TARGET and session.position.iteration == (i, j)
            session.step_back(30)
            assert session.position.iteration[0] in range(i - 5, i + 1)
            assert session.value("j", (i - 3, 1)) == 1
        session.run()
        assert session.outputs["i"] == outer


def test_going_forwards_to_an_iteration():
    """At full speed, also where an inner loop comes to that iteration very often before."""
    outer, inner = 300_000, 3
    with wb.Session(nest(outer, inner), memory_budget=MIB) as session:
        for i, j in [(100, 0), (outer // 3, 1), (outer - 2, 3)]:
            before, at = session._run.spent[0], session.position.event
            assert session.run_to("j", (i, j)).reason is StopReason.TARGET and session.position.iteration == (i, j)
            assert session._run.spent[0] - before == session.position.event - at, "each event on the way once"
        stop = session.run_to("j", (outer - 1, inner + 1))
        assert stop.reason is StopReason.NOT_REACHED and session.outputs["i"] == outer


def test_breakpoints_on_the_way_to_an_iteration():
    with wb.Session(nest(3000, 3), memory_budget=MIB) as session:
        session.breakpoints.add("i", iteration=20)
        session.breakpoints.add("j", iteration=(40, 2))
        assert session.run_to("j", (2000, 1)).reason is StopReason.BREAKPOINT and session.position.iteration == (20,)
        assert session.run_to("j", (2000, 1)).reason is StopReason.BREAKPOINT and session.position.iteration == (40, 2)
        assert session.run_to("j", (2000, 1)).reason is StopReason.TARGET and session.position.iteration == (2000, 1)
        assert session.run_to("j", (5000, 1)).reason is StopReason.NOT_REACHED


@pytest.mark.parametrize(("size", "trips", "budget"), [(100, 60_000, MIB), (20_000, 1500, 2 * MIB)])
def test_values_of_loops_with_arrays(size, trips, budget):
    with wb.Session(arrays(trips, size), memory_budget=budget) as session:
        session.run()
        ask = Asked(session)
        assert session._run.held_bytes <= budget
        for k in iterations(trips, 10):
            assert same(ask("v", k), np.full(size, float(k)))
        session.run_to("v", trips // 2)
        assert same(session.value("v", trips // 2 - 1), np.full(size, trips // 2 - 1.0))


def test_values_of_loops_with_objects():
    trips = 20_000
    v, truth = np.zeros(100), {}
    wanted = set(iterations(trips, 10))
    for k in range(trips):
        if k in wanted:
            truth[k] = v
        longer = np.concatenate([v + 1.0, v[-1:]])
        v = longer[8:] + 0.0 if k % 8 == 7 else longer
    with wb.Session(objects(trips), memory_budget=MIB) as session:
        session.run()
        ask = Asked(session, 20)
        assert session._run.held_bytes <= MIB and len(session.trace["v"]) < 2000
        assert same(session.outputs["v"], v)
        assert all(same(ask("v", k), truth[k]) for k in wanted)


@pytest.mark.slow
def test_values_behind_random_draws():
    """Draws are keyed by their tag, so a replay draws the same."""
    trips = 3000
    with (
        wb.Session(draws(trips)) as whole,
        wb.Session(draws(trips), memory_budget=64 << 10) as bounded,
        wb.Session(draws(trips), trace="off") as off,
    ):
        for session in (whole, bounded, off):
            session.run()
        x = whole.trace["x"].values
        assert len(x) == trips + 1 and len(bounded.trace["x"]) < trips // 2 and len(np.unique(x)) > trips * 0.99
        for session in (bounded, off):
            ask = Asked(session, 20)
            assert all(same(ask("x", k), x[k]) for k in iterations(trips))
            session.run_to("x", trips // 7)
            assert same(session.value("x", trips // 7 - 1), x[trips // 7 - 1])
            session.run()
            assert same(session.outputs["x"], x[-1])


def test_without_a_trace_any_value_comes_as_soon():
    with wb.Session(nest(300_000, 3), trace="off") as session:
        session.run()
        ask = Asked(session)
        for i, j in [(0, 0), (299_999, 3), (150_000, 1), (77_777, 2)]:
            assert ask("j", (i, j)) == j


def test_an_edit_is_in_every_replay():
    with wb.Session(newton(300_000), memory_budget=256 << 10) as session:
        session.run_to("x", 100_000)
        session.step()
        session.set_value("x", 5.0)
        session.run()
        early, late = newton_values(1.0, 0, 99_999), newton_values(5.0, 100_000, 200_000)
        ask = Asked(session)
        assert session.value("x") == late[-1]
        for k in (0, 50_000, 99_999):
            assert ask("x", k) == early[k]
        for k in (100_000, 100_001, 200_000, 299_999):
            assert ask("x", k) == late[k - 100_000]
        assert len(session.histories) == 1
