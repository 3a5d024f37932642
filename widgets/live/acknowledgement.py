"""Acknowledgements of a view in the browser: the number of views, the updates in flight, and the visibility of the
views.

A browser whose tab is hidden or gone does not answer. After ``PATIENCE_S`` seconds in which updates were sent and none
was acknowledged the view counts as *asleep*: nothing is sent any more, and the pump's thread may end. Any message from
the browser wakes it up.

A cell that blocks the kernel delays the message that a view was opened. A view that is about to be shown is therefore
*expected* for ``EXPECTED_S`` seconds: it is served as if it were open, and its first answer replaces the delayed
message.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

PATIENCE_S = 20.0
#: seconds for which an expected view is served
EXPECTED_S = 600.0
#: seconds after which an unanswered update no longer delays the next one
FALLBACK_S = 0.5
#: multiple of the time of the last answer, up to a bound: a slow browser must not be flooded with updates
SLOWER, LONGEST_FALLBACK_S = 3.0, 10.0
#: maximum updates whose time of sending is kept
MEMORY = 64


class Acknowledgement:
    """Acknowledgement state of a view in a browser; a subclass defines ``sent``, the number of the last update."""

    #: maximum updates in flight when the next one is sent
    ahead = 0
    _views = 0
    _acknowledged = 0
    _sent_at = 0.0
    _took = 0.0
    _times: deque[tuple[int, float]] | None = None
    _unanswered_since: float | None = None
    _asleep = False
    _woke: bool = False
    _sight: bool = True
    _expected: float | None = None
    #: it has answered before the kernel received the message that it is open
    _presumed = False
    #: called in that case
    on_presumed: Callable[[], None] | None = None

    @property
    def sent(self) -> int:
        """The number of the newest update that was sent."""
        raise NotImplementedError

    @property
    def views(self) -> int:
        """Browser views that are open or expected; 0 while the browser does not answer."""
        if self._asleep or self._views:
            return self.drawn
        return int(self._expected is not None and time.monotonic() - self._expected < EXPECTED_S)

    @property
    def drawn(self) -> int:
        """The number of open browser views, as reported by the browser; 0 while it does not answer."""
        return 0 if self._asleep else self._views

    def expect(self) -> None:
        """Note that a browser is about to show the view."""
        if not self._views:
            self._expected = time.monotonic()

    @property
    def asleep(self) -> bool:
        """True if its view in a browser has stopped responding."""
        return self._asleep

    def doze(self) -> None:
        """Note that another view of the same page has stopped answering; this one is treated alike."""
        self._asleep = self._asleep or self._views > 0

    def rouse(self) -> None:
        """Note that another view of the same page has answered again."""
        if self._asleep:
            self._asleep, self._unanswered_since = False, None

    @property
    def in_flight(self) -> int:
        """Updates sent and not yet acknowledged."""
        return self.sent - self._acknowledged

    @property
    def waited(self) -> float:
        """Seconds since the last update was sent."""
        return time.monotonic() - self._sent_at

    @property
    def took(self) -> float:
        """Seconds that the browser took for the last acknowledged update."""
        return self._took

    @property
    def holding(self) -> bool:
        """True if the next update must wait for one in flight."""
        patience = max(FALLBACK_S, min(SLOWER * self._took, LONGEST_FALLBACK_S))
        return self.in_flight > self.ahead and self.waited < patience

    @property
    def hidden(self) -> bool:
        """True if the browser reported that the view is scrolled out of sight."""
        return not self._sight

    def _sending(self) -> None:
        """Note that an update is sent now."""
        now = time.monotonic()
        self._sent_at = now
        if self._times is None:
            self._times = deque(maxlen=MEMORY)
        self._times.append((self.sent, now))
        if self._unanswered_since is None:
            self._unanswered_since = now
        elif self._views and now - self._unanswered_since > PATIENCE_S:
            self._asleep = True

    def _heard(self, content: Mapping[str, Any]) -> bool:
        """Handle a message of the protocol; False for any other message. Malformed ones are ignored."""
        kind = content.get("kind")
        self._unanswered_since = None
        presumed = kind in ("ack", "sight") and not self._views and self._expected is not None
        self._expected = None
        if presumed:
            self._views, self._presumed = 1, True
        if self._asleep:
            self._asleep, self._woke = False, True
        if kind == "ack":
            push = content.get("push", 0)
            if isinstance(push, int):
                self._acknowledged = max(self._acknowledged, min(push, self.sent))
                while self._times and self._times[0][0] <= self._acknowledged:
                    self._took = time.monotonic() - self._times.popleft()[1]
        elif kind == "view":
            self._views += not self._presumed
            self._presumed = False
            self._acknowledged = self.sent
            self._sight = True
        elif kind == "gone":
            self._views = max(0, self._views - 1)
        elif kind == "sight":
            seen = bool(content.get("seen", True))
            self._woke |= seen and not self._sight
            self._sight = seen
        else:
            return False
        if presumed and self.on_presumed is not None:
            self.on_presumed()
        return True

    def _has_woken(self) -> bool:
        """True once after the view became visible or responsive again; it is then redrawn."""
        woke, self._woke = self._woke, False
        return bool(woke)
