"""workbench: step through dataflow graphs with loops and branches, watch loop variables, learn why loops stop.

>>> import workbench as wb
>>> b = wb.GraphBuilder("newton")
>>> a = b.placeholder("a")
>>> x = b.while_loop(lambda x: abs(x * x - a) > 1e-9, lambda x: (x + a / x) * 0.5, {"x": a})
>>> b.build(x).run(a=2.0)
"""

import importlib
import sys
import types
from typing import TYPE_CHECKING, Any

import workbench.ops  # noqa: F401  fills the op registry
from workbench.analysis import (
    Evolution,
    Follower,
    Forecast,
    Pattern,
    Termination,
    TerminationMonitor,
    classify,
    iterations_to_tolerance,
)
from workbench.analysis.report import Analysis, analyze
from workbench.debugger import Stop, StopReason
from workbench.errors import ReleasedError, WorkbenchError
from workbench.execution import MemoryReport
from workbench.execution.incremental import Update
from workbench.execution.memory import Array, ArrayManager, collect_unused, memory
from workbench.frontends import from_graphdef, from_onnx, from_saved_model, load
from workbench.frontends.python.decorator import GraphFunction
from workbench.frontends.python.decorator import graph as _capture
from workbench.frontends.python.errors import CaptureError
from workbench.graph import Graph, GraphBuilder, Tag, parse
from workbench.plan import PLANS as plan_cache
from workbench.plan import ForwardExecutionDAG, ForwardExecutionDAGBuilder
from workbench.session import Session, run_graph
from workbench.trace import Retention, Trace

__version__ = "0.1.0.dev0"


def debug(graph: Graph, inputs: Any = None, **options: Any) -> Any:
    """The whole panel as a widget: toolbar, graph, evolution, termination, control flow, values."""
    return _widgets().debug(graph, inputs or {}, **options)


def _view(graph: Graph) -> Any:
    return _widgets().GraphView(graph)


def _figure(variable: Any, tolerance: float | None, theme: str) -> Any:
    _widgets()
    return importlib.import_module("workbench.widgets.views.convergence_spec").convergence_figure(
        variable, tolerance, theme
    )


def _page(analysis: Analysis, theme: str) -> Any:
    _widgets()
    return importlib.import_module("workbench.widgets.report_page").report_page(analysis, theme)


def _widgets() -> Any:
    """The views; ipywidgets and plotly are only loaded where something is shown."""
    return importlib.import_module("workbench.widgets")


def __getattr__(name: str) -> Any:
    if name == "widgets":
        return _widgets()
    raise AttributeError(f"module 'workbench' has no attribute {name!r}")



class _GraphPackage(types.ModuleType):
    """The package ``workbench.graph``, which is also the decorator: its modules keep their names."""

    def __call__(self, function: Any = None, /, **options: Any) -> Any:
        return _capture(**options) if function is None else _capture(function, **options)


_GraphPackage.__call__.__doc__ = _capture.__doc__
sys.modules["workbench.graph"].__class__ = _GraphPackage
if TYPE_CHECKING:
    from workbench.frontends.python.decorator import graph

Graph.services.update(run=run_graph, view=_view)
Analysis.services.update(figure=_figure, page=_page)

__all__ = [
    "Analysis", "Array", "ArrayManager", "CaptureError", "Evolution", "Follower", "Forecast", "ForwardExecutionDAG",
    "ForwardExecutionDAGBuilder", "Graph", "GraphBuilder", "GraphFunction", "MemoryReport", "Pattern",
    "ReleasedError", "Retention", "Session", "Stop", "StopReason", "Tag", "Termination", "TerminationMonitor",
    "Trace", "Update", "WorkbenchError", "analyze", "classify", "collect_unused", "debug", "from_graphdef", "from_onnx",
    "from_saved_model", "graph", "iterations_to_tolerance", "load", "memory", "parse", "plan_cache",
]  # fmt: skip
