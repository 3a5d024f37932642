"""The part of a watch that adapters use."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from workbench.recorder.until import UntilClause


class Recorder(Protocol):
    """A watch, as adapters see it: :class:`workbench.Watch` is one."""

    stop_requested: bool
    until: tuple[UntilClause, ...]

    def record(self, **values: Any) -> None:
        """Note the values of one iteration."""

    def opened(self) -> None:
        """Begin the record, unless it has begun."""

    def finish(self) -> None:
        """End the record."""


@runtime_checkable
class OpsRecorder(Recorder, Protocol):
    """A watch with ``ops="torch"``, which records the ops inside its block."""

    def follow(self, modules: Any = None, optimizer: Any = None) -> None:
        """Follow the modules and optimizers that a trainer has made. Refuses a watch without a block."""

    def pause(self) -> None:
        """Stop recording ops until :meth:`resume`."""

    def resume(self) -> None:
        """Record ops again."""
