"""A sweep on the workers of a Dask client: chunks of points, results as they are ready.

Dask schedules, and runs a chunk again elsewhere when its worker dies. The graph with its weights and the constant
inputs are separate tasks, whose keys are digests of their contents: each worker receives them once, also for further
sweeps, and Dask sends them again if copies were lost or dropped. Workers need the workbench.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.errors import SweepError, WorkbenchError
from workbench.ir.text_writer import write_graph
from workbench.libraries import install, needed
from workbench.sweep.engine import Result, chunk_size
from workbench.sweep.problem import Problem
from workbench.sweep.store import column_digest, identity
from workbench.sweep.workers.dask_worker import hold, run_on_worker
from workbench.threads import Event

#: seconds for which a cluster may be without workers
PATIENCE = 30
#: maximum number of chunks that may end their workers before the sweep stops
MOST_FATAL = 3


class DaskWorkers:
    """The engine that passes chunks to a Dask client."""

    def __init__(self, problem: Problem, columns: dict[str, np.ndarray], client: Any) -> None:
        fix = f"{install('distributed')}."
        distributed = needed("distributed", "sweep: client=", fix, error=SweepError)
        dask = needed("dask", "sweep: client=", fix, error=SweepError)
        if not isinstance(client, distributed.Client):
            raise SweepError(
                f"sweep: client= takes a distributed.Client, got a {type(client).__name__}.",
                slug="bad-client",
                fix="write client=distributed.Client(...), which may be on this machine.",
            )
        self._problem, self._columns, self._client = problem, columns, client
        self._dask, self._configured = distributed, dask.config.set
        self._stopped = Event()
        self._waiting: dict[Any, np.ndarray] = {}
        text = write_graph(problem.graph)
        types = sorted((name, str(column.dtype), column.shape[1:]) for name, column in columns.items())
        self._key = f"{identity(problem, {}).decode()} {types}"  # covers all that the plan and the results depend on
        self._sent = (
            (f"workbench-graph-{hashlib.blake2b(text.encode(), digest_size=20).hexdigest()}", text),
            (f"workbench-inputs-{column_digest(problem.inputs).hexdigest()}", problem.inputs),
        )
        self._held: list[Any] = []
        self._rest = replace(problem, graph=None, inputs={})  # type: ignore[arg-type]

    def with_points(self, columns: dict[str, np.ndarray]) -> DaskWorkers:
        """The same for other points."""
        return DaskWorkers(self._problem, columns, self._client)

    def begin(self) -> None:
        """Forget earlier stops."""
        self._stopped.clear()

    def stop(self) -> None:
        """Start no more chunks; results of running ones are not awaited."""
        self._stopped.set()
        if self._client.status == "running":
            with suppress(Exception):  # the scheduler was just lost
                self._client.cancel(list(self._waiting))

    def results(self, places: np.ndarray) -> Iterator[Result]:
        """Run the points at these places; yields chunks as they are ready.

        SweepError: ``lost-scheduler``; ``no-workers``; ``worker-error`` if the worker cannot run them; and, after all
        others, ``killed-worker`` for points that end each worker that runs them.
        """
        fatal: deque[np.ndarray] = deque()
        try:
            threads = self._threads()
            size = chunk_size(self._problem, len(places), threads)
            parts = deque(places[k : k + size] for k in range(0, len(places), size))
            yield from self._run(parts, fatal, 2 * threads)
            if len(fatal) <= MOST_FATAL and fatal:  # a chunk may only have waited on a worker that another chunk ended
                parts, fatal = fatal, deque()
                yield from self._run(parts, fatal, 1)
        except Exception as error:
            lost = isinstance(error, OSError | self._dask.CancelledError | self._dask.core.CommClosedError)
            if isinstance(error, WorkbenchError) or (self._client.status == "running" and not lost):
                raise
            if self._stopped.is_set():
                return
            why = str(error).partition("\n")[0].rstrip(".")
            raise SweepError(
                f"sweep: the connection to the Dask scheduler was lost: {type(error).__name__}: {why}. "
                "Points that were run are in error.sweep.",
                slug="lost-scheduler",
                fix="connect again, and run the same call with store= to go on from what is there.",
            ) from error
        finally:
            self._waiting.clear()
        if fatal and not self._stopped.is_set():
            raise _killed(fatal)

    def _threads(self) -> int:
        """Threads of all workers; waits for the first one."""
        found = self._client.nthreads()
        if not found:
            try:
                self._client.wait_for_workers(1, timeout=PATIENCE)
            except TimeoutError as error:
                raise SweepError(
                    f"sweep: the Dask cluster has had no workers for {PATIENCE} seconds.",
                    slug="no-workers",
                    fix="start some, for example cluster.scale(2), then resume().",
                ) from error
            found = self._client.nthreads()
        return max(1, int(sum(found.values())))

    def _run(self, parts: deque[np.ndarray], fatal: deque[np.ndarray], at_once: int) -> Iterator[Result]:
        """Results of chunks; those that end each worker that runs them are added to ``fatal``."""
        # Dask's warning about large graphs advises scatter, but scattered data are lost with their worker
        with self._configured({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            self._held = [self._client.submit(hold, value, key=key) for key, value in self._sent]

        def submit() -> Any:
            part = parts.popleft()
            columns = {name: np.ascontiguousarray(column[part]) for name, column in self._columns.items()}
            future = self._client.submit(run_on_worker, self._key, *self._held, self._rest, columns, pure=False)
            self._waiting[future] = part
            return future

        first = [submit() for _ in range(min(len(parts), at_once))]
        ready = self._dask.as_completed(first, loop=self._client.loop)
        for future in ready:
            part = self._waiting.pop(future)
            if parts and not self._stopped.is_set() and len(fatal) <= MOST_FATAL:
                ready.add(submit())
            if future.status == "error":
                self._failed(future.exception(), part, fatal)
            elif future.status == "finished" or not self._stopped.is_set():
                yield part, *future.result()
        if self._waiting and not self._stopped.is_set():
            raise self._dask.core.CommClosedError("the client is closed")

    def _failed(self, error: BaseException, part: np.ndarray, fatal: deque[np.ndarray]) -> None:
        """Set aside a chunk that ended its workers; SweepError for any other error of a chunk."""
        if isinstance(error, self._dask.KilledWorker):
            fatal.append(part)
        elif isinstance(error, WorkbenchError):
            raise error
        else:
            raise SweepError(
                f"sweep: a Dask worker could not run its points: {type(error).__name__}: {error}.",
                slug="worker-error",
                fix="workers need the same workbench as here, and the libraries that the graph needs.",
            ) from error


def _killed(parts: deque[np.ndarray]) -> SweepError:
    """The error for points that end each worker that runs them."""
    places = np.sort(np.concatenate(list(parts)))
    ranges = ", ".join(f"{part[0]:,} to {part[-1]:,}" for part in sorted(parts, key=lambda part: int(part[0])))
    return SweepError(
        f"sweep: workers of Dask died whenever they ran one of {len(places):,} points: {ranges} (KilledWorker). "
        "All others that were run are in error.sweep.",
        slug="killed-worker",
        fix="see the log of the workers; if memory was short, collect less or give workers more. resume() tries again.",
    )
