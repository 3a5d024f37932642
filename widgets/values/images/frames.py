"""Images at the speed of a playing slider, on a separate thread; the pump updates all other views.

Each request is for the newest moment. Until the browser has acknowledged an image, a newer request replaces a waiting
one, so that images are skipped and never queue up. The thread ends after some time without requests; a view without
such a thread is updated by the pump alone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from workbench.threads import Event, Lock, ended_at_exit, started

#: seconds without a request after which the thread ends
LINGER_S = 2.0
#: seconds between two checks for an answer
LOOK_S = 0.05


class Frames:
    """``wish`` requests an image, ``answered`` reports that the browser has drawn one; ``draw`` makes and sends it,
    unless ``holding`` reports one in transit.
    """

    def __init__(self, draw: Callable[[], None], holding: Callable[[], bool]) -> None:
        self._draw, self._holding = draw, holding
        self._wake = Event()
        self._lock = Lock()
        self._thread: threading.Thread | None = None
        self._closed = False
        #: requests, and those replaced by a newer one before they were drawn
        self.requests = self.dropped = 0
        self._waits = False
        ended_at_exit(self.close)

    def wish(self) -> None:
        """Request an image of the newest moment; may be called on any thread."""
        with self._lock:
            if self._closed:
                return
            self.requests += 1
            self.dropped += self._waits
            self._waits = True
            if self._thread is None:
                self._thread = started(self._run, "workbench-frames")
            if self._thread is None:  # no thread is available: the pump shows it
                self.dropped, self._waits = self.dropped + 1, False
        self._wake.set()

    def answered(self) -> None:
        """Handle the browser's report that an image is drawn."""
        if self._waits:
            self._wake.set()

    def _run(self) -> None:
        while True:
            idle = not self._wake.wait(LOOK_S if self._waits else LINGER_S)
            self._wake.clear()
            with self._lock:
                if self._closed or idle and not self._waits:
                    self._thread = None
                    return
                if not self._waits or self._holding():
                    continue
                self._waits = False
            self._draw()

    def close(self) -> None:
        """End the thread and wait for it."""
        with self._lock:
            self._closed = True
            thread = self._thread
        self._wake.set()
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout=5.0)
