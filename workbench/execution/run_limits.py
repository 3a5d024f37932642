"""Limits of one call of the executor: how far it runs, and at which nodes it stops on the way."""

from __future__ import annotations

from dataclasses import dataclass

#: instruction range and frame that set no limit
ANYWHERE = (-2, 0x7FFFFFFF, -1)
#: frame and row that match no row
NOWHERE = (-1, -1)


@dataclass(frozen=True, slots=True)
class RunLimits:
    """Limits of ``Run.go``. An *exact* run checks before every event; a fast one only at back jumps and breakpoints.

    Parameters
    ----------
    event:
        Stop before this event (a fast run: at the first back jump after it); None: no limit.
    exact:
        Run event by event. ``until_row_changes``, ``skip_silent`` and ``instruction_range`` need it.
    ignore_current:
        Do not stop at a breakpoint of the present node.
    until_row_changes:
        (frame, row): stop before the first event after that frame's row has changed.
    skip_silent:
        Do not stop before silent nodes (constants and loop invariants).
    instruction_range:
        (before, end, frame): stop before the first event that is not between these two instructions, or not in the
        frame.
    until_row:
        (frame, row): stop once that frame has reached this row.
    """

    event: int | None = None
    exact: bool = False
    ignore_current: bool = False
    until_row_changes: tuple[int, int] = NOWHERE
    skip_silent: bool = True
    instruction_range: tuple[int, int, int] = ANYWHERE
    until_row: tuple[int, int] = NOWHERE
