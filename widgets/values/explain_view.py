"""Explanation of a value: the chain of values from which it was computed, back to inputs and constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from workbench.analysis.precision import first_nonfinite, first_wrap
from workbench.errors import WorkbenchError
from workbench.ir.node import Ref
from workbench.threads import Lock
from workbench.trace.provenance import Explanation, explain
from workbench.widgets.base.esm import joined, script
from workbench.widgets.base.html_view import HtmlView
from workbench.widgets.live.selection import Moment, Selection
from workbench.widgets.live.view_source import ViewSource, is_running
from workbench.widgets.text.display_names import Spoken
from workbench.widgets.text.edit_sentences import edit_sentences
from workbench.widgets.text.loop_names import tag_text
from workbench.widgets.values.explain_model import OPEN, blank, explain_rows, origin_model, path_of, typed_path

if TYPE_CHECKING:
    from workbench.trace import Trace
    from workbench.widgets.live.view_source import Viewable

#: values of a chain shown at first, and maximum
LINKS, MAX_LINKS = 60, 2000
#: maximum names suggested while typing
MAX_NAMES = 2000


class Overtaken(Exception):
    """Another chain has been requested."""


class ExplainView(HtmlView):
    """The chain of values from which one value was computed, as a tree whose branches fold.

    By default the selected value is explained, in the selected iteration (else its last firing). If a value of the
    chain is not finite, the origin of the first NaN or infinity is shown, too. While the session runs, the chain of the
    last stop is shown.

    Parameters
    ----------
    source : Session, Trace or Graph
        The run.
    name : str, optional
        The value to explain, independent of the selection.
    iteration : int or tuple of int, optional
        Its iteration.
    selection : Selection, optional
        A selection to share: a click on a value of the chain shows it in all views.

    Examples
    --------
    >>> view = wb.widgets.ExplainView(session, "x", 1)
    >>> view.status["rows"][0]["name"]
    'x'
    """

    title = "Explain"
    _script = script("values/explain_view.js")
    _css = joined("base/style/flow.css", "compare/compare.css")

    def __init__(
        self,
        source: ViewSource | Viewable,
        name: str | None = None,
        iteration: int | tuple[int, ...] | None = None,
        *,
        selection: Selection | None = None,
    ) -> None:
        self.source = source if isinstance(source, ViewSource) else ViewSource(source)
        self.name, self.iteration = name, path_of(iteration)
        self.links = LINKS
        self._spoken = Spoken(self.source.graph)
        self._kept: tuple[Any, dict[str, Any]] | None = None
        self._wanted: tuple[Any, Any, str | None, tuple[int, ...] | None] | None = None
        self._reading = self._whole = False
        self._queue = Lock()
        self._origin: tuple[Any, dict[str, Any]] | None = None
        self._following = name is None
        super().__init__(self.source, selection)

    # -- model ------------------------------------------------------------------------------------------------------
    def model(self, snapshot: Any) -> dict[str, Any]:
        trace = self.source.trace
        if trace is None:
            return blank("A graph has no values. Run it in a session first.")
        if is_running(snapshot):
            return (
                self._kept[1] if self._kept is not None else blank("Running. Values are explained when the run pauses.")
            )
        name, path = self._chosen()
        event = getattr(snapshot, "event", None)
        key = (id(trace), trace.source.revision, event, name, path, self.links)
        if self._kept is None or self._kept[0] != key:
            if self._whole or not self.views:
                self._read((key, trace, name, path))
            else:
                self._read_aside((key, trace, name, path))
        chain = dict(self._kept[1]) if self._kept is not None else blank("Reading \u2026")
        if self._origin is not None and self._origin[0] == key[:3]:
            chain["origin"] = self._origin[1]
        return chain

    def _read_aside(self, wanted: tuple[Any, Any, str | None, tuple[int, ...] | None]) -> None:
        """Read the latest requested chain on a separate thread; reading for an older request ends."""
        with self._queue:
            self._wanted = wanted
            if self._reading:
                return
            self._reading = True
        self.aside.do(self._work)

    def _work(self) -> None:
        while True:
            with self._queue:
                wanted, self._wanted = self._wanted, None
                if wanted is None or self.comm is None:
                    self._reading = False
                    return
            try:
                self._read(wanted)
            except Overtaken:
                continue
            except Exception as error:  # for instance a session closed meanwhile
                self._kept = wanted[0], blank(str(getattr(error, "message", error)))
            self.update_now()

    def _read(self, wanted: tuple[Any, Any, str | None, tuple[int, ...] | None]) -> None:
        key, trace, name, path = wanted
        chain = self._explained(trace, name, path)
        if chain["bad"] and (self._origin is None or self._origin[0] != key[:3]):
            self._find(key[:3])
        self._kept = key, chain

    def _chosen(self) -> tuple[str | None, tuple[int, ...] | None]:
        """The value to explain: the one requested here, else the selected one, at the selected moment."""
        if not self._following:
            return self.name, self.iteration
        name, moment = self.selection.node, self.selection.moment
        if name is None:
            return next(iter(self.source.graph.outputs), None), None
        return name, None if moment is None else moment.iteration

    def _explained(self, trace: Trace, name: str | None, path: tuple[int, ...] | None) -> dict[str, Any]:
        names = list(self.source.graph.names)[:MAX_NAMES] or list(self.source.graph.nodes)[:MAX_NAMES]
        if name is None:
            return blank("Select a value.", names=names)
        question = {"name": name, "iteration": "" if path is None else ", ".join(map(str, path)), "names": names}
        try:
            found = self._chain(trace, name, path)
        except WorkbenchError as error:
            sentence = self._spoken.sentence(error.message)
            return {**blank(sentence, names=names), **question, "error": sentence}
        rows = explain_rows(found, self._spoken)
        head = rows[0]["shown"] if not rows[0]["tag"] else tag_text(self.source.graph, found.links[0].tag)
        more = "" if found.complete else f"The chain continues beyond these {len(found)} values."
        return {
            **question,
            "headline": f"{rows[0]['shown']} comes from" if len(found) > 1 else head,
            "rows": rows,
            "edits": edit_sentences(trace),
            "more": more,
            "error": "",
            "bad": any(r["bad"] for r in rows),
            "open": OPEN,
            "origin": None,
        }

    def _chain(self, trace: Trace, name: str, path: tuple[int, ...] | None) -> Explanation:
        """The chain; a path of another frame is cut to the depth of the value's frame."""
        ref = trace.ref(name)
        depth = len(trace.layout.frames[trace.layout.values[ref].frame].path)
        if path is not None and self._following:
            path = path[:depth] if len(path) >= depth else None
        session = self.source.session
        live = session is not None and (path or depth == 0)  # the session recomputes dropped values

        def read(ref: Ref, path: tuple[int, ...]) -> Any:
            if self._reading and (self._wanted is not None or self.comm is None):
                raise Overtaken
            if live:
                return session.value(ref, path or None)
            return trace[ref].at(path) if path else trace[ref][-1]

        return explain(trace, ref, path or None, max_links=self.links, read=read)

    def _find(self, key: Any) -> dict[str, Any]:
        try:
            source = self.source.session or self.source.trace
            found = first_nonfinite(source)
            origin = origin_model(found, self.source.graph, None if found is not None else first_wrap(source))
        except WorkbenchError as error:
            origin = {"lines": [self._spoken.sentence(error.message)], "node": "", "frame": [], "iteration": []}
        self._origin = key, origin
        return origin

    def figure_in(self, name: str) -> go.Figure:
        """Return the chain as an ordinary plotly figure, a table, in the ``"light"`` or ``"dark"`` theme."""
        with self._lock:
            self._whole = True
            try:
                return super().figure_in(name)
            finally:
                self._whole = False

    def table(self, model: dict[str, Any]) -> tuple[Sequence[str], Sequence[Sequence[str]], str]:
        rows = [
            ["\u00a0\u00a0" * min(r["depth"], 20) + r["shown"], r["where"], r["value"], r["op"], r["note"], r["line"]]
            for r in model["rows"]
        ]
        return ("value", "where", "is", "made by", "", "written at"), rows, model["headline"]

    # -- actions of the user ---------------------------------------------------------------------------------------
    def explain(self, name: str | None, iteration: int | tuple[int, ...] | None = None) -> None:
        """Explain another value; may be called on any thread.

        Parameters
        ----------
        name : str or None
            The value; None for the selected value.
        iteration : int or tuple of int, optional
            Its iteration; by default that of its last firing.
        """
        self._following = name is None
        self.name, self.iteration, self.links = name, path_of(iteration), LINKS
        if name is not None:
            at = "" if self.iteration is None else f", iteration={self.iteration!r}"
            self.selection.did(f"session.explain({name!r}{at})")
        self.update_now()

    def look(self, row: int) -> None:
        """Show the place of a row in all views.

        Raises
        ------
        WorkbenchError
            For an unknown row (``no-row``).
        """
        rows = self.status["rows"]
        if not 0 <= row < len(rows):
            raise WorkbenchError(f"Row {row} is out of range: the chain has {len(rows)} rows.", slug="no-row")
        self._go(rows[row])

    def nan(self) -> None:
        """Find the first NaN or infinity of the run and show its origin."""
        snapshot = self.source.snapshot()
        trace = self.source.trace
        if trace is None or is_running(snapshot):
            return
        self._find((id(trace), trace.source.revision, getattr(snapshot, "event", None)))
        self.selection.did("wb.nan_origin(session)")
        self.update_now()

    def more(self) -> None:
        """Show more of the chain."""
        self.links = min(MAX_LINKS, self.links * 4)
        self.update_now()

    def handle_message(self, kind: str, content: Mapping[str, Any]) -> None:
        row = content.get("row")
        rows = self.status["rows"]
        if kind in ("look", "explain-row") and isinstance(row, int) and 0 <= row < len(rows):
            if kind == "look":
                self.look(row)
            else:
                self.explain(rows[row]["ref"], tuple(rows[row]["iteration"]) or None)
        elif kind == "explain" and isinstance(content.get("name"), str):
            path = typed_path(content.get("iteration"))
            if path is False:
                self.amend(error="Enter iterations as numbers, for example 3 or 1, 3.")
            else:
                self.explain(content["name"][:1000] or None, path)
        elif kind == "follow":
            self.explain(None)
        elif kind == "nan":
            self.aside.do(self.nan)
        elif kind == "more":
            self.more()
        elif kind == "origin" and self.status.get("origin"):
            self._go(self.status["origin"])

    def selection_changed(self, selection: Selection) -> None:
        if self._following:
            self.update_now()

    def _go(self, place: Mapping[str, Any]) -> None:
        """Select a place; the tree stays that of the explained value."""
        if not place["node"]:
            return
        if self._following:
            self.name, self.iteration = self._chosen()
            self._following = False
        moment = Moment(tuple(place["frame"]), tuple(place["iteration"])) if place["frame"] else None
        self.selection.look_at(moment, node=place["node"])
