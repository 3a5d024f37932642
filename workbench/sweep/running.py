"""A running sweep: started in the background, awaited, stopped and resumed; results are stored as they arrive."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from workbench.errors import SweepError
from workbench.sweep.chunk import WAITING
from workbench.sweep.columns import ResultColumns
from workbench.sweep.engine import PointEngine
from workbench.sweep.problem import Problem
from workbench.threads import Event, ended_at_exit

if TYPE_CHECKING:
    from workbench.sweep.store import Store


class RunningSweep:
    """The part of a sweep that runs the points of a :class:`Sweep`."""

    def __init__(
        self, problem: Problem, points: dict[str, np.ndarray], n: int, engine: PointEngine, store: Store | None
    ) -> None:
        self.problem, self.points = problem, points
        plan = problem.plan({name: column[0] for name, column in points.items()})
        self.columns = ResultColumns(problem, plan, n)
        self.state = "stopped"
        #: seconds spent running points
        self.seconds = 0.0
        #: the error that stopped it, or None
        self.error: BaseException | None = None
        #: the points to run: in a refined grid, those near neighbours that differ
        self.wanted = np.ones(n, bool)
        self._engine, self._store = engine, store
        self._unsaved: list[np.ndarray] = []
        self._callbacks: list[Callable[[Any], None]] = []
        self._thread: threading.Thread | None = None
        self._ended = Event()
        if store is not None:
            for places, chunk, facts in store.read(self.columns):
                self.columns.put(places, chunk, facts)

    def resume(self, wait: bool = True) -> Self:
        """Run the remaining points; returns the sweep itself.

        Parameters
        ----------
        wait : bool, default True
            Whether to wait for the end. Ctrl-C ends the wait and the sweep, and keeps the results so far.

        Raises
        ------
        SweepError
            If results cannot be stored (``not-stored``); the error's ``sweep`` has all results.
        """
        if self.state != "running":
            if self._elsewhere():
                self._ended.wait()  # the last callbacks of the run
            self.state, self.error = "running", None
            self._ended.clear()
            self._engine.begin()
            ended_at_exit(self.cancel)
            self._thread = threading.Thread(target=self._run, name="workbench-sweep", daemon=True)
            self._thread.start()
        return self.wait() if wait else self

    def wait(self) -> Self:
        """Wait for the end of a sweep in the background; Ctrl-C stops it. Raises the error that stopped it."""
        try:
            while self._elsewhere() and not self._ended.wait(0.1):  # an interrupted join does not resume
                pass
        except KeyboardInterrupt:
            self.cancel()
        if self.error is not None:
            raise self.error
        return self

    def cancel(self) -> None:
        """Stop; points that were run are kept. Returns when no point runs any more."""
        self._engine.stop()
        if self._elsewhere():
            self._ended.wait()

    def _elsewhere(self) -> bool:
        """True if the run was begun and this is not one of its callbacks."""
        return self._thread is not None and self._thread is not threading.current_thread()

    def subscribe(self, callback: Callable[[Any], None]) -> Callable[[], None]:
        """Call a function with the sweep after every chunk and at the end, on the thread that runs it.

        Returns
        -------
        callable
            Ends the subscription.
        """
        self._callbacks.append(callback)
        return lambda: self._callbacks.remove(callback) if callback in self._callbacks else None

    def _run(self) -> None:
        """Run the remaining points on a separate thread: Ctrl-C reaches the waiting thread and never interrupts a
        chunk.
        """
        before, began = self.seconds, time.perf_counter()
        try:
            self._save()
            places = np.flatnonzero((self.columns.all.status == WAITING) & self.wanted)
            for at, chunk, facts in self._engine.results(places) if len(places) else ():
                done = self.columns.put(at, chunk, facts)
                self.seconds = before + time.perf_counter() - began
                if len(done):
                    self._unsaved.append(at[done])
                    self._save()
                    self._tell()
        except BaseException as error:  # the waiting thread raises it
            self._engine.stop()
            self.error = error
            if isinstance(error, SweepError):
                error.sweep = self
        self.seconds = before + time.perf_counter() - began
        left = bool(((self.columns.all.status == WAITING) & self.wanted).any())
        self.state = "stopped" if left or self.error is not None else "finished"
        try:
            self._tell()  # callers that waited for the end see the effects of callbacks
        finally:
            self._ended.set()

    def _save(self) -> None:
        while self._store is not None and self._unsaved:
            places = self._unsaved[0]
            self._store.write(places, *self.columns.rows(places), {n: c[places] for n, c in self.points.items()})
            del self._unsaved[0]
        if self._store is None:
            self._unsaved.clear()

    def _tell(self) -> None:
        for callback in list(self._callbacks):
            callback(self)
