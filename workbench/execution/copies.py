"""Finds the copies of a value that were made for later nodes: an edit must also be written to them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.ir.node import Ref
from workbench.kernels.layout import Copy, NodeLayout, Place

if TYPE_CHECKING:
    from workbench.execution.run import Run


def copies_of(run: Run, ref: Ref, place: Place) -> list[Place]:
    """Places to which instructions have copied a value for nodes that have not fired yet."""
    here, layout = run.view.ip, run.plan.layout
    fired = max((n.ip for n in layout.nodes if n.ip < here and run.fired_now(n)), default=-1)
    opened_frames = {-1, *run.active_frames()}  # -1 stands for constants
    takers = _takers(run)
    found, known = [], {place}
    node = run.plan.graph.nodes[ref.node]
    if node.op == "NextIteration":  # in an unstructured frame it has a separate place
        source = layout.values[node.inputs[0]].place
        if source is not None and source.base > 0 and source not in known:
            found.append(source)
            known.add(source)
    last: dict[Place, Copy] = {}  # only the last copy to a place is valid
    for copy in layout.copies:
        taker = takers.get((copy.target.base, copy.target.offset))
        if taker is not None and _before_its_merge(run, copy, taker):
            last[replace(copy.target, shift=-1)] = copy
        elif copy.ip < here and (copy.ip > fired or taker is not None and _still_ahead(run, copy, taker)):
            if opened_frames.issuperset(layout.frame_of(c.place) for c in copy.guard) and run.holds(copy.guard):
                last[copy.target] = copy
    for target, copy in sorted(last.items(), key=lambda item: (item[0].shift, item[1].ip)):
        if copy.source in known and target not in known:
            found.append(target)
            known.add(target)
    return found


def _takers(run: Run) -> dict[tuple[int, int], NodeLayout]:
    """Place of a value that is copied ahead -> the last Merge that reads a loop variable from it, or the Exit of an
    unstructured frame."""
    graph, layout = run.plan.graph, run.plan.layout
    nodes, found = run.trace.reader.node, dict[tuple[int, int], NodeLayout]()
    for node in layout.nodes:
        place = layout.values[node.name, 0].place if node.op in ("Merge", "NextIteration", "Exit") else None
        if place is None or node.op == "Merge" and place.shift == 0:
            continue
        taker = node
        if node.op == "NextIteration":
            if layout.values[graph.nodes[node.name].inputs[0]].place == place:
                continue  # an alias of its input
            merges = [nodes[c] for c in graph.consumers(node.name) if c in nodes]
            taker = max(merges, key=lambda n: n.ip, default=node)
        found.setdefault((place.base, place.offset), taker)
    return found


def _before_its_merge(run: Run, copy: Copy, taker: NodeLayout) -> bool:
    """True if the value that a Merge is about to read was copied in the previous row: before iteration 0 by the first
    copy, otherwise by the copy of the previous iteration."""
    if taker.op == "Exit" or taker.frame not in run.active_frames() or taker.ip < run.view.ip:
        return False
    first = copy.ip < _begun(run, taker.frame)
    return first == (run.view.iteration(taker.frame) <= 0)


def _still_ahead(run: Run, copy: Copy, taker: NodeLayout) -> bool:
    """True if a copy of this row is read later: by a Merge at the end of the iteration, or by the Exit of an
    unstructured frame at the end of the frame."""
    if taker.op == "Exit":
        return taker.ip >= run.view.ip
    return taker.frame in run.active_frames() and copy.ip > _begun(run, taker.frame)


def _begun(run: Run, number: int) -> int:
    """The last instruction that copies the start values of a frame."""
    return min((n.ip for n in run.plan.layout.nodes if n.first and n.frame == number), default=-1)
