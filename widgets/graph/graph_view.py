"""The graph: nested boxes, live values, the node to fire next, the branch taken, breakpoints."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

import ipywidgets

from workbench.errors import WorkbenchError
from workbench.widgets.base.figure.figure_view import FigureView
from workbench.widgets.base.figure.point_event import PointEvent
from workbench.widgets.base.html_view import HtmlPart
from workbench.widgets.base.spec import text
from workbench.widgets.graph.graph_control import GraphControl
from workbench.widgets.graph.graph_legend import legend
from workbench.widgets.graph.graph_spec import HIT, Marks, Still, graph_spec, sight
from workbench.widgets.graph.graph_status import overview_marks, tools_status
from workbench.widgets.graph.graph_texts import box_meant
from workbench.widgets.graph.graph_tools import GraphTools
from workbench.widgets.graph.model.breakpoint_marks import PointMarks
from workbench.widgets.graph.model.group import ROOT, Path, frame_id
from workbench.widgets.graph.model.live_state import branch_sides, graph_state
from workbench.widgets.graph.model.moves import node_of
from workbench.widgets.graph.model.node_values import NodeReading, RunReader, first_of
from workbench.widgets.graph.model.overview import Overview
from workbench.widgets.graph.model.picture import draw
from workbench.widgets.graph.model.scene import Scene
from workbench.widgets.graph.model.search import GraphSearch
from workbench.widgets.live.selection import Selection
from workbench.widgets.live.view_source import ViewSource, is_running

if TYPE_CHECKING:
    from workbench.widgets.live.view_source import Viewable

HEIGHT = 820
#: a graph with more boxes than this has an overview
LARGE = 500


class GraphView(GraphControl, FigureView):
    """The picture of a graph: nested boxes, live values, the node to fire next, the branch taken, breakpoints.

    Loops, name scopes and repeated blocks are boxes that open and close by a click, at most 500 boxes at once. A click
    on a node selects it in all views; with Ctrl, Alt, Shift or the command key it sets or removes a breakpoint.

    Parameters
    ----------
    source : Session, Trace or Graph
        The graph, or a run of it.
    collapsed : collection of tuple, optional
        Paths of the frames to draw as one box. By default as many boxes are open as fit on the page at a readable size.
    height : int
        Height in pixels.
    direction : {"down", "right"}, default "down"
        The direction in which data flows.
    dataflow_ops : bool, default False
        Whether Enter, Merge, Switch, Exit, NextIteration and LoopCond are drawn as nodes. Otherwise a loop is a box
        with the start, present and next values of its variables, and a branch is a box with two sides.
    follow : bool, default True
        Whether the boxes around the position of the session are opened, except those closed by hand.
    selection : Selection, optional
        A selection to share.

    Examples
    --------
    >>> view = wb.widgets.GraphView(session)
    >>> view.search("op:multiply")
    ['while/multiply', 'while/multiply_1']
    >>> view.select("while/divide")
    >>> view.selected
    'while/divide'
    """

    title = "Graph"
    _seen: str | None = None  # the selection shown last
    _stood: str | None = None  # the session's position then
    _at: str | None = None  # the group that is selected, if it is not a node
    _sight: str | None = None  # the item that is kept visible

    def __init__(
        self,
        source: ViewSource | Viewable,
        collapsed: Collection[Path] | None = None,
        height: int = HEIGHT,
        *,
        direction: str = "down",
        dataflow_ops: bool = False,
        follow: bool = True,
        selection: Selection | None = None,
    ) -> None:
        self.source = source if isinstance(source, ViewSource) else ViewSource(source)
        self.height = height
        self.follow = follow
        graph = self.source.graph
        self.scene = Scene(graph, dataflow_ops)
        if collapsed is not None:
            self.scene.set_closed_frames(collapsed)
        self._drawn_version = -1
        self._still = Still()
        self._reader = RunReader(self.source)
        self._sides = branch_sides(graph)
        self._points = PointMarks(self.source.session)
        self._shown_points = self._points.key()
        self.finder = GraphSearch(graph)
        self._listeners: list[Callable[[str], None]] = []
        self._start_control(direction)
        self._handled = collapsed is not None  # the open boxes are given by the caller
        large = len(self.scene.folding.drawn) > LARGE
        self.overview = Overview(graph) if large else None
        self.tools = GraphTools(self._pressed, self.overview)
        self.legend = HtmlPart("graph/graph_legend.js", {"signs": []}, lambda kind, content: None)
        super().__init__(self.source, selection)
        self.add_class("workbench-graph")
        if self.source.session is not None:
            self._unhear = self.source.session.breakpoints.on_change(self._done_elsewhere)

    # -- model and figure -------------------------------------------------------------------------------------------
    @property
    def picture(self) -> dict[str, Any]:
        """Boxes, frames and edges as they are shown, as plain data."""
        with self._show_lock:
            if self._drawn_version != self.scene.version:
                self._picture = draw(self.scene)
                self._drawn_version = self.scene.version
            return self._picture

    def _dead(self, node: str | None, branches: Mapping[str, bool], older: Mapping[str, bool]) -> str:
        """The reason why a node has no value, or had none when its branch was last decided."""
        if node is None:
            return ""
        if branches and node in self._sides.dead(branches):
            return "dead: on a branch not taken"
        if older and node in self._sides.dead({**branches, **older}):
            return "dead in an earlier iteration: on a branch not taken"
        return ""

    def model(self, snapshot: Any) -> dict[str, Any]:
        running, moment, graph = is_running(snapshot), self.selection.moment, self.source.graph
        # during a run the position is that of the last stop
        position = None if running else getattr(getattr(snapshot, "position", None), "node", None)
        failed = position if str(getattr(snapshot, "state", "")) == "failed" and moment is None else None
        self._watch(position, getattr(snapshot, "event", 0))
        picture, node = self.picture, node_of(graph, self.selection.node)
        reader = self._reader
        progress = getattr(snapshot, "iterations", {})
        reader.begin((getattr(snapshot, "version", None), moment), running, moment, progress)
        branches, older = reader.branches()
        loops = [
            (b["id"], self.scene.groups[b["id"]].frame)
            for b in (*picture["frames"], *picture["nodes"])
            if b["id"] in self.scene.groups and self.scene.groups[b["id"]].kind == "loop"
        ]
        variables = [v.merge for frame in graph.frames.values() for v in frame.variables]
        readings = reader.values(first_of(picture["nodes"], self._around(position), variables))
        if node is not None and node not in readings:
            readings |= reader.values([(node, "")])
        if failed is not None:  # its earlier value is not the one that it failed to compute now
            readings[failed] = NodeReading("failed", "failed")
        state = graph_state(
            picture,
            self._sides,
            current=self._marked(picture, position),
            branches=branches,
            older=older,
            values={name: reading.text for name, reading in readings.items()},
            brief={name: reading.brief for name, reading in readings.items()},
            bad={name: reading.bad for name, reading in readings.items() if reading.bad},
            ages={name: reading.age for name, reading in readings.items() if reading.age},
            loops=reader.loops(loops[:200]),
            caption=self._captioned(picture, position),
        )
        marks = Marks(
            selected=self._at if self._at is not None else picture["home"].get(node or ""),
            matches=frozenset(picture["home"].get(name, "") for name in self.matches),
            points=self._points.marks(picture),
            zoom=self.zoom,
            elsewhere=moment is not None,
        )
        armed = None if self.source.session is None or node is None else bool(self._points.on(node))
        status = tools_status(
            self.scene,
            node=node,
            box=self._at,
            zoom=self.zoom,
            matches=self.matches,
            match=self.match,
            query=self.query,
            armed=armed,
            value=_reading_text(readings[node]) if node in readings else "",
            bad=readings[node].bad if node in readings else "",
            dead=self._dead(node, branches, older),
            error=self.error,
        )
        in_sight = self._sight if self._sight in self.scene.groups else picture["home"].get(self._sight or "")
        if state["caption"] is not None and self._sight == position:
            in_sight = state["caption"]
        status["sight"] = sight(picture, in_sight, self.zoom)
        if status["sight"] is not None:
            status["sight"]["middle"] = self._revealed[1] if self._revealed[0] == self._sight else 0
        if self.overview is not None:
            status["overview"] = overview_marks(
                self.overview, self.scene, node=node, current=position, matches=self.matches, box=self._at
            )
        return {
            "picture": picture,
            "state": state,
            "marks": marks,
            "status": status,
            "legend": legend(picture, state, marks),
            "selected": self.selected,
        }

    def _captioned(self, picture: Mapping[str, Any], node: str | None) -> str | None:
        """The open loop whose caption lists the next node (an input without a box) as an invariant."""
        graph = self.source.graph
        if node is None or self._marked(picture, node) is not None:
            return None
        frames = [graph.frame_of(reader) for reader in graph.consumers(node)]
        groups = self.scene.groups
        return next(
            (f["id"] for f in picture["frames"] if groups[f["id"]].frame in frames and f["kind"] == "loop"), None
        )

    def _marked(self, picture: Mapping[str, Any], node: str | None) -> str | None:
        """The node if it is the next one; an input listed in the caption of a loop has no box to mark."""
        home = picture["home"].get(node or "")
        known = self.source.graph.nodes.get(node or "")
        inside = known is not None and known.op == "Placeholder" and home != node and home not in self.scene.groups
        return None if inside else node

    def spec(self, model: dict[str, Any]) -> dict[str, Any]:
        return graph_spec(model["picture"], model["state"], model["marks"], self._still)

    def plain_spec(self, model: dict[str, Any]) -> dict[str, Any]:
        """Return the figure with a fixed width, for use outside a notebook."""
        spec = self.spec(model)
        layout, hits = spec["layout"], spec["data"][HIT]
        spec["data"][HIT] = {**hits, "hoverinfo": "text", "hovertext": [_in_html(said) for said in hits["hovertext"]]}
        layout |= {"width": max(320, int(layout["meta"]["min_width"])), "dragmode": "pan"}
        for axis in ("xaxis", "yaxis"):
            layout[axis] = {**layout[axis], "fixedrange": False}
        return spec

    def refresh(self, model: dict[str, Any]) -> None:
        self.tools.offer(model["status"])
        self.legend.offer({"signs": model["legend"]})

    @property
    def behind(self) -> bool:
        return self._reader.behind

    def _around(self, node: str | None) -> list[str]:
        """A node and its neighbours, whose values are read first."""
        if node is None or node not in self.source.graph.nodes:
            return []
        found = self.source.graph.nodes[node]
        return [node, *(r.node for r in found.inputs), *self.source.graph.consumers(node)[:20]]

    def arrange(self) -> tuple[ipywidgets.Widget, ...]:
        scroller = ipywidgets.Box([self.live], layout={"overflow": "auto", "max_height": f"{self.height + 24}px"})
        scroller.add_class("workbench-scroll")
        self.refresh(self.model(self.source.snapshot()))
        return (self.tools, scroller, self.legend)

    # -- opening and closing ----------------------------------------------------------------------------------------
    @property
    def collapsed(self) -> tuple[Path, ...]:
        """Paths of the frames drawn as one box."""
        return self.scene.closed_frames

    def collapse(self, *paths: Path) -> None:
        """Draw exactly these frames, given as paths, as one box each; without arguments open all."""
        with self._show_lock:
            self._shut, self._handled = {frame_id(tuple(p)) for p in paths}, True
            self.scene.set_closed_frames(paths)
        self.update_now()

    def expand(self, *boxes: str | Path) -> None:
        """Open boxes; without arguments as many as may be open.

        Parameters
        ----------
        *boxes : tuple of str, or str
            Path of a frame, or id of a group (``view.scene.groups`` has them).

        Raises
        ------
        WorkbenchError
            For an unknown box (``no-such-box``).
        """
        with self._show_lock:
            self._handled = True
            if not boxes:
                self._shut.clear()
                self.scene.all(True)
            for box in boxes:
                key = box if isinstance(box, str) else frame_id(tuple(box))
                if key not in self.scene.groups:
                    raise WorkbenchError(
                        f"This graph has no box {box!r}.",
                        slug="no-such-box",
                        fix="give a path of graph.frames, or an id of view.scene.groups.",
                    )
                self._shut -= {key, *self.scene.around(key)}
                self.scene.show(key, inside=True)
        self.update_now()

    # -- selecting --------------------------------------------------------------------------------------------------
    def on_select(self, callback: Callable[[str], None]) -> None:
        """Call ``callback(node name)`` at each click on a node; it must not block."""
        self._listeners.append(callback)

    def select(self, name: str) -> None:
        """Select a node or a value, as a click does."""
        self._at = None
        self.selection.did(f"panel.selection.select({name!r})", about="select")
        if self.selection.node == name:
            self.update_now()
        self.selection.select(name)
        for listener in list(self._listeners):
            listener(name)

    @property
    def selected(self) -> str | None:
        """The node that is selected, in this view and in all that share its selection."""
        return self.selection.node

    def selection_changed(self, selection: Selection) -> None:
        if selection.node is not None and selection.node != self._seen:
            self._at, self._sight = None, node_of(self.source.graph, selection.node)
        self._seen = selection.node
        super().selection_changed(selection)

    def _clicked(self, event: PointEvent) -> None:
        if event.customdata is None:
            return
        kind, key = event.customdata[:2]
        box = box_meant(self.picture, str(key))
        if kind == "node" and box is not None:
            if event.keys:
                self.toggle_breakpoint(box)
            else:
                self.select(box)
        elif box in self.scene.groups and box != ROOT:
            self.toggle(str(box))

    def _done_elsewhere(self) -> None:
        """Handle a change of breakpoints here, in another view or in a cell."""
        if self._points.key() != self._shown_points:
            self._shown_points = self._points.key()
            self.update_now()

    def _pressed(self, kind: str, content: Mapping[str, Any]) -> None:
        if hasattr(self, "live"):  # not during construction
            self.press(kind, content)

    def close(self) -> None:
        """Unsubscribe from updates and close all comms of the view. Closing twice is harmless."""
        if hasattr(self, "_unhear"):
            self._unhear()
        if hasattr(self, "legend"):
            self.tools.close()
            self.legend.close()
        super().close()


def _in_html(words: str) -> str:
    return "<br>".join(map(text, words.split("\n")))


def _reading_text(reading: NodeReading) -> str:
    return f"{reading.text} of iteration {reading.age}" if reading.age else reading.text
