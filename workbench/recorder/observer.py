"""``Observer``: the thread that looks at a watch periodically, updates views, and queues the callbacks.

The thread takes at most a twentieth of the time: the pause after a look is 20 times as long as the look. It keeps no
watch alive, and ends after a time without calls; the next call starts another.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from workbench.recorder.outlook import Outlook, Outlooks
from workbench.threads import Event, Lock, ended_at_exit, started
from workbench.trace.spill.status import Rate

if TYPE_CHECKING:
    from workbench.recorder.watch import Watch

#: minimum seconds between two looks, the same as a multiple of the cost of one, and seconds without calls until the
#: thread ends
PAUSE, SHARE, IDLE = 0.2, 20, 15.0
#: return value of a callback that requests a stop
Callbacks = dict[str, Callable[[Any], Any]]


class Observer:
    """Looks at one watch. ``listeners`` get each outlook, and None when the watch is gone."""

    def __init__(self, watch: Watch, callbacks: Callbacks) -> None:
        self._watch = weakref.ref(watch)
        self._outlooks, self._rate = Outlooks(), Rate()
        self._callbacks, self._reported = callbacks, set[str]()
        self.listeners: list[Callable[[Outlook | None], object]] = []
        self._due: list[tuple[str, Callable[[Any], Any]]] = []
        self._lock = Lock()
        #: held from reading the watch to calling the listeners, so that their last outlook is the end of the loop
        self._look_lock = threading.RLock()
        self._thread: threading.Thread | None = None
        self._ended = False
        self._wake = Event()

    # -- the loop's side --------------------------------------------------------------------------------------------
    def ensure(self) -> None:
        """Start the thread, unless it runs."""
        if not self.listeners and not self._callbacks:
            return
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                ended_at_exit(self._end)
                self._thread = started(self._looking, "workbench-watch")

    def calls_due(self) -> None:
        """Call the functions that are due, in the thread of the loop. Errors of a callback are noted and not raised."""
        watch = self._watch()
        with self._lock:
            due, self._due = self._due, []
        for kind, callback in due:
            try:
                if callback(watch) and watch is not None:
                    watch.request_stop()
            except Exception as error:
                if watch is not None:
                    watch.refused[f"callback {kind}"] = f"{type(error).__name__}: {error}"

    # -- looking ----------------------------------------------------------------------------------------------------
    def look(self) -> Outlook | None:
        """Look once, now, and call the listeners. Looks of several threads are serialised."""
        watch = self._watch()
        if watch is None:
            return None
        with self._look_lock:
            return self._look(watch)

    def _look(self, watch: Watch) -> Outlook:
        self._rate.add(watch.calls)
        outlook = self._outlooks.look(watch, self._rate())
        for kind, callback in self._callbacks.items():
            always = kind == "stop_when"
            if (always or kind in outlook.found) and (always or kind not in self._reported):
                self._reported.add(kind)
                with self._lock:
                    if (kind, callback) not in self._due:
                        self._due.append((kind, callback))
        if self._due:
            watch.alarm = watch.row
        self.tell(outlook)
        return outlook

    def tell(self, outlook: Outlook | None) -> None:
        """Pass the listeners an outlook; one that fails is removed."""
        for listener in list(self.listeners):
            try:
                listener(outlook)
            except Exception:
                self.listeners.remove(listener)

    def finish(self) -> None:
        """Look one last time, and end the thread."""
        if self.listeners or self._callbacks:
            self.look()
            self.calls_due()
        self._wake.set()

    def _end(self) -> None:
        """Tidy up when the process ends."""
        self._ended = True
        self._wake.set()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(5.0)

    def _try_to_look(self) -> None:
        try:
            self.look()
        except Exception as error:  # a look must not end the looking
            self.trouble = repr(error)

    def _looking(self) -> None:
        calls, since, quiet_reported = -1, time.monotonic(), False
        while True:
            before = time.monotonic()
            watch = self._watch()
            if watch is None:
                self.tell(None)
                return
            over, quiet = watch.state not in ("ready", "running"), watch.quiet
            new, calls = watch.calls != calls, watch.calls
            del watch
            if over or self._ended:
                return
            if new:
                since, quiet_reported = before, False
                self._try_to_look()
            elif quiet and not quiet_reported:
                quiet_reported = True
                self._try_to_look()
            elif before - since > IDLE and (quiet_reported or not quiet):
                watch = self._watch()
                if watch is not None:
                    watch.alarm = watch.row  # the next call begins another thread
                return
            cost = time.monotonic() - before
            if self._wake.wait(max(PAUSE, SHARE * cost)):
                self._wake.clear()
