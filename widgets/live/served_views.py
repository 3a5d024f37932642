"""The views that a pump serves: what each has shown, what went wrong, and how they are shown without a thread."""

from __future__ import annotations

import threading
import time
import weakref
from typing import Any

from workbench.threads import Event, Lock
from workbench.widgets.live.sink import Sink, SnapshotSource

#: times that views are shown one after the other without a thread: each may ask to be shown again
MAX_ROUNDS = 100


class Served:
    """State shared between the pump's thread and callers that update views without one."""

    def __init__(self, session: SnapshotSource) -> None:
        self.session = session
        self.errors: list[str] = []
        self._lock = Lock()
        self._drawing = threading.Lock()  # held by who shows views without the thread
        self._wake = Event()
        self._shown: dict[Sink, Any] = {}
        self._cost: weakref.WeakKeyDictionary[Sink, float] = weakref.WeakKeyDictionary()

    @property
    def sinks(self) -> int:
        """Number of views that are served."""
        return len(self._shown)

    def _has_views(self) -> bool:
        return any(sink.views > 0 for sink in self._shown)

    def _show_here(self) -> None:
        """Without a thread: show the newest snapshot to all views, on the caller's. While another one does, it goes on
        with what this one wants."""
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
        error = sink.attempt(snapshot)  # one view must not take the others down; it says itself what went wrong
        self._cost[sink] = time.monotonic() - started
        if error is not None:
            self._note(error)

    def _note(self, error: Exception) -> None:
        text = f"{type(error).__name__}: {error}"
        if text not in self.errors:
            self.errors.append(text)
            del self.errors[:-20]
