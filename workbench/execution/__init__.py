"""One run of a plan: feeds, executor state, checkpoints, outputs and edits. It has no threads or commands."""

from workbench.execution.feeds import prepare_feeds
from workbench.execution.memory_budget import LEAST_ROWS, NEWEST_ARRAYS, NEWEST_CHECKPOINTS, NEWEST_ROWS
from workbench.execution.memory_report import MemoryReport, memory_report
from workbench.execution.position import Position
from workbench.execution.run import Run

__all__ = [
    "LEAST_ROWS",
    "NEWEST_ARRAYS",
    "NEWEST_CHECKPOINTS",
    "NEWEST_ROWS",
    "MemoryReport",
    "Position",
    "Run",
    "memory_report",
    "prepare_feeds",
]
