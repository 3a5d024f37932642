"""The worker thread: pause at full speed, posts from many threads, Interrupt, closing; no thread is ever left
behind."""

from __future__ import annotations

import asyncio
import gc
import signal
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import workbench as wb
from tests.ir.programs import count, endless, nested
from tests.widgets.browser_side import until
from workbench import StopReason as R
from workbench.debugger.control.debugger import DebugControl
from workbench.errors import SessionError
from workbench.kernels import machine as core

#: events that the executor may carry out after a request: those of two iterations, between which it looks for one
AT_ONCE = 20


def workers() -> list[threading.Thread]:
    return [t for t in threading.enumerate() if t.name.startswith("workbench ")]


@pytest.fixture(autouse=True)
def no_thread_is_left():
    gc.collect()
    before = workers()  # of another module, where the process runs several
    yield
    gc.collect()
    for thread in set(workers()) - set(before):
        thread.join(60.0)
    assert set(workers()) <= set(before)


@pytest.fixture
def running():
    """An endless loop at full speed."""
    with wb.Session(endless(), {"start": 0.0}, trace="off") as session:
        session.run(wait=False)
        assert until(lambda: session.snapshot().event >= 10_000, 60.0)
        yield session


def test_pause_answers_at_once(running, monkeypatch):
    """From the request on the executor carries out only what it looks at in one go, and no further slice begins."""
    machine, request_stop, advance = running._state.run.machine, core.request_stop, DebugControl.advance
    requested: list[int] = []
    begun: list[int] = []

    def requesting(of, on=True):
        request_stop(of, on)
        if on and of is machine:
            requested.append(running.snapshot().event)

    def advancing(control):
        begun.append(len(requested))
        return advance(control)

    monkeypatch.setattr(core, "request_stop", requesting)
    monkeypatch.setattr(DebugControl, "advance", advancing)
    for _ in range(10):
        assert running.snapshot().state == running.state == "running"
        requested.clear()
        stop = running.pause()
        assert stop.reason is R.PAUSED and running.state == "paused" and not running.position.silent
        assert len(requested) == 1 and running.snapshot().event - requested[0] <= AT_ONCE
        at, slices = running.snapshot().event, len(begun)
        running.run(wait=False)
        assert until(lambda: running.snapshot().event > at + 1000, 60.0)  # noqa: B023
        assert len(begun) > slices, "slices are counted"


def test_a_pause_right_behind_a_run_is_never_lost():
    with wb.Session(endless(), {"start": 0.0}, trace="off") as session:
        for _ in range(50):
            session.run(wait=False)
            assert session.pause(timeout=60.0).reason is R.PAUSED


def test_pause_from_other_threads(running):
    threads = [threading.Thread(target=running.pause, kwargs={"wait": False}) for _ in range(5)]
    for thread in threads:
        thread.start()
    assert running.wait(60.0).reason is R.PAUSED
    for thread in threads:
        thread.join()


def test_pausing_what_stands_still_does_nothing():
    with wb.Session(count(), {"start": 0.0}) as session:
        assert session.pause().reason is R.STARTED
        session.post("pause")
        assert session.step().reason is R.STEP
        assert session.pause().reason is R.STEP and session.state == "paused"


def test_a_step_ends_a_run_and_is_done_after_it(running):
    stop = running.step()
    assert stop.reason is R.STEP and running.state == "paused"
    assert running.step().event == stop.event + 1 or running.position.event > stop.event


def as_soon_as_it_runs(session, act):
    """A thread that does something once the session runs."""
    thread = threading.Thread(target=lambda: (until(lambda: session.state == "running"), act()))
    thread.start()
    return thread


def test_a_blocking_run_ends_when_another_thread_pauses():
    with wb.Session(endless(), {"start": 0.0}, trace="off") as session:
        other = as_soon_as_it_runs(session, lambda: session.pause(wait=False))
        assert session.run().reason is R.PAUSED
        other.join()


