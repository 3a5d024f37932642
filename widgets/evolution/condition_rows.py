"""The strips of a loop's condition, as the evolution view asks for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from workbench.trace import Trace
    from workbench.widgets.strips.strip import Strip


@dataclass(frozen=True, slots=True)
class LoopShown:
    """One activation of a loop as a picture shows it.

    ``path`` and ``outer`` are the loop and the iteration of the loops around it, ``trace`` is the record, ``ahead``
    what :meth:`workbench.Session.look_ahead` gave. ``now`` is the iteration that the picture stands for, ``ended`` the
    one in which the condition was false, ``running`` whether the record grows, ``above`` the number of strips of
    variables.
    """

    path: tuple[str, ...]
    outer: tuple[int, ...] | None
    trace: Trace | None
    ahead: Any = None
    now: float | None = None
    ended: int | None = None
    running: bool = False
    above: int = 0


class ConditionRows(Protocol):
    """Gives the strips of a loop's condition; :class:`ConditionStrips` does."""

    @property
    def behind(self) -> bool: ...
    def update(self, shown: LoopShown) -> list[Strip]: ...
    def fresh(self) -> ConditionRows: ...
