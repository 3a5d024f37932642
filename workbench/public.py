"""The public names of ``import workbench as wb``: what is imported here, and listed at the end, is there."""

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
from workbench.analysis.diff import Diff, Record, diff, diff_dtypes, in_dtype, run_with
from workbench.analysis.origins import NanOrigin, OverflowCandidate, nan_origin, overflow_candidates
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


def debug(graph: Graph, inputs: Any = None, **options: Any) -> Any:
    """The whole panel as a widget: toolbar, graph, evolution, termination, control flow, values."""
    return _widgets().debug(graph, inputs or {}, **options)


def terminal(session: Session, **options: Any) -> int:
    """Debug a session at a terminal, with the commands of the panel by name: ``help`` lists them.

    Ctrl-C pauses a run, an empty line repeats a move, ``quit`` or Ctrl-D ends it; the session stays open. ``commands``
    are lines that are carried out first, ``source`` and ``out`` other streams than standard input and output. Returns
    how many commands failed.
    """
    return importlib.import_module("workbench.cli.terminal").terminal(session, **options)


def open_finding(path: Any, *, live: bool = False) -> Any:
    """The panel on a file of ``panel.save``: the recorded run, or with ``live`` a session run to the same place."""
    return _widgets().open_finding(path, live=live)


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


class _GraphPackage(types.ModuleType):
    """The package ``workbench.graph``, which is also the decorator: its modules keep their names."""

    def __call__(self, function: Any = None, /, **options: Any) -> Any:
        return _capture(**options) if function is None else _capture(function, **options)


_GraphPackage.__call__.__doc__ = _capture.__doc__
sys.modules["workbench.graph"].__class__ = _GraphPackage
if TYPE_CHECKING:
    from workbench.frontends.python.decorator import graph
else:
    graph = sys.modules["workbench.graph"]

Graph.services.update(run=run_graph, view=_view)
Analysis.services.update(figure=_figure, page=_page)

__all__ = [
    "Analysis", "Array", "ArrayManager", "CaptureError", "Diff", "Evolution", "Follower", "Forecast",
    "ForwardExecutionDAG", "ForwardExecutionDAGBuilder", "Graph", "GraphBuilder", "GraphFunction", "MemoryReport",
    "NanOrigin", "OverflowCandidate", "Pattern", "Record", "ReleasedError", "Retention", "Session", "Stop",
    "StopReason", "Tag", "Termination", "TerminationMonitor", "Trace", "Update", "WorkbenchError", "analyze",
    "classify", "collect_unused", "debug", "diff", "diff_dtypes", "from_graphdef", "from_onnx", "from_saved_model",
    "graph", "in_dtype", "iterations_to_tolerance", "load", "memory", "nan_origin", "open_finding",
    "overflow_candidates", "parse", "plan_cache", "run_with", "terminal",
]  # fmt: skip
