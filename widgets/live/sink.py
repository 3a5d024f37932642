"""Interfaces between the pump, the session that it watches, and a view."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from workbench.widgets.live.selection import Selection


class SnapshotSource(Protocol):
    """A session, as the pump sees it. ``version`` grows with every change; ``subscribe`` returns a function that ends
    the subscription.
    """

    @property
    def version(self) -> int: ...
    def snapshot(self) -> Any: ...
    def subscribe(self, callback: Callable[[Any], None]) -> Callable[[], None]: ...


class Sink(Protocol):
    """A view, as the pump sees it."""

    urgent: bool
    selection: Selection

    @property
    def behind(self) -> bool: ...
    @property
    def asleep(self) -> bool: ...
    def doze(self) -> None: ...
    def rouse(self) -> None: ...
    @property
    def views(self) -> int: ...
    @property
    def waited(self) -> float: ...
    @property
    def took(self) -> float: ...
    @property
    def holding(self) -> bool: ...
    @property
    def hidden(self) -> bool: ...
    def attempt(self, snapshot: Any) -> Exception | None: ...
