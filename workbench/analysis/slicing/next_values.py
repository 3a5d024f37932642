"""The map that a loop applies to one of its variables: the next value for each possible value.

For each value, the loop starts anew in the slice of that variable and runs one iteration; the session is not changed.
Work is bounded.
"""

from __future__ import annotations

import reprlib
from typing import Any

import numpy as np

from workbench.analysis.slicing import work
from workbench.analysis.slicing.execution import slice_of
from workbench.analysis.slicing.protocol import SliceFailed, SliceTimeout
from workbench.errors import SessionError, WorkbenchError
from workbench.execution import Run
from workbench.ir.frames.frame_tree import LoopVariable
from workbench.ir.graph import Graph
from workbench.ir.node import Ref

#: nominal seconds for all values together, and for one of them
SECONDS, EACH = 0.1, 0.01


def depends_on_itself(graph: Graph, path: tuple[str, ...], variable: LoopVariable) -> bool:
    """True if the next value of a variable depends on its current one, and on no other variable of the loop."""
    merges = {v.merge for v in graph.frames[path].variables}
    waiting, seen = [graph.nodes[variable.next_iteration].inputs[0]], set()
    while waiting:
        ref = waiting.pop()
        if ref.node in seen:
            continue
        seen.add(ref.node)
        node = graph.nodes[ref.node]
        if ref.node in merges or node.op == "Enter" and node.attrs.get("is_constant"):
            continue
        steered = node.op == "Switch" and graph.nodes[node.inputs[1].node].op == "LoopCond"
        waiting += node.inputs[:1] if steered else node.inputs
    return seen & merges == {variable.merge}


def real_numbers(values: Any) -> np.ndarray:
    """``values`` as (n,) float64. SessionError for anything other than a real number or a row of them."""
    try:
        with np.errstate(over="ignore"):
            found = np.atleast_1d(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError, OverflowError):
        found = np.empty((0, 0))
    if found.ndim == 1:
        return found
    raise SessionError(
        f"next_values: expected real numbers, (n,), got {reprlib.repr(values)}.",
        slug="bad-values",
        fix="give a number or a list of numbers.",
    )


def next_values(run: Run, path: tuple[str, ...], variable: LoopVariable, values: np.ndarray) -> np.ndarray | None:
    """The value one iteration later for each of ``values``, (n,) float64; NaN if the loop ends or fails there.

    None if the update is not a map of one number: the variable is not a real number, its next value depends on other
    variables, or the loop cannot be run ahead.
    """
    graph = run.plan.graph
    place = run.plan.layout.values.get((variable.merge, 0))
    # a variable has the same map after it was edited; an edit of an invariant changes the map
    given = graph.nodes[variable.next_iteration].inputs[0].node
    if not {edit.ref.node for edit in run.edits} <= {variable.merge, variable.next_iteration, given}:
        return None
    if len(path) > 1 or place is None or place.place is None or place.place.shape:
        return None
    if place.place.dtype not in ("float64", "float32") or not depends_on_itself(graph, path, variable):
        return None
    found = np.full(len(values), np.nan)
    try:
        runner = slice_of(graph, path, run.plan, run.feeds, [variable.merge])
        runner.patience = EACH
        if not runner.pure:
            return None
        deadline = work.now() + SECONDS
        for k, value in enumerate(np.asarray(values, dtype=place.place.dtype)):
            if work.now() > deadline:
                return None
            work.charge(work.FORK)
            runner.restart()
            try:
                if runner.align(None, {variable.merge: value}) and runner.advance(1) == 1:
                    found[k] = float(runner.values()[variable.name])
            except SliceFailed:
                continue
    except (WorkbenchError, SliceTimeout, RuntimeError):
        return None
    return found if np.isfinite(found).any() else None


def variable_at(graph: Graph, name: Ref) -> tuple[tuple[str, ...], LoopVariable] | None:
    """The loop and the variable whose Merge computes a value; None for other values."""
    for path, frame in graph.frames.items():
        for variable in frame.variables:
            if variable.merge == name.node and path:
                return path, variable
    return None
