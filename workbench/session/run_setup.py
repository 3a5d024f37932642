"""The run of a new session: its retention policy, its plan, and its memory limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.analysis.live.label import label_of
from workbench.analysis.series.result import Pattern
from workbench.debugger import DebugControl
from workbench.device import Device
from workbench.errors import SessionError
from workbench.execution import LEAST_ROWS, NEWEST_ARRAYS, NEWEST_CHECKPOINTS, NEWEST_ROWS, Run, prepare_feeds
from workbench.execution.one_shot import plan_for
from workbench.ir.graph import Graph
from workbench.ir.node import Ref
from workbench.trace import Trace
from workbench.trace.retention import DEFAULT_MEMORY, Retention, retention_of

#: default maximum bytes of a trace; beyond it the oldest rows are dropped, and recomputed on access
DEFAULT_BUDGET = DEFAULT_MEMORY
#: with trace="stats", bytes of the newest arrays of each loop that are kept in addition to all statistics
STATS_WINDOW = 1 << 20


def checked_retention(trace: str | Retention, memory_budget: int) -> Retention:
    """The policy for the session arguments ``trace`` and ``memory_budget``; SessionError if they contradict each
    other."""
    if memory_budget <= 0:
        raise SessionError(
            f"memory_budget must be a positive number of bytes, got {memory_budget}.",
            slug="bad-retention",
            fix="pass something like memory_budget=1 << 28.",
        )
    retention = retention_of(trace, memory_budget)
    if isinstance(trace, Retention) and memory_budget not in (DEFAULT_BUDGET, trace.memory):
        raise SessionError(
            "trace: a Retention has its own memory limit; memory_budget cannot be passed as well.",
            slug="bad-retention",
            fix=f"pass Retention(..., memory={memory_budget}) only.",
        )
    return retention


def debugger_for(
    graph: Graph,
    feeds: Mapping[str, Any],
    outputs: Sequence[str] | None,
    trace: str | Retention,
    retention: Retention,
    device: Device | None = None,
) -> DebugControl:
    """A debugger over a new run."""
    statistics = trace == "stats" or retention.keep == "statistics"
    arrays = prepare_feeds(graph, feeds)
    release_dead_values = retention.keep in ("none", "statistics")
    plan = plan_for(graph, arrays, outputs, statistics, release_dead_values, device)
    window = STATS_WINDOW if statistics else 0
    if trace == "off":
        run = Run(plan, arrays, NEWEST_ROWS, NEWEST_ARRAYS, NEWEST_CHECKPOINTS)
        run.machine.unwritten = LEAST_ROWS
    elif retention.keep == "none" and not retention.keeps_more:
        run = Run(plan, arrays, min(retention.memory, NEWEST_ROWS + NEWEST_CHECKPOINTS), window)
    else:
        run = Run(plan, arrays, retention.memory, window, keeping=retention)
    run.machine.regions = statistics or not plan.lean
    return DebugControl(run, release_dead_values, pattern_of)


def pattern_of(trace: Trace, ref: Ref, iteration: tuple[int, ...]) -> str | None:
    """Name of the pattern of a value up to an iteration, for breakpoints on a change of pattern; None if there is no
    pattern."""
    found = label_of(trace, ref, iteration)
    return None if found.label is Pattern.UNKNOWN and not found.count else found.label.name