def test_no_posted_step_is_lost():
    with wb.Session(count(100_000.0), {"start": 0.0}) as session, wb.Session(count(100_000.0), {"start": 0.0}) as other:
        threads = [threading.Thread(target=lambda: [session.post("step") for _ in range(50)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert session.wait(60.0).reason is R.STEP
        other.step(200)
        assert session.position == other.position


def test_posts_of_every_kind_from_many_threads():
    commands = [
        "step",
        "step_back",
        "next_iteration",
        "previous_iteration",
        "run",
        "pause",
        "restart",
        "reverse_continue",
    ]
    with wb.Session(nested(), {"start": 0.0}) as session:
        rng = np.random.default_rng(0)

        def post(names):
            for name in names:
                session.post(name)

        threads = [threading.Thread(target=post, args=(rng.choice(commands, 40).tolist(),)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert session.wait(120.0) is not None
        session.run()
        assert session.outputs == {"acc": 24.0}


def test_restart_calls_off_what_waits(running):
    running.post("restart")
    assert running.wait(60.0).reason is R.STARTED and running.position.event == 0 and running.state == "ready"


def test_pause_ends_a_long_way_back():
    with wb.Session(count(500_000.0), {"start": 0.0}) as session:
        session.run()
        # holds nowhere, and is asked in Python: reverse_continue looks at everything, slowly
        session.breakpoints.add("x", when="norm < 0")
        session.post("reverse_continue")
        time.sleep(0.05)
        assert session.pause(timeout=60.0).reason is R.PAUSED
        session.breakpoints.clear()
        assert session.run().reason is R.FINISHED and session.value("x") == 5e5


@pytest.mark.slow
@pytest.mark.parametrize("command", ["step_back", "previous_iteration", "run_to"])
def test_pause_in_the_middle_of_a_replay_neither_hangs_nor_spoils_it(command):
    with wb.Session(count(300_000.0), {"start": 0.0}) as session:
        session.run()
        for k in range(10):
            session.post(command, **({"name": "x", "iteration": 1000 * k} if command == "run_to" else {}))
            session.pause(wait=False)
            stop = session.wait(60.0)
            assert stop is not None
            assert session.trace["x"].values.tolist() == list(range(len(session.trace["x"])))


def test_an_interrupt_pauses_and_is_raised():
    with wb.Session(endless(), {"start": 0.0}, trace="off") as session:
        with pytest.raises(KeyboardInterrupt):
            other = as_soon_as_it_runs(session, lambda: signal.raise_signal(signal.SIGINT))
            session.run()
        other.join()
        assert session.state == "paused" and session.stop.reason is R.PAUSED
        assert session.step().reason is R.STEP


def test_interrupt_ends_graph_run():
    graph, timer = endless(), threading.Timer(0.1, signal.raise_signal, args=(signal.SIGINT,))
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        graph.run(start=0.0)
    timer.join()


def test_the_interpreter_is_free_while_a_run_goes_on(running):
    """The run goes on while this thread keeps the interpreter to itself."""
    view = running._state.run.view

    def goes_on() -> bool:
        first = view.events  # a new slice has to begin now and then, which takes the interpreter
        return any(view.events > first + 1000 for _ in range(100_000))

    interval = sys.getswitchinterval()
    try:
        sys.setswitchinterval(60.0)
        assert until(goes_on, 60.0)
    finally:
        sys.setswitchinterval(interval)


def test_snapshots_and_traces_can_be_read_at_full_speed():
    with wb.Session(nested(10**9), {"start": 0.0}, memory_budget=1 << 24) as session:
        session.run(wait=False)
        while session.state == "ready":
            pass
        last, snapshot = -1, session.snapshot()
        ended = time.monotonic() + 0.5
        while time.monotonic() < ended or not snapshot.iterations.get(("outer",)):
            snapshot = session.snapshot()
            assert snapshot.event >= last and snapshot.state == "running"
            last = snapshot.event
            iterations, values = session.trace["acc"].window(-20, 10**12)
            assert len(iterations) == len(values)
            assert np.diff(iterations[:, 0]).tolist() == [1] * (len(iterations) - 1)
            assert (np.diff(values) > 0).all() and session.trace.last_branch("outer/acc/Switch") in (None, True)
        assert session.pause().reason is R.PAUSED


def test_wait_async_leaves_the_loop_free():
    async def story():
        session.post("run")
        ticks = 0
        waiting = asyncio.ensure_future(session.wait_async())
        while ticks < 5:
            await asyncio.sleep(0.01)
            ticks += 1
        assert not waiting.done()
        assert await session.wait_async(timeout=0.01) is None
        session.post("pause")
        return await waiting

    with wb.Session(endless(), {"start": 0.0}, trace="off") as session:
        assert asyncio.run(story()).reason is R.PAUSED


def test_listeners():
    seen = []
    with wb.Session(count(2.0), {"start": 0.0}) as session:

        def broken(snapshot):
            raise ValueError("a listener of a view that was closed")

        session.subscribe(broken)
        stop_listening = session.subscribe(seen.append)
        session.step()
        session.step()
        assert (
            [s.state for s in seen] == ["paused"] * 2
            and seen[-1].stop == session.stop
            and seen[-1].version < session.version + 1
        )
        stop_listening()
        stop_listening()
        session.step()
        assert len(seen) == 2
        failures = []

        def waits(snapshot):
            try:
                session.step()
            except SessionError as error:
                failures.append(error.slug)

        session.subscribe(waits)
        session.step()
    assert failures == ["on-the-worker"]


def test_versions_grow():
    with wb.Session(count(2.0), {"start": 0.0}) as session:
        versions = [session.version]
        for _ in range(3):
            session.step()
            versions.append(session.version)
        assert versions == sorted(set(versions))


def test_close_joins_the_thread(running):
    thread = running._worker._thread
    running.post("step")
    running.close()
    assert not thread.is_alive() and running.state == "closed"
    running.close()
    assert len(running.trace["x"]) > 0  # the trace stays readable
    for act in (running.step, running.run, lambda: running.post("step"), lambda: running.post("pause")):
        with pytest.raises(SessionError) as caught:
            act()
        assert caught.value.slug == "closed"
    assert running.wait(1.0) is not None and "closed" in repr(running)


def test_a_forgotten_session_leaves_no_thread():
    before = set(workers())  # of another module
    session = wb.Session(count(), {"start": 0.0})
    session.run()
    gone = weakref.ref(session)
    (thread,) = set(workers()) - before
    del session
    gc.collect()
    thread.join(60.0)
    assert gone() is None and not thread.is_alive()


def test_a_session_that_was_only_looked_at_has_no_thread():
    before = set(workers())
    session = wb.Session(count(), {"start": 0.0})
    assert session.snapshot().state == "ready" and set(workers()) == before
    session.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nothing", "", "_do_step", "pursue"])
def test_unknown_commands(name):
    with wb.Session(count(), {"start": 0.0}) as session:
        with pytest.raises(SessionError) as caught:
            session.post(name)
        assert (
            caught.value.slug == "unknown-command"
            and repr(name) in str(caught.value)
            and "step_back" in str(caught.value)
        )


def test_the_error_of_a_posted_command_is_not_given_to_another():
    with wb.Session(count(), {"start": 0.0}) as session:
        session.post("step", n=0)
        session.wait()
        assert session.step().reason is R.STEP
