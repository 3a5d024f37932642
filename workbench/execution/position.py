"""Where a run stands."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.graph.node import Tag


@dataclass(frozen=True, slots=True)
class Position:
    """In front of ``node`` (None at the end, and ``between`` two nodes), after ``event`` events.

    ``frame`` and ``iteration`` say in which firing of which frames; ``silent`` nodes fire without work. A run stands
    between two nodes where it found no room for its next row, or where a frame failed between them.
    """

    node: str | None
    event: int
    frame: tuple[str, ...] = ()
    iteration: tuple[int, ...] = ()
    silent: bool = False
    between: bool = False

    @property
    def tag(self) -> Tag | None:
        """Tag of the firing that comes next."""
        return None if self.node is None else Tag(self.node, 0, self.frame, self.iteration)

    def __str__(self) -> str:
        where = ", ".join(f"{f} {i}" for f, i in zip(self.frame, self.iteration, strict=False))
        between = "between two nodes" + (f" [{where}]" if where else "")
        return f"{between if self.between else self.tag or 'the end'} (event {self.event:,})"
