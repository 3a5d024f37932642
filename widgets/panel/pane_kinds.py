"""The kinds of panes; the view of each is made when its pane opens, and closed with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workbench.widgets.breakpoints.breakpoint_table import BreakpointTable
from workbench.widgets.compare.compare import Compare
from workbench.widgets.control_flow.call_stack_view import CallStackView
from workbench.widgets.control_flow.frame_timeline import FrameTimeline
from workbench.widgets.export.export_pane import ExportTools
from workbench.widgets.memory.memory_view import MemoryView
from workbench.widgets.memory.shape_trie_view import ShapeTrieView
from workbench.widgets.memory.type_matrix_view import TypeMatrixView
from workbench.widgets.panel.code_view import CodeView
from workbench.widgets.panel.inputs.inputs_view import InputsView
from workbench.widgets.values.explain_view import ExplainView


@dataclass(frozen=True, slots=True)
class PaneKind:
    """A pane: ``make`` receives the panel and returns a widget whose ``close`` closes all its comms."""

    key: str
    label: str
    tip: str
    make: Callable[[Any], Any]
    session_only: bool = False


KINDS = (
    PaneKind(
        "breakpoints",
        "Breakpoints",
        "Where the run stops, and which values are logged",
        lambda p: BreakpointTable(p.source, selection=p.selection),
        True,
    ),
    PaneKind(
        "stack",
        "Call stack",
        "The loops around the next node",
        lambda p: CallStackView(p.source, selection=p.selection),
    ),
    PaneKind(
        "timeline",
        "Timeline",
        "Loops, iterations and nodes over time",
        lambda p: FrameTimeline(p.source, selection=p.selection),
    ),
    PaneKind(
        "explain",
        "Explain",
        "Values from which the selected value was computed",
        lambda p: ExplainView(p.source, selection=p.selection),
    ),
    PaneKind("inputs", "Inputs", "Change the inputs and run as a second run", InputsView, True),
    PaneKind("compare", "Compare", "Two iterations, copies or runs side by side", Compare),
    PaneKind(
        "memory",
        "Memory",
        "Memory that the run uses",
        lambda p: MemoryView(
            p.source.session if p.source.session is not None else p.source.trace, selection=p.selection
        ),
    ),
    PaneKind(
        "types",
        "Types",
        "Operand and result types of an operation",
        lambda p: TypeMatrixView(p.source, selection=p.selection),
    ),
    PaneKind(
        "shapes",
        "Shapes",
        "Shapes of the arrays of this run, as a trie",
        lambda p: ShapeTrieView(p.source.session, selection=p.selection),
    ),
    PaneKind("code", "Code", "Your actions as lines of Python", lambda p: CodeView(p.selection)),
    PaneKind("export", "Export", "Write a page to share, or save this panel", ExportTools),
)
