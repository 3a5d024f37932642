"""Base class of live views: subscribes to the panel's selection and to the session's update pump."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.threads import OwnedLock
from workbench.widgets.live.error_display import ErrorDisplay
from workbench.widgets.live.pump import Pump
from workbench.widgets.live.selection import Selection
from workbench.widgets.live.sink import Sink, SnapshotSource
from workbench.widgets.live.view_source import ViewSource

if TYPE_CHECKING:
    from workbench.widgets.live.view_source import Viewable


class LiveView(ErrorDisplay):
    """Base of the views. A subclass defines ``show``, ``troubled`` and the interface for the pump (``Sink``).

    ``_looks_at`` comes first in its constructor, ``_join`` last, and ``_leave`` when it closes. ``selection`` is the
    selection shared by the views of a panel; a view outside a panel has its own.
    """

    urgent = False
    pump: Pump | None = None
    _unsubscribe: Callable[[], None] | None = None

    @property
    def views(self) -> int:
        """Browser views that are open."""
        raise NotImplementedError

    def _looks_at(self, source: ViewSource | Viewable, selection: Selection | None) -> None:
        self.source = source if isinstance(source, ViewSource) else ViewSource(source)
        self.selection = selection if selection is not None else Selection()

    def _join(self) -> None:
        """Subscribe to the selection and to the updates."""
        self._unsubscribe = self.selection.subscribe(self._on_selection)
        if self.source.session is not None:
            self.pump = pump_for(self.source.session)
            self.pump.add(self)  # type: ignore[arg-type]

    def _leave(self) -> None:
        """Unsubscribe from the selection and the pump; harmless if it was not subscribed (the constructor failed)."""
        pump, self.pump = self.pump, None
        if pump is not None:
            drop(pump, self)  # type: ignore[arg-type]
        if self._unsubscribe is not None:
            self._unsubscribe()

    def selection_changed(self, selection: Selection) -> None:
        """Handle a change of the selection or the moment."""
        self.update_now()

    def _on_selection(self, selection: Selection) -> None:
        try:
            self.selection_changed(selection)
        except Exception as error:  # the other views of the selection continue
            self.troubled(error)

    def update_now(self) -> None:
        """Show the present state again, for instance after a setting has changed. May be called on any thread."""
        if self.pump is not None and self.views:
            self.pump.refresh(self)  # type: ignore[arg-type]
        else:
            self.attempt(self.source.snapshot())


_pumps: weakref.WeakValueDictionary[int, Pump] = weakref.WeakValueDictionary()
_guard = OwnedLock()


def pump_for(session: SnapshotSource) -> Pump:
    """The one pump of a session, made on first use."""
    with _guard:
        pump = _pumps.get(id(session))
        if pump is None or pump.session is not session or pump._closed:
            pump = _pumps[id(session)] = Pump(session)
        return pump


def drop(pump: Pump, sink: Sink) -> None:
    """Take a view off its pump; the last one closes it."""
    pump.remove(sink)
    if not pump.sinks:
        pump.close()
