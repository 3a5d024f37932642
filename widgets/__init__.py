"""Live views for JupyterLab: the debugger panel and its parts.

``models/`` turns graph, trace and snapshot into plain data and knows no widgets; ``views/`` draws that data;
``pump.py`` carries snapshots to the views; ``figure.py`` is the plotly figure that they draw on::

    session ─► pump ─► view.model(snapshot) ─► view.spec(model) ─► LiveFigure ─► browser
       ▲                                                                            │
       └───────────────── toolbar: session.post("run") ... ◄────────────────────────┘

What needs what: the views are ordinary widgets of ipywidgets 8 and anywidget, and speak with the page by the public
widget protocol (comms, models, binary buffers); no extension of our own has to be installed. The browser tests run in
JupyterLab 4, and those of the panel in Notebook 7 too. VS Code shows widgets through its Jupyter extension by the same
protocol; JupyterLab's theme attribute is missing there, so that figures stay light. That one is not tried in the tests.
Without a notebook there are ``wb.terminal(session)`` and ``workbench debug MODEL``, and ``panel.to_html`` for a file
that any browser opens.
"""

from __future__ import annotations

import plotly.io as _pio

from workbench.widgets.debugger import Debugger, debug, open_finding
from workbench.widgets.figure import LiveFigure
from workbench.widgets.focus import Focus, Moment
from workbench.widgets.pump import Pump
from workbench.widgets.spill import SpillProgress
from workbench.widgets.theme import CONFIG as _CONFIG
from workbench.widgets.time_slider import TimeSlider
from workbench.widgets.toolbar import Toolbar
from workbench.widgets.views.breakpoint_table import BreakpointTable
from workbench.widgets.views.call_stack_view import CallStackView
from workbench.widgets.views.controlflow_view import ControlFlowView
from workbench.widgets.views.diff_view import DiffView
from workbench.widgets.views.evolution_view import EvolutionView
from workbench.widgets.views.explain_view import ExplainView
from workbench.widgets.views.frame_timeline import FrameTimeline
from workbench.widgets.views.graph_view import GraphView
from workbench.widgets.views.memory_view import MemoryView
from workbench.widgets.views.shapetrie_view import ShapeTrieView
from workbench.widgets.views.termination_view import TerminationView
from workbench.widgets.views.type_matrix_view import TypeMatrixView
from workbench.widgets.views.value_inspector import ValueInspector

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
    "Focus",
    "FrameTimeline",
    "GraphView",
    "LiveFigure",
    "MemoryView",
    "Moment",
    "Pump",
    "ShapeTrieView",
    "SpillProgress",
    "TerminationView",
    "TimeSlider",
    "Toolbar",
    "TypeMatrixView",
    "ValueInspector",
    "debug",
    "open_finding",
]
