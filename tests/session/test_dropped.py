"""A session that is dropped without ``close`` is freed at once, with all that it recorded: no cycle holds it, and the
garbage collector has nothing to do. Whatever was done with it before, and whatever it was to keep."""

from __future__ import annotations

import gc
import tempfile
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import workbench as wb
from tests.ir.programs import count, endless, failing, nested
from tests.limits import in_a_process
from workbench.errors import WorkbenchError

ROWS = 20_000
GRAPHS = {"count": count(float(ROWS)), "nested": nested(), "failing": failing(), "endless": endless()}
FEEDS: dict[str, dict[str, Any]] = {
    "count": {"start": 0.0},
    "nested": {"start": 0.0},
    "failing": {"data": np.ones(6)},
    "endless": {"start": 0.0},
}
#: by little memory rows are dropped, too
MODES: dict[str, Any] = {
    "all": "all",
    "carried": "carried",
    "stats": "stats",
    "off": "off",
    "little": wb.Retention("all", memory=200_000),
    "every": wb.Retention("carried", every=7, memory=300_000),
    "window": wb.Retention("window", window=50, memory=200_000),
    "none": wb.Retention("none"),
}


@pytest.fixture(autouse=True, scope="module")
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def gone(*references: Any) -> bool:
    """True once these are freed; a worker may hold its session for the rest of a slice."""
    end = time.monotonic() + 60.0
    while any(r() is not None for r in references) and time.monotonic() < end:
        time.sleep(0.001)
    return all(r() is None for r in references)


def parts(session: Any) -> list[Any]:
    """Weak references to a session and to what it records with."""
    run = session._run
    held = [session, session._state.debugger, session.trace, run, run.trace, run.trace.source, run.keeper]
    return [weakref.ref(part) for part in held if part is not None]


def refused(act: Callable[[], object]) -> None:
    """Do what cannot be done."""
    with suppress(WorkbenchError):
        act()
        raise AssertionError("it was to be refused")


def look(s: Any) -> None:
    s.run()
    s.value("x"), s.value("x", 3), s.values("x", 0, 10), s.explain("x"), s.memory(), s.memory_now(), s.whole_trace()
    s.termination(), s.plan, s.dag, s.outputs, s.snapshot()
    assert len(s.trace["x"].values) and repr(s) and repr(s.trace)


def fixed(s: Any) -> None:
    with suppress(WorkbenchError):
        s.apply_fix(seconds=0.01)


def broken_into(s: Any) -> None:
    s.breakpoints.add("x", when="value > 5")
    s.breakpoints.add("x", watch=True, hits=3)
    s.breakpoints.add("x", log="x is {value}")
    s.breakpoints.add(health=("nan", "stagnation"))
    s.run()
    s.breakpoints.recommended()
    s.breakpoints.recheck(1)
    assert s.breakpoints.table()


def heard(s: Any) -> None:
    s.subscribe(lambda snapshot: None)
    s.subscribe(print_nothing)
    s.step(3)
    s.subscribe(lambda snapshot: s.step())()  # one that would hold it, and is taken off again


def print_nothing(snapshot: Any) -> None:
    """A listener."""


def in_errors(s: Any) -> None:
    for act in (
        lambda: s.run_to("nope"),
        lambda: s.step(-1),
        lambda: s.set_value("nope", 1.0),
        lambda: s.update(start="words"),
        lambda: s.value("nope"),
        lambda: s.value("x", 10**9),
        lambda: s.post("nope"),
        lambda: s.termination("nope"),
        lambda: s.outputs,
        lambda: s.breakpoints.add("nope"),
        lambda: s.trace["nope"],
    ):
        refused(act)
    s.post("run_to", name="nope")
    s.post("step", count="three")
    s.wait()
    assert s.step() is not None


