"""Searches for values that are not finite, and for the result, whenever a session is paused, on a separate thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.threads import Lock
from workbench.widgets.live.background import BackgroundTasks
from workbench.widgets.panel.health_model import health_model
from workbench.widgets.panel.output_model import output_model


class HealthWatch:
    """Calls :func:`health_model`, and :func:`output_model` (as ``output``), for the newest stop; of several stops
    during a search only the last is searched.

    ``told(model)`` is called on the watch's thread when the result has changed.
    """

    def __init__(self, session: Any, on_change: Callable[[dict[str, Any]], None]) -> None:
        self.model: dict[str, Any] = {}
        self._session, self._on_change = session, on_change
        self._tasks = BackgroundTasks("workbench-health")
        self._lock = Lock()
        self._seen: Any = None
        self._wanted: Any = None
        self._busy = False

    def stopped(self, stand: Any) -> None:
        """Report a pause at ``stand``, any value that differs from one stop to the next."""
        with self._lock:
            if stand == self._seen:
                return
            self._seen = self._wanted = stand
            if self._busy:
                return
            self._busy = True
        self._tasks.do(self._look)

    def _look(self) -> None:
        while True:
            with self._lock:
                stand, self._wanted = self._wanted, None
                if stand is None:
                    self._busy = False
                    return
            found = health_model(self._session)
            if output := output_model(self._session):
                found = {**found, "output": output}
            with self._lock:
                old, self.model = self.model, found
                newest = self._wanted is None
            if newest and found != old:
                self._on_change(found)

    def close(self) -> None:
        """Stop searching."""
        self._tasks.close()
