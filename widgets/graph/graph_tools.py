"""The bar above the picture of a graph: search, zoom, direction, the path of boxes, the selected node with its edges,
and the overview of a large graph.

It only shows a status and reports clicks; the view (``graph_view``) decides what they mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import traitlets

from workbench.text import harmless
from workbench.widgets.base.esm import joined, script
from workbench.widgets.base.json_widget import JsonWidget
from workbench.widgets.graph.model.overview import Overview

#: longest text accepted from the browser
MAX_TEXT = 20_000


class GraphTools(JsonWidget):
    """Search, buttons, crumbs and details of one picture. ``pressed(kind, content)`` receives its messages."""

    _script = script(
        "graph/graph_overview.js",
        "graph/graph_hover.js",
        "graph/graph_pointer.js",
        "graph/hit_list.js",
        "graph/graph_tools.js",
    )
    _css = joined("graph/graph_tools.css")
    cells = traitlets.Bytes(b"").tag(sync=True)
    columns = traitlets.Int(0).tag(sync=True)

    def __init__(self, pressed: Callable[[str, Mapping[str, Any]], None], overview: Overview | None = None) -> None:
        more = {} if overview is None else {"cells": overview.cells.tobytes(), "columns": overview.cells.shape[1]}
        self._pressed = pressed
        super().__init__(**more)

    def handle_message(self, kind: str, content: Mapping[str, Any]) -> None:
        text = content.get("text", "")
        if isinstance(text, str) and len(text) <= MAX_TEXT:
            self._pressed(kind, content)

    @harmless
    def __repr__(self) -> str:
        return f"<GraphTools: {self.status.get('boxes', '')}>"
