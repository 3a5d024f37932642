"""Nobody waits for ever, in any order of the steps of a session's threads and of signal handlers; each rule counts."""

from __future__ import annotations

import ast
import threading
from pathlib import Path

import pytest

import workbench as wb
from tests.session.lock_protocol import RULES, State, explore
from workbench.threads import Event, Lock, holds_a_lock

FRESH, IDLE = State(), State(started=2)
RUNNING = IDLE._replace(open=((1, "run", False),), last=1)
ROOT = Path(wb.__file__).parent.parent
#: plain locks that nobody waits for: who does not get one at once goes on without
NOT_WAITED_FOR = {"_begun", "_drawing"}


@pytest.mark.slow
@pytest.mark.parametrize("start", [FRESH, IDLE, RUNNING], ids=["fresh", "idle", "running"])
@pytest.mark.parametrize(("handlers", "others"), [(1, 0), (0, 1)], ids=["handler", "other thread"])
def test_no_order_of_the_steps_ends_in_a_wait_without_end(start, handlers, others):
    states, stuck = explore(start._replace(handlers=handlers, others=others))
    assert states > 20_000 and stuck is None, (states, stuck)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_no_order_of_the_steps_of_two_handlers_ends_in_a_wait_without_end():
    states, stuck = explore(FRESH._replace(handlers=2, others=0))
    assert states > 1_000_000 and stuck is None, (states, stuck)


@pytest.mark.slow
@pytest.mark.parametrize("rule", sorted(RULES))
def test_without_a_rule_some_order_ends_in_a_wait_without_end(rule):
    starts = [s._replace(handlers=1, others=0) for s in (FRESH, RUNNING)]
    assert any(explore(start, RULES - {rule})[1] is not None for start in starts)


@pytest.mark.slow
def test_locks_and_flags_are_those_that_handlers_may_come_between():
    """``threading.Event`` and plain locks wait for their own thread when a handler uses them in the wrong moment."""
    found = []
    for path in [*ROOT.glob("workbench/**/*.py"), *ROOT.glob("widgets/**/*.py")]:
        if path.name == "threads.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
            if not isinstance(value, ast.Call) or not ast.unparse(value).startswith(
                ("threading.Lock(", "threading.Event(", "threading.Semaphore(")
            ):
                continue
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if getattr(target, "attr", getattr(target, "id", "")) not in NOT_WAITED_FOR:
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}; use workbench.threads")
    assert not found, "\n".join(found)


def test_a_thread_knows_whether_it_holds_a_lock():
    lock, told = Lock(), []
    with lock, lock:
        assert holds_a_lock() and lock.is_mine
        other = threading.Thread(target=lambda: told.append((holds_a_lock(), lock.is_mine)))
        other.start()
        other.join()
    assert told == [(False, False)] and not holds_a_lock()


def test_an_event_wakes_all_that_wait_and_ends_at_its_limit():
    event, woken = Event(), []
    threads = [threading.Thread(target=lambda: woken.append(event.wait())) for _ in range(8)]
    for thread in threads:
        thread.start()
    assert not event.wait(0.0) and not event.wait(0.001) and not woken
    event.set()
    for thread in threads:
        thread.join()
    assert woken == [True] * 8 and event.is_set() and event.wait(0.0)
    event.clear()
    assert not event.is_set()
