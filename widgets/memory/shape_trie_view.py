"""The shapes of a run, or the real contents of a shape trie: a collapsible icicle of ranks, dims and descriptors."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, cast

import ipywidgets

from workbench.errors import WorkbenchError
from workbench.kernels import SHAPES
from workbench.text import harmless
from workbench.threads import Event, ended_at_exit, started
from workbench.widgets.base.figure.figure_view import FigureView
from workbench.widgets.base.spec import Spec
from workbench.widgets.live.selection import Selection
from workbench.widgets.live.view_source import ViewSource
from workbench.widgets.memory.shape_trie_model import MAX_NODES, own_headline, own_shapes, shapetrie_model
from workbench.widgets.memory.shape_trie_spec import shapetrie_spec

if TYPE_CHECKING:
    from workbench.kernels import ShapeTrie
    from workbench.session import Session

#: in place of an empty picture
NO_SHAPES = "No shapes yet.<br>Arrays have them, single numbers<br>do not; ShapeTrie.intern adds more."
NO_ARRAYS = "This graph computes with single numbers:<br>no array, so no shape to show."
#: least seconds between two looks at the trie; a look takes a tenth of the time at most
EVERY_S = 0.5


class TrieSource(ViewSource):
    """A trie where views expect a session, a trace or a graph; of a session the shapes of its own run."""

    def __init__(self, trie: ShapeTrie, session: Session | None = None) -> None:
        # not that of Source: there is no graph and no trace
        self._trie = trie
        self.session = session
        self.graph: Any = None

    @property
    def trie(self) -> ShapeTrie:
        """The trie; of a session a new one each time, with the shapes that its run has met so far."""
        if self.session is not None:
            return own_shapes(self.session.shapes)
        return self._trie

    def model(self, max_nodes: int) -> dict[str, Any]:
        """The model of the shapes; its headline says of which runs they are."""
        trie = self.trie
        model = shapetrie_model(trie, max_nodes)
        if self.session is not None:
            model["headline"] = own_headline(len(trie), len(SHAPES))
            for row in model["rows"]:
                row["references"] = None  # those of a copy tell nothing
        elif trie is SHAPES:
            model["headline"] = f"All runs in this kernel: {model['headline']}"
        return model

    @property
    def trace(self) -> Any:
        return None

    def snapshot(self) -> Any:
        return self.session.snapshot() if self.session is not None else None


class ShapeTrieView(FigureView):
    """The shapes of a trie as an icicle: rank, then sizes, then dtype and layout, with the number of shapes beside.

    A trie without a session is read every half second while a browser shows the view. Reading does not block runs.

    Parameters
    ----------
    source : ShapeTrie or Session, optional
        A trie, by default that of this process (``workbench.kernels.SHAPES``), which holds the shapes of all runs;
        or a session: then the view shows the shapes of its run, and follows it.
    max_nodes : int
        About how many rows are shown; the rest is summed up.
    height : int, optional
        Height in pixels; by default as many as the rows need, within limits.
    selection : Selection, optional
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
        selection: Selection | None = None,
    ) -> None:
        self.max_nodes = max_nodes
        self.height = height
        self._took = 0.0
        self._looked = float("-inf")
        self._model: dict[str, Any] | None = None
        self._watch: threading.Thread | None = None
        self._ended = Event()
        super().__init__(_source(source), selection)

    def model(self, snapshot: Any) -> dict[str, Any]:
        now = time.monotonic()
        running = str(getattr(snapshot, "state", "")) == "running"
        if self._model is None or not running or now - self._looked > max(EVERY_S, 10 * self._took):
            self._model = self.source.model(self.max_nodes)
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
        if graph is None or self.selection.node is None:
            return None
        try:
            kind = graph.type_of(self.selection.node)
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

    @harmless
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
