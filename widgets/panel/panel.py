"""The whole panel: toolbar, graph, evolution, termination, control flow and value of one session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets
import plotly.graph_objects as go

from workbench.ir.collector import collector_paused
from workbench.session import Session
from workbench.text import harmless
from workbench.trace import Trace
from workbench.widgets.base.figure.figure_view import FigureView, close_parts
from workbench.widgets.base.html_view import HtmlView
from workbench.widgets.base.stage.stage import Staged
from workbench.widgets.control_flow.control_flow_view import ControlFlowView
from workbench.widgets.evolution.evolution_view import EvolutionView
from workbench.widgets.export.bookmarks import Bookmark
from workbench.widgets.export.moments_page import pictures_of
from workbench.widgets.export.notes import MOST_NOTE
from workbench.widgets.export.page import write_page
from workbench.widgets.export.snapshot import finding_of, read_finding
from workbench.widgets.graph.graph_view import GraphView
from workbench.widgets.graph.repair_notes import notes_view
from workbench.widgets.live.selection import Selection
from workbench.widgets.live.view_source import ViewSource
from workbench.widgets.nodes.node_strip import NodeStrip
from workbench.widgets.nodes.node_table import NodeTable
from workbench.widgets.panel import auto_close
from workbench.widgets.panel.copies import Copies
from workbench.widgets.panel.layout.panel_layout import PanelLayout, arranged
from workbench.widgets.panel.layout.presented import PresentedPanel
from workbench.widgets.panel.panes import Panes
from workbench.widgets.panel.runs.run_chips import RunChips
from workbench.widgets.panel.spill.spill_progress import SpillProgress
from workbench.widgets.panel.status_model import status_model, status_text
from workbench.widgets.panel.toolbar import Toolbar
from workbench.widgets.panel.why.why_pane import WhyPane
from workbench.widgets.series.other_runs import OtherRuns
from workbench.widgets.termination.condition_strips import ConditionStrips
from workbench.widgets.termination.termination_view import TerminationView
from workbench.widgets.text.edit_sentences import edit_sentences
from workbench.widgets.time.time_slider import TimeSlider
from workbench.widgets.values.value_inspector import ValueInspector

if TYPE_CHECKING:
    from workbench.ir.graph import Graph


class Debugger(Staged, ipywidgets.VBox):
    """The debugger panel of a session, or of a recorded trace (then without the toolbar).

    :func:`workbench.debug` makes one. ``selection`` is shared by all views, ``panes`` opens and closes the views that
    are not always shown, ``why`` is the pane behind the cards, ``runs`` holds the runs beside this one, and ``graph``,
    ``evolution``, ``termination``, ``control_flow`` and ``inspector`` are the others.

    Parameters
    ----------
    session : Session or Trace
        The run to show.
    owns_session : bool, default False
        Whether :meth:`close` closes the session, too.
    selection : Selection, optional
        A selection to share with other views; by default a new one.

    Examples
    --------
    >>> panel = wb.widgets.Debugger(session)
    >>> panel
    <Debugger of 'newton': ...>
    >>> panel.selection.select("x")
    >>> panel.graph.selected
    'x'
    >>> panel.close()
    """

    def __init__(
        self, session: Session | Trace, *, owns_session: bool = False, selection: Selection | None = None
    ) -> None:
        self.source = source = ViewSource(session)
        self.session: Session | None = source.session
        self._owns = owns_session
        self.selection = selection if selection is not None else Selection()
        self.toolbar = Toolbar(self.session, selection=self.selection) if self.session is not None else None
        self.time = TimeSlider(source, selection=self.selection)
        self.graph = GraphView(source, selection=self.selection)
        self.runs = OtherRuns(source)
        condition = ConditionStrips(source.graph)
        self.evolution = EvolutionView(source, selection=self.selection, condition=condition, runs=self.runs)
        watched = () if self.session is None else self.session.watched
        self.evolution.put_first(watched)
        self.termination = TerminationView(source, selection=self.selection, split=self.session is not None)
        self.control_flow = ControlFlowView(source, selection=self.selection)
        self.inspector = ValueInspector(source, next(iter(watched), None), selection=self.selection, runs=self.runs)
        #: if there is no loop, and thus no iterations and no verdict
        self.nodes = None if self.termination.frame else NodeTable(source, selection=self.selection)
        self.strip = NodeStrip(source, selection=self.selection)
        for view in self.parts:
            view.add_class("workbench-panel")
            view.add_class(f"workbench-is-{view.title.lower().replace(' ', '-')}")
        notes = source.graph.notes if source.graph is not None else ()
        self.panes = Panes(self, {("branches", "Branches", "Decisions, tokens and dead paths"): self.control_flow})
        first = source.graph.value(self.inspector.name) if self.inspector.name else None
        self.chips = RunChips(source, self.runs, selection=self.selection)
        self.stage = PresentedPanel(self)
        self.layout_part = PanelLayout(
            stage=self.stage,
            loop=bool(self.termination.frame),
            graph_width=int(self.graph.live.spec["layout"]["meta"]["min_width"]) + 20,
            field=first is not None and (source.graph.type_of(first).rank or 0) > 1,
        )
        body = arranged(
            graph=[self.graph, *notes_view(notes)],
            iterations=[self.time, self.chips, self.evolution],
            ending=[self.termination],
            nodes=[] if self.nodes is None else [self.nodes],
            value=[self.inspector],
            tools=self.panes,
        )
        self.why: WhyPane | None = None
        if self.session is not None and self.toolbar is not None and self.termination.why is not None:
            self.why = WhyPane(self.session, self.selection, self.termination.why)
            self.toolbar.on_status(self._show_health)
            body.children = (*body.children, self.why)
        self.spill = None if self.session is None or self.session.trace.spill is None else SpillProgress(self.session)
        above = [w for w in (self.toolbar, self.spill) if w is not None]
        # the legend of the graph, in one line below all columns
        legend = self.graph.legend
        self.graph.children = tuple(part for part in self.graph.children if part is not legend)
        super().__init__([*above, body, self.strip, legend, self.layout_part])
        self.add_class("workbench-debugger")
        if self.session is not None:
            self.add_class(f"workbench-session-{self.session.number}")
        self.copies = Copies(self, lambda session: Debugger(session, owns_session=True))
        self.termination.on_copy(self.copies)
        self.termination.on_tried(self.runs.changed)
        if self.toolbar is not None:
            self.termination.on_verdict(self._show_verdict)
            self.panes.show("breakpoints")

    def _show_health(self, status: Mapping[str, Any], health: Mapping[str, Any]) -> None:
        if self.why is not None:
            self.why.show_status(status, health)
        if status["health"]:
            self.graph.blame(health.get("node"))

    def _show_verdict(self, verdict: dict[str, Any]) -> None:
        """A verdict on the loop, for the toolbar and the curves."""
        if self.toolbar is not None:
            self.toolbar.verdict_is(verdict)
        self.evolution.verdict_is(verdict)

    @property
    def parts(self) -> tuple[FigureView, ...]:
        """The views with a figure, in reading order."""
        return (self.graph, self.evolution, self.termination, self.control_flow, self.inspector)

    @property
    def figure(self) -> go.Figure:
        """The picture of the graph; each view has its own ``figure``."""
        return self.graph.figure

    def to_html(self, path: str | Path, theme_name: str = "light") -> Path:
        """Write all views, open panes included, to one self-contained file with a time slider.

        Parameters
        ----------
        path : str or Path
            The file.
        theme_name : {"light", "dark", "auto"}, default "light"
            Colours of the page; "auto" follows the browser.

        Returns
        -------
        Path
            The file. Its slider has at most sixty moments of the loop shown.
        """
        shown = [
            v for v in self.panes.views.values() if isinstance(v, FigureView | HtmlView) and hasattr(v.source, "graph")
        ]
        views = [*self.parts, *(v for v in shown if v.source.graph is not None)]
        pictures, moments = pictures_of(self.source, views, self.selection, self.time.frame)
        summary = " ".join((self._status(), *self.source.graph.notes))
        edits = edit_sentences(self.source.trace)
        return write_page(path, self.source.graph.name, summary, pictures, moments, theme_name, self.note, edits)

    def save(self, path: str | Path) -> Path:
        """Save the run with its edits, position, breakpoints, selection, bookmarks and note.

        :func:`workbench.open_finding` opens the file.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        Path

        Raises
        ------
        WorkbenchError
            While the session runs (``running``).
        TraceError
            If the file cannot be written; see :meth:`workbench.Trace.save`.
        """
        trace = self.source.trace
        assert trace is not None  # a panel has a session or a trace
        return finding_of(self.session, trace, self.selection, self.note, self.stage.marks).save(path)

    def bookmark(self, words: str = "") -> Bookmark:
        """Bookmark the selected moment, for a finding and for presenting: Page Down goes to the next bookmark.

        Parameters
        ----------
        words : str, optional
            The sentence shown at it; by default the iteration.

        Returns
        -------
        Bookmark
            One of ``panel.bookmarks``, with ``moment`` and ``node``.
        """
        return self.stage.bookmark(words)

    @property
    def bookmarks(self) -> tuple[Bookmark, ...]:
        """The bookmarks, in the order of Page Down. Can be set."""
        return tuple(self.stage.marks)

    @bookmarks.setter
    def bookmarks(self, marks: Sequence[Bookmark]) -> None:
        self.stage.put(marks)

    @property
    def note(self) -> str:
        """A text saved with pages and findings, shown above the panel. Can be set."""
        return self.copies.note

    @note.setter
    def note(self, words: str) -> None:
        self.copies.note = str(words)[:MOST_NOTE]

    def close(self) -> None:
        """Close all views, their thread and comms, and the session if the panel owns it. Closing twice is harmless."""
        if self.comm is None:
            return
        self.panes.closing(self, self.copies.box)
        self.copies.close()
        for part in (self.toolbar, self.time, self.chips, self.spill, self.panes, self.layout_part, self.runs):
            if part is not None:
                part.close()
        close_parts(self)
        super().close()
        if self._owns and self.session is not None:
            self.session.close()

    @harmless
    def __repr__(self) -> str:
        return f"<Debugger of {self.source.graph.name!r}: {self._status()}>"

    def _status(self) -> str:
        snapshot = self.source.snapshot()
        return "a recorded run" if snapshot is None else status_text(status_model(snapshot, self.source.graph))

    def _on_stage(self) -> Any:
        self.copies.expected()
        return self.copies.box

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        auto_close.displayed(self)
        bundle = self.copies.display(**kwargs)
        if isinstance(bundle, dict) and "text/plain" in bundle:
            bundle["text/plain"] = repr(self)
        return bundle


def debug(graph: Graph | Session, inputs: Mapping[str, Any] | None = None, **options: Any) -> Debugger:
    """Open the debugger panel: toolbar, graph, evolution, termination, control flow and value of one run.

    Parameters
    ----------
    graph : Graph or Session
        A graph, for which a new session starts before the first node; or a session, which stays open when the panel is
        closed.
    inputs : mapping, optional
        Values of the graph's inputs by name.
    **options
        Arguments of :class:`workbench.Session`: ``outputs``, ``trace``, ``memory_budget``.

    Returns
    -------
    Debugger
        The panel. In a notebook it closes itself when its cell is run again.

    Raises
    ------
    FeedError
        If the inputs do not fit the graph; see :class:`workbench.Session`.

    Examples
    --------
    >>> panel = wb.widgets.debug(graph, {"a": 2.0})
    >>> panel.session.state
    'ready'
    >>> panel.close()
    """
    with collector_paused():
        if isinstance(graph, Session):
            return auto_close.watch(Debugger(graph))
        return auto_close.watch(Debugger(Session(graph, dict(inputs or {}), **options), owns_session=True))


def open_finding(path: str | Path, *, live: bool = False) -> Debugger:
    """Open a file that ``panel.save`` wrote: the panel on the recorded run, with the same selection.

    Parameters
    ----------
    path : str or Path
        The file.
    live : bool, default False
        Make a session on the graph and the inputs of the file, run it to the saved position and set the saved
        breakpoints. Without it nothing in the file is executed; a file of unknown origin can be viewed safely.

    Returns
    -------
    Debugger

    Raises
    ------
    TraceError
        For a file that does not exist (``no-such-file``), is not a saved panel (``not-a-finding``), is damaged
        (``bad-finding``) or has another version (``finding-version``).

    Examples
    --------
    >>> panel = wb.debug(session)
    >>> path = panel.save("found.wbfinding")
    >>> panel.close()
    >>> again = wb.widgets.open_finding(path, live=True)
    >>> again.session.state
    'finished'
    >>> again.close()
    """
    finding = read_finding(path)
    run = finding.session() if live else finding.trace
    panel = Debugger(run, owns_session=live, selection=finding.selection())
    panel.note = finding.note
    panel.stage.put(finding.bookmarks)
    return auto_close.watch(panel)


__all__ = ["Debugger", "debug", "open_finding"]
