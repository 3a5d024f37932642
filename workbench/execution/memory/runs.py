"""What a run itself holds: the rows of its trace, checkpoints for going back, and what it was fed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from workbench.execution.run import Run


class RunFigures(NamedTuple):
    """Bytes of a run after ``event`` events. ``budget`` bounds ``rows``, but for a chunk of 2 MiB of each frame that is
    always there; ``checkpoints`` get a quarter of it."""

    event: int
    rows: int  #: of the trace, with the arrays in them
    checkpoints: int  #: states to replay from, with the arrays in them
    feeds: int  #: copies of the inputs
    budget: int

    @property
    def total(self) -> int:
        return self.rows + self.checkpoints + self.feeds


def run_figures(run: Run) -> RunFigures:
    """The figures of a run, also while it runs; O(frames + feeds)."""
    feeds = sum(getattr(array, "nbytes", 0) for array in run.feeds.values())
    return RunFigures(run.event, run.view.bytes, run.checkpoint_bytes, feeds, run.budget)
