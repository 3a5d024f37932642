"""The part of a watch that adapters use."""

from __future__ import annotations

from typing import Any, Protocol


class Recorder(Protocol):
    """A watch, as adapters see it: :class:`workbench.Watch` is one."""

    stop_requested: bool

    def record(self, **values: Any) -> None:
        """Note the values of one iteration."""

    def opened(self) -> None:
        """Begin, unless it has begun."""

    def finish(self) -> None:
        """End."""
