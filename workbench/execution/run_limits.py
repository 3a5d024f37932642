"""Limits of one call of the executor: how far it runs, and at which nodes it stops on the way."""

from __future__ import annotations

from dataclasses import dataclass

#: instruction range and frame that bound nothing
ANYWHERE = (-2, 0x7FFFFFFF, -1)
#: frame and row of no row
NOWHERE = (-1, -1)


@dataclass(frozen=True, slots=True)
class RunLimits:
    """Limits of ``Run.go``. An *exact* run checks before every event; a fast one only at back jumps and breakpoints.

    Parameters
    ----------
    event:
        Stop before this event (fast: at the first back jump from there on); None: no such limit.
    exact:
        Run event by event. ``until_row_changes``, ``skip_silent`` and ``instruction_range`` need it.
    ignore_current:
        Do not stop at a breakpoint of the node at which the run is.
    until_row_changes:
        (frame, row): stop before the first event after that frame's row has changed.
    skip_silent:
        Do not stop before silent nodes (constants and loop invariants).
    instruction_range:
        (before, end, frame): stop before the first event that is not between these two instructions, or not in the
        frame.
    until_row:
        (frame, row): stop once that frame's row is this one or a later one.
    """

    event: int | None = None
    exact: bool = False
    ignore_current: bool = False
    until_row_changes: tuple[int, int] = NOWHERE
    skip_silent: bool = True
    instruction_range: tuple[int, int, int] = ANYWHERE
    until_row: tuple[int, int] = NOWHERE
