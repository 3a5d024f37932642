"""What a session knows of its run: plan, trace, values that are kept or recomputed, memory."""

from __future__ import annotations

import weakref
from collections.abc import Callable

import numpy as np

from workbench.debugger import Debugger, timetravel
from workbench.debugger.beside import value_beside
from workbench.debugger.ranges import values_between
from workbench.debugger.whole import whole_run
from workbench.errors import DeadValueError, SessionError, TraceError
from workbench.execution import MemoryReport, Run, memory_report
from workbench.execution.memory import LEDGER, Array, Origin, RunFigures, held_value, run_figures
from workbench.graph.graph import Graph
from workbench.graph.node import Ref, Tag
from workbench.plan import PLANS, ExecutionPlan, ForwardExecutionDAG, PlanMemory, memory_of
from workbench.session.worker import Worker
from workbench.trace import Trace
from workbench.trace.provenance import MAX_LINKS, Explanation, explain


class Values(Worker):
    """Reading the record of a run, from any thread, also while it goes on."""

    def __init__(self, graph: Graph, debugger: Debugger) -> None:
        super().__init__(graph, debugger)
        self._planned: tuple[ExecutionPlan, PlanMemory] | None = None
        run = self._run
        self._traces: tuple[Run, Trace] = (run, run.trace_for(weak_flag(self)))

    @property
    def trace(self) -> Trace:
        """The record so far; readable from any thread, also while running."""
        run = self._run
        if self._traces[0] is not run:  # inputs of other types came
            self._traces = (run, run.trace_for(weak_flag(self)))
        return self._traces[1]

    @property
    def inputs(self) -> dict[str, np.ndarray]:
        """What the run was fed, by name."""
        return dict(self._run.feeds)

    @property
    def plan(self) -> ExecutionPlan:
        """What the run carries out: order, kernels, places, and the reason of each choice."""
        return self._run.plan

    @property
    def dag(self) -> ForwardExecutionDAG:
        """What the session computes, node by node in execution order."""
        return ForwardExecutionDAG(self.plan)

    @property
    def outputs(self) -> dict[str, np.ndarray]:
        """The outputs by name, once the run is finished; DeadValueError for one that is dead."""
        if self._state != "finished":
            raise SessionError(
                f"The outputs are not there yet: the session is {self._state}.",
                slug="not-finished",
                fix="call session.run().",
            )
        return self._run.outputs()

    def value(self, name: str | Ref, iteration: int | tuple[int, ...] | None = None) -> np.ndarray:
        """A value: the last one, or that of an iteration path. Recomputed exactly where its rows are no longer kept.

        What no required output needs is left out of a run. It is computed when it is asked for, beside the run.
        """
        try:
            self.trace.ref(name)
        except TraceError as error:
            if error.slug != "not-computed":
                raise
            return value_beside(self._run, self.graph.value(name), iteration, self.value)
        if iteration is None:
            series = self.trace[name]
            if len(series) == 0:
                found = timetravel.recompute_last(self._run, self.trace.ref(name))
                if found is not None:
                    return found
                raise DeadValueError(
                    f"{name!r} has not fired.", slug="not-fired", fix="step on, or look at its branch."
                )
            return series[-1]
        try:
            return self.trace[name].at(iteration)
        except TraceError as error:
            if error.slug != "not-recorded":
                raise
            found = timetravel.recompute(self._run, self.trace.ref(name), iteration)
            if found is None:
                raise
            return found

    def hold(self, name: str | Ref, iteration: int | tuple[int, ...] | None = None) -> Array:
        """A handle on a value (see :meth:`value`) that keeps it, whatever the trace drops and also after ``close``.

        No manager owns it: it is released with ``handle.release()``, or when the last handle on it has gone.
        """
        value, series = self.value(name, iteration), self.trace[name]
        if not isinstance(value, np.ndarray | np.generic):
            raise SessionError(
                f"{name!r} is a {type(value).__name__} here, and only arrays can be held.", slug="not-an-array",
                fix="keep what session.value gives.",
            )  # fmt: skip
        if iteration is None:
            tag = series.tag(-1) if len(series) else Tag(*self.trace.ref(name))
        else:
            path = (iteration,) if isinstance(iteration, int) else tuple(iteration)
            tag = Tag(*self.trace.ref(name), series.frame, path)
        return held_value(value, Origin(f"session of {self.graph.name!r}", tag=tag), LEDGER)

    def memory_now(self) -> RunFigures:
        """Bytes that the run holds at this moment, for views: cheap, any thread, also at full speed."""
        return run_figures(self._run)

    def values(
        self, name: str | Ref, start: int = 0, stop: int | None = None, step: int = 1, *,
        within: int | tuple[int, ...] = (),
    ) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
        """(iterations, values) of iterations start, start + step, ... below stop of a loop: what is kept from the
        trace, all the rest from one replay, exactly. Iterations in which the value is dead are left out.

        In nested loops they are iterations of the innermost one; ``within`` are the iterations around it.
        """
        return values_between(self._run, self.trace, self.trace.ref(name), start, stop, step, within)

    def whole_trace(self) -> Trace:
        """A trace in which nothing of this run is missing: :attr:`trace`, or where that has dropped rows one of a
        replay from the beginning. That holds up to 256 MiB for as long as it is used; where this is not enough, and
        while the session runs, it is :attr:`trace` as it is.
        """
        if self.trace.dropped and self.state != "running":
            with self._standing_still():
                found = whole_run(self._run)
            if found is not None:
                return found.trace
        return self.trace

    def explain(
        self, name: str, iteration: int | tuple[int, ...] | None = None, *, max_links: int = MAX_LINKS
    ) -> Explanation:
        """Where a value came from: the chain of values, each with its tag, back to inputs and constants.

        ``print`` it, or read it as data in ``links``. Values that are no longer kept are recomputed exactly.
        """
        return explain(
            self.trace, name, iteration, max_links=max_links, read=lambda ref, path: self.value(ref, path or None)
        )

    def memory(self) -> MemoryReport:
        """What the run holds in memory now and at most, and the least that it could do with; any thread, also while
        running."""
        run, plan = self._run, self.plan
        if self._planned is None or self._planned[0] is not plan:
            self._planned = plan, memory_of(PLANS.get(self.graph, plan.outputs, plan.signature, plan.statistics, True))
        return memory_report(run, self._planned[1])


def weak_flag(session: Worker) -> Callable[[], bool]:
    """Whether the session is running, without keeping it alive."""
    reference = weakref.ref(session)

    def running() -> bool:
        alive = reference()
        return alive is not None and alive._running

    return running
