"""Long work on threads, which a view joins when it closes."""

from __future__ import annotations

import threading
from collections.abc import Callable

from workbench.threads import Lock, ended_at_exit, started


class BackgroundTasks:
    """``do`` starts a thread, so that the kernel stays free, and does the work itself if no thread is available;
    ``close`` joins running threads, for some seconds. Views start work on their pump's thread, too, so that both may be
    called at once.
    """

    def __init__(self, name: str = "workbench-aside") -> None:
        self._name = name
        self._lock = Lock()
        self._threads: list[threading.Thread] = []
        self._closed = False
        ended_at_exit(self.close)

    def do(self, work: Callable[[], None]) -> None:
        """Start work; without effect after :meth:`close`."""
        with self._lock:
            if self._closed:
                return
            thread = started(work, self._name)  # under the lock, because a thread that is not started cannot be joined
            if thread is not None:
                self._threads = [t for t in self._threads if t.is_alive()] + [thread]
        if thread is None:
            work()

    def close(self, timeout: float = 5.0) -> None:
        """Refuse further work, and join the threads except the calling one."""
        with self._lock:
            self._closed = True
            threads = list(self._threads)
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(timeout)
