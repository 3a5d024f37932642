"""One run of a plan: feeds in, machine state, checkpoints, outputs. Knows no threads and no commands."""

from workbench.execution.feeds import prepare_feeds
from workbench.execution.position import Position
from workbench.execution.run import NEWEST_ROWS, Run

__all__ = ["NEWEST_ROWS", "Position", "Run", "prepare_feeds"]
