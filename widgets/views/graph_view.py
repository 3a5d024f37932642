"""The graph: boxes, frames, live values on the edges, the node to fire next, and the branch taken."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import ipywidgets

from workbench.errors import WorkbenchError
from workbench.graph.node import Ref
from workbench.widgets.focus import Focus
from workbench.widgets.models.follow import last_iterations, latest
from workbench.widgets.models.graph_model import MAX_VALUES, graph_model
from workbench.widgets.models.graph_state import branch_sides, graph_state
from workbench.widgets.models.labels import value_text
from workbench.widgets.views.base import Source, View, is_running
from workbench.widgets.views.graph_spec import HIT, graph_spec

HEIGHT = 820


class GraphView(View):
    """The picture of a session's, trace's or graph's graph.

    A click on a box selects the node in all views of its focus (``on_select`` tells, too); a click on the caption of a
    frame collapses it, a click on a collapsed frame opens it.
    """

    title = "Graph"

    def __init__(
        self, source: Any, collapsed: Collection[tuple[str, ...]] | None = None, height: int = HEIGHT, *,
        focus: Focus | None = None,
    ) -> None:  # fmt: skip
        self.source = source if isinstance(source, Source) else Source(source)
        self.height = height
        self._listeners: list[Callable[[str], None]] = []
        self._sides = branch_sides(self.source.graph)
        self._picture = graph_model(self.source.graph, collapsed)
        super().__init__(self.source, focus)
        self._watch_clicks()

    # -- model and figure -------------------------------------------------------------------------------------------
    def model(self, snapshot: Any) -> dict[str, Any]:
        trace = self.source.trace
        position = getattr(snapshot, "position", None)
        state = graph_state(
            self._picture,
            self._sides,
            # while it runs the position is that of the last stop
            current=None if is_running(snapshot) else getattr(position, "node", None),
            branches=self._branches(trace),
            values=self._values(trace),
        )
        return {"picture": self._picture, "state": state, "selected": self.selected}

    def spec(self, model: dict[str, Any]) -> dict[str, Any]:
        return graph_spec(model["picture"], model["state"], model["selected"], self.height)

    def _branches(self, trace: Any) -> dict[str, bool]:
        taken: dict[str, bool] = {}
        if trace is None:
            return taken
        for switch in {name for name, _ in self._sides}:
            try:
                last = trace.last_branch(switch)
            except (KeyError, WorkbenchError):
                continue
            if last is not None:
                taken[switch] = bool(last)
        return taken

    def _values(self, trace: Any) -> dict[str, str]:
        values: dict[str, str] = {}
        boxes = self._picture["nodes"]
        if trace is None or len(boxes) > MAX_VALUES:
            return values
        iterations = last_iterations(trace, self.source.graph)
        for box in boxes:
            # a Switch forwards what its Merge shows already
            if box["name"] is None or box["op"] == "Switch":
                continue
            try:
                value = latest(trace, str(Ref(box["name"], 0)), iterations)
            except (KeyError, IndexError, TypeError, ValueError, WorkbenchError):
                continue
            if value is not None:
                values[box["name"]] = value_text(value, 5)
        return values

    # -- collapsing and selecting -----------------------------------------------------------------------------------
    @property
    def collapsed(self) -> tuple[tuple[str, ...], ...]:
        """Paths of the frames that are drawn as one box."""
        return tuple(self._picture["collapsed"])

    def collapse(self, *paths: tuple[str, ...]) -> None:
        """Draw exactly these frames as one box each; without arguments all are open."""
        self._picture = graph_model(self.source.graph, paths)
        self.update_now()

    def on_select(self, callback: Callable[[str], None]) -> None:
        """Call ``callback(node name)`` at each click on a node; it must not block."""
        self._listeners.append(callback)

    def select(self, name: str) -> None:
        """Select a node as a click does."""
        self.focus.select(name)
        for listener in list(self._listeners):
            listener(name)

    @property
    def selected(self) -> str | None:
        """The node that is selected, in this view and in all that share its focus."""
        return self.focus.node

    def _watch_clicks(self) -> None:
        self.live.data[HIT].on_click(self._clicked)

    def _clicked(self, trace: Any, points: Any, _state: Any) -> None:
        if not points.point_inds:
            return
        kind, key = trace.customdata[points.point_inds[0]][:2]
        if kind == "node":
            self.select(str(key))
            return
        paths = set(self.collapsed)
        path = next((p for p in self.source.graph.frames if "\n".join(p) == key and p), None)
        if path is not None:
            self.collapse(*(paths ^ {path}))

    def arrange(self) -> tuple[ipywidgets.Widget, ...]:
        scroller = ipywidgets.Box([self.live], layout={"overflow": "auto", "max_height": f"{self.height + 24}px"})
        scroller.add_class("workbench-scroll")
        return (scroller,)

