"""Work that may take long, on threads that a view waits for when it closes."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Aside:
    """``do`` starts a thread, so that the kernel stays free; ``close`` joins what still runs, for some seconds."""

    def __init__(self) -> None:
        self._threads: list[threading.Thread] = []

    def do(self, work: Callable[[], None]) -> None:
        self._threads = [t for t in self._threads if t.is_alive()]
        thread = threading.Thread(target=work, name="workbench-aside", daemon=True)
        self._threads.append(thread)
        thread.start()

    def wait(self, timeout: float = 5.0) -> None:
        """Join the threads, but for the one that asks."""
        for thread in list(self._threads):
            if thread is not threading.current_thread():
                thread.join(timeout)
