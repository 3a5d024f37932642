"""Images at the speed of a slider that plays: on a thread of their own, beside the pump, which has all other views.

Each wish is for the newest moment. While the browser has not answered for the image before, a newer wish takes the
place of one that waits, so that images are left out and never queue up. The thread ends when nothing was wished for
some time, and a view without such a thread is served by the pump alone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from workbench.threads import Event, Lock, ended_at_exit, started

#: seconds without a wish after which the thread ends
LINGER_S = 2.0
#: seconds after which it looks again whether an answer has come
LOOK_S = 0.05


class Frames:
    """``wish`` asks for an image, ``answered`` says that the browser has drawn one; ``draw`` makes and sends it, unless
    ``holding`` says that one is still on its way."""

    def __init__(self, draw: Callable[[], None], holding: Callable[[], bool]) -> None:
        self._draw, self._holding = draw, holding
        self._wake = Event()
        self._lock = Lock()
        self._thread: threading.Thread | None = None
        self._closed = False
        #: wishes, and those whose place a newer one took before they were drawn
        self.requests = self.dropped = 0
        self._waits = False
        ended_at_exit(self.close)

    def wish(self) -> None:
        """The newest moment is to be seen; from any thread."""
        with self._lock:
            if self._closed:
                return
            self.requests += 1
            self.dropped += self._waits
            self._waits = True
            if self._thread is None:
                self._thread = started(self._run, "workbench-frames")
            if self._thread is None:  # no thread to be had: the pump shows it
                self.dropped, self._waits = self.dropped + 1, False
        self._wake.set()

    def answered(self) -> None:
        """The browser has drawn an image."""
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
