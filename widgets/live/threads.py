"""Threads of the views, which the system may refuse: whoever asked goes on without one then."""

from __future__ import annotations

import threading
from collections.abc import Callable


def started(work: Callable[[], object], name: str) -> threading.Thread | None:
    """A daemon thread that does ``work``; None where the system gives no thread (limits of the process or the user, no
    memory for its stack, the end of the interpreter)."""
    thread = threading.Thread(target=work, name=name, daemon=True)
    try:
        thread.start()
    except (RuntimeError, MemoryError):
        return None
    return thread
