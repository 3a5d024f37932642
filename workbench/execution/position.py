"""Where a run stands."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.graph.node import Tag


@dataclass(frozen=True, slots=True)
class Position:
    """In front of ``node`` (None at the end), after ``event`` events.

    ``frame`` and ``iteration`` say in which firing of which frames; ``silent`` nodes fire without work.
    """

    node: str | None
    event: int
    frame: tuple[str, ...] = ()
    iteration: tuple[int, ...] = ()
    silent: bool = False

    @property
    def tag(self) -> Tag | None:
        """Tag of the firing that comes next."""
        return None if self.node is None else Tag(self.node, 0, self.frame, self.iteration)

    def __str__(self) -> str:
        return f"{self.tag or 'the end'} (event {self.event:,})"
