"""Threads that look at runs, which the system may refuse: whoever asked goes on without one then.

None of them is left at the end of the process: one that is in compiled code while the interpreter goes away would take
the process down with it ("terminate called without an active exception").
"""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections.abc import Callable

#: methods that end threads and join them, of views that are still there
_ENDS: set[weakref.WeakMethod[Callable[[], None]]] = set()


def ended_at_exit(end: Callable[[], None]) -> None:
    """Call the method ``end``, which ends a thread and joins it, before the interpreter goes away."""
    _ENDS.add(weakref.WeakMethod(end, _ENDS.discard))


@atexit.register
def _end_all() -> None:
    for reference in list(_ENDS):
        end = reference()
        if end is not None:
            end()


os.register_at_fork(after_in_child=_ENDS.clear)  # a child has none of these threads, and locks that nobody releases


def started(work: Callable[[], object], name: str) -> threading.Thread | None:
    """A daemon thread that does ``work``; None where the system gives no thread (limits of the process or the user, no
    memory for its stack, the end of the interpreter)."""
    thread = threading.Thread(target=work, name=name, daemon=True)
    try:
        thread.start()
    except (RuntimeError, MemoryError):
        return None
    return thread
