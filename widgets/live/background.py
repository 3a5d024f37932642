"""Work that may take long, on threads that a view waits for when it closes."""

from __future__ import annotations

import threading
from collections.abc import Callable

from workbench.threads import Lock, ended_at_exit, started


class BackgroundTasks:
    """``do`` starts a thread, so that the kernel stays free, and does the work itself where there is none to be had;
    ``close`` joins what still runs, for some seconds. Views ask for work on their pump's thread too, so that both may
    happen at once."""

    def __init__(self, name: str = "workbench-aside") -> None:
        self._name = name
        self._lock = Lock()
        self._threads: list[threading.Thread] = []
        self._closed = False
        ended_at_exit(self.close)

    def do(self, work: Callable[[], None]) -> None:
        """Start some work; nothing after :meth:`close`."""
        with self._lock:
            if self._closed:
                return
            thread = started(work, self._name)  # in the lock: one that is not started cannot be joined
            if thread is not None:
                self._threads = [t for t in self._threads if t.is_alive()] + [thread]
        if thread is None:
            work()

    def close(self, timeout: float = 5.0) -> None:
        """Start nothing any more, and join the threads, except for the one that asks."""
        with self._lock:
            self._closed = True
            threads = list(self._threads)
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(timeout)
