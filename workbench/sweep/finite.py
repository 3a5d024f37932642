"""Runs that reach their end with an output, or a side of a loop's condition, that is NaN or infinite.

A comparison with NaN is false, so that a loop ends when its values become NaN; it found nothing, and the point has an
outcome different from other ends. The collected outputs, all other outputs that are single numbers, and the last values
of the sides of comparisons in loop conditions are checked.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from workbench.analysis.comparisons import NAMES
from workbench.analysis.slicing.clauses import CONNECTIVES
from workbench.ir.graph import Graph
from workbench.ir.node import Ref
from workbench.ir.types import numpy_dtype
from workbench.plan import ExecutionPlan
from workbench.sweep.chunk import ENDED, NOT_FINITE, Chunk
from workbench.sweep.problem import Problem


def checked_outputs(problem: Problem, plan: ExecutionPlan) -> dict[Ref, np.dtype]:
    """Outputs that are not collected, and are single numbers that may be non-finite."""
    refs = [plan.outputs[name] for name in problem.graph.outputs if name not in problem.outputs]
    return _singles(plan, refs)


def checked_sides(plan: ExecutionPlan) -> dict[Ref, np.dtype]:
    """Sides of the comparisons in the conditions of all loops that are single numbers and may be non-finite."""
    graph = plan.graph
    conds = [n.inputs[0] for n in graph.nodes.values() if n.op == "LoopCond"]
    return _singles(plan, [side for cond in conds for side in _sides(graph, cond)])


def _sides(graph: Graph, cond: Ref) -> Iterator[Ref]:
    waiting, seen = [cond], set[Ref]()
    while waiting:
        ref = waiting.pop()
        node = graph.nodes[ref.node]
        if ref in seen:
            continue
        seen.add(ref)
        if node.op == "Identity" or node.op in CONNECTIVES:
            waiting += node.inputs
        elif node.op in NAMES:
            yield from (_outside(graph, side) for side in node.inputs)


def _outside(graph: Graph, ref: Ref) -> Ref:
    """For a value that a loop does not change, its place outside the loop; any other value itself."""
    node = graph.nodes[ref.node]
    while node.op == "Identity" or (node.op == "Enter" and node.attrs.get("is_constant")):
        ref = node.inputs[0]
        node = graph.nodes[ref.node]
    return ref


def _singles(plan: ExecutionPlan, refs: list[Ref]) -> dict[Ref, np.dtype]:
    found = {}
    for ref in refs:
        type_ = plan.types[ref.node][ref.index] if ref.node in plan.types else plan.graph.type_of(ref)
        if type_.shape == () and plan.graph.nodes[ref.node].op != "Const":
            dtype = numpy_dtype(type_.dtype)
            if dtype.kind in "fcV":
                found[ref] = dtype
    return found


def mark_not_finite(chunk: Chunk) -> None:
    """Give points that ended the outcome "not finite" if one of their numbers is not."""
    bad = np.zeros(len(chunk), bool)
    for name, column in chunk.values.items():
        if column.dtype.kind in "fcV":
            bad |= chunk.alive[name] & ~_finite(column)
        elif column.dtype.kind == "O":
            for k in np.flatnonzero(chunk.alive[name]):
                value = column[k]
                if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "fcV":
                    bad[k] |= not _finite(np.asarray(value)[None])[0]
    for column in chunk.checks.values():
        bad |= ~_finite(column)
    chunk.status[bad & (chunk.status == ENDED)] = NOT_FINITE


def _finite(column: np.ndarray) -> np.ndarray:
    """True for each row whose numbers are all finite."""
    numbers = column.astype(np.complex64) if column.dtype.kind == "V" else column  # dtypes of ml_dtypes
    finite: np.ndarray = np.isfinite(numbers).reshape(len(column), -1).all(axis=1)
    return finite
