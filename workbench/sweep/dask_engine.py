"""A sweep on the workers of a Dask client: chunks of points, results as they are ready, retries where a worker dies.

Dask schedules. The graph travels as text with its weights, once to each worker and by its content: a scattered value
has a key made of what it holds. Workers need the workbench.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.errors import SweepError
from workbench.ir.text import parse
from workbench.ir.text_writer import write_graph
from workbench.sweep.chunk import Chunk
from workbench.sweep.engine import Result, chunk_size, run_chunk
from workbench.sweep.problem import Problem
from workbench.sweep.runners import Runner, make_runner
from workbench.sweep.store import identity

#: how often a chunk is tried again after its worker died
RETRIES = 3

_runners: dict[str, tuple[Problem, Runner]] = {}
_lock = threading.Lock()


def on_worker(payload: tuple[str, str, Problem], columns: dict[str, np.ndarray]) -> tuple[Chunk, dict[str, Any]]:
    """Run a chunk on a worker, which keeps the graph and its plan for the next one; one chunk at a time."""
    key, text, problem = payload
    with _lock:
        found = _runners.get(key)
        if found is None:
            import workbench.frontends
            import workbench.ops  # noqa: F401  both register ops, which the graph may hold

            problem = replace(problem, graph=parse(text))
            _runners.clear()
            found = _runners[key] = problem, make_runner(problem, {name: c[0] for name, c in columns.items()})
        return run_chunk(*found, columns)


class DaskWorkers:
    """The engine that hands chunks to a Dask client."""

    def __init__(self, problem: Problem, columns: dict[str, np.ndarray], client: Any) -> None:
        try:
            import distributed
        except ImportError as error:
            raise SweepError(
                "sweep: client= needs distributed, which is not installed.",
                slug="missing-library",
                fix="pip install workbench[distributed].",
            ) from error
        if not isinstance(client, distributed.Client):
            raise SweepError(
                f"sweep: client= takes a distributed.Client, got a {type(client).__name__}.",
                slug="bad-client",
                fix="write client=distributed.Client(...), which may be on this machine.",
            )
        self._problem, self._columns, self._client = problem, columns, client
        self._dask = distributed
        self._stopped = threading.Event()
        text = write_graph(problem.graph)
        types = sorted((name, str(column.dtype), column.shape[1:]) for name, column in columns.items())
        key = f"{identity(problem, {}).decode()} {types}"  # of all that the plan and the results depend on
        self._payload = (key, text, replace(problem, graph=None))  # type: ignore[arg-type]

    def with_points(self, columns: dict[str, np.ndarray]) -> DaskWorkers:
        """The same for other points."""
        return DaskWorkers(self._problem, columns, self._client)

    def begin(self) -> None:
        """Forget earlier stops."""
        self._stopped.clear()

    def stop(self) -> None:
        """Let no chunk begin any more; those on workers end."""
        self._stopped.set()

    def results(self, places: np.ndarray) -> Iterator[Result]:
        """Run the points at these places; chunks come as they are ready. SweepError (``lost-scheduler``)."""
        lost = (OSError, self._dask.core.CommClosedError, self._dask.client.FutureCancelledError)
        try:
            yield from self._results(places)
        except Exception as error:
            if self._client.status == "running" and not isinstance(error, lost):
                raise
            raise SweepError(
                f"sweep: the connection to the Dask scheduler was lost: {type(error).__name__}: {error}. "
                "Points that were run are in error.sweep.",
                slug="lost-scheduler",
                fix="connect again, and run the same call with store= to go on from what is there.",
            ) from error

    def _results(self, places: np.ndarray) -> Iterator[Result]:
        workers = max(1, len(self._client.scheduler_info()["workers"]))
        size = chunk_size(self._problem, len(places), workers)
        parts = [places[k : k + size] for k in range(0, len(places), size)]
        payload = self._client.scatter(self._payload, hash=True)
        waiting: dict[Any, np.ndarray] = {}

        def submit() -> Any:
            part = parts.pop(0)
            columns = {name: np.ascontiguousarray(column[part]) for name, column in self._columns.items()}
            future = self._client.submit(on_worker, payload, columns, retries=RETRIES, pure=False)
            waiting[future] = part
            return future

        ready = self._dask.as_completed([submit() for _ in range(min(len(parts), 2 * workers))], with_results=False)
        for future in ready:
            if parts and not self._stopped.is_set():
                ready.add(submit())
            yield waiting.pop(future), *future.result()
        if waiting and not self._stopped.is_set():
            raise self._dask.core.CommClosedError("the client is closed")
