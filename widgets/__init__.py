"""Live views for JupyterLab: the debugger panel and its parts.

:func:`debug` opens the whole panel, :class:`Debugger`. Each of its views can also be shown alone: it takes a session, a
trace (also a loaded one) or a graph, is an ordinary widget, and follows a session while it runs. Views that share a
:class:`Selection` show the same selected node and the same :class:`Moment`. Every view has ``figure`` (an ordinary
plotly figure of the present state), ``figure_in("dark")``, ``to_html(path)`` (a self-contained file) and ``close()``.

A graph and its picture, without a run:

>>> import workbench as wb
>>> b = wb.GraphBuilder("halving")
>>> view = wb.widgets.GraphView(b.build(b.placeholder("x") * 0.5))
>>> view.close()

Inside, each folder holds one feature: a model that turns graph, trace and snapshot into plain data and knows no
widgets, a specification that draws the data, and the view; ``live/pump.py`` carries snapshots to the views::

    session ─► pump ─► view.model(snapshot) ─► view.spec(model) ─► LiveFigure ─► browser
       ▲                                                                            │
       └───────────────── toolbar: session.post("run") ... ◄────────────────────────┘

The views are widgets of ipywidgets 8 and anywidget, and talk to the page by the public widget protocol (comms, models,
binary buffers); no extension of our own has to be installed. The browser tests run in JupyterLab 4, and those of the
panel in Notebook 7 and marimo, too; ``docs/reference/panel.md`` says what works where. Without a notebook there are
``wb.terminal(session)`` and ``workbench debug MODEL``, and ``panel.to_html`` for a file that any browser opens.
"""

from __future__ import annotations

from workbench.libraries import need_extra

need_extra("notebook", "A view")

import plotly.io as _pio

from workbench.widgets.base.figure.live_figure import LiveFigure
from workbench.widgets.base.theme import CONFIG as _CONFIG
from workbench.widgets.breakpoints.breakpoint_table import BreakpointTable
from workbench.widgets.compare.diff_view import DiffView
from workbench.widgets.control_flow.call_stack_view import CallStackView
from workbench.widgets.control_flow.control_flow_view import ControlFlowView
from workbench.widgets.control_flow.frame_timeline import FrameTimeline
from workbench.widgets.evolution.evolution_view import EvolutionView
from workbench.widgets.graph.graph_view import GraphView
from workbench.widgets.live.pump import Pump
from workbench.widgets.live.selection import Selection, Moment
from workbench.widgets.memory.memory_view import MemoryView
from workbench.widgets.memory.shape_trie_view import ShapeTrieView
from workbench.widgets.memory.type_matrix_view import TypeMatrixView
from workbench.widgets.nodes.node_table import NodeTable
from workbench.widgets.panel.panel import Debugger, debug, open_finding
from workbench.widgets.panel.spill.spill_progress import SpillProgress
from workbench.widgets.panel.toolbar import Toolbar
from workbench.widgets.sweep.sweep_view import SweepView
from workbench.widgets.termination.termination_view import TerminationView
from workbench.widgets.time.time_slider import TimeSlider
from workbench.widgets.values.explain_view import ExplainView
from workbench.widgets.values.value_inspector import ValueInspector
from workbench.widgets.watch.reports_view import ReportsView
from workbench.widgets.watch.watch_view import WatchView

# plain figures shown in a notebook must not offer to send data to a cloud either
for _name in ("plotly_mimetype", "jupyterlab", "vscode", "notebook", "notebook_connected"):
    if _name in _pio.renderers:
        _pio.renderers[_name].config = dict(_CONFIG)

__all__ = [
    "BreakpointTable",
    "CallStackView",
    "ControlFlowView",
    "Debugger",
    "DiffView",
    "EvolutionView",
    "ExplainView",
    "Selection",
    "FrameTimeline",
    "GraphView",
    "LiveFigure",
    "MemoryView",
    "Moment",
    "NodeTable",
    "Pump",
    "ReportsView",
    "ShapeTrieView",
    "SpillProgress",
    "SweepView",
    "TerminationView",
    "TimeSlider",
    "Toolbar",
    "TypeMatrixView",
    "ValueInspector",
    "debug",
    "open_finding",
    "WatchView",
]
