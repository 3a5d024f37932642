"""The frontier of a change in a loop: the nodes that read a changed value, and the first iteration that differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.execution.incremental.counters import first_difference_of_counter
from workbench.execution.incremental.steps import Literals, RevisionStep, RevisionSteps, size_of
from workbench.execution.run import Run
from workbench.ir.node import Node, Ref
from workbench.ir.opspec import REGISTRY
from workbench.kernels import machine as core
from workbench.kernels.layout import NodeLayout, Place
from workbench.plan.lowering.node_facts import CONTROL
from workbench.trace.row_ranges import as_array

#: rows of one slice if the executor computes them, and if NumPy does
ROWS, MANY_ROWS = 1 << 14, 1 << 18
#: changed values: their place, and their old value (None if there was none, or it is unknown)
Changed = Mapping[Ref, tuple[Place, Any]]
#: for a batch of rows: the first row that differs (-1: none), the number of firings compared, the row after the batch
Piece = tuple[int, int, int]


@dataclass(slots=True)
class FrontierResult:
    """The first row of the loop that differs (None: none), the number of firings compared, and the nodes that were
    compared."""

    row: int | None
    compared: int = 0
    readers: tuple[str, ...] = ()
    why: str = ""


def outer_bases(steps: RevisionSteps) -> frozenset[int]:
    """Bases of places at the outermost level."""
    return frozenset(s + 1 for s in steps.stores([0]))


def frontier_nodes(steps: RevisionSteps, step: RevisionStep, changed: Changed) -> tuple[list[NodeLayout], str]:
    """The nodes in a loop that read a changed value of the outermost level, or the reason why the loop must be run."""
    layout, graph, bases = steps.plan.layout, steps.plan.graph, outer_bases(steps)
    spans = [(p.base, p.offset, p.offset + size_of(p)) for p, _ in changed.values()]

    def hit(place: Place | None) -> bool:
        """True if a place overlaps that of a changed value."""
        if place is None or place.base not in bases:
            return False
        low, high = place.offset, place.offset + size_of(place)
        return any(base == place.base and low < b and a < high for base, a, b in spans)

    for frame in step.tree:
        cond = layout.frames[frame].cond
        if cond is not None and hit(cond.place):
            return [], "its condition is an input that changed"
    found = []
    for node in layout.nodes:
        if not step.start < node.ip < step.stop:
            continue
        if any(hit(c.place) for c in node.guard):
            return [], "an input that changed decides a branch in it"
        inputs = graph.nodes[node.name].inputs
        if not any(hit(layout.values[r].place) for r in inputs if r in layout.values):
            continue
        places = _own_places(steps, graph.nodes[node.name], bases)
        if not places:
            continue  # an alias or a view of an invariant, stored in the outermost row
        if graph.nodes[node.name].op in CONTROL:
            return [], f"{node.name} passes on an input that changed"
        spec = REGISTRY.lookup(node.op, graph.nodes[node.name].attrs)
        if not spec.pure or spec.draws or ":" in node.op or node.name not in steps.plan.spans:
            return [], f"{node.name} has effects and reads an input that changed"
        found.append(node)
    return found, ""


def _own_places(steps: RevisionSteps, node: Node, bases: frozenset[int]) -> list[Place]:
    found = (steps.plan.layout.values[node.name, k].place for k in range(len(steps.plan.types[node.name])))
    return [p for p in found if p is not None and p.base not in bases]


def first_row(
    run: Run, steps: RevisionSteps, step: RevisionStep, changed: Changed, until: Mapping[int, int]
) -> Iterator[FrontierResult | None]:
    """Yields None between slices and the result at the end; ``until`` gives for each frame the row at which the search
    ends."""
    nodes, why = frontier_nodes(steps, step, changed)
    found = FrontierResult(None, readers=tuple(n.name for n in nodes), why=why)
    begin = int(run.view.activations(step.frame)[0][-1]) + 1
    if why:
        found.row = begin
    looking = [(node, _pieces(run, steps, step, node, changed, until[node.frame], found)) for node in nodes]
    while looking and found.row != begin:  # a batch of each node in turn; the first difference ends the search
        for node, pieces in list(looking):
            piece = next(pieces, None)
            if piece is None:
                looking.remove((node, pieces))
                continue
            row, compared = piece
            found.compared += compared
            if row < 0:
                continue
            outer, frame = np.array([row]), node.frame
            while frame != step.frame:
                outer = run.trace.reader.parent_rows(frame, outer)
                frame = steps.plan.layout.frames[frame].parent
            if found.row is None or outer[0] < found.row:
                found.row, found.why = int(outer[0]), f"{node.name} gives another value"
            if found.row == begin:
                break
        yield None
    yield found


def _pieces(
    run: Run,
    steps: RevisionSteps,
    step: RevisionStep,
    node: NodeLayout,
    changed: Changed,
    until: int,
    found: FrontierResult,
) -> Iterator[tuple[int, int]]:
    """For each batch of rows of a node: (first row that differs, -1 for none; number of firings compared). Ends with
    the first difference, or after the row that was found for another node."""
    at = first_difference_of_counter(run, steps, step, node, changed, until)
    if at is not None:
        yield at
        return
    rows = _gathered(run, node, changed, until) or _computed(run, steps, node, until)
    for piece in rows:
        yield piece[:2]
        if piece[0] >= 0 or (node.frame == step.frame and found.row is not None and piece[2] >= found.row):
            return


def _computed(run: Run, steps: RevisionSteps, node: NodeLayout, until: int) -> Iterator[Piece]:
    """Batches in which the executor computes a node on the recorded rows, up to the first difference."""
    operand = steps.plan.layout.operand
    guard: Literals = [(*operand(c.place), c.expect) for c in node.guard]
    places = _own_places(steps, steps.plan.graph.nodes[node.name], outer_bases(steps))
    outputs = [(*operand(p), -1 if p.dtype is None else size_of(p)) for p in places]
    for low in range(0, until, ROWS):
        with np.errstate(all="ignore"):
            row, compared = core.first_difference(
                run.machine, node.frame, *steps.plan.spans[node.name], guard, outputs, low, min(low + ROWS, until)
            )
        yield row, compared, low + ROWS


def _gathered(run: Run, node: NodeLayout, changed: Changed, until: int) -> Iterator[Piece] | None:
    """For ``gather``: the first row whose indices select a changed element; None if this cannot be decided."""
    graph, layout = run.plan.graph, run.plan.layout
    at = graph.nodes[node.name]
    spec = REGISTRY.lookup(at.op, at.attrs)
    if spec.name != "gather" or len(at.inputs) != 2 or at.attrs.get("batch_dims", 0):
        return None
    source, place = (layout.values[r].place for r in at.inputs)
    old = next((v for p, v in changed.values() if p == source), None)
    others = [p for p, _ in changed.values() if p != source]
    if source is None or place is None or place.dtype is None or not isinstance(old, np.ndarray) or old.ndim == 0:
        return None
    new = np.asarray(run.trace.source.column(source, 0, 1)[1][0])
    if others and any(p.base == place.base for p in others) or old.dtype.hasobject or place.base == 0:
        return None
    if (new.dtype, new.shape) != (old.dtype, old.shape):
        return None
    axis = int(at.attrs.get("axis") or 0) % old.ndim
    raw = [np.ascontiguousarray(a).view(np.uint8).reshape(*a.shape, -1) for a in (old, new)]
    differs = (raw[0] != raw[1]).any(axis=-1)
    hits = np.moveaxis(differs, axis, 0).reshape(old.shape[axis], -1).any(axis=1)
    return _first_named(run, node, place, hits, until)


def _first_named(run: Run, node: NodeLayout, place: Place, hits: np.ndarray, until: int) -> Iterator[Piece]:
    reader, n = run.trace.reader, len(hits)
    for low in range(0, until, MANY_ROWS):
        rows = reader.rows_of(node, node.guard, (low, min(low + MANY_ROWS, until)))
        if len(rows):
            index = np.asarray(reader.items(place, node.frame, rows)).reshape(len(rows), -1)
            inside = (index >= -n) & (index < n)  # an index outside this range may fail, so the run decides
            named = ~inside | hits[np.where(inside, index, 0).astype(np.int64)]
            first = np.flatnonzero(named.any(axis=1))
            row = int(as_array(rows)[first[0]]) if len(first) else -1
            yield row, int(first[0]) + 1 if len(first) else len(rows), low + MANY_ROWS
        else:
            yield -1, 0, low + MANY_ROWS
