"""The grid of a panel as widgets, and the part whose JavaScript sizes it.

The widgets are in three columns; ``layout.js`` decides by the width of the panel, in letters, whether they are side by
side, and which views are tabs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ipywidgets

from workbench.widgets.base.esm import joined, module
from workbench.widgets.base.json_widget import JsonWidget
from workbench.widgets.panel.layout.presented import PresentedPanel


class PanelLayout(JsonWidget):
    """Sizes its panel: as high as the visible page, in one to three columns with dividers.

    ``loop`` says whether the graph has a loop; without one the table of nodes replaces iterations and verdict.
    ``graph_width`` is the preferred width of the graph in pixels. ``field``: the value shown first has two or more
    axes, so that its image gets the largest part. With ``reveal`` in the status the page scrolls to it once, as to an
    opened copy. ``stage`` is notified when the panel is presented, and of Page Down and Page Up.
    """

    _css = joined("panel/layout/layout.css")

    def __init__(
        self, loop: bool, graph_width: int, field: bool = False, *, stage: PresentedPanel | None = None
    ) -> None:
        self._stage = stage
        super().__init__(
            status={"loop": loop, "graph_width": graph_width, "field": field},
            _script=module("panel/layout/areas.js", "panel/layout/dividers.js", "panel/layout/layout.js"),
        )
        self.add_class("workbench-arrangement")

    def handle_message(self, kind: str, content: Mapping[str, Any]) -> None:
        if kind == "revealed":
            self.amend(reveal=False)
        elif kind == "presenting" and self._stage is not None:
            self._stage.present(content.get("value") is True)
        elif kind == "turn" and self._stage is not None:
            self._stage.turn(-1 if content.get("by") == -1 else 1)
        elif kind == "mark" and self._stage is not None:
            self._stage.bookmark()


def arranged(
    graph: Sequence[Any],
    iterations: Sequence[Any],
    ending: Sequence[Any],
    nodes: Sequence[Any],
    value: Sequence[Any],
    tools: Any,
) -> ipywidgets.Box:
    """The views of a panel in three columns: the graph; iterations above the verdict, or the table of nodes; the value
    above the tools."""
    middle = [_box("area", "iterations", iterations), _box("area", "ending", ending)]
    if nodes:
        middle.append(_box("area", "nodes", nodes))
    columns = (
        _box("column", "left", [_box("area", "graph", graph)]),
        _box("column", "middle", middle),
        _box("column", "right", [_box("area", "value", value), tools]),
    )
    body = ipywidgets.Box(columns)
    body.add_class("workbench-body")
    return body


def _box(kind: str, name: str, children: Sequence[Any]) -> ipywidgets.VBox:
    box = ipywidgets.VBox(list(children))
    for css in (f"workbench-{kind}", f"workbench-{kind}-{name}"):
        box.add_class(css)
    return box
