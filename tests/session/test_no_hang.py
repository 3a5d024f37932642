"""Regressions of endless waits: threads that cannot start, listeners that raise anything, waiting where nobody answers,
copies, signals that come at any moment, workers that end. Each is one clear error, and the session goes on."""

from __future__ import annotations

import asyncio
import copy
import ctypes
import logging
import math
import pickle
import signal
import time

import pytest

import workbench as wb
from tests.ir.programs import count, endless
from tests.limits import NO_THREADS, in_a_process
from workbench import StopReason as R
from workbench.errors import SessionError, WorkbenchError

#: the other method waits for SIGALRM, which some of these tests take for themselves
pytestmark = pytest.mark.timeout(300, method="thread")


def slug_of(act) -> str:
    with pytest.raises(SessionError) as caught:
        act()
    return caught.value.slug


class Foreign(BaseException):
    """An exception of a library that derives from BaseException."""


# -- threads that cannot be started --------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.parametrize("limit", NO_THREADS)
def test_a_thread_that_cannot_be_started_is_an_error_and_the_session_goes_on(limit):
    told = in_a_process(
        """
        session = wb.Session(count(), {"start": 0.0})
        no_threads(True)
        for act in (session.step, session.run, lambda: session.run(wait=False), lambda: session.post("step"),
                    lambda: session.update(start=1.0)):
            try:
                act()
            except wb.WorkbenchError as error:
                print(error.slug, session.state, session.wait(60.0).reason.name)
        no_threads(False)
        print(session.step().reason.name, session.run().reason.name)
        session.close()
        """,
        limit,
    )
    assert told.splitlines() == ["no-thread ready STARTED"] * 5 + ["STEP FINISHED"]


# -- listeners -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("error", [ValueError, MemoryError, SystemExit, KeyboardInterrupt, GeneratorExit, Foreign])
def test_a_listener_may_raise_anything(error, caplog):
    def broken(snapshot):
        raise error("from a listener")

    with wb.Session(count(), {"start": 0.0}) as session, caplog.at_level(logging.ERROR):
        end = session.subscribe(broken)
        assert session.step().reason is R.STEP
        session.post("step")
        assert session.wait(60.0).reason is R.STEP
        assert [r.getMessage() for r in caplog.records] == ["a listener of the session failed"] * 2
        end()
        assert session.run().reason is R.FINISHED and len(caplog.records) == 2


WAITING = {
    "step": lambda s: s.step(),
    "run": lambda s: s.run(),
    "run_to": lambda s: s.run_to("x"),
    "pause": lambda s: s.pause(),
    "wait": lambda s: s.wait(),
    "wait with a limit": lambda s: s.wait(0.1),
    "wait_async": lambda s: asyncio.run(s.wait_async()),
    "set_value": lambda s: s.set_value("x", 1.0),
    "update": lambda s: s.update(start=1.0),
    "restart": lambda s: s.restart(),
}


@pytest.mark.parametrize("name", WAITING)
def test_a_listener_that_would_wait_for_itself_gets_an_error(name):
    slugs = []
    with wb.Session(count(), {"start": 0.0}) as session:
        session.subscribe(lambda snapshot: slugs.append(slug_of(lambda: WAITING[name](session))))
        assert session.step().reason is R.STEP
    assert slugs == ["on-the-worker"]


def test_a_listener_may_ask_post_fork_and_close():
    seen = []

    def hears(snapshot):
        seen.append(session.termination().status.name)
        seen.append(session.fork().position == snapshot.position)
        session.pause(wait=False)
        session.post("step")
        session.close()

    session = wb.Session(count(), {"start": 0.0})
    session.subscribe(hears)
    session.step()
    session._worker._thread.join(60.0)
    assert len(seen) >= 2 and seen[1] is True and not session._worker._thread.is_alive()
    session.close()


# -- copies --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, pickle.dumps, lambda s: pickle.dumps(s, 0)])
@pytest.mark.parametrize("wrapped", [lambda s: s, lambda s: {"session": [s]}])
def test_a_session_cannot_be_copied(way, wrapped):
    with wb.Session(count(), {"start": 0.0}) as session:
        session.step()
        if way is not copy.copy or wrapped(session) is session:
            assert slug_of(lambda: way(wrapped(session))) == "not-copied"
        assert session.run().reason is R.FINISHED


# -- interrupts ----------------------------------------------------------------------------------------------------
BLOCKING = {
    "run": lambda s: s.run(),
    "resume": lambda s: s.resume(),
    "many steps": lambda s: s.step(10**12),
    "posted, and wait": lambda s: (s.post("run"), s.wait()),
    "posted, and wait with a limit": lambda s: (s.post("run"), s.wait(60.0)),
    "run_to": lambda s: s.run_to("x", 10**12),
}


@pytest.fixture
def interrupts():
    """The alarm clock interrupts, as the kernel's parent does: the main thread is in the middle of anything."""
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("name", BLOCKING)
def test_an_interrupt_at_any_moment_leaves_a_paused_session(name, interrupts):
    with wb.Session(endless(), {"start": 0.0}, trace="off") as session:
        session.step()
        for k in range(1, 40):
            with pytest.raises(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, 0.0001 * k)
                BLOCKING[name](session)
            # the interrupt was before a command was given, or just after one was posted, which may not have begun yet
            if session.state == "running" or name.startswith("posted"):
                session.pause()
            assert session.state == "paused" and session.wait(60.0) is not None
        assert session.step().reason is R.STEP


