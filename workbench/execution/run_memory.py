"""Memory figures of a run: rows of the trace, checkpoints and feeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from workbench.device import open_device

if TYPE_CHECKING:
    from workbench.execution.run import Run


class RunFigures(NamedTuple):
    """Bytes of a run after ``event`` events. ``budget`` limits ``rows``, except for one chunk of 2 MiB per frame;
    ``checkpoints`` get a quarter of it."""

    event: int
    rows: int  #: rows of the trace, including their arrays
    checkpoints: int  #: states to replay from, including their arrays
    feeds: int  #: copies of the inputs
    budget: int
    device: int = 0  #: arrays on the run's device, of all sessions; those of this trace are also part of ``rows``
    device_name: str = ""  #: empty for the host

    @property
    def total(self) -> int:
        """Sum of rows, checkpoints and feeds."""
        return self.rows + self.checkpoints + self.feeds


def run_figures(run: Run) -> RunFigures:
    """The figures of a run, also during the run; O(frames + feeds)."""
    feeds = sum(getattr(array, "nbytes", 0) for array in run.feeds.values())
    held, name = 0, ""
    if run.plan.device is not None:
        memory = open_device(run.plan.device).memory
        held, name = memory.held, memory.name
    return RunFigures(run.event, run.view.bytes, run.checkpoint_bytes, feeds, run.budget, held, name)
