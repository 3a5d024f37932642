"""One loop of a report: its progress, its verdict, and its variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from workbench.analysis.expressions import formula
from workbench.analysis.report.formatting import clean, count
from workbench.analysis.report.loop_dataflow import Entry
from workbench.analysis.report.trip_counts import TripCounts
from workbench.analysis.report.variable import NotInAnalysis
from workbench.analysis.slicing.clauses import find_clauses
from workbench.analysis.standing import LoopEnd, Standing
from workbench.analysis.verdict import Termination
from workbench.errors import WorkbenchError
from workbench.ir.frames.frame_tree import FramePath
from workbench.ir.graph import Graph
from workbench.ir.node import Ref
from workbench.text import harmless
from workbench.trace import Trace
from workbench.trace.tail_reader import Reading


@dataclass
class Loop:
    """A loop: its ``termination``, and also each field of it (``loop.status``, ``loop.remaining`` ...).

    ``end`` is the state of the loop, or how it ended. ``iterations`` counts those since the loop was last entered,
    ``all_iterations`` those since the run began, in ``activations`` activations; ``open`` says that the loop is in
    progress. At most ``nodes`` nodes fire in one iteration; ``share`` is the loop's share of all firings without inner
    loops, ``share_inside`` with them. ``trips`` are the trip counts of an inner loop in the iterations of its outer
    loop; ``entries`` the values that enter from there; ``method`` names a numerical method recognised in the graph;
    ``fixes`` are those of ``termination.fix`` that were tried and help, or could not be tried.
    """

    frame: FramePath
    name: str
    condition: str
    variables: tuple[str, ...]
    inner: tuple[FramePath, ...]
    termination: Termination
    end: LoopEnd = LoopEnd(Standing.NOT_ENTERED, 0)
    iterations: int = 0
    all_iterations: int = 0
    activations: int = 0
    open: bool = False
    nodes: int = 0
    share: float = 0.0
    share_inside: float = 0.0
    trips: TripCounts | None = None
    entries: tuple[Entry, ...] = ()
    clauses: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    method: str = ""
    fixes: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        if name in TERMINATION:
            return getattr(self.termination, name)
        raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")

    @property
    def path(self) -> str:
        return "/".join(self.frame)

    @harmless
    def __str__(self) -> str:
        return f"{clean(self.path)}: {count(self.iterations, 'iteration')}. {self.termination}"


TERMINATION = frozenset(f.name for f in fields(Termination) if f.name != "end")


class Loops(Mapping[FramePath, Loop]):
    """Frame path -> :class:`Loop`, outer loops first. A loop is also found as "outer/inner" or by its name."""

    def __init__(self, loops: list[Loop]) -> None:
        self._loops = {loop.frame: loop for loop in loops}

    def __getitem__(self, frame: FramePath | str) -> Loop:
        key = frame if isinstance(frame, str) else tuple(frame)
        found = self._loops.get(key) if isinstance(key, tuple) else None
        if found is None:
            text = key if isinstance(key, str) else "/".join(map(str, key))
            found = next((loop for loop in self._loops.values() if text in (loop.path, loop.name)), None)
        if found is None:
            known = ", ".join(loop.path for loop in list(self._loops.values())[:12]) or "none"
            raise NotInAnalysis(
                f"There is no loop {frame!r} in this run.", slug="no-such-frame", fix=f"its loops are {known}."
            )
        return found

    def __iter__(self) -> Iterator[FramePath]:
        return iter(self._loops)

    def __len__(self) -> int:
        return len(self._loops)

    @harmless
    def __repr__(self) -> str:
        return f"<{count(len(self), 'loop')}: {', '.join(loop.path for loop in list(self._loops.values())[:8])}>"


def condition_of(graph: Graph, frame: FramePath) -> str:
    """The condition of a loop as text, such as ``i < n and error > 1e-6``."""
    cond = graph.frames[frame].loop_cond
    if cond is None:
        return ""
    text = formula(graph, Ref(cond))
    if text is not None:
        return text
    clauses, logic, _ = find_clauses(graph, Ref(cond))
    texts = [f"{a} {op} {b}" if b != "True" else a for a, op, b in clauses]
    return f"not {texts[0]}" if logic == "not" else f" {logic} ".join(texts)


def operands_now(trace: Trace, frame: FramePath) -> list[dict[str, Any]]:
    """text, left, op, right of each comparison of the condition, with the operands of the last evaluation."""
    graph, rows = trace.graph, []
    cond = graph.frames[frame].loop_cond
    if cond is None:
        return []
    clauses, _, operands = find_clauses(graph, Ref(cond))
    for (left, op, right), (a, _, b) in zip(clauses, operands, strict=True):
        row: dict[str, Any] = {"text": f"{left} {op} {right}", "op": op, "left": None, "right": None}
        for side, ref in (("left", a), ("right", b)):
            try:
                value = Reading(trace, ref).last() if isinstance(ref, Ref) else ref
                value = np.asarray(value)
                row[side] = value.reshape(-1)[0] if value.size == 1 and value.dtype.kind in "biuf" else None
            except (LookupError, ValueError, TypeError, AttributeError, WorkbenchError):
                continue
        rows.append(row)
    return rows