def test_whatever_a_signal_raises_ends_a_blocking_run():
    def late(number, frame):
        if session.state != "running":
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            return
        raise TimeoutError("enough")

    before = signal.signal(signal.SIGALRM, late)
    try:
        with wb.Session(endless(), {"start": 0.0}, trace="off") as session:
            with pytest.raises(TimeoutError):
                signal.setitimer(signal.ITIMER_REAL, 0.1)
                session.run()
            assert session.state == "paused" and session.step().reason is R.STEP
    finally:
        signal.signal(signal.SIGALRM, before)


def test_a_signal_handler_may_use_the_session_at_any_moment():
    """The handler comes while the main thread holds the session's locks, too."""
    slugs, counted = set(), [0]

    def handler(number, frame):
        if inside:  # signals come faster than they are handled
            return
        counted[0] += 1
        inside.append(True)
        act = (
            lambda: session.post("pause"),
            lambda: session.pause(wait=False),
            lambda: session.step(),
            lambda: session.termination(),
            lambda: session.wait(0.02),
            lambda: session.post("step"),
        )[counted[0] % 6]
        try:
            act()
        except SessionError as error:
            slugs.add(error.slug)
        finally:
            inside.clear()

    inside: list[bool] = []
    before = signal.signal(signal.SIGALRM, handler)
    with wb.Session(count(10**9), {"start": 0.0}, trace="off") as session:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.001, 0.003)
            began = time.monotonic()
            while time.monotonic() - began < 1.0 or counted[0] <= 20:
                session.post("step")
                session.termination()
                session.run(wait=False)
                session.pause()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, before)
        assert slugs <= {"in-a-signal"}
        session.pause()
        assert session.step().reason is R.STEP


def interrupting(add, act, before: bool):
    """The method that queues a request, beside which a signal comes once: just before or just after."""
    acts = [act]

    def adding(request) -> None:
        now = acts.pop() if acts else None
        if now is not None and before:
            now()
        add(request)
        if now is not None and not before:
            now()

    return adding


@pytest.mark.parametrize("before", [True, False], ids=["before it is queued", "after it is queued"])
@pytest.mark.parametrize("command", ["step", "run"])
@pytest.mark.parametrize("act", ["step", "pause", "post", "wait"])
def test_a_signal_in_the_middle_of_giving_a_command_loses_none(act, command, before):
    with wb.Session(count(50), {"start": 0.0}) as session:
        session.step()
        acts = {
            "step": session.step,
            "pause": lambda: session.pause(timeout=60.0),
            "post": lambda: session.post("step"),
            "wait": lambda: session.wait(60.0),
        }
        session._worker.requests.add = interrupting(session._worker.requests.add, acts[act], before)
        session.post(command)
        assert session.wait(60.0) is not None
        assert session.pause(timeout=60.0) is not None
        assert session.run().reason is R.FINISHED


# -- workers that end ----------------------------------------------------------------------------------------------
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, Foreign])
@pytest.mark.parametrize("busy", [True, False])
def test_a_worker_thread_that_is_ended_from_outside_leaves_nobody_waiting(error, busy):
    with wb.Session(endless(), {"start": 0.0}, trace="off") as session:
        session.step()
        thread = session._worker._thread
        if busy:
            session.run(wait=False)
        assert ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(error)) == 1
        assert session.pause(timeout=60.0) is not None
        slugs = []
        for _ in range(3):
            try:
                assert session.step().reason is R.STEP
            except SessionError as lost:
                slugs.append(lost.slug)
        assert len(slugs) <= 1 and set(slugs) <= {"lost", "ended"} and session.state == "paused"
        assert session.step().reason is R.STEP


# -- the end of the process ----------------------------------------------------------------------------------------
ENDS = {
    "a run goes on": "session.run(wait=False)",
    "a daemon thread waits for a run": "threading.Thread(target=session.run, daemon=True).start(); time.sleep(0.2)",
    "a listener exits": "session.subscribe(lambda s: sys.exit(3)); session.step(); session.run(wait=False)",
    "a running session in a cycle": "me = [session]; me.append(me); session.run(wait=False); del session, me",
    "exit while it runs": "session.run(wait=False); sys.exit(0)",
    "used in an atexit callback": "atexit.register(lambda: (print(session.state), session.wait(1.0)))",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ENDS)
def test_the_process_ends(name):
    in_a_process(
        "import atexit, sys, threading, time\n"
        'session = wb.Session(endless(), {"start": 0.0}, trace="off")\n' + ENDS[name]
    )


@pytest.mark.parametrize("seconds", [math.nan, -1.0, math.inf, "1"])
def test_time_limits_that_are_none_are_refused(seconds):
    with wb.Session(endless(), {"start": 0.0}) as session:
        for ask in (
            lambda: session.wait(seconds),
            lambda: session.termination(seconds=seconds),
            lambda: session.apply_fix(seconds=seconds),
        ):
            with pytest.raises(WorkbenchError) as caught:
                ask()
            assert caught.value.slug == "bad-seconds" and caught.value.fix
        assert session.wait(0) is not None and session.termination(seconds=0.01) is not None
