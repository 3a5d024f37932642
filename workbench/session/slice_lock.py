"""The lock held while the executor runs a slice; readers that need a stopped run take it between two slices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from workbench.errors import SessionError
from workbench.threads import OwnedLock, holds_a_lock


class SliceLock(OwnedLock):
    """The lock, and the readers that wait for it.

    ``with slices:`` stops the run between two slices; a running command continues afterwards. The run itself takes the
    lock by ``acquire``. The end of the block is compiled code, so that an exception of a signal handler cannot
    interrupt it.
    """

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        self._readers: list[object] = []

    @property
    def is_awaited(self) -> bool:
        """True while readers wait for the end of a slice."""
        return bool(self._readers)

    def __enter__(self) -> Literal[True]:
        before = self.is_mine
        try:
            if not self.acquire(blocking=False):
                self._wait()
            return True
        except BaseException:  # raised by a signal handler after the lock was taken
            if self.is_mine and not before:
                self.release()
            raise

    def _wait(self) -> None:
        if holds_a_lock():
            raise in_a_signal("reading the session")
        reader = object()
        try:
            self._readers.append(reader)
            self._stop()
            self.acquire()
        finally:
            if reader in self._readers:
                self._readers.remove(reader)


def in_a_signal(what: str) -> SessionError:
    """The error for a call that would deadlock: it waits for a thread that waits for the one interrupted by the signal
    handler."""
    return SessionError(
        f"{what!r} would wait forever: it was called by a signal handler in the middle of a step of its thread for "
        "which other threads wait.",
        slug="in-a-signal",
        fix="use session.post(...), or session.pause(wait=False).",
    )
