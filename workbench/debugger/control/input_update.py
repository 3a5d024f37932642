"""An update of the inputs of a run: recomputes dependent values, or everything, and runs to the end."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from workbench.debugger.control.breakpoint_checks import BreakpointChecks
from workbench.debugger.control.context import DebugContext
from workbench.execution import Run, prepare_feeds
from workbench.execution.incremental import Revision, Update, full_rerun_reason, restart_run
from workbench.execution.incremental.work_counter import WorkCounter
from workbench.ir.types import TensorType
from workbench.kernels import machine as core
from workbench.plan import PLANS, ExecutionPlan, signature_of


class InputUpdate:
    """One update: iterate over ``slices()``, then call ``result()``; if it ends early, call :meth:`leave` first."""

    def __init__(self, context: DebugContext, checks: BreakpointChecks, changes: Mapping[str, Any]) -> None:
        run = context.run
        self.context, self.checks, self.began = context, checks, time.perf_counter()
        self.feeds = {**run.feeds, **prepare_feeds(run.plan.graph, changes)}
        self.plan = _plan_for(run, self.feeds, context.release_dead_values)
        self.changed = tuple(
            n for n, a in self.feeds.items() if n not in run.feeds or not core.same_bits(a, run.feeds[n])
        )
        self.why = full_rerun_reason(run) if self.changed else None
        if self.plan is not run.plan:
            self.why = "an input has another dtype or shape, which needs another plan"
        self.work = WorkCounter(run)
        self.revision: Revision | None = None
        self._begun = False

    def slices(self) -> Iterator[None]:
        """Run the update in slices; raises ExecutionError when a node fails, and leaves the run before that node."""
        context, self._begun = self.context, True
        self.checks.disarm()
        if self.changed and context.run.event:
            context.keep_history(context.run.edits)
            context.reached = 0
        if self.changed and self.why is None:
            self.revision = Revision(context.run, context.steps(), self.feeds)
            self.work = self.revision.work
            yield from self.revision.slices()
            return
        if self.plan is not context.run.plan:
            context.adopt(context.run.another(self.plan, self.feeds))
            self.work = WorkCounter(context.run)
        elif self.changed:
            restart_run(context.run, self.feeds)
        yield from self.work.to_end(context.run)

    def leave(self) -> None:
        """Bring the run into a state from which it can continue."""
        if self.revision is not None:
            self.revision.leave()

    def result(self) -> Update:
        """The report of the work that was done."""
        run, work = self.context.run, self.work
        if not self._begun:
            return Update((), 0, run.event, finished=False)
        loops = () if self.revision is None else tuple(self.revision.loops)
        cut = () if self.revision is None else tuple(self.revision.cut)
        events, seconds = run.spent
        return Update(
            self.changed,
            work.total,
            run.event - work.total,
            dict(work.nodes),
            work.compared,
            loops,
            cut,
            self.why,
            time.perf_counter() - self.began,
            seconds / events * run.event if events else None,
            run.finished,
        )


def _plan_for(run: Run, feeds: Mapping[str, Any], release_dead_values: bool) -> ExecutionPlan:
    """The plan for feeds of these types: that of the run, or another one.

    ``release_dead_values`` is the session's setting, not that of the present plan: values too small to be freed there
    may be large in the next plan."""
    graph = run.plan.graph
    signature = signature_of(graph, {n: TensorType.of(a) for n, a in feeds.items()})
    if signature == run.plan.signature:
        return run.plan
    modes = run.plan.statistics, release_dead_values, run.plan.device
    return PLANS.get(graph, dict(run.plan.outputs), signature, *modes)
