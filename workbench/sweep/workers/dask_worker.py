"""The worker's side of a sweep on Dask: reads a graph once, and runs chunks of its points on each thread."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.ir.text import parse
from workbench.sweep.chunk import Chunk
from workbench.sweep.engine import run_chunk
from workbench.sweep.problem import Problem
from workbench.sweep.runners import Runner, make_runner
from workbench.threads import Lock

#: number of sweeps that a worker caches: their graphs, and on each thread their plans
KEPT = 4

_problems: OrderedDict[str, Problem] = OrderedDict()
_lock = Lock()
_own = threading.local()


def hold(sent: Any) -> Any:
    """The value that was sent. As a Dask task it is restored after the last worker with it died."""
    return sent


def run_on_worker(
    key: str, text: str, inputs: dict[str, np.ndarray], problem: Problem, columns: dict[str, np.ndarray]
) -> tuple[Chunk, dict[str, Any]]:
    """Run a chunk of the sweep ``key``, whose graph is ``text``; ``problem`` has everything else. Chunks on other
    threads of the worker run concurrently.
    """
    runners: OrderedDict[str, tuple[Problem, Runner]] = _own.__dict__.setdefault("runners", OrderedDict())
    if key not in runners:
        whole = _problem(key, text, inputs, problem)
        _keep(runners, key, (whole, make_runner(whole, {name: c[0] for name, c in columns.items()})))
    whole, runner = runners[key]
    return run_chunk(whole, runner, columns)


def _problem(key: str, text: str, inputs: dict[str, np.ndarray], problem: Problem) -> Problem:
    with _lock:
        if key not in _problems:
            import workbench.frontends
            import workbench.ops  # noqa: F401  both register ops, which the graph may hold

            _keep(_problems, key, replace(problem, graph=parse(text), inputs=inputs))
        return _problems[key]


def _keep(table: OrderedDict[str, Any], key: str, made: Any) -> None:
    table[key] = made
    while len(table) > KEPT:
        table.popitem(last=False)
