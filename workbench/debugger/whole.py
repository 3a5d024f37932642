"""A run once more with every row kept: what a trace has dropped, for those who read all of it."""

from __future__ import annotations

from workbench.debugger.replay import FIRST_LOOK
from workbench.errors import ExecutionError
from workbench.execution import NEWEST_CHECKPOINTS, Run
from workbench.plan import PLANS, ExecutionPlan

#: bytes that a replay may hold beside the run
MOST_BYTES = 256 << 20


def whole_run(run: Run, memory: int = MOST_BYTES) -> Run | None:
    """A run beside this one, up to the same event, that has kept every row; None where ``memory`` bytes are not enough.

    Nothing is run where the rows alone are known to be too many. A run that dropped arrays of its own accord
    (``trace="stats"``) is planned anew, so that they stay.
    """
    plan = _keeping(run)
    if _row_bytes(run, plan) > memory:
        return None
    other = Run(plan, run.feeds, memory, checkpoints=NEWEST_CHECKPOINTS, back=False)
    other.edits = list(run.edits)
    end, margin, look = run.event, 2 * plan.program.length, FIRST_LOOK
    try:
        while other.event + margin < end:
            if other.go(min(end - margin, other.event + look)) == "halt" or other.trace.dropped:
                break
            look *= 2
        if other.trace.dropped:
            return None
        other.to_event(end)
    except ExecutionError:
        pass  # it fails where the run failed, behind all that happened
    return None if other.trace.dropped or other.event != end else other


def _keeping(run: Run) -> ExecutionPlan:
    """A plan of the same events in which no value goes; the run's own where an edit names its places."""
    plan = run.plan
    if run.edits or not (plan.statistics or plan.lean):
        return plan
    return PLANS.get(plan.graph, dict(plan.outputs), plan.signature)


def _row_bytes(run: Run, plan: ExecutionPlan) -> int:
    """What the rows of all loops take at least, without arrays beside them."""
    frames = enumerate(plan.layout.frames)
    return sum(f.row_bytes * (run.view.rows(k)[1] + 1) for k, f in frames if k < len(run.plan.layout.frames))
