"""The whole panel: toolbar, graph, evolution, termination, control flow and value of one session."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ipywidgets
import plotly.graph_objects as go

from workbench.session import Session
from workbench.trace import Trace
from workbench.widgets import household
from workbench.widgets.finding import finding_of, read_finding
from workbench.widgets.focus import Focus
from workbench.widgets.models.status_model import status_model, status_text
from workbench.widgets.page import write_page
from workbench.widgets.panes.moments_page import pictures_of
from workbench.widgets.panes.panes import Panes
from workbench.widgets.source import Source
from workbench.widgets.spill import SpillProgress
from workbench.widgets.time_slider import TimeSlider
from workbench.widgets.toolbar import Toolbar
from workbench.widgets.views.base import View, close_parts
from workbench.widgets.views.controlflow_view import ControlFlowView
from workbench.widgets.views.evolution_view import EvolutionView
from workbench.widgets.views.graph_view import GraphView
from workbench.widgets.views.html_view import HtmlView
from workbench.widgets.views.termination_view import TerminationView
from workbench.widgets.views.value_inspector import ValueInspector


class Debugger(ipywidgets.VBox):
    """The panel of a session, or of a recorded trace (without the toolbar then).

    ``close`` closes the session too, if the panel made it (see :func:`debug`). ``focus`` is what all views look at: the
    selected node and the moment; ``panes`` opens and closes what is not always there.
    """

    def __init__(self, session: Session | Trace, *, owns_session: bool = False, focus: Focus | None = None) -> None:
        self.source = source = Source(session)
        self.session: Any = source.session
        self._owns = owns_session
        self.focus = focus if focus is not None else Focus()
        self.toolbar = Toolbar(self.session, focus=self.focus) if self.session is not None else None
        self.time = TimeSlider(source, focus=self.focus)
        self.graph = GraphView(source, focus=self.focus)
        self.evolution = EvolutionView(source, focus=self.focus)
        self.termination = TerminationView(source, focus=self.focus)
        self.control_flow = ControlFlowView(source, focus=self.focus)
        self.inspector = ValueInspector(source, focus=self.focus)
        for view in self.parts:
            view.add_class("workbench-panel")
            view.add_class(f"workbench-is-{view.title.lower().replace(' ', '-')}")
        left = ipywidgets.VBox([self.graph])
        right = ipywidgets.VBox([self.evolution, self.termination, self.control_flow, self.inspector])
        left.add_class("workbench-stack")
        right.add_class("workbench-stack")
        # the graph gets the width that it needs, within limits; a narrow page shows one column (workbench.css)
        wide = min(760, max(300, int(self.graph.live.layout.meta["min_width"]) + 20))
        grid = {"grid_template_columns": f"minmax(0, {wide}px) minmax(380px, 1fr)"}
        columns = ipywidgets.Box([left, right], layout=grid)
        columns.add_class("workbench-columns")
        spilling = self.session is not None and self.session.trace.spill is not None
        self.spill = SpillProgress(self.session) if spilling else None
        self.panes = Panes(self)
        above = [w for w in (self.toolbar, self.time, self.spill) if w is not None]
        super().__init__([*above, columns, self.panes])
        self.add_class("workbench-debugger")

    @property
    def parts(self) -> tuple[View, ...]:
        """The views, in reading order."""
        return (self.graph, self.evolution, self.termination, self.control_flow, self.inspector)

    @property
    def figure(self) -> go.Figure:
        """The picture of the graph; each view has its own ``figure``."""
        return self.graph.figure

    def to_html(self, path: str | Path, theme_name: str = "light") -> Path:
        """All views, and those in open panes, in one self-contained file that works offline, with a time slider.

        The slider has at most sixty moments of the loop that is looked at. ``theme_name`` is "light", "dark" or "auto".
        """
        shown = [v for v in self.panes.views.values() if isinstance(v, View | HtmlView) and hasattr(v.source, "graph")]
        views = [*self.parts, *(v for v in shown if v.source.graph is not None)]
        pictures, moments = pictures_of(self.source, views, self.focus, self.time.frame)
        return write_page(path, self.source.graph.name, self._status(), pictures, moments, theme_name)

    def save(self, path: str | Path) -> Path:
        """The recorded run, where it stands, its breakpoints and what is looked at, as one file that
        ``wb.open_finding`` opens."""
        return finding_of(self.session, self.source.trace, self.focus).save(path)

    def close(self) -> None:
        """Close all views, their thread and comms, and the session if the panel made it. Closing twice is harmless."""
        if self.comm is None:
            return
        self.panes.closing(self)
        for part in (self.toolbar, self.time, self.spill, self.panes):
            if part is not None:
                part.close()
        close_parts(self)
        super().close()
        if self._owns:
            self.session.close()

    def __repr__(self) -> str:
        return f"<Debugger of {self.source.graph.name!r}: {self._status()}>"

    def _status(self) -> str:
        snapshot = self.source.snapshot()
        return "a recorded run" if snapshot is None else status_text(status_model(snapshot))

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        if isinstance(bundle, dict) and "text/plain" in bundle:
            bundle["text/plain"] = repr(self)
        return bundle


def debug(graph: Any, inputs: Mapping[str, Any] | None = None, **options: Any) -> Debugger:
    """Open a panel on ``graph``: a new session with these inputs, standing before the first node.

    ``options`` go to :class:`workbench.Session` (``trace``, ``memory_budget``). Closing it closes the session. In
    a notebook it closes by itself when its cell is run again, see ``household``.
    A session may be given instead of a graph; it is not closed then.
    """
    if isinstance(graph, Session):
        return Debugger(graph)
    panel = Debugger(Session(graph, dict(inputs or {}), **options), owns_session=True)
    household.watch(panel)
    return panel


def open_finding(path: str | Path, *, live: bool = False) -> Debugger:
    """Open a file of ``panel.save``: the panel on the recorded run, looking at what was looked at.

    With ``live`` it is a session on the same graph and inputs, run to the same place, with the same breakpoints. The
    file may come from a stranger: nothing in it is executed but the graph, and that only with ``live``. TraceError for
    what is no finding, is damaged, or of another version.
    """
    finding = read_finding(path)
    if live:
        return Debugger(finding.session(), owns_session=True, focus=finding.focus())
    return Debugger(finding.trace, focus=finding.focus())


__all__ = ["Debugger", "debug", "open_finding"]
