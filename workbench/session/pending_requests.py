"""The requests of a session that are not done: their numbers, their order, and the cancellation of all so far."""

from __future__ import annotations

import threading

from workbench.session.command_request import OPEN_ENDED, CommandRequest


class PendingRequests:
    """Numbers the requests, and knows the one that is carried out. Changed with the lock of the session held."""

    def __init__(self, lock: threading.RLock) -> None:
        self._lock = lock
        #: notified when a request is done
        self.idle = threading.Condition(lock)
        self.current: CommandRequest | None = None
        self._by_number: dict[int, CommandRequest] = {}
        self._last_number = 0  # number of the last request
        self.cancelled_up_to = 0  # requests up to this number must end at once

    def next_number(self) -> int:
        """The number of the next request; no number is given twice."""
        self._last_number = number = self._last_number + 1
        return number

    def add(self, request: CommandRequest) -> None:
        """Add a request that has been queued; it may be done already."""
        self._by_number[request.number] = request
        if request.done:
            del self._by_number[request.number]

    def cancel_all(self) -> None:
        """Cancel all requests so far."""
        self.cancelled_up_to = self._last_number

    def is_cancelled(self, request: CommandRequest | None) -> bool:
        """True if a command must end at once: cancelled, or an open-ended one that another command follows."""
        return request is not None and (
            request.number <= self.cancelled_up_to
            or request.command in OPEN_ENDED
            and request.number < self._last_number
        )

    def unfinished(self) -> list[int]:
        """Numbers of the requests that are not done."""
        return [number for number, request in list(self._by_number.items()) if not request.done]

    def all(self) -> list[CommandRequest]:
        """The requests that are not done, oldest first."""
        return list(self._by_number.values())

    def mark_done(self, request: CommandRequest) -> None:
        """Remove a request, and wake up waiting callers."""
        with self._lock:
            request.done = True
            self._by_number.pop(request.number, None)
            self.idle.notify_all()
