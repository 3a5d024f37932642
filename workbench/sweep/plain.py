"""The plain runner: one run per point, for programs that the compiled runner does not accept."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from workbench.errors import ExecutionError
from workbench.execution import NEWEST_ROWS, Run
from workbench.plan import ExecutionPlan
from workbench.sweep.chunk import ENDED, FAILED, UNDECIDED, Chunk, Failure, empty_chunk, message_of
from workbench.sweep.finite import checked_outputs, checked_sides, mark_not_finite
from workbench.sweep.problem import Problem


class PlainRunner:
    """One run per point, for programs whose values are lists, strings or arrays of unknown shape."""

    def __init__(self, problem: Problem, plan: ExecutionPlan) -> None:
        self.problem, self.plan = problem, plan
        self._checks = {**checked_outputs(problem, plan), **checked_sides(plan)}
        self._stopped = False

    def stop(self) -> None:
        """End the run in progress before its current point."""
        self._stopped = True

    def run(self, columns: Mapping[str, np.ndarray]) -> Chunk:
        """Run points; after a stop, the points that were not run are WAITING."""
        n = len(next(iter(columns.values())))
        chunk = empty_chunk(self.problem, self.plan, n)
        chunk.checks = {ref: np.zeros(n, dtype) for ref, dtype in self._checks.items()}
        for k in range(n):
            if self._stopped:
                break
            self._point(chunk, k, {name: np.asarray(column[k]) for name, column in columns.items()})
        self._stopped = False
        mark_not_finite(chunk)
        return chunk

    def _point(self, chunk: Chunk, k: int, point: dict[str, np.ndarray]) -> None:
        run = Run(self.plan, self.problem.feeds(point), NEWEST_ROWS, back=False)
        status = "poll"
        try:
            while status != "halt" and run.event < self.problem.work and not self._stopped:
                status = run.go(self.problem.work)
        except ExecutionError as error:
            chunk.status[k] = FAILED
            tag = error.tag
            chunk.failures[k] = Failure(
                str(error.node), () if tag is None else tag.iteration, message_of(error.__cause__ or error)
            )
        else:
            if status != "halt" and self._stopped:
                return
            chunk.status[k] = ENDED if status == "halt" else UNDECIDED
        chunk.events[k] = run.event
        if self.problem.loop is not None and self.problem.loop in self.plan.numbers:
            chunk.iterations[k] = run.view.iteration(self.plan.numbers[self.problem.loop])
        if chunk.status[k] == ENDED:
            self._outputs(chunk, k, run)
            for ref, column in chunk.checks.items():
                series = run.trace[ref] if ref in self.plan.layout.values else None
                if series is not None and len(series):
                    column[k] = series[-1]
        for name, column in chunk.series.items():
            values = np.asarray(run.trace[name][-column.shape[1] :])
            chunk.counts[name][k] = len(run.trace[name])
            if len(values):
                column[k, column.shape[1] - len(values) :] = values

    def _outputs(self, chunk: Chunk, k: int, run: Run) -> None:
        for name in self.problem.outputs:
            ref = self.plan.outputs[name]
            inside = self.plan.graph.frame_of(ref.node) and self.plan.graph.nodes[ref.node].op != "Exit"
            series = run.trace[ref] if ref in self.plan.layout.values else None
            if series is None or (len(series) == 0 and not inside):
                continue
            chunk.alive[name][k] = True
            chunk.values[name][k] = series.values if inside else series.firings()[-1]
