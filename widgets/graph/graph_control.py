"""Actions on the picture of a graph: open, search, move, zoom, set breakpoints; by button, by key and by code, on any
thread.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError
from workbench.widgets.graph.model.group import ROOT
from workbench.widgets.graph.model.moves import MOVES, node_of, step
from workbench.widgets.graph.model.picture import draw

ZOOMS = (0.25, 0.35, 0.5, 0.7, 0.85, 1.0, 1.25, 1.5, 2.0)
#: zooms below which the words of a picture are hard to read, and cannot be read
LEGIBLE, WHOLE = 0.8, 0.6
#: pictures with more boxes are not narrowed to fit
MAX_NARROWED = 150
DIRECTIONS = ("down", "right")
#: maximum matches outlined at once
MAX_MATCHES = 100_000

if TYPE_CHECKING:
    from workbench.widgets.base.figure.figure_view import FigureView as _Part
    from workbench.widgets.graph.model.breakpoint_marks import PointMarks
    from workbench.widgets.graph.model.overview import Overview
    from workbench.widgets.graph.model.scene import Scene
    from workbench.widgets.graph.model.search import GraphSearch
else:
    _Part = object


class GraphControl(_Part):
    """The commands of a :class:`~workbench.widgets.graph.graph_view.GraphView`, of which this is a part."""

    if TYPE_CHECKING:  # of the view
        scene: Scene
        finder: GraphSearch
        overview: Overview | None
        follow: bool
        height: int
        _points: PointMarks
        _at: str | None
        _sight: str | None
        _stood: str | None

        @property
        def picture(self) -> dict[str, Any]: ...
        def select(self, name: str) -> None: ...

    def _start_control(self, direction: str) -> None:
        #: 1.0 is full size
        self.zoom = 1.0
        self.query = ""
        self.matches: list[str] = []
        self.match = -1
        self.error = ""
        self._refused = False  # the last search
        self._revealed = ("", 0)  # the node to centre, and the count of such requests
        self._shut: set[str] = set()  # closed by hand
        self._blamed: str | None = None
        self._moved = False  # the session has executed nodes
        self._handled = False  # the user has opened or closed a box
        self._room = (0.0, 0.0)  # what the picture is fitted to, until the user zooms
        _check_direction(direction)
        self.scene.direction = direction

    def _watch(self, position: str | None, event: int) -> None:
        """Keep the node that fires next visible; open the boxes around it, except those closed by hand."""
        if position is None or position == self._stood:
            return
        self._stood, self._sight, self._moved = position, position, bool(event)
        item = self.scene.folding.home.get(position, position)
        if self.follow and event and not self._shut.intersection(self.scene.around(item)):
            self._show(item)

    def blame(self, node: str | None) -> None:
        """Open the boxes around the node that computed the first bad value, and keep it visible, until the user opens,
        closes or selects something else.
        """
        if node is None or node == self._blamed or self._shut or self.selection.node is not None:
            return
        self._blamed = node
        with self._show_lock:
            self._sight = node
            self._show(self.scene.folding.home.get(node, node))
        self.update_now()

    def _show(self, item: str) -> None:
        """Open the boxes around an item; if the picture then does not fit, boxes that only earlier positions needed are
        closed.
        """
        if self.scene.show(item) and not self._refit() and not self._handled:
            self._unfold()
            self.scene.show(item)
            self._refit()

    # -- opening and closing ----------------------------------------------------------------------------------------
    def toggle(self, box: str) -> None:
        """Open or close a group, as a click does; ``box`` is its id."""
        with self._show_lock:
            self._handled = True
            if box in self.scene.open:
                self._shut.add(box)
            else:
                self._shut -= {box, *self.scene.around(box)}
            self.scene.toggle(box)
            self._refit()
            self._at = self._sight = box
        self.update_now()

    def reveal(self, name: str) -> None:
        """Open all boxes around a node or a value, select it and scroll to it.

        Raises
        ------
        GraphError
            For a name that is not in the graph (``unknown-value``).
        """
        node = node_of(self.source.graph, name) or self.source.graph.value(name).node
        with self._show_lock:
            item = self.scene.folding.home.get(node, node)
            self._shut -= set(self.scene.around(item))
            self._handled |= self.scene.show(item)
            self._sight = node
            self._revealed = (node, self._revealed[1] + 1)
        self.select(node)

    @property
    def direction(self) -> str:
        """The direction in which data flows in the picture: "down" or "right"; can be set."""
        return self.scene.direction

    @direction.setter
    def direction(self, value: str) -> None:
        _check_direction(value)
        with self._show_lock:
            self.scene.direction = value
            self._refit()
        self.update_now()

    @property
    def dataflow_ops(self) -> bool:
        """True if Enter, Merge, Switch, Exit, NextIteration and LoopCond are drawn as nodes, instead of loops and
        branches; can be set.
        """
        return self.scene.dataflow_ops

    @dataflow_ops.setter
    def dataflow_ops(self, value: bool) -> None:
        with self._show_lock:
            self.scene.dataflow_ops = bool(value)
            self._shut &= self.scene.groups.keys()
            self._at = self._at if self._at in self.scene.groups else None
            self._refit()
        self.update_now()

    # -- search -----------------------------------------------------------------------------------------------------
    def search(self, query: str) -> list[str]:
        """Find and mark nodes.

        Parameters
        ----------
        query : str
            Conditions such as ``op:MatMul dtype:float32 shape:3,3 name~conv``, or a part of a name or op.

        Returns
        -------
        list of str
            Names of the nodes.

        Raises
        ------
        WorkbenchError
            For an unknown condition (``bad-search``).
        """
        found = self.finder.find(query)
        with self._show_lock:
            self.query, self.matches, self.match = query, found[:MAX_MATCHES], -1
        self.update_now()
        return found

    def next_match(self, n: int = 1) -> str | None:
        """Select the next match of the last search, cyclically; ``n=-1`` goes back. Returns its name, or None."""
        if not self.matches:
            return None
        first = 0 if n > 0 else -1
        self.match = (first if self.match < 0 else self.match + n) % len(self.matches)
        self.reveal(self.matches[self.match])
        return self.matches[self.match]

    def previous_match(self) -> str | None:
        """Select the previous match of the last search. Returns its name, or None."""
        return self.next_match(-1)

    def _hit(self, number: Any) -> None:
        """Select a match by its index."""
        if isinstance(number, int) and 0 <= number < len(self.matches):
            self.match = number
            self.reveal(self.matches[number])

    # -- breakpoints ------------------------------------------------------------------------------------------------
    def toggle_breakpoint(self, name: str | None = None) -> bool:
        """Set a breakpoint on a node, or remove those on it.

        Parameters
        ----------
        name : str, optional
            The node; by default the selected one.

        Returns
        -------
        bool
            True if the node now has a breakpoint.

        Raises
        ------
        WorkbenchError
            Without a session, or if the node cannot stop it.
        """
        session = self.source.session
        node = node_of(self.source.graph, name if name is not None else self.selection.node)
        if session is None or node is None:
            raise WorkbenchError(
                "A breakpoint needs a session and a node." if session is None else "No node is selected.",
                slug="no-breakpoint-here",
                fix="open the view on a wb.Session and select a node.",
            )
        own = self._points.on(node)
        for point in own:
            session.breakpoints.remove(point.number)
            self.selection.did(f"session.breakpoints.remove({point.number})")
        if not own:
            self.selection.did(session.breakpoints.add(node).code())
        self.update_now()
        return not own

    # -- zoom and moves ---------------------------------------------------------------------------------------------
    def zoom_to(self, value: float | str, width: float = 0.0, height: float = 0.0) -> None:
        """Zoom the picture.

        Parameters
        ----------
        value : float or {"in", "out", "one", "fit", "start", "again", "selection"}
            A factor from 0.1 to 3 (1 is full size); "fit" shows the whole picture, "selection" the selected node,
            large; "start" opens as many boxes as fit at a readable size, if the user has opened or closed none, and
            then fits the picture without making words unreadable; "again" is "start" if the user has not zoomed since.
        width, height : float, default 0.0
            Available pixels for "fit", "start" and "again".
        """
        if value in ("fit", "start", "again"):
            wide = width if 50.0 < width < 10_000.0 else 700.0
            tall = min(self.height, height if height > 50.0 else self.height)
            if value == "again" and not self._room[0]:
                return
            self._room = (wide, tall)
            if value != "fit" and not self._handled:
                self._unfold()
            found = self._fitted()
            new = found if value == "fit" or found >= WHOLE else LEGIBLE
        elif value == "selection":
            new = 1.5
            self._sight = self._at or node_of(self.source.graph, self.selection.node) or self._sight
        elif value in ("in", "out"):
            steps = [z for z in ZOOMS if (z > self.zoom + 0.01 if value == "in" else z < self.zoom - 0.01)]
            new = (steps[0] if value == "in" else steps[-1]) if steps else self.zoom
        else:
            new = 1.0 if value == "one" else value  # type: ignore[assignment]
        if not isinstance(new, (int, float)) or not new > 0:
            raise WorkbenchError(
                f"{value!r} is not a zoom factor.", slug="bad-zoom", fix="give a number between 0.1 and 3."
            )
        if value not in ("fit", "start", "again"):
            self._room = (0.0, 0.0)
        self.zoom = float(min(3.0, max(0.1, new)))
        self.update_now()

    def _fit(self, picture: Mapping[str, Any]) -> float:
        """The zoom at which a picture fits the available space."""
        wide, tall = self._room
        return min(1.0, tall / max(picture["height"], 1.0), wide / max(picture["width"], 1.0))

    def _narrowed(self, enough: float = 1.0) -> float:
        """Choose the width across the flow at which the picture can be drawn largest, or ``enough``, by rough drawings;
        returns the zoom.
        """
        room = self._room[self.scene.direction == "right"]
        rooms = [math.inf, *(room / zoom for zoom in (LEGIBLE, 0.9, 1.0, WHOLE))]
        best = (-1.0, math.inf)
        for across in rooms if self.scene.boxes <= MAX_NARROWED else rooms[:1]:
            self.scene.across = across
            best = max(best, (self._fit(draw(self.scene, rough=True)), across))
            if best[0] >= enough:
                break
        self.scene.across = min(best[1], room / best[0])
        return best[0]

    def _fitted(self) -> float:
        """The zoom at which the picture fits, with the width across the flow at which it can be drawn largest."""
        self._narrowed()
        return self._fit(self.picture)

    def _refit(self) -> bool:
        """The zoom for other boxes in the same space, limited so that words stay readable; False if they would not."""
        found = self._fitted() if self._room[0] else WHOLE
        if self._room[0]:
            self.zoom = found if found >= WHOLE else LEGIBLE
        return found >= WHOLE

    def _unfold(self) -> None:
        """Open as many boxes as remain readable; those around the session's position come first, and are opened even if
        the words are small.
        """
        home = self.scene.folding.home
        with self._show_lock:
            place = self._stood if self.follow and self._moved else None
            needed = [g for p in (place, self._blamed) if p is not None for g in self.scene.around(home.get(p, p))]
            self.scene.unfold(needed, lambda least: self._narrowed(least) >= least, LEGIBLE, WHOLE)

    def move(self, move: str) -> None:
        """Select a neighbour of the selected node: "with" or "against" the flow, "before" or "after" it in the row."""
        picture = self.picture
        node = node_of(self.source.graph, self.selection.node)
        box = step(picture, self._at or picture["home"].get(node or ""), move)
        if box is None:
            return
        if box in self.scene.groups:
            self._at = self._sight = box
            self.update_now()
        else:
            self.select(box)

    def key(self, key: str) -> None:
        """Handle a key pressed in the view."""
        if key in MOVES[self.scene.direction]:
            self.move(MOVES[self.scene.direction][key])
        elif key == "Enter" and self._at is not None:
            self.toggle(self._at)
        elif key in ("Backspace", "Escape"):
            self._close_around()
        elif key in ("b", "B"):
            self.toggle_breakpoint()
        elif key in ("n", "N"):
            self.next_match(1 if key == "n" else -1)
        elif key in ("+", "-", "0"):
            self.zoom_to({"+": "in", "-": "out", "0": "one"}[key])

    def _close_around(self) -> None:
        """Close the box around the selection, and select that box."""
        node = node_of(self.source.graph, self.selection.node)
        item = self._at or self.picture["home"].get(node or "", "")
        around = self.scene.around(item)
        if self._at is not None and self._at in self.scene.open:
            self.toggle(self._at)
        elif len(around) > 1:
            self.toggle(around[-1])

    # -- messages from the browser -------------------------------------------------------------------------------------
    def press(self, kind: str, content: Mapping[str, Any]) -> None:
        """Execute a button or key of the view; an error is shown there."""
        text, value = str(content.get("text", "")), content.get("value")
        actions: dict[str, Callable[[], Any]] = {
            "search": lambda: self.search(text),
            "next": self.next_match,
            "previous": self.previous_match,
            "hit": lambda: self._hit(value),
            "key": lambda: self.key(text),
            "go": lambda: self.reveal(text),
            "breakpoint": self.toggle_breakpoint,
            "direction": lambda: setattr(self, "direction", DIRECTIONS[self.direction == "down"]),
            "zoom": lambda: self.zoom_to(str(value), *(_number(content.get(k)) for k in ("width", "height"))),
            "all": lambda: self._all(value == "open"),
            "ops": lambda: setattr(self, "dataflow_ops", not self.dataflow_ops),
            "crumb": lambda: self._crumb(text),
            "overview": lambda: self._overview(_number(content.get("x")), _number(content.get("y"))),
        }
        if kind not in actions or (kind in ("next", "previous") and self._refused):
            return  # Enter sends a search and "next": an error of the search stays visible
        if kind == "search":
            self._refused = False
        was, self.error = self.error, ""
        try:
            actions[kind]()
        except WorkbenchError as error:
            self.error = error.message + (f" {error.fix}" if error.fix else "")
            self._refused = kind == "search"
        if self.error or was:
            self.update_now()

    def _all(self, opened: bool) -> None:
        with self._show_lock:
            self._handled = True
            self._shut.clear()
            self.scene.all(opened)
            self._refit()
        self.update_now()

    def _crumb(self, box: str) -> None:
        """Close the boxes inside a box, and show it."""
        with self._show_lock:
            if box not in self.scene.groups:
                return
            self._handled = True
            for item in self.scene.groups[box].items:
                if item in self.scene.open:
                    self._shut.add(item)
                    self.scene.close(item)
            if box != ROOT:
                self._at = self._sight = box
            else:
                self._at = None
        self.update_now()

    def _overview(self, x: float, y: float) -> None:
        if self.overview is None or not (0.0 <= x <= 1.0 and 0.0 <= y <= 1.0):
            return
        rows, columns = self.overview.cells.shape
        node = self.overview.nearest(x * columns, y * rows)
        if node is not None:
            self.reveal(node)


def _number(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) else -1.0


def _check_direction(value: str) -> None:
    if value not in DIRECTIONS:
        raise WorkbenchError(f"{value!r} is not a direction.", slug="bad-direction", fix='use "down" or "right".')
