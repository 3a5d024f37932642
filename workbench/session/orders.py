"""What goes between a session and the threads around it: orders to its worker, snapshots to its listeners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.debugger import Stop
from workbench.execution import Position

#: commands that the next one ends; the others are carried out in full unless a pause ends them
OPEN_ENDED = ("run", "resume", "reverse_continue")


@dataclass(eq=False, slots=True)
class Order:
    """A command on its way: ``number`` counts from 1; ``stop`` or ``failure`` is set when it is ``done``."""

    number: int
    command: str
    arguments: dict[str, Any]
    awaited: bool = False
    done: bool = False
    stop: Stop | None = None
    failure: BaseException | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a view needs to know at one moment. ``iterations`` maps frame paths to the iteration in progress."""

    state: str
    position: Position
    event: int
    iterations: dict[tuple[str, ...], int]
    stop: Stop
    version: int
