"""HTML in place of a figure, or inside a figure's view: lists and tables, drawn by a small widget."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from workbench.widgets.base import theme
from workbench.widgets.base.esm import joined, module
from workbench.widgets.base.figure_export import Face
from workbench.widgets.base.json_widget import JsonWidget
from workbench.widgets.base.spec import Spec, base_layout, plain_figure, text
from workbench.widgets.base.status_widget import StatusWidget
from workbench.widgets.live.background import BackgroundTasks
from workbench.widgets.live.selection import Selection

#: maximum rows of a table in a figure
MAX_ROWS = 500


class HtmlView(Face, StatusWidget):
    """Base of views that are lists and tables of HTML. A subclass defines ``model`` (plain data for the browser),
    ``table`` (for files), and ``handle_message`` for messages of the browser."""

    title = "View"
    _css = joined("base/style/flow.css")

    def __init__(self, source: Any, selection: Selection | None = None, **state: Any) -> None:
        self._looks_at(source, selection)  # the model reads them
        self.aside = BackgroundTasks()
        super().__init__(self.source, self.selection, status=self.model(self.source.snapshot()), **state)

    # -- for subclasses ---------------------------------------------------------------------------------------------
    def model(self, snapshot: Any) -> dict[str, Any]:
        """The shown content as plain JSON data; nothing is escaped (the browser shows it as text)."""
        raise NotImplementedError

    def table(self, model: dict[str, Any]) -> tuple[Sequence[str], Sequence[Sequence[str]], str]:
        """(column names, rows, a line above them), as plain text."""
        raise NotImplementedError

    # -- the pump's side --------------------------------------------------------------------------------------------
    def show(self, snapshot: Any) -> None:
        """Update the view with a snapshot."""
        with self._lock:
            if self.comm is not None:
                self.offer(self.model(snapshot))

    # -- for users --------------------------------------------------------------------------------------------------
    def in_theme(self, name: str) -> go.Figure:
        with self._lock:
            columns, rows, line = self.table(self.model(self.source.snapshot()))
        return plain_figure(table_spec(columns, rows, line, name), name)

    def close(self) -> None:
        """Unsubscribe from the selection and from updates and close the comms. Closing twice is harmless."""
        super().close()
        self.aside.close()


class HtmlPart(JsonWidget):
    """Shows ``status`` by the JavaScript of the file ``script``, or of several files with the export in the last;
    ``on_message(kind, content)`` receives its messages.

    Its view offers the status; the part itself has no pump and no acknowledgement. If a script exports ``hear(model)``,
    that is called once for each model, even without a view.
    """

    _css = joined("base/style/flow.css")

    def __init__(
        self, script: str | Sequence[str], status: dict[str, Any], on_message: Callable[[str, Mapping[str, Any]], None]
    ) -> None:
        self._on_message = on_message
        files = (script,) if isinstance(script, str) else script
        super().__init__(status=status, _script=module(*files))

    def handle_message(self, kind: str, content: Mapping[str, Any]) -> None:
        self._on_message(kind, content)


def table_spec(columns: Sequence[str], rows: Sequence[Sequence[str]], line: str, name: str) -> Spec:
    """A table with a line above it; all strings are escaped. ``name`` is the theme: tables know no templates."""
    ink = theme.THEMES[name]["layout"]["font"]["color"]
    shown = rows[:MAX_ROWS]
    more = f" ({len(rows) - MAX_ROWS} more rows)" if len(rows) > MAX_ROWS else ""
    data = [
        {
            "type": "table",
            "header": {
                "values": [f"<b>{text(c)}</b>" for c in columns],
                "align": "left",
                "height": 26,
                "fill": {"color": theme.tint(theme.GREY, 0.35)},
                "font": {"color": ink, "size": 12},
            },
            "cells": {
                "values": [[text(r[k]) for r in shown] for k in range(len(columns))],
                "align": "left",
                "height": 24,
                "fill": {"color": "rgba(0,0,0,0)"},
                "font": {"color": ink, "size": 12},
            },
        }
    ]
    layout = base_layout(
        110 + 25 * min(len(shown), 30),
        title={"text": text(line + more), "font": {"size": 12.5}, "x": 0.01, "xanchor": "left"},
        margin={"l": 8, "r": 8, "t": 40, "b": 8},
    )
    return {"data": data, "layout": layout}
