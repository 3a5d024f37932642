"""The requests of a session that are not done: their order, the cancellation of all so far, and who waits for them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from workbench.session.command_request import OPEN_ENDED, CommandRequest
from workbench.threads import Waiters


class PendingRequests:
    """The requests, oldest first; the worker carries out the first one.

    There is no lock: each change is one step of a list, and a request is queued and known as waiting in one and the
    same step. So a signal handler or another thread may come between any two steps.
    """

    def __init__(self) -> None:
        #: the one that is carried out
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
        """Cancel all requests so far; returns them."""
        found = self.all()
        for request in found:
            request.cancelled = True
        return found

    def is_cancelled(self, request: CommandRequest | None) -> bool:
        """True if a command must end at once: cancelled, or an open-ended one that another command follows."""
        if request is None:
            return False
        return request.cancelled or request.command in OPEN_ENDED and any(r is not request for r in self._open[-1:])

    def mark_done(self, request: CommandRequest) -> None:
        """Remove a request, and wake up waiting callers."""
        request.done = True
        with suppress(ValueError):  # removed by another thread, when its own had ended
            self._open.remove(request)
        self._waiters.wake()

    def wait(self, done: Callable[[], bool], timeout: float) -> bool:
        """Wait until a request is done, at most ``timeout`` seconds, unless ``done()`` already; returns that."""
        return self._waiters.wait(done, timeout)
