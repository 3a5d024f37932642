"""All open sessions: lists them, closes them when the process ends, and keeps inherited ones unused after a fork."""

from __future__ import annotations

import atexit
import gc
import itertools
import os
import weakref
from typing import TYPE_CHECKING, Any

from workbench.debugger import DebugControl

if TYPE_CHECKING:
    from workbench.session.session import Session
    from workbench.session.worker import Worker

#: the workers of the open sessions
_OPEN: weakref.WeakSet[Worker] = weakref.WeakSet()
#: number -> session, in the order of creation
_NUMBERED: weakref.WeakValueDictionary[int, Session] = weakref.WeakValueDictionary()
_NUMBERS = itertools.count(1)
#: bytes of new records after which unreachable sessions are collected
_GROWTH = 256 << 20
#: bytes of the open sessions at the last collection, or fewer if they have shrunk since
_kept = 0
#: workers of the parent process, after a fork
_INHERITED: list[Any] = []


def opened(worker: Worker, debugger: DebugControl) -> None:
    """Register a session: it is closed at the end of the process, and its command is dropped when it is deleted."""
    _OPEN.add(worker)
    weakref.finalize(worker, _abandon, debugger, os.getpid()).atexit = False


def numbered(session: Session) -> int:
    """Give a session a number, under which :func:`sessions` lists it while it is open."""
    _collect_unreachable()
    number = next(_NUMBERS)
    _NUMBERED[number] = session
    return number


def _collect_unreachable() -> None:
    """Free sessions that only reference cycles hold, before a new session takes as much memory again.

    A session has no cycles. But IPython keeps the error of a failed cell in one, and with it the cell's session: run
    eight times, such a cell would hold eight records until the next garbage collection."""
    global _kept
    held = _recorded()
    if held > _kept + _GROWTH:
        gc.collect()
        held = _kept = _recorded()
    _kept = min(_kept, held)


def _recorded() -> int:
    return sum(session.memory_now().rows for session in list(_NUMBERED.values()) if session.state != "closed")


def sessions() -> dict[int, Session]:
    """The open sessions of this process by number, oldest first."""
    return {number: session for number, session in sorted(_NUMBERED.items()) if session.state != "closed"}


def closed(worker: Worker) -> None:
    """Unregister a closed session."""
    _OPEN.discard(worker)


def _abandon(debugger: DebugControl, process: int) -> None:
    if process == os.getpid():
        debugger.abandon()  # an unfinished command and its debugger refer to each other


@atexit.register
def _close_all() -> None:
    for worker in list(_OPEN):
        worker.close()


def _forked() -> None:
    """Keep sessions of the parent process in memory: freeing them takes locks that other threads may have held at the
    fork, and that are never released here."""
    _INHERITED.extend(_OPEN)
    _OPEN.clear()
    _NUMBERED.clear()


os.register_at_fork(after_in_child=_forked)
