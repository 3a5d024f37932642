"""The workbench's own ways to run a workload, all through the public interface."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import workbench as wb
from tests.benchmarks.peers import Missing, Run
from tests.benchmarks.timing import Timed
from tests.benchmarks.workloads import Workload

ROOT = Path(__file__).resolve().parents[2]


def session(graph: wb.Graph, feeds: dict[str, Any], trace: str) -> wb.Session:
    """A session, or Missing while it has no such kind of trace."""
    try:
        return wb.Session(graph, feeds, trace=trace)
    except wb.WorkbenchError as error:
        if error.slug == "bad-retention":
            raise Missing(f"wb.Session has no trace={trace!r} yet") from None
        raise


def prepare(workload: Workload, trace: str) -> Run:
    """Run in a session with this kind of trace; ``run(n)`` gives the output."""
    graph = workload.graph()
    session(graph, workload.feeds(1), trace).close()

    def run(n: int) -> Any:
        with session(graph, workload.feeds(n), trace) as opened:
            opened.run()
            return opened.outputs[workload.output]

    return run


def running(
    workload: Workload, trace: str, n: int, clock: Callable[[], float] = time.perf_counter
) -> Callable[[], Timed]:
    """Only ``session.run()``, by ``clock``: threads, plan and memory are there (a closed session's chunks come
    back when it is collected; what cold memory costs, ``fresh`` tells)."""
    graph = workload.graph()

    def job() -> Timed:
        gc.collect()
        with session(graph, workload.feeds(n), trace) as opened:
            opened.step()  # starts the worker
            began = clock()
            opened.run()
            return Timed(clock() - began)

    return job


def whole(workload: Workload, n: int) -> Callable[[], wb.Session]:
    """A session from its making to its end; freeing the trace is not counted."""
    graph = workload.graph()

    def job() -> wb.Session:
        with session(graph, workload.feeds(n), "all") as opened:
            opened.run()
        return opened

    return job


def cold(workload: Workload, n: int) -> Callable[[], Timed]:
    """The first run of a fresh process, every value traced: planning included, imports and the graph's making not."""

    def job() -> Timed:
        command = [sys.executable, "-m", "tests.benchmarks.ours", workload.name, str(n)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=True)
        return Timed(json.loads(done.stdout))

    return job


if __name__ == "__main__":
    from tests.benchmarks.workloads import WORKLOADS

    chosen, trips = WORKLOADS[sys.argv[1]], int(sys.argv[2])
    made, given = chosen.graph(), chosen.feeds(trips)
    start = time.perf_counter()
    with wb.Session(made, given) as first:
        first.run()
        print(json.dumps(time.perf_counter() - start))
