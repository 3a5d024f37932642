"""The end of a command: its reason and position."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from workbench.execution import Position
from workbench.ir.node import Tag
from workbench.text import facts_html, harmless


class StopReason(Enum):
    """The reason of a stop. The value is a full sentence, ``name`` a stable identifier.

    ===============  ====================================================================
    name             the session stopped because
    ===============  ====================================================================
    STARTED          it is new, or was restarted: nothing has run
    FINISHED         the run reached its end
    STEP             the requested step is done
    ITERATION        the next iteration is about to begin
    FRAME_ENTERED    the step went into a frame
    FRAME_LEFT       the step left its frame
    BREAKPOINT       a breakpoint was reached
    TARGET           the requested position was reached
    PAUSED           it was paused
    BEGINNING        a backward command reached the start of the run
    NOT_REACHED      the run ended before the requested position
    EDITED           a value was edited
    UNDONE           an edit was undone
    NO_ROOM          the trace could not evict its oldest rows
    FAILED           a node failed; the position is before it
    ===============  ====================================================================

    Examples
    --------
    >>> session.step_back(1_000).reason.name
    'BEGINNING'
    >>> print(wb.StopReason.BREAKPOINT)
    A breakpoint was reached.
    """

    STARTED = "The run has not begun: nothing has fired yet."
    FINISHED = "The run is finished: every required output was computed."
    STEP = "Stepped."
    ITERATION = "The next iteration is about to begin."
    FRAME_ENTERED = "The step went into a frame."
    FRAME_LEFT = "The step left the frame."
    BREAKPOINT = "A breakpoint was reached."
    TARGET = "The requested position is reached."
    PAUSED = "The run was paused."
    BEGINNING = "At the start of the run."
    NOT_REACHED = "The run ended without reaching the requested position."
    EDITED = "A value was edited; the run continues with it."
    UNDONE = "An edit was undone; the run is back where it was made."
    NO_ROOM = "The trace could not evict its oldest rows (disk full?). No data was lost; fix the cause and resume."
    FAILED = "A node failed; the run is stopped before it."

    @harmless
    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Stop:
    """The end of a session's command.

    Attributes
    ----------
    reason : StopReason
        The reason of the stop.
    position : Position
        The position before the next firing: ``node``, ``event``, ``frame``, ``iteration``.
    detail : str
        Details as a sentence, such as the breakpoint and the value that met its condition.
    error : Exception or None
        The error, if a node failed.
    fired : Tag or None
        At a breakpoint, the firing that was hit: the next one, or for a condition on a value the one that met it.

    Examples
    --------
    >>> stop = session.run_to("while/abs", iteration=2)
    >>> stop.reason.name, str(stop.tag), stop.event
    ('TARGET', 'while/abs:0[while 2]', ...)
    """

    reason: StopReason
    position: Position
    detail: str = ""
    error: Exception | None = None
    fired: Tag | None = None

    @property
    def tag(self) -> Tag | None:
        """The next firing; None at the end of the run."""
        return self.position.tag

    @property
    def event(self) -> int:
        """Number of events that have fired."""
        return self.position.event

    @harmless
    def __str__(self) -> str:
        return f"{self.reason} {self.detail + ' ' if self.detail else ''}Next: {self.position}."

    @harmless
    def __repr__(self) -> str:
        return f"<Stop {self.reason.name}: {self}>"

    @harmless
    def _repr_html_(self) -> str:
        facts = (
            ("why", f"{self.reason} {self.detail}".strip()),
            ("error", self.error),
            ("fired", self.fired),
            ("next", str(self.position)),
            ("events", f"{self.event:,}"),
        )
        return facts_html(f"Stop {self.reason.name}", facts)