STATES: dict[str, Callable[[Any], object]] = {
    "fresh": lambda s: None,
    "paused": lambda s: s.step(50),
    "finished": lambda s: s.run(),
    "gone back": lambda s: (s.run(), s.step_back(20), s.reverse_continue()),
    "restarted": lambda s: (s.run(), s.restart(), s.step(9)),
    "looked at": look,
    "forked": lambda s: (s.step(50), s.fork().step(), s.fork().run()),
    "fixed": fixed,
    "edited": lambda s: (s.run_to("x", 3), s.step(), s.set_value("x", -5.0), s.run(), s.histories[0].trace),
    "updated": lambda s: (s.run(), s.update(start=2.0), s.histories[0].trace["x"].values),
    "stopped at breakpoints": broken_into,
    "heard": heard,
    "in errors": in_errors,
    "posted": lambda s: (s.post("step"), s.post("run"), s.wait()),
    "closed": lambda s: (s.run(), s.close()),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("state", STATES)
def test_a_session_goes_with_its_last_name(state, mode):
    session = wb.Session(GRAPHS["count"], FEEDS["count"], trace=MODES[mode])
    STATES[state](session)
    references = parts(session) + [r for fork in session.forks for r in parts(fork)]
    del session
    assert gone(*references)


@pytest.mark.parametrize("mode", MODES)
def test_one_that_has_failed_goes_with_its_last_name(mode):
    session = wb.Session(GRAPHS["failing"], FEEDS["failing"], trace=MODES[mode])
    for act in (session.run, session.step_back, session.run, session.restart, session.run, session.termination):
        act()
    assert session.state == "failed" and session.stop.error.__traceback__ is not None
    references = parts(session)
    del session, act
    assert gone(*references)


@pytest.mark.parametrize("mode", MODES)
def test_one_that_runs_goes_with_its_last_name(mode):
    session = wb.Session(GRAPHS["endless"], FEEDS["endless"], trace=MODES[mode])
    session.run(wait=False)
    references = parts(session)
    del session
    assert gone(*references)


def test_one_of_nested_loops_and_one_whose_rows_are_on_disk():
    pytest.importorskip("pyarrow")
    with tempfile.TemporaryDirectory() as folder:
        for name, policy in (("nested", "all"), ("count", wb.Retention(memory=100_000, spill=folder))):
            session = wb.Session(GRAPHS[name], FEEDS[name], trace=policy)
            session.run()
            assert name == "nested" or session.trace.spill.status.rows > 0
            references = parts(session)
            del session
            assert gone(*references), name


def test_a_session_goes_and_its_fork_stays_and_what_was_made_of_it():
    session = wb.Session(GRAPHS["count"], FEEDS["count"])
    session.step(100)
    fork, trace = session.fork(), session.trace
    values = trace["x"].values
    references = [weakref.ref(session), weakref.ref(session._state.debugger)]
    del session
    assert gone(*references) and np.array_equal(trace["x"].values, values)
    assert np.array_equal(fork.trace["x"].values, values) and fork.step() is not None


def test_sessions_one_after_the_other_hold_no_memory():
    """A process holds the same memory after a hundred sessions as after two hundred."""
    told = in_a_process(
        """
        import ctypes, gc, time
        def held():
            end = time.monotonic() + 60
            while threading.active_count() > 1 and time.monotonic() < end:  # workers that end meanwhile
                time.sleep(0.01)
            pages = int(open("/proc/self/statm").read().split()[1])
            return pages * resource.getpagesize() >> 20, len(gc.get_objects()), threading.active_count()
        def open_and_drop(n):
            for k in range(n):
                session = wb.Session(graphs[k % 2], {"start": 0.0}, trace=modes[k % len(modes)])
                session.run()
                if k % 3:
                    session.step_back(5)
                if k % 5 == 0:
                    session.fork().run()
                del session
        from workbench.plan.native import compile
        compile.HOT_EVENTS = 1 << 62  # LLVM takes 75 MB once, when many sessions have run
        graphs, modes = [count(20_000.0), count(30_000.0)], ["all", "carried", "stats", wb.Retention(memory=500_000)]
        gc.collect()
        gc.disable()
        open_and_drop(100)
        before = held()
        open_and_drop(100)
        after = held()
        gc.collect()
        print(*(b - a for a, b in zip(before, after)), before[1] - len(gc.get_objects()))
        """
    )
    grown, objects, threads, found = map(int, told.split())
    assert grown <= 8 and abs(objects) < 500 and abs(threads) <= 2 and found < 5_000


def test_records_that_only_cycles_hold_are_freed_before_more_are_made(monkeypatch):
    """IPython keeps the error of a failed cell, and by its frames the cell's session, in a cycle."""
    monkeypatch.setattr("workbench.session.live_sessions._GROWTH", 4 << 20)
    made = []
    for _ in range(12):
        session = wb.Session(GRAPHS["count"], FEEDS["count"])
        session.run()
        size = session.memory_now().rows
        made.append(weakref.ref(session))
        cycle: list[Any] = [session]
        cycle.append(cycle)
        del session, cycle
    assert 12 * size > 2 * (4 << 20)  # without it they would all be there
    assert sum(reference() is not None for reference in made) * size <= (4 << 20) + 2 * size
