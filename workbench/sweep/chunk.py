"""Results of some points as columns: outcomes, counts, outputs, newest values and failures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from workbench.ir.node import Ref
from workbench.ir.types import numpy_dtype
from workbench.plan import ExecutionPlan
from workbench.sweep.problem import CLASSIFIED, OF_VALUES, Problem
from workbench.text import harmless

#: outcomes by their code; WAITING is a point that was not run
OUTCOMES = ("undecided", "ended", "failed", "endless", "not finite")
UNDECIDED, ENDED, FAILED, ENDLESS, NOT_FINITE = range(5)
#: outcomes of runs that reached their end
OVER = (ENDED, NOT_FINITE)
#: the order of outcomes in texts
OUTCOME_ORDER = ("ended", "not finite", "endless", "undecided", "failed", "waiting")
WAITING = 255


class Failure(NamedTuple):
    """A node that failed: its name, its iterations (the outermost loop first) and the error as text."""

    node: str
    iteration: tuple[int, ...]
    message: str

    @harmless
    def __str__(self) -> str:
        where = f" in iteration {', '.join(map(str, self.iteration))}" if self.iteration else ""
        return f"{self.node}{where}: {self.message}"


@dataclass(slots=True)
class Chunk:
    """Results of some points, one row each. ``values`` holds outputs, ``alive`` whether they were computed;
    ``series`` and ``counts`` the newest values of loop variables, right-aligned, and how many there were."""

    status: np.ndarray
    events: np.ndarray
    iterations: np.ndarray
    periods: np.ndarray
    values: dict[str, np.ndarray]
    alive: dict[str, np.ndarray]
    series: dict[str, np.ndarray]
    counts: dict[str, np.ndarray]
    failures: dict[int, Failure] = field(default_factory=dict)
    #: numbers that are checked and not kept: other outputs and sides of conditions; 0 if missing
    checks: dict[Ref, np.ndarray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.status)


def wanted_series(problem: Problem) -> dict[str, int]:
    """Loop variables whose newest values are needed, and how many."""
    wanted = dict(problem.series)
    if problem.variable is not None and any(fact in OF_VALUES for fact in problem.facts):
        wanted[problem.variable] = max(CLASSIFIED, wanted.get(problem.variable, 0))
    return wanted


def empty_chunk(problem: Problem, plan: ExecutionPlan, n: int) -> Chunk:
    """Results of ``n`` points that were not run."""
    values: dict[str, np.ndarray] = {}
    alive: dict[str, np.ndarray] = {}
    for name in problem.outputs:
        ref = plan.outputs[name]
        type_ = plan.types[ref.node][ref.index] if ref.node in plan.types else problem.graph.type_of(ref)
        inside = plan.graph.frame_of(ref.node) and plan.graph.nodes[ref.node].op != "Exit"
        numbers = type_.is_static and not inside and numpy_dtype(type_.dtype).kind != "O"
        values[name] = (
            blank((n, *(d or 0 for d in type_.shape or ())), numpy_dtype(type_.dtype))
            if numbers
            else np.empty(n, object)
        )
        alive[name] = np.zeros(n, bool)
    series: dict[str, np.ndarray] = {}
    counts: dict[str, np.ndarray] = {}
    for name, length in wanted_series(problem).items():
        merge = problem.merge(name)
        type_ = plan.types[merge][0] if merge in plan.types else problem.graph.nodes[merge].types[0]
        series[name] = blank((n, length, *(d or 0 for d in type_.shape or ())), numpy_dtype(type_.dtype))
        counts[name] = np.zeros(n, np.int64)
    status, numbers = np.full(n, WAITING, np.uint8), np.zeros((3, n), np.int64)
    return Chunk(status, numbers[0], numbers[1], numbers[2], values, alive, series, counts)


def blank(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Entries without a value: NaN if the dtype has it, else zeros."""
    return np.full(shape, np.nan, dtype) if dtype.kind in "fcV" else np.zeros(shape, dtype)


def message_of(error: BaseException) -> str:
    """The error in one line."""
    return str(getattr(error, "message", "")) or f"{type(error).__name__}: {error}"
