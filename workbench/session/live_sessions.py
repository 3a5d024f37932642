"""All open sessions: closes them at the end of the process, and keeps inherited ones unused after a fork."""

from __future__ import annotations

import atexit
import os
import weakref
from typing import TYPE_CHECKING, Any

from workbench.debugger import DebugControl

if TYPE_CHECKING:
    from workbench.session.worker import Worker

#: the workers of the open sessions
_OPEN: weakref.WeakSet[Worker] = weakref.WeakSet()
#: those of the process that this one was forked from
_INHERITED: list[Any] = []


def opened(worker: Worker, debugger: DebugControl) -> None:
    """Register a session: it is closed at the end of the process, and its command dropped when it is deleted."""
    _OPEN.add(worker)
    weakref.finalize(worker, _abandon, debugger, os.getpid()).atexit = False


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


os.register_at_fork(after_in_child=_forked)
