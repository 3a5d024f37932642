"""The real contents of a shape trie: a collapsible icicle of ranks, dims and descriptors, live."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, cast

import ipywidgets
import numpy as np

from workbench.errors import WorkbenchError
from workbench.kernels import SHAPES
from workbench.threads import ended_at_exit, started
from workbench.widgets.base import theme
from workbench.widgets.base.figure.figure_view import FigureView
from workbench.widgets.base.spec import Spec, base_layout, text, title
from workbench.widgets.live.selection import Focus
from workbench.widgets.live.view_source import ViewSource
from workbench.widgets.memory.shape_trie_model import MAX_NODES, shapetrie_model
from workbench.widgets.text.numerals import numeral

if TYPE_CHECKING:
    from workbench.kernels import ShapeTrie
    from workbench.session import Session

MIN_HEIGHT, MAX_HEIGHT, ROW_HEIGHT = 220, 900, 19
#: in place of an empty picture
NO_SHAPES = "No shapes yet.<br>Arrays have them, single numbers<br>do not; ShapeTrie.intern adds more."
NO_ARRAYS = "This graph computes with single numbers:<br>no array, so no shape to show."
#: on these colours, in both themes
INK = "#111111"
#: least seconds between two looks at the trie; a look takes a tenth of the time at most
EVERY_S = 0.5
KIND_COLOURS = {"root": theme.GREY, "rank": theme.SKY, "dim": theme.GREEN, "shape": theme.ORANGE, "more": theme.GREY}


class TrieSource(ViewSource):
    """A trie where views expect a session, a trace or a graph."""

    def __init__(self, trie: ShapeTrie, session: Session | None = None) -> None:
        # not that of Source: there is no graph and no trace
        self.trie = trie
        self.session = session
        self.graph: Any = None

    @property
    def trace(self) -> Any:
        return None

    def snapshot(self) -> Any:
        return self.session.snapshot() if self.session is not None else None


class ShapeTrieView(FigureView):
    """The shapes of a trie as an icicle: rank, then sizes, then dtype and layout, with the number of shapes beside.

    A trie without a session is read every half second while a browser shows the view. Reading blocks nobody.

    Parameters
    ----------
    source : ShapeTrie or Session, optional
        A trie, by default that of this process (``workbench.kernels.SHAPES``); or a session, whose run the view
        follows.
    max_nodes : int
        About how many rows are shown; the rest is summed up.
    height : int, optional
        Height in pixels; by default as many as the rows need, within limits.
    focus : Focus, optional
        A selection to share: the shape of the selected value has a thick edge.

    Examples
    --------
    >>> wb.widgets.ShapeTrieView(session).title
    'Shapes'
    """

    title = "Shapes"

    def __init__(
        self,
        source: ShapeTrie | Session | None = None,
        max_nodes: int = MAX_NODES,
        height: int | None = None,
        *,
        focus: Focus | None = None,
    ) -> None:
        self.max_nodes = max_nodes
        self.height = height
        self._took = 0.0
        self._looked = float("-inf")
        self._model: dict[str, Any] | None = None
        self._watch: threading.Thread | None = None
        self._ended = threading.Event()
        super().__init__(_source(source), focus)

    def model(self, snapshot: Any) -> dict[str, Any]:
        now = time.monotonic()
        running = str(getattr(snapshot, "state", "")) == "running"
        if self._model is None or not running or now - self._looked > max(EVERY_S, 10 * self._took):
            self._model = shapetrie_model(self.source.trie, self.max_nodes)
            self._looked = time.monotonic()
            self._took = self._looked - now
        return {
            **self._model,
            "selected": self._selected(),
            "nothing": NO_ARRAYS if self._numbers_only() else NO_SHAPES,
        }

    def _numbers_only(self) -> bool:
        """True for a session whose values are all single numbers, as far as the graph declares them."""
        graph = getattr(self.source.session, "graph", None)
        return graph is not None and all(kind.shape == () for node in graph.nodes.values() for kind in node.types)

    def _selected(self) -> tuple[str, str] | None:
        """(dims, dtype) of the value that is selected, as far as the graph declares them."""
        graph = getattr(self.source.session, "graph", None)
        if graph is None or self.focus.node is None:
            return None
        try:
            kind = graph.type_of(self.focus.node)
        except WorkbenchError:
            return None
        if not kind.shape or any(d is None for d in kind.shape):
            return None
        return " \u00d7 ".join(map(str, kind.shape)), str(kind.dtype)

    def spec(self, model: dict[str, Any]) -> Spec:
        return shapetrie_spec(model, self.height)

    # -- a trie alone has no pump: a thread of the view's own looks at it while it is on a page ---------------------
    def _drawn(self, fresh: bool = True) -> None:
        super()._drawn(fresh)
        if self.pump is None and self._watch is None and not self._ended.is_set():
            ended_at_exit(self._end_watch)
            self._watch = started(self._look, "workbench-shapes")  # None: the next drawing tries again

    def _look(self) -> None:
        while not self._ended.wait(max(EVERY_S, 10 * self._took)):
            if self.views and (self.in_flight < 1 or self.waited > EVERY_S):
                self.show(None)

    def _end_watch(self) -> None:
        self._ended.set()
        if self._watch is not None and self._watch is not threading.current_thread():
            self._watch.join(timeout=5.0)

    def close(self) -> None:
        self._end_watch()
        super().close()

    def __repr__(self) -> str:
        return f"<ShapeTrieView: {len(self.source.trie)} shapes>"

    def arrange(self) -> tuple[ipywidgets.Widget, ...]:
        return (self.live,)


def _source(source: ShapeTrie | Session | None) -> TrieSource:
    if source is None:
        return TrieSource(SHAPES)
    if hasattr(source, "snapshot") and hasattr(source, "post"):
        return TrieSource(SHAPES, cast("Session", source))
    if hasattr(source, "tree") and hasattr(source, "stats"):
        return TrieSource(source)
    raise WorkbenchError(
        f"ShapeTrieView: expected a shape trie or a session, got {type(source).__name__}.",
        slug="no-view-source",
        fix="pass a kernels.ShapeTrie, a wb.Session, or nothing for the trie of this process.",
    )


def _shapes(count: int) -> str:
    return f"{numeral(count)} shape{'' if count == 1 else 's'}"


def shapetrie_spec(model: dict[str, Any], height: int | None = None) -> Spec:
    """One icicle; colours tell ranks, dims and descriptors apart, a thick edge is around the selected value's."""
    rows = model["rows"]
    dims, dtype = model.get("selected") or ("", "")
    chosen = [r["kind"] == "shape" and r["path"] == dims and r["label"].split(" ")[0] == dtype for r in rows]
    empty = model["stats"]["entries"] == 0
    if height is None:
        height = int(min(max(ROW_HEIGHT * rows[0]["weight"] + 50, MIN_HEIGHT), MAX_HEIGHT))
    data = [
        {
            "type": "icicle",
            "ids": [r["id"] for r in rows],
            "parents": [r["parent"] for r in rows],
            "labels": [text(r["shown"]) for r in rows],
            "values": np.asarray([r["weight"] for r in rows], dtype=np.float64),
            "text": ["" if r["kind"] == "shape" else _shapes(r["entries"]) for r in rows],
            "customdata": [
                f"{text(r['path'])}<br>{_shapes(r['entries'])}, "
                f"{numeral(r['references'])} reference{'' if r['references'] == 1 else 's'}"
                for r in rows
            ],
            "branchvalues": "total",
            "tiling": {"orientation": "h", "pad": 1},
            "pathbar": {"visible": True, "thickness": 18},
            "marker": {
                "colors": [KIND_COLOURS[r["kind"]] for r in rows],
                "line": {
                    "width": [4.0 if c else 0.5 for c in chosen],
                    "color": [theme.VERMILION if c else INK for c in chosen],
                },
            },
            "root": {"color": "rgba(0,0,0,0)"},
            "texttemplate": "%{label}  <i>%{text}</i>",
            "hovertemplate": "%{customdata}<extra></extra>",
            "textfont": {"color": INK},
            "maxdepth": 6,
            "sort": False,
            "visible": not empty,
        }
    ]
    notes = []
    if empty:
        notes.append(
            {
                "xref": "paper",
                "yref": "paper",
                "x": 0.5,
                "y": 0.5,
                "showarrow": False,
                "font": {"size": 13},
                "text": model["nothing"],
            }
        )
    layout = base_layout(
        height,
        title=title(text(model["headline"])),
        annotations=notes,
        margin={"l": 8, "r": 8, "t": 34, "b": 8},
        uniformtext={"minsize": 9, "mode": "hide"},
        xaxis={"visible": False},
        yaxis={"visible": False},
    )
    return {"data": data, "layout": layout}
