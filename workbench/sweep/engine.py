"""Runs a sweep on the threads of this machine in chunks of points; results arrive as they are ready, and it can be
stopped at any time.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, Protocol

import numpy as np

from workbench.sweep.chunk import Chunk
from workbench.sweep.columns import as_slice
from workbench.sweep.facts import facts_of
from workbench.sweep.problem import Problem
from workbench.sweep.runners import Runner, make_runner
from workbench.threads import Event, Lock

#: maximum points of a chunk, without and with facts, which take longer
POINTS, POINTS_WITH_FACTS = 16384, 128
#: chunks per thread, so that the last ones end at about the same time
CHUNKS_EACH = 8

#: (places of the points, results, facts)
Result = tuple[np.ndarray, Chunk, dict[str, Any]]


class PointEngine(Protocol):
    """Runs points on threads or workers. After ``begin``, ``results`` yields chunks as they are ready; any thread may
    ``stop``.
    """

    def begin(self) -> None: ...
    def with_points(self, columns: dict[str, np.ndarray]) -> PointEngine: ...
    def results(self, places: np.ndarray) -> Iterator[Result]: ...
    def stop(self) -> None: ...


def threads_here() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def chunk_size(problem: Problem, points: int, workers: int) -> int:
    """Points of a chunk: enough to make its overhead small, and few enough to show progress."""
    most = POINTS_WITH_FACTS if problem.facts else POINTS
    return max(1, min(most, -(-points // (workers * CHUNKS_EACH))))


def run_chunk(problem: Problem, runner: Runner, columns: dict[str, np.ndarray]) -> tuple[Chunk, dict[str, Any]]:
    """Results and facts of given points."""
    chunk = runner.run(columns)
    return chunk, facts_of(problem, runner.plan, columns, chunk) if problem.facts else {}


class Threads:
    """The engine of one machine. The compiled runner holds no GIL, so that threads are enough."""

    def __init__(self, problem: Problem, columns: dict[str, np.ndarray], threads: int | None = None) -> None:
        self._problem, self._columns = problem, columns
        self._threads = threads or threads_here()
        self._runners: list[Runner] = []
        self._own = threading.local()
        self._lock = Lock()
        self._stopped = Event()

    def with_points(self, columns: dict[str, np.ndarray]) -> Threads:
        """The same for other points."""
        return Threads(self._problem, columns, self._threads)

    def begin(self) -> None:
        """Forget earlier stops."""
        self._stopped.clear()

    def stop(self) -> None:
        """End all runs in progress."""
        self._stopped.set()
        with self._lock:
            for runner in self._runners:
                runner.stop()

    def results(self, places: np.ndarray) -> Iterator[Result]:
        """Run the points at these places; yields chunks as they are ready."""
        size = chunk_size(self._problem, len(places), self._threads)
        chunks: Iterator[np.ndarray] = iter([places[k : k + size] for k in range(0, len(places), size)])
        with ThreadPoolExecutor(self._threads, thread_name_prefix="sweep") as pool:
            submit: Callable[[], set[Future[Result | None]]] = lambda: {  # noqa: E731
                pool.submit(self._run, part) for part in [next(chunks, None)] if part is not None
            }
            waiting: set[Future[Result | None]] = set()
            for _ in range(2 * self._threads):
                waiting |= submit()
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    if not self._stopped.is_set():
                        waiting |= submit()
                    if future.exception() is not None:
                        self.stop()
                    found = future.result()
                    if found is not None:
                        yield found

    def _run(self, places: np.ndarray) -> Result | None:
        """Results of a chunk; None after a stop."""
        at = as_slice(places)
        columns = {name: np.ascontiguousarray(column[at]) for name, column in self._columns.items()}
        runner = getattr(self._own, "runner", None)
        if runner is None:
            runner = self._own.runner = make_runner(self._problem, {name: c[0] for name, c in columns.items()})
            with self._lock:
                self._runners.append(runner)
        if self._stopped.is_set():
            return None
        return places, *run_chunk(self._problem, runner, columns)
