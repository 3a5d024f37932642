"""The interface by which the evolution view gets the strips of a loop's condition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from workbench.trace import Trace
    from workbench.widgets.strips.strip import Strip


@dataclass(frozen=True, slots=True)
class LoopShown:
    """One activation of a loop in a picture.

    ``path`` and ``outer`` are the loop and the iteration of the enclosing loops, ``trace`` is the record, ``ahead`` the
    result of :meth:`workbench.Session.look_ahead`. ``now`` is the iteration of the picture, ``ended`` the one in which
    the condition was false, ``running`` is True while the record grows, ``above`` is the number of strips of variables.
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
    """Returns the strips of a loop's condition; implemented by :class:`ConditionStrips`."""

    @property
    def behind(self) -> bool: ...
    def update(self, shown: LoopShown) -> list[Strip]: ...
    def fresh(self) -> ConditionRows: ...
