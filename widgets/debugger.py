"""The whole panel: toolbar, graph, evolution, termination, control flow and value of one session."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ipywidgets
import plotly.graph_objects as go

from workbench.session import Session
from workbench.widgets.focus import Focus
from workbench.widgets.models.status_model import status_model, status_text
from workbench.widgets.page import write_page
from workbench.widgets.spill import SpillProgress
from workbench.widgets.toolbar import Toolbar
from workbench.widgets.views.base import Source, View, close_parts
from workbench.widgets.views.controlflow_view import ControlFlowView
from workbench.widgets.views.evolution_view import EvolutionView
from workbench.widgets.views.graph_view import GraphView
from workbench.widgets.views.termination_view import TerminationView
from workbench.widgets.views.value_inspector import ValueInspector


class Debugger(ipywidgets.VBox):
    """The panel of a session. ``close`` closes the session too, if the panel made it (see :func:`debug`)."""

    def __init__(self, session: Session, *, owns_session: bool = False) -> None:
        self.session = session
        self._owns = owns_session
        source = Source(session)
        #: what all views look at: the selected node and the moment
        self.focus = Focus()
        self.toolbar = Toolbar(session)
        self.graph = GraphView(source, focus=self.focus)
        self.evolution = EvolutionView(source, focus=self.focus)
        self.termination = TerminationView(source, focus=self.focus)
        self.control_flow = ControlFlowView(source, focus=self.focus)
        self.inspector = ValueInspector(source, focus=self.focus)
        for view in self.parts:
            view.add_class("workbench-panel")
        left = ipywidgets.VBox([self.graph])
        right = ipywidgets.VBox([self.evolution, self.termination, self.control_flow, self.inspector])
        left.add_class("workbench-stack")
        right.add_class("workbench-stack")
        # the graph gets the width that it needs, within limits; a narrow page shows one column (workbench.css)
        wide = min(760, max(300, int(self.graph.live.layout.meta["min_width"]) + 20))
        grid = {"grid_template_columns": f"minmax(0, {wide}px) minmax(380px, 1fr)"}
        columns = ipywidgets.Box([left, right], layout=grid)
        columns.add_class("workbench-columns")
        self.spill = SpillProgress(session) if session.trace.spill is not None else None
        super().__init__([self.toolbar, *([self.spill] if self.spill is not None else []), columns])
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
        """All views in one self-contained file that works offline."""
        status = status_text(status_model(self.session.snapshot()))
        figures = [(view.title, view.figure_in(theme_name)) for view in self.parts]
        return write_page(path, self.session.graph.name, status, figures, theme_name)

    def close(self) -> None:
        """Close all views, their thread and comms, and the session if the panel made it. Closing twice is harmless."""
        if self.comm is None:
            return
        self.toolbar.close()
        if self.spill is not None:
            self.spill.close()
        close_parts(self)
        super().close()
        if self._owns:
            self.session.close()

    def __repr__(self) -> str:
        return f"<Debugger of {self.session.graph.name!r}: {status_text(status_model(self.session.snapshot()))}>"

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        if isinstance(bundle, dict) and "text/plain" in bundle:
            bundle["text/plain"] = repr(self)
        return bundle


def debug(graph: Any, inputs: Mapping[str, Any] | None = None, **options: Any) -> Debugger:
    """Open a panel on ``graph``: a new session with these inputs, standing before the first node.

    ``options`` go to :class:`workbench.Session` (``trace``, ``memory_budget``). Closing the panel closes the session.
    A session may be given instead of a graph; it is not closed then.
    """
    if isinstance(graph, Session):
        return Debugger(graph)
    return Debugger(Session(graph, dict(inputs or {}), **options), owns_session=True)


__all__ = ["Debugger", "debug"]
