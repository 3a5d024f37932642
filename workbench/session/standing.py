"""Where a session stands, for any thread to look at: state, position, iteration counts."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

from workbench.debugger import Debugger, Stop
from workbench.execution import Position, Run
from workbench.graph.graph import Graph
from workbench.session.orders import Order, Snapshot


class Standing:
    """What the worker thread and those who look at a session share."""

    def __init__(self, graph: Graph, debugger: Debugger) -> None:
        self.graph = graph
        self._debugger = debugger
        self._running = False
        self._state = "ready"
        self._position = self._run.position()
        self._version = 0
        self._lock = threading.Lock()
        self._idle = threading.Condition(self._lock)
        #: held while the machine moves; whoever else needs it to stand still takes it between two slices
        self._between = threading.Lock()
        self._visitors = 0
        self._pending = 0
        self._posted = 0  # number of the last order
        self._halted = 0  # orders up to this number are to end at once
        self._current: Order | None = None
        self._closed = False
        self._queue: queue.SimpleQueue[Order | None] = queue.SimpleQueue()
        self._listeners: list[Callable[[Snapshot], None]] = []
        self._thread: threading.Thread | None = None

    @property
    def _run(self) -> Run:
        return self._debugger.run

    @property
    def state(self) -> str:
        """ready, running, paused, finished, failed or closed."""
        return "closed" if self._closed else self._state

    @property
    def position(self) -> Position:
        """Where the session stands; while it runs, where it stood last."""
        return self._position

    @property
    def stop(self) -> Stop:
        """The end of the last command."""
        return self._debugger.stop

    @property
    def version(self) -> int:
        """Grows with every change of state and every stop."""
        return self._version

    def snapshot(self) -> Snapshot:
        """State, position and iteration counts at this moment; cheap, from any thread, also at full speed."""
        view, frames = self._run.view, self._run.plan.layout.frames
        iterations: dict[tuple[str, ...], int] = {}
        for number, frame in enumerate(frames[1:], 1):  # of a frame in parts, the last one that was entered
            iteration = view.iteration(number)
            if iteration >= 0 or frame.path not in iterations:
                iterations[frame.path] = iteration
        return Snapshot(self.state, self._position, view.events, iterations, self.stop, self._version)
