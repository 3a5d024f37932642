"""Replays a whole run with every row kept, for analyses that read values dropped from the trace."""

from __future__ import annotations

from workbench.debugger.replay.locate import FIRST_LOOK
from workbench.errors import ExecutionError
from workbench.execution import NEWEST_CHECKPOINTS, Run
from workbench.plan import PLANS, ExecutionPlan

#: maximum bytes that a replay may hold in addition to the run
MOST_BYTES = 256 << 20


def full_replay(run: Run, memory: int = MOST_BYTES) -> Run | None:
    """A copy of the run, up to the same event, that has kept every row; None if ``memory`` bytes are not enough.

    The replay does not start if the rows alone are known to be too large. If the run's plan drops arrays
    (``trace="stats"``), the replay uses another plan, which keeps them.
    """
    plan = _keeping_plan(run)
    if _row_bytes(run, plan) > memory:
        return None
    other = Run(plan, run.feeds, memory, checkpoints=NEWEST_CHECKPOINTS, back=False)
    other.edits, other.effects = list(run.edits), dict(run.effects)
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
        pass  # it fails at the same node as the run, after its last event
    return None if other.trace.dropped or other.event != end else other


def _keeping_plan(run: Run) -> ExecutionPlan:
    """A plan with the same events that frees no value; the run's own plan if there are edits, because they refer to its
    places."""
    plan = run.plan
    if run.edits or not (plan.statistics or plan.lean):
        return plan
    return PLANS.get(plan.graph, dict(plan.outputs), plan.signature, device=plan.device)


def _row_bytes(run: Run, plan: ExecutionPlan) -> int:
    """Lower bound of the bytes of the rows of all loops, without arrays outside the rows."""
    frames = enumerate(plan.layout.frames)
    return sum(f.row_bytes * (run.view.rows(k)[1] + 1) for k, f in frames if k < len(run.plan.layout.frames))
