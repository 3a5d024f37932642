"""Why a run stands still."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from workbench.execution import Position
from workbench.graph.node import Tag


class StopReason(Enum):
    """Every reason is a full sentence; ``name`` is the stable word."""

    STARTED = "The run has not begun: nothing has fired yet."
    FINISHED = "The run is finished: every required output was computed."
    STEP = "The step is done."
    ITERATION = "The next iteration is about to begin."
    FRAME_ENTERED = "The step went into a frame."
    FRAME_LEFT = "The step came out of the frame."
    BREAKPOINT = "A breakpoint was reached."
    TARGET = "The place that was asked for is reached."
    PAUSED = "The run was paused."
    BEGINNING = "This is the beginning of the run: there is nothing before it."
    NOT_REACHED = "The run ended without reaching the place that was asked for."
    EDITED = "A value was edited; the run goes on from here with it."
    NO_ROOM = "The oldest rows of the trace could not be put away: none is lost, and the run can go on from here."
    FAILED = "A node failed; the run stands in front of it."

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Stop:
    """The end of a command: why, where, and how many events had fired.

    ``tag`` is the firing that comes next. At a breakpoint ``fired`` is the value that was hit: that of the firing to
    come, or, if the breakpoint asks for a value, of the one that met the condition; ``detail`` says so in words.
    """

    reason: StopReason
    position: Position
    detail: str = ""
    error: Exception | None = None
    fired: Tag | None = None

    @property
    def tag(self) -> Tag | None:
        """The firing that comes next; None at the end."""
        return self.position.tag

    @property
    def event(self) -> int:
        """How many events had fired."""
        return self.position.event

    def __str__(self) -> str:
        return f"{self.reason} {self.detail + ' ' if self.detail else ''}Next: {self.position}."

    def __repr__(self) -> str:
        return f"<Stop {self.reason.name}: {self}>"
