"""The views that a pump serves: the version shown by each, errors, and updates without a thread."""

from __future__ import annotations

import threading
import time
import weakref
from typing import Any

from workbench.threads import Event, Lock
from workbench.widgets.live.sink import Sink, SnapshotSource

#: maximum successive updates without a thread: each view may request another one
MAX_ROUNDS = 100


class Served:
    """State shared between the pump's thread and callers that update views without one."""

    def __init__(self, session: SnapshotSource) -> None:
        self.session = session
        self.errors: list[str] = []
        self._lock = Lock()
        self._drawing = threading.Lock()  # held while views are shown without the thread
        self._wake = Event()
        self._shown: dict[Sink, Any] = {}
        self._cost: weakref.WeakKeyDictionary[Sink, float] = weakref.WeakKeyDictionary()

    @property
    def sinks(self) -> int:
        """The number of views served."""
        return len(self._shown)

    def _has_views(self) -> bool:
        return any(sink.views > 0 for sink in self._shown)

    def _show_here(self) -> None:
        """Without a thread: update all views with the newest snapshot, on the caller's thread. If another caller is
        doing this, it also carries out this request.
        """
        for _ in range(MAX_ROUNDS):
            if not self._wake.is_set() or not self._drawing.acquire(blocking=False):
                return
            try:
                self._wake.clear()
                snapshot = self.session.snapshot()
                mark = (snapshot.version, snapshot.event if snapshot.state == "running" else None)
                with self._lock:
                    waiting = [s for s, shown in self._shown.items() if shown != mark and s.views > 0]
                    self._shown |= dict.fromkeys(waiting, mark)
                for sink in sorted(waiting, key=lambda s: not s.urgent):
                    self._show(sink, snapshot)
                    if sink.behind and snapshot.state != "running":
                        with self._lock:
                            if sink in self._shown:
                                self._shown[sink] = None
                        self._wake.set()
            except Exception as error:  # a session that is being closed
                self._note(error)
            finally:
                self._drawing.release()

    def _show(self, sink: Sink, snapshot: Any) -> None:
        started = time.monotonic()
        error = sink.attempt(snapshot)  # an error of one view must not affect the others; the view shows it
        self._cost[sink] = time.monotonic() - started
        if error is not None:
            self._note(error)

    def _note(self, error: Exception) -> None:
        text = f"{type(error).__name__}: {error}"
        if text not in self.errors:
            self.errors.append(text)
            del self.errors[:-20]
