"""Which panes there are, and how the view of each is made; it is made when its pane opens, and closed with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workbench.widgets.panes.code_view import CodeView
from workbench.widgets.panes.compare import Compare
from workbench.widgets.panes.export import ExportTools
from workbench.widgets.views.breakpoint_table import BreakpointTable
from workbench.widgets.views.call_stack_view import CallStackView
from workbench.widgets.views.explain_view import ExplainView
from workbench.widgets.views.frame_timeline import FrameTimeline
from workbench.widgets.views.memory_view import MemoryView
from workbench.widgets.views.shapetrie_view import ShapeTrieView
from workbench.widgets.views.type_matrix_view import TypeMatrixView


@dataclass(frozen=True, slots=True)
class Kind:
    """A pane: ``make`` gets the panel and gives a widget that ``close`` closes with all its comms."""

    key: str
    label: str
    tip: str
    make: Callable[[Any], Any]
    session_only: bool = False


KINDS = (
    Kind("breakpoints", "Breakpoints", "Where the run stops, and what is logged",
         lambda p: BreakpointTable(p.source, focus=p.focus), True),
    Kind("stack", "Call stack", "The loops around the next node", lambda p: CallStackView(p.source, focus=p.focus)),
    Kind("timeline", "Timeline", "Loops, iterations and nodes over time",
         lambda p: FrameTimeline(p.source, focus=p.focus)),
    Kind("explain", "Explain", "Where the selected value came from", lambda p: ExplainView(p.source, focus=p.focus)),
    Kind("compare", "Compare", "Two moments, forks or runs side by side", Compare),
    Kind("memory", "Memory", "What the run holds in memory",
         lambda p: MemoryView(p.source.session if p.source.session is not None else p.source.trace, focus=p.focus)),
    Kind("types", "Types", "Which types an operation takes and gives",
         lambda p: TypeMatrixView(p.source, focus=p.focus)),
    Kind("shapes", "Shapes", "Shapes seen by this process, as a trie",
         lambda p: ShapeTrieView(p.source.session, focus=p.focus)),
    Kind("code", "Code", "What was clicked, as lines of Python", lambda p: CodeView(p.focus)),
    Kind("export", "Export", "One file to show, and one to go on from", ExportTools),
)  # fmt: skip
