"""The strips of a loop's condition, as the evolution view asks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from workbench.trace import Trace
    from workbench.widgets.strips.strip import Strip


class ConditionRows(Protocol):
    """Gives the strips of a loop's condition; :class:`ConditionStrips` does."""

    @property
    def behind(self) -> bool: ...
    def update(
        self,
        path: tuple[str, ...],
        outer: tuple[int, ...] | None,
        trace: Trace | None,
        ahead: Any,
        now: float | None,
        ended: int | None,
        running: bool,
        above: int,
    ) -> list[Strip]: ...
