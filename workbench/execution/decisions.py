"""Finds Switches and Merges that have already decided by a value, which must therefore not be edited.

The stored predicates decide which nodes fire, both during the run and when the trace is read. If a predicate were
changed after a Switch has decided by it, a Merge would take the side that was never computed, and the trace would show
memory that was never written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.kernels.layout import Condition, NodeLayout, Place
from workbench.trace.source import RowsGone

if TYPE_CHECKING:
    from workbench.execution.run import Run


def overlap(a: Place, b: Place) -> bool:
    """True if two places in the same row share memory."""
    if a.base != b.base or (a.dtype is None) != (b.dtype is None):
        return False
    return a.offset < b.offset + size_of(b) and b.offset < a.offset + size_of(a)


def size_of(place: Place) -> int:
    """Bytes of a place."""
    if place.dtype is None:
        return 16
    return int(np.dtype(place.dtype).itemsize * np.prod(place.shape, dtype=np.int64))


def decided_by(run: Run, places: Sequence[Place], value: Any) -> NodeLayout | None:
    """The first node that has decided by the value at one of ``places`` and would decide differently by ``value``: a
    Switch, or a Merge whose ``value_index`` decides which later nodes are alive."""
    for place in places:
        for node, condition in _decisions(run):
            if overlap(place, condition.place) and _turns(run, place, condition, value):
                row = run.view.rows(place.base - 1)[1] + place.shift - condition.place.shift
                if _fired(run, node, run.plan.layout.frame_of(place), row):
                    return node
    return None


def _decisions(run: Run) -> Iterator[tuple[NodeLayout, Condition]]:
    """(node, condition by which it decides) for every Switch, and for every Merge that may be dead."""
    values = run.plan.layout.values
    for node in run.plan.layout.nodes:
        if node.op == "Switch":
            sides = {c for k in (0, 1) if (node.name, k) in values for c in values[node.name, k].guard}
            yield from ((node, c) for c in sides.difference(node.guard))
        elif node.op == "Merge":
            yield from ((node, c) for c in node.guard if c.expect >= 2)


def _turns(run: Run, place: Place, condition: Condition, value: Any) -> bool:
    """True if writing ``value`` to a place changes the truth value of a literal."""
    raw = np.asarray(value)
    if place.dtype is None or raw.dtype == object:
        return False
    at, literal = condition.place.offset - place.offset, np.dtype("int32" if condition.expect >= 2 else "uint8")
    now = np.asarray(run._now(place), place.dtype)
    old, new = (np.ascontiguousarray(a).reshape(-1).view(np.uint8)[at : at + literal.itemsize] for a in (now, raw))
    if len(old) < literal.itemsize or len(new) < literal.itemsize:
        return True
    before, after = (a.copy().view(literal)[0] for a in (old, new))
    return bool(before >= 0) != bool(after >= 0) if condition.expect >= 2 else bool(before) != bool(after)


def _fired(run: Run, node: NodeLayout, home: int, row: int) -> bool:
    """True if a node has fired during this row of ``home`` (its frame or an enclosing one), or if the record of that
    was dropped."""
    if row > run.view.rows(home)[1]:
        return False
    reader, frame = run.trace.reader, node.frame
    try:
        rows = np.asarray(reader.rows_of(node, node.guard), np.int64)
        while frame != home:
            rows, frame = reader.parent_rows(frame, rows), run.plan.layout.frames[frame].parent
        if bool((rows == row).any()):
            return True
    except RowsGone:
        return True
    return _forgotten(run, node.frame, home, row)


def _forgotten(run: Run, frame: int, home: int, row: int) -> bool:
    """True if dropped rows of ``frame`` may belong to this row of ``home``."""
    first, last, _ = run.view.rows(frame)
    if first == 0 or home == frame:
        return first > 0 and row < first
    mapped = np.array([min(first, last)])
    try:
        while frame != home:
            mapped, frame = run.trace.reader.parent_rows(frame, mapped), run.plan.layout.frames[frame].parent
    except RowsGone:
        return True
    return int(mapped[0]) >= row
