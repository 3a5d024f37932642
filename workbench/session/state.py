"""The state that the worker thread of a session shares with readers on other threads."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable

from workbench.debugger import DebugControl, Stop
from workbench.errors import SessionError
from workbench.execution import Run
from workbench.ir.graph import Graph
from workbench.session.command_request import Snapshot
from workbench.threads import Lock


class SessionState:
    """State, position and version of a session, its debugger, and the listeners to its stops.

    The worker thread writes it while holding ``lock``; any thread may read it.
    """

    def __init__(self, graph: Graph, debugger: DebugControl) -> None:
        self.graph = graph
        self.debugger = debugger
        self.running = False
        #: "ready", "running", "paused", "finished" or "failed": the state apart from "closed"
        self.progress = "ready"
        #: the position of the last stop
        self.position = debugger.run.position()
        self.version = 0
        self.closed = False
        #: held while several of these attributes change
        self.lock = Lock()
        self.listeners: list[Callable[[Snapshot], None]] = []
        self._process = os.getpid()

    @property
    def run(self) -> Run:
        """The present run; an update of inputs may replace it."""
        return self.debugger.run

    @property
    def name(self) -> str:
        """The state: "ready", "running", "paused", "finished", "failed" or "closed"."""
        return "closed" if self.closed else self.progress

    @property
    def stop(self) -> Stop:
        """The stop at the end of the last command."""
        return self.debugger.stop

    @property
    def inherited(self) -> bool:
        """True in a process forked from the one that created the session."""
        return self._process != os.getpid()

    def snapshot(self) -> Snapshot:
        """State, position and iteration counts at this moment."""
        view, frames = self.run.view, self.run.plan.layout.frames
        iterations: dict[tuple[str, ...], int] = {}
        for number, frame in enumerate(frames[1:], 1):  # for a frame in parts, the part entered last
            iteration = view.iteration(number)
            if iteration >= 0 or frame.path not in iterations:
                iterations[frame.path] = iteration
        return Snapshot(self.name, self.position, view.events, iterations, self.stop, self.version)

    def weak_is_running(self) -> Callable[[], bool]:
        """A function that returns True during a run of the session, and does not keep the session alive."""
        reference = weakref.ref(self)

        def running() -> bool:
            """True if the session exists and is running."""
            alive = reference()
            return alive is not None and alive.running

        return running

    def check_open(self) -> None:
        """Raise SessionError if the session is closed, or belongs to another process."""
        self.check_process()
        if self.closed:
            raise SessionError("The session is closed.", slug="closed", fix="make a new Session.")

    def check_process(self) -> None:
        """Raise SessionError in a forked process. It is called before any lock is taken, because locks held by other
        threads at the fork stay locked."""
        if self.inherited:
            raise SessionError(
                f"The session belongs to process {self._process}: its worker thread does not exist in a forked one.",
                slug="forked",
                fix="make the session in the process that uses it, or start processes by 'spawn'.",
            )
