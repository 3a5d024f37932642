"""The pending requests of a session: their order, their cancellation, and the callers that wait for them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from workbench.session.command_request import OPEN_ENDED, CommandRequest
from workbench.threads import Waiters


class PendingRequests:
    """The requests, oldest first; the worker executes the first one.

    There is no lock: each change is one list operation, and a single operation queues a request and marks it as
    pending. A signal handler or another thread may therefore run between any two operations.
    """

    def __init__(self) -> None:
        #: the request being executed
        self.current: CommandRequest | None = None
        self._open: list[CommandRequest] = []
        self._waiters = Waiters()

    def add(self, request: CommandRequest) -> None:
        """Queue a request."""
        self._open.append(request)

    def first(self) -> CommandRequest | None:
        """The oldest request that is not done."""
        for request in self._open[:1]:
            return request
        return None

    def all(self) -> list[CommandRequest]:
        """The requests that are not done, oldest first."""
        return self._open.copy()

    def cancel_all(self) -> list[CommandRequest]:
        """Cancel all present requests, and return them."""
        found = self.all()
        for request in found:
            request.cancelled = True
        return found

    def is_cancelled(self, request: CommandRequest | None) -> bool:
        """True if a command must end at once: it is cancelled, or it is open-ended and another command follows."""
        if request is None:
            return False
        return request.cancelled or request.command in OPEN_ENDED and any(r is not request for r in self._open[-1:])

    def mark_done(self, request: CommandRequest) -> None:
        """Remove a request, and wake up waiting callers."""
        request.done = True
        with suppress(ValueError):  # another thread removed it, after the thread of the request had ended
            self._open.remove(request)
        self._waiters.wake()

    def wait(self, done: Callable[[], bool], timeout: float) -> bool:
        """Wait at most ``timeout`` seconds until a request is done, unless ``done()`` is already True; returns its
        result."""
        return self._waiters.wait(done, timeout)
