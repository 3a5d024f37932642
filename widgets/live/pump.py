"""The pump: one thread per session that carries coalesced snapshots to the views.

State that never changes: the session, the maximum rate (20 Hz), the maximum number of updates in flight (2), the
fallback time (0.5 s). State that changes, under ``_lock``: the sinks, and the version that each has shown.

- *Coalescing.* A view shows the newest snapshot, never each one; stops between two ticks are skipped.
- *Back-pressure.* A view is skipped while the browser has not acknowledged its last update, and at most two updates of
  all views together are on the way; after 0.5 s without an answer the next one is sent anyway (a hidden tab never
  answers, nor does a kernel that is busy with a cell hear the answer), later if the last answer took long.
- *Status first.* Urgent sinks (the toolbar with the status line) are shown before any figure and need no slot. After a
  stop the views are updated in the order of their cost, so that one that reads millions of rows delays no other.
- *Standing still.* The changes of a step are sent view by view: the next views follow as soon as the browser has
  acknowledged the previous ones, not at the next tick.
- *Out of sight.* While the session runs, a view that is scrolled out of sight is updated only every ten seconds, and at
  once when it becomes visible.
- *Room for clicks.* While the session runs, the browser gets no update for twice the time of the last one: a click
  never waits behind a queue of redraws, and if kernel and browser share a small machine the run keeps its core.
- *Playing.* While a slider plays iterations, figures are drawn as rarely as during a run, so that the played iterations
  are shown at the chosen speed; they catch up when playing ends.
- *Bounded share.* While the session runs, drawing takes at most a fixed share of one core: after a tick that took t
  seconds the next one waits for several t (at most 0.15 s), so that the executor keeps its speed.
- *Idle costs nothing.* While the session is paused and all views are up to date the thread sleeps on an event, which
  the session's stop callback sets; a slow check of ``session.version`` detects changes without a stop, such as a start.
- *No viewer.* While nothing happens the status line is pinged every half minute; without an answer (the tab was closed,
  the machine has gone) all views of the page are asleep.
- The thread runs only while some sink has a view in a browser, and ends with ``close()``. If the system gives no
  thread, the thread that wakes the pump shows the views, and the session's thread does at each stop.
"""

from __future__ import annotations

import threading
import time
from typing import Any

from workbench.text import harmless
from workbench.threads import ended_at_exit, started
from workbench.widgets.live.acknowledgement import FALLBACK_S
from workbench.widgets.live.served_views import Served
from workbench.widgets.live.sink import Sink, SnapshotSource

RATE_HZ = 20.0
MAX_IN_FLIGHT = 2
IDLE_S = 0.1
SETTLE_S = 0.03
#: seconds between two checks whether the browser has answered, while the session is paused
LOOK_S = 0.004
HIDDEN_S = 10.0
#: seconds between two updates of the status line while only the number of events or the played iteration changes: each
#: update lays out the whole page
STATUS_S = 0.25
#: seconds between two checks whether the page still exists
KNOCK_S = 30.0
#: share of the time that the thread may use for views while the session runs; the status line is not counted
SHARE = 0.08
#: the longest resulting wait, so that a run is seen to advance at any cost of the views
LONGEST_S = 0.15
#: time between two figures, as a multiple of the browser's time for the last one
ROOM = 3.0


