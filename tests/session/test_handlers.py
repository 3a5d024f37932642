"""A signal handler may use a session between any two bytecodes of its thread: nobody waits for ever, the call that was
interrupted completes, and after an exception of the handler the session goes on."""

from __future__ import annotations

import pytest

import workbench as wb
from tests.ir.programs import count
from tests.session.handlers import interrupted
from workbench import StopReason as R
from workbench.errors import SessionError
from workbench.threads import holds_a_lock

#: the other method waits for SIGALRM; the limit is of a hang: beside other work each of some thousand turns of the
#: session's thread waits for the processor
pytestmark = pytest.mark.timeout(1800, method="thread")

CALLS = {
    "post": lambda s: s.post("step"),
    "step": lambda s: s.step(),
    "run without waiting": lambda s: s.run(wait=False),
    "pause": lambda s: s.pause(),
    "wait": lambda s: s.wait(0.001),
    "termination": lambda s: s.termination(),
    "value": lambda s: s.value("x"),
    "snapshot": lambda s: s.snapshot(),
    "restart": lambda s: s.restart(),
    "fork": lambda s: s.fork().close(),
    "close": lambda s: s.close(),
}
ACTS = {
    "post": lambda s: s.post("step"),
    "pause": lambda s: s.pause(wait=False),
    "step": lambda s: s.step(),
    "termination": lambda s: s.termination(),
    "wait": lambda s: s.wait(0.001),
    "run": lambda s: s.run(wait=False),
    "value": lambda s: s.value("x"),
}
#: the session before the call: fresh (the call starts its thread), at rest, in the middle of a run without end
STATES = ("fresh", "paused", "running")


PAIRS = [(call, state) for call in CALLS for state in STATES]
#: a test goes to every third bytecode, in turn to all acts; the others are those of `make test-sweep`
STRIDE = 3
FIRST = [pytest.param(at, marks=pytest.mark.sweep if at else pytest.mark.slow) for at in range(STRIDE)]


def session_in(state: str) -> wb.Session:
    session = wb.Session(count(10**15), {"start": 0.0}, trace="off")
    if state != "fresh":
        session.step(5)
    if state == "running":
        session.run(wait=False)
    return session


def made(call: str, session: wb.Session) -> None:
    try:
        CALLS[call](session)
    except SessionError as error:  # a handler's pause has ended the command, or there is no value yet
        assert error.slug in ("closed", "in-a-signal"), error
    except wb.WorkbenchError as error:
        assert error.slug in ("not-fired", "not-recorded"), error


def goes_on(session: wb.Session) -> None:
    """The session has lost nothing: no lock is held, and the next commands are carried out."""
    assert not holds_a_lock() and not session._worker._slices.is_mine
    if session.state != "closed":
        assert session.pause(timeout=60.0) is not None
        assert session.step().reason is R.STEP


@pytest.mark.parametrize("first", FIRST)
@pytest.mark.parametrize(("call", "state"), PAIRS)
def test_a_handler_between_any_two_bytecodes(call, state, first):
    """One handler at a time, at each of them; the acts take turns."""
    acts, slugs = list(ACTS.values()), set()

    def act():
        try:
            acts[at % len(acts)](session)
        except SessionError as error:
            slugs.add(error.slug)
        except wb.WorkbenchError as error:
            assert error.slug in ("not-fired", "not-recorded"), error

    at, steps = first, first + 1
    while at < steps:
        with session_in(state) as session:
            steps = max(steps, interrupted(lambda session=session: made(call, session), act, at))
            goes_on(session)
        at += STRIDE
    assert steps > 20 and slugs <= {"in-a-signal", "closed"}, (steps, slugs)


@pytest.mark.slow
@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("call", CALLS)
def test_handlers_between_all_bytecodes_of_a_call(call, act):
    slugs = set()

    def acts():
        try:
            ACTS[act](session)
        except SessionError as error:
            slugs.add(error.slug)
        except wb.WorkbenchError as error:
            assert error.slug in ("not-fired", "not-recorded"), error

    for state in STATES:
        with session_in(state) as session:
            assert interrupted(lambda session=session: made(call, session), acts, None) > 20
            goes_on(session)
    assert slugs <= {"in-a-signal", "closed"}, slugs


@pytest.mark.parametrize("first", FIRST)
@pytest.mark.parametrize(("call", "state"), PAIRS)
def test_an_exception_of_a_handler_between_any_two_bytecodes(call, state, first):
    def act():
        raise KeyboardInterrupt

    at, steps = first, first + 1
    while at < steps:
        session = session_in(state)
        try:
            steps = max(steps, interrupted(lambda session=session: made(call, session), act, at, raises=True))
        except KeyboardInterrupt:
            steps = at + STRIDE + 1
        goes_on(session)
        session.close()
        at += STRIDE
    assert at > 5
