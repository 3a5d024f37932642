"""The reasons for which an update must be a full run, and the start of that run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.execution.run import Run
from workbench.kernels import machine as core
from workbench.kernels.layout import KEPT


def full_rerun_reason(run: Run) -> str | None:
    """The reason why a run must be repeated from its beginning, or None."""
    plan = run.plan
    if plan.raw:
        return f"the frame {'/'.join(next(iter(plan.raw)))!r} is not nested, or runs in parts"
    if run.edits:
        return "values of this run were edited, and the edits apply to its old inputs only"
    if run.event == 0:
        return "nothing had been computed yet"
    if run.checkpoints[0].events:
        return "the beginning of this run is not kept"
    if run.keeper is not None:
        return "older rows of this run are in a retention backend (wb.Retention)"
    if any(v.place is not None and 0 <= v.place.until < KEPT for v in plan.layout.values.values()):
        return 'values of this run are released after their last use (trace="stats" or "off")'
    return None


def restart_run(run: Run, feeds: Mapping[str, Any]) -> None:
    """Go back to the beginning, with other feeds of the same types."""
    run.forget_edits()
    for name, array in feeds.items():
        place = run.plan.layout.values.get((run.plan.graph.inputs[name].node, 0))
        if place is not None and place.place is not None:
            run.put(place.place, array)
    run.feeds = dict(feeds)
    run.continue_from([core.snapshot(run.machine, [0])])
