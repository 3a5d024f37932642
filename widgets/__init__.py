"""Live views for JupyterLab: the debugger panel and its parts.

``models/`` turns graph, trace and snapshot into plain data and knows no widgets; ``views/`` draws that data;
``pump.py`` carries snapshots to the views; ``figure.py`` is the plotly figure that they draw on::

    session ─► pump ─► view.model(snapshot) ─► view.spec(model) ─► LiveFigure ─► browser
       ▲                                                                            │
       └───────────────── toolbar: session.post("run") ... ◄────────────────────────┘
"""

from __future__ import annotations

import plotly.io as _pio

from workbench.widgets.debugger import Debugger, debug
from workbench.widgets.figure import LiveFigure
from workbench.widgets.pump import Pump
from workbench.widgets.spill import SpillProgress
from workbench.widgets.theme import CONFIG as _CONFIG
from workbench.widgets.toolbar import Toolbar
from workbench.widgets.views.controlflow_view import ControlFlowView
from workbench.widgets.views.evolution_view import EvolutionView
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
    "ControlFlowView",
    "Debugger",
    "EvolutionView",
    "GraphView",
    "LiveFigure",
    "MemoryView",
    "Pump",
    "ShapeTrieView",
    "SpillProgress",
    "TerminationView",
    "Toolbar",
    "TypeMatrixView",
    "ValueInspector",
    "debug",
]