class Pump(Served):
    """The thread that carries snapshots of a session to its views, at most 20 times a second.

    Views make and share the pump of their session themselves; the docstring of the module describes how updates are
    merged and delayed.

    Parameters
    ----------
    session : Session
        The session.
    rate_hz : float, default 20.0
        Maximum updates per second, up to 20.

    Examples
    --------
    >>> pump = wb.widgets.Pump(session)
    >>> pump
    Pump(0 views, 0 updates, idle)
    >>> pump.close()
    """

    def __init__(self, session: SnapshotSource, rate_hz: float = RATE_HZ) -> None:
        super().__init__(session)
        self.period = 1.0 / min(rate_hz, RATE_HZ)
        self.pushes = 0
        self._turn = 0
        self._running_since: float | None = None
        self._knocked = time.monotonic()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._unsubscribe = session.subscribe(self._stopped)
        ended_at_exit(self.close)

    # -- sinks ------------------------------------------------------------------------------------------------------
    def add(self, sink: Sink) -> None:
        """Start serving a view; it is updated as soon as a browser shows it."""
        with self._lock:
            self._shown.setdefault(sink, None)
        self.wake()

    def remove(self, sink: Sink) -> None:
        """Stop serving a view."""
        with self._lock:
            self._shown.pop(sink, None)
        self.wake()

    def refresh(self, sink: Sink) -> None:
        """Send everything to a view again, for instance because a browser has just opened it."""
        with self._lock:
            if sink in self._shown:
                self._shown[sink] = None
            if sink.views:
                for other in self._shown:
                    other.rouse()
        self.wake()

    def wake(self) -> None:
        """Check the session now; may be called on any thread. Starts the pump's thread if there is a view to update."""
        self._wake.set()
        with self._lock:
            if self._closed or self._thread is not None or not self._has_views():
                return
            self._thread = started(self._run, "workbench-pump")
            if self._thread is not None:
                return
        self._show_here()

    def _stopped(self, snapshot: Any) -> None:
        """Handle a stop, on the session's thread: urgent views are updated at once, even while the pump is busy with a
        figure.
        """
        with self._lock:
            urgent = [s for s in self._shown if s.urgent and s.views > 0]
        for sink in urgent:
            self._show(sink, snapshot)
        self.wake()

    @property
    def alive(self) -> bool:
        """True while the thread of the pump runs, which is while a browser shows one of the views."""
        thread = self._thread
        return thread is not None and thread.is_alive()

    def close(self) -> None:
        """Stop the thread and join it (unless called on it)."""
        with self._lock:
            self._closed = True
            self._shown.clear()
            thread = self._thread
        self._wake.set()
        self._unsubscribe()
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout=5.0)

    # -- the thread -------------------------------------------------------------------------------------------------
    def _run(self) -> None:
        while True:
            self._wake.clear()
            with self._lock:
                if self._closed or not self._has_views():
                    self._thread = None
                    return
            started, cpu = time.monotonic(), time.thread_time()
            try:
                pending = self.tick()
            except Exception as error:  # a session that is being closed; the thread ends at the next check
                self._note(error)
                pending = False
            if pending:
                self._rest(started + self.period)
                if self._running_since is not None:  # a stop or a click ends the wait
                    rest = (time.thread_time() - cpu) * (1.0 / SHARE - 1.0) - self.period
                    self._wake.wait(max(0.0, min(rest, LONGEST_S)))
            else:
                self._knock()
                self._wake.wait(IDLE_S)

    def _rest(self, until: float) -> None:
        """Wait for the next tick; while the session is paused, only until the browser can accept another view."""
        with self._lock:
            figures = [s for s in self._shown if not s.urgent and s.views > 0]
        waits = self._running_since is not None or any(s.selection.playing for s in figures)
        while (rest := min(until - time.monotonic(), self.period)) > 0:
            if not waits and sum(s.holding for s in figures) < MAX_IN_FLIGHT:
                return
            time.sleep(rest if waits else min(rest, LOOK_S))

    def tick(self) -> bool:
        """Send the newest snapshot to all ready views; returns True while views remain to be updated."""
        version = self.session.version
        snapshot = self.session.snapshot()
        running = snapshot.state == "running"
        if not running and self._running_since is not None:
            self._running_since = None
            return True  # it has just stopped: the status line, already updated, must not wait behind figures
        if running and self._running_since is None:
            self._running_since = time.monotonic()
        if self._running_since is not None and time.monotonic() - self._running_since < SETTLE_S:
            return True  # a single step is short; showing it as a run would only flicker
        # during a run the event number changes
        mark = (version, snapshot.event if running else None)
        with self._lock:
            waiting = [s for s, shown in self._shown.items() if shown != mark and s.views > 0]
            figures = [s for s in self._shown if not s.urgent]
            in_flight = sum(s.holding for s in figures)
        urgent = [s for s in waiting if s.urgent]
        others = [s for s in waiting if not s.urgent]
        left = False
        busy = running or any(s.selection.playing for s in figures)
        if busy:  # one figure at a time, in turn
            self._turn += 1
            turn = self._turn % len(others) if others else 0
            others = [*others[turn:], *others[:turn]]
        else:
            others.sort(key=lambda sink: self._cost.get(sink, 0.0))
        if busy and any(s.waited < min(ROOM * s.took, FALLBACK_S) for s in figures):
            others, left = [], True
        for sink in [*urgent, *others]:
            if sink.holding or busy and sink.waited < self._least(sink, version):
                left = True
                continue
            if not sink.urgent:
                if in_flight >= (1 if busy else MAX_IN_FLIGHT):
                    left = True
                    continue
                in_flight += 1
            with self._lock:
                if sink not in self._shown:
                    continue
                self._shown[sink] = mark
            self._show(sink, snapshot)
            self.pushes += 1
            if sink.behind and not running:
                self.refresh(sink)
                left = True
        return left or running

    def _least(self, sink: Sink, version: int) -> float:
        """Seconds between two updates of a sink while the session runs."""
        shown = self._shown.get(sink)
        if sink.urgent:
            counts = sink.selection.playing or shown is not None and shown[0] == version
            return STATUS_S if counts else 0.0
        return HIDDEN_S if sink.hidden else 0.0

    def _knock(self) -> None:
        """Ping the page from time to time; without an answer all of its views are asleep."""
        now = time.monotonic()
        if now - self._knocked < KNOCK_S:
            return
        self._knocked = now
        with self._lock:
            doors = [s for s in self._shown if s.urgent and (s.views or s.asleep)]
            sinks = list(self._shown)
        for door in doors:
            if not door.asleep and hasattr(door, "knock"):
                door.knock()
        if doors and all(door.asleep for door in doors):
            for sink in sinks:
                sink.doze()

    @harmless
    def __repr__(self) -> str:
        return f"Pump({len(self._shown)} views, {self.pushes} updates, {'running' if self.alive else 'idle'})"
