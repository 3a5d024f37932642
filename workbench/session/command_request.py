"""Messages between a session and other threads: command requests to its worker, snapshots to its listeners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.debugger import Stop
from workbench.execution import Position

#: commands that end when another command follows; the others are completed unless a pause ends them
OPEN_ENDED = ("run", "resume", "reverse_continue")


@dataclass(eq=False, slots=True)
class CommandRequest:
    """A queued command; ``stop`` or ``failure`` is set when it is ``done``."""

    command: str
    arguments: dict[str, Any]
    awaited: bool = False
    cancelled: bool = False
    done: bool = False
    stop: Stop | None = None
    failure: BaseException | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of a session at one moment.

    Attributes
    ----------
    state : str
        "ready", "running", "paused", "finished", "failed" or "closed".
    position : Position
        The position of the last stop.
    event : int
        Number of events that have fired.
    iterations : dict of tuple to int
        Frame path -> iteration in progress; -1 in a loop that has not begun.
    stop : Stop
        The end of the last command.
    version : int
        A number that increases with every change of state.
    """

    state: str
    position: Position
    event: int
    iterations: dict[tuple[str, ...], int]
    stop: Stop
    version: int
