"""The position of a run."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.ir.node import Tag
from workbench.text import harmless


@dataclass(frozen=True, slots=True)
class Position:
    """The position before ``node`` (None at the end, and ``between`` two nodes), after ``event`` events.

    ``frame`` and ``iteration`` are those of the next firing; ``silent`` nodes fire without work. A run is between two
    nodes if there was no memory for its next row, or a check between them failed.
    """

    node: str | None
    event: int
    frame: tuple[str, ...] = ()
    iteration: tuple[int, ...] = ()
    silent: bool = False
    between: bool = False

    @property
    def tag(self) -> Tag | None:
        """Tag of the next firing."""
        return None if self.node is None else Tag(self.node, 0, self.frame, self.iteration)

    @harmless
    def __str__(self) -> str:
        where = ", ".join(f"{f} {i}" for f, i in zip(self.frame, self.iteration, strict=False))
        between = "between two nodes" + (f" [{where}]" if where else "")
        return f"{between if self.between else self.tag or 'the end'} (event {self.event:,})"
