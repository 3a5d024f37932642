"""The tools of a panel: a row of tabs, and below it the views of the opened ones, one of them visible."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import ipywidgets

from workbench.errors import WorkbenchError
from workbench.widgets.base.excuse import Excuse
from workbench.widgets.base.figure.figure_view import close_parts, parts_of
from workbench.widgets.base.html_view import HtmlPart
from workbench.widgets.panel.pane_kinds import KINDS


class Panes(ipywidgets.VBox):
    """``show`` and ``hide`` panes by their key; ``views`` holds the open ones, and ``selected`` is the visible one.

    ``always`` are views by (key, label, tip) that exist as long as the panel, each behind a tab. The error of a view
    that cannot be made is shown in its pane; the other views are unaffected.
    """

    def __init__(self, panel: Any, always: Mapping[tuple[str, str, str], Any] | None = None) -> None:
        self._panel = panel
        live = panel.source.session is not None
        self._kinds = {k.key: k for k in KINDS if live or not k.session_only}
        self.views: dict[str, Any] = {}
        self._boxes: dict[str, ipywidgets.VBox] = {}
        self._always = tuple(always or {})
        self._fixed = [self._box(key, view) for (key, _, _), view in (always or {}).items()]
        self.selected = self._always[0][0] if self._always else ""
        self.bar = HtmlPart(("panel/layout/areas.js", "panel/panes.js"), self._status(), self._do)
        super().__init__([self.bar, *self._fixed])
        self.add_class("workbench-panes")

    @property
    def names(self) -> tuple[str, ...]:
        """Keys of the panes that can be opened."""
        return tuple(self._kinds)

    def _status(self) -> dict[str, Any]:
        opened = [
            {"key": k.key, "label": k.label, "tip": k.tip, "open": k.key in self.views, "closes": True}
            for k in self._kinds.values()
        ]
        always = [
            {"key": key, "label": label, "tip": tip, "open": True, "closes": False} for key, label, tip in self._always
        ]
        # the first tool is the most used one, breakpoints or the call stack
        return {"panes": [*opened[:1], *always, *opened[1:]], "selected": self.selected}

    @staticmethod
    def _box(key: str, view: Any) -> ipywidgets.VBox:
        box = ipywidgets.VBox([view])
        for name in ("workbench-tool", f"workbench-tool-{key}"):
            box.add_class(name)
        return box

    def _do(self, kind: str, content: Mapping[str, Any]) -> None:
        key = str(content.get("key"))
        if kind == "pane" and key in self._kinds:
            if key in self.views:
                self.hide(key)
            else:
                self.show(key)

    def show(self, key: str) -> Any:
        """Open a pane and return its view; that of an open pane is returned as it is."""
        if key not in self._kinds:
            raise WorkbenchError(
                f"Unknown pane {key!r}.", slug="no-such-pane", fix=f"use one of {', '.join(self._kinds)}."
            )
        self.selected = key
        if key in self.views:
            self.bar.offer(self._status())
            return self.views[key]
        label = self._kinds[key].label
        try:
            view = self._kinds[key].make(self._panel)
        except Exception as error:
            view = Excuse(label, error, lambda: self._again(key))
        view.add_class("workbench-panel")
        view.add_class(f"workbench-is-{key}")
        self.views[key] = view
        self._boxes[key] = box = self._box(key, view)
        box.add_class("workbench-pane")
        self._panel.selection.did(f"panel.panes.show({key!r})")
        self._arrange()
        return view

    def _again(self, key: str) -> None:
        self.hide(key)
        self.show(key)

    def hide(self, key: str) -> None:
        """Close a pane with its view and all its comms. Harmless for a pane that is not open."""
        view = self.views.pop(key, None)
        box = self._boxes.pop(key, None)
        if view is None or box is None:
            return
        if self.selected == key:
            self.selected = next(reversed(self.views), self._always[0][0] if self._always else "")
        self._arrange()
        self.closing(view, box)
        _close(view)
        _close(box)
        self._panel.selection.did(f"panel.panes.hide({key!r})")

    def closing(self, *widgets: Any) -> None:
        """Make the browser release widgets that are about to be closed, and their parts."""
        if self.bar.comm is not None:
            self.bar.send({"kind": "closing", "models": [part.model_id for w in widgets for part in parts_of(w)]})

    def _arrange(self) -> None:
        self.children = (self.bar, *self._fixed, *self._boxes.values())
        self.bar.offer(self._status())

    def close(self) -> None:
        for view in self.views.values():
            _close(view)
        self.views.clear()
        self.bar.close()
        close_parts(self)
        super().close()


def _close(widget: Any) -> None:
    widget.close()
    close_parts(widget)
