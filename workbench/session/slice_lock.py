"""The lock that is held while the executor runs a slice; readers that need a stopped run take it between two slices."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from workbench.kernels import machine as core
from workbench.session.state import SessionState


class SliceLock:
    """The lock and the number of readers that wait for it.

    It is reentrant and knows its owner by itself: where the owner is noted beside a plain lock, a signal handler that
    runs between the two waits for its own thread.
    """

    def __init__(self, state: SessionState) -> None:
        self._state = state
        self.lock = threading.RLock()
        self.waiting_readers = 0

    @property
    def is_mine(self) -> bool:
        """True on the thread that holds the lock."""
        return self.lock._is_owned()  # type: ignore[attr-defined,no-any-return]  # threading.Condition asks so, too

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stop the run between two slices inside of this block; a running command continues afterwards. Not for the
        thread that holds the lock."""
        state, waiting = self._state, 0
        try:
            with state.lock:
                self.waiting_readers, waiting = self.waiting_readers + 1, 1
                core.request_stop(state.run.machine)
            with self.lock:
                yield
        finally:
            with state.lock:
                self.waiting_readers -= waiting
