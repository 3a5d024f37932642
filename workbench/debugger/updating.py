"""Changing the inputs of a run: what depends on them is computed again, or everything, and the run goes to its end."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from workbench.debugger.history import History
from workbench.execution import Run, prepare_feeds
from workbench.execution.incremental import Revision, Update, begin_again, why_full
from workbench.execution.incremental.counting import Tally
from workbench.graph.types import TensorType
from workbench.kernels import machine as core
from workbench.plan import PLANS, ExecutionPlan, signature_of

if TYPE_CHECKING:
    from workbench.debugger.debugger import Debugger


class Updating:
    """One update: ``for _ in work()``, then ``result()``; :meth:`leave` first where it ends early."""

    def __init__(self, debugger: Debugger, changes: Mapping[str, Any]) -> None:
        run = debugger.run
        self.debugger, self.began = debugger, time.perf_counter()
        self.feeds = {**run.feeds, **prepare_feeds(run.plan.graph, changes)}
        self.plan = _plan_for(run, self.feeds, debugger.lean)
        self.changed = tuple(
            n for n, a in self.feeds.items() if n not in run.feeds or not core.same_bits(a, run.feeds[n])
        )
        self.why = why_full(run) if self.changed else None
        if self.plan is not run.plan:
            self.why = "an input has another dtype or shape, which takes another plan"
        self.tally = Tally(run)
        self.revision: Revision | None = None
        self._begun = False

    def work(self) -> Iterator[None]:
        """In slices; raises ExecutionError when a node fails, in front of which the run then stands."""
        debugger, self._begun = self.debugger, True
        debugger.disarm()
        if self.changed and debugger.run.event:
            debugger.histories.append(History(debugger.run, debugger.run.edits))
        if self.changed and self.why is None:
            self.revision = Revision(debugger.run, debugger.steps(), self.feeds)
            self.tally = self.revision.tally
            yield from self.revision.slices()
            return
        if self.plan is not debugger.run.plan:
            debugger.adopt(debugger.run.another(self.plan, self.feeds))
            self.tally = Tally(debugger.run)
        elif self.changed:
            begin_again(debugger.run, self.feeds)
        yield from self.tally.to_end(debugger.run)

    def leave(self) -> None:
        """Let the run stand where it could go on."""
        if self.revision is not None:
            self.revision.leave()

    def result(self) -> Update:
        """What was done, at the end."""
        run, tally = self.debugger.run, self.tally
        if not self._begun:
            return Update((), 0, run.event, finished=False)
        loops = () if self.revision is None else tuple(self.revision.loops)
        cut = () if self.revision is None else tuple(self.revision.cut)
        events, seconds = run.spent
        return Update(
            self.changed, tally.total, run.event - tally.total, dict(tally.nodes), tally.compared, loops, cut, self.why,
            time.perf_counter() - self.began, seconds / events * run.event if events else None, run.finished,
        )  # fmt: skip


def _plan_for(run: Run, feeds: Mapping[str, Any], lean: bool) -> ExecutionPlan:
    """The plan for feeds of these types: the run's own, or another, ``lean`` as the session's: what was too small to
    matter in one plan may matter in the next."""
    graph = run.plan.graph
    signature = signature_of(graph, {n: TensorType.of(a) for n, a in feeds.items()})
    if signature == run.plan.signature:
        return run.plan
    return PLANS.get(graph, dict(run.plan.outputs), signature, run.plan.statistics, lean)
