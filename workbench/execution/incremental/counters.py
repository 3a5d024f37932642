"""Finds by arithmetic the first iteration in which the comparison of a loop counter with a changed limit differs.

A counter has the same step in every iteration, so its comparison with a limit changes at most once. The results for two
limits therefore first differ where the earlier of them changes. Only the first two rows and the last one are read.
"""

from __future__ import annotations

import operator
from bisect import bisect_left
from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.execution.incremental.steps import RevisionStep, RevisionSteps
from workbench.execution.run import Run
from workbench.ir.node import Ref
from workbench.ir.opspec import REGISTRY
from workbench.kernels.layout import NodeLayout, Place

COMPARED = {"less": operator.lt, "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge}
#: fewer rows than this are compared one by one
FEW = 8


def first_difference_of_counter(
    run: Run,
    steps: RevisionSteps,
    step: RevisionStep,
    node: NodeLayout,
    changed: Mapping[Ref, tuple[Place, Any]],
    until: int,
) -> tuple[int, int] | None:
    """(first row before ``until`` in which a comparison differs, -1 for none; number of comparisons made); None if the
    node is not such a comparison."""
    graph, layout = run.plan.graph, run.plan.layout
    at = graph.nodes[node.name]
    compare = COMPARED.get(REGISTRY.lookup(at.op, at.attrs).name)
    begin = int(run.view.activations(step.frame)[0][-1]) + 1
    cond = layout.frames[step.frame].cond
    if compare is None or node.frame != step.frame or any(c != cond for c in node.guard) or until - begin < FEW:
        return None
    places = [layout.values[r].place for r in at.inputs]
    before = {p: old for p, old in changed.values() if isinstance(old, np.ndarray) and old.shape == ()}
    limits = [k for k, p in enumerate(places) if p in before]
    if len(places) != 2 or len(limits) != 1:
        return None
    counter, limit = places[1 - limits[0]], places[limits[0]]
    if (
        counter is None
        or limit is None
        or counter.dtype != limit.dtype
        or not _is_counter(steps, step, at.inputs[1 - limits[0]], counter)
    ):
        return None
    reader = run.trace.reader
    if cond is not None and node.guard and not reader.holds(cond, step.frame, range(until - 1, until))[0]:
        until -= 1  # the row in which the loop ended
    n = until - begin
    rows = (range(r, r + 1) for r in (begin, begin + 1, until - 1))
    first, second, last = (int(reader.items(counter, step.frame, r)[0]) for r in rows)
    by = second - first
    if last != first + by * (n - 1):  # it overflowed
        return None
    now = int(run.trace.source.column(limit, 0, 1)[1][0])

    def holds(row: int, bound: int) -> bool:
        """The comparison of the counter in a row with a bound."""
        pair = (first + by * row, bound)
        return bool(compare(*pair) if limits[0] == 1 else compare(*reversed(pair)))

    olds, news = holds(0, int(before[limit])), holds(0, now)
    if olds != news:
        return begin, 1
    turns = [
        bisect_left(range(n), True, key=lambda r, b=bound: holds(r, b) != olds)  # type: ignore[misc]
        for bound in (int(before[limit]), now)
    ]
    return -1 if turns[0] == turns[1] else begin + min(turns), 2 * n.bit_length()


def _is_counter(steps: RevisionSteps, step: RevisionStep, ref: Ref, place: Place) -> bool:
    """True for an integer loop variable to which each iteration adds the same amount."""
    graph, layout = steps.plan.graph, steps.plan.layout
    merge = graph.nodes[_source(steps, ref).node]
    if np.dtype(place.dtype).kind not in "iu" or merge.op != "Merge" or len(merge.inputs) != 2:
        return False
    back = graph.nodes[merge.inputs[1].node]
    if back.op != "NextIteration" or graph.nodes[merge.inputs[0].node].op != "Enter":
        return False
    added = graph.nodes[back.inputs[0].node]
    spec = REGISTRY.lookup(added.op, added.attrs).name if added.op not in ("Switch", "Merge") else ""
    found = next((n for n in layout.nodes if n.name == added.name), None)
    cond = layout.frames[step.frame].cond
    if spec not in ("add", "subtract") or found is None or found.frame != step.frame or len(added.inputs) != 2:
        return False
    if any(c != cond for c in found.guard):
        return False
    if any(layout.values[r].place is None for r in (*added.inputs, added.ref())):
        return False
    invariant = [_is_invariant(steps, r) for r in added.inputs]
    own = [_source(steps, r) == merge.ref() for r in added.inputs]
    dtypes = {layout.values[r].place.dtype for r in (*added.inputs, added.ref())}  # type: ignore[union-attr]
    if dtypes != {place.dtype}:
        return False
    return (own[0] and invariant[1]) or (spec == "add" and own[1] and invariant[0])


def _source(steps: RevisionSteps, ref: Ref) -> Ref:
    """The value that ``ref`` is an alias of, within its loop."""
    nodes = steps.plan.graph.nodes
    while nodes[ref.node].op in ("Identity", "Switch"):
        ref = nodes[ref.node].inputs[0]
    return ref


def _is_invariant(steps: RevisionSteps, ref: Ref) -> bool:
    """True for a value that is the same in all iterations: a constant, or a value of the outermost level."""
    place = steps.plan.layout.values[ref].place
    return place is not None and (place.base == 0 or place.base in {s + 1 for s in steps.stores([0])})
