"""The first node of a loop that made NaN or infinity from finite numbers, in the newest rows of a trace.

For answers that are given while a run goes on and may take no long look: only the newest firings of each node are
read, nothing is recomputed, and NaN and infinities count alike. :func:`~workbench.analysis.precision.nan_origin` reads
every firing, recomputes what is gone, and names the guilty operand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.analysis.diff.trace_side import HANDS_ON, Orders
from workbench.analysis.precision.block_scan import floats, is_bad, parts
from workbench.analysis.precision.operand_rules import by_place
from workbench.ir.node import Node, Source
from workbench.text import harmless
from workbench.trace import Trace
from workbench.trace.aligned_columns import MAX_FIRINGS, AlignedColumns, trace_of
from workbench.trace.edited_firings import Edits, Written


@dataclass(frozen=True)
class NonfiniteOrigin:
    """The node that first gave NaN or an infinity, found by :func:`nonfinite_origin`. ``print`` it.

    Attributes
    ----------
    node, name, op : str
        The node, the public name of its value, and its op.
    source : Source or None
        The line of source that made the node.
    frame : tuple of str
        Path of its frame.
    iteration : tuple of int
        Iteration of each frame of the path.
    kind : {"nan", "inf"}
        The kind of value.
    inputs : dict of str to float
        The finite inputs; of an array the element that met the first bad one of the result, or where many met its
        largest.
    edited : bool
        Whether a user wrote it over a value.
    """

    node: str
    name: str
    op: str
    source: Source | None
    frame: tuple[str, ...]
    iteration: tuple[int, ...]
    kind: str
    inputs: dict[str, float]
    edited: bool = False

    @harmless
    def __str__(self) -> str:
        where = f" in iteration {', '.join(map(str, self.iteration))}" if self.iteration else ""
        line = "" if self.source is None else f" ({self.source})"
        if self.edited:
            kind = "NaN" if self.kind == "nan" else "an infinity"
            return f"{self.node}{line} was edited to {kind}{where}: no node made it."
        operands = ", ".join(f"{k} = {v:.9g}" for k, v in self.inputs.items()) or "no input"
        kind = "NaN" if self.kind == "nan" else "an infinity"
        return f"{self.node}{line} is the first to give {kind}{where}: {operands}."


def nonfinite_origin(
    trace_or_session: Any, frame: tuple[str, ...] | str | None = None, *, firings: int = MAX_FIRINGS
) -> NonfiniteOrigin | None:
    """Find the first firing, in the order of execution, that is not finite while its inputs are.

    :func:`workbench.nan_origin` does the same for a whole run and in more detail; this reads the newest firings only.

    Parameters
    ----------
    trace_or_session : Trace or Session
        The run. Only recorded values are read.
    frame : str or tuple of str, optional
        Name or path of a loop; by default all.
    firings : int
        Number of newest firings of each node to read.

    Returns
    -------
    NonfiniteOrigin or None
        None if all values are finite. A start value, a constant or an edit that is not finite is its own origin.
    """
    trace = trace_of(trace_or_session)
    columns = AlignedColumns(trace, firings=firings)
    orders, edits = Orders(trace), Edits(trace.graph, trace.edits())
    best: tuple[tuple[int, ...], Node, tuple[int, ...]] | None = None
    for layout in trace.layout.nodes:
        node, path = trace.graph.nodes[layout.name], trace.graph.frame_of(layout.name)
        if not _within(path, frame):
            continue
        iteration = _first(trace, columns, node, edits)
        if iteration is None:
            continue
        key = orders(path, layout.ip, iteration)
        if best is None or key < best[0]:
            best = key, node, iteration
    asked = [p for p in trace.graph.frames if _within(p, frame)]  # what stands around these is read in them
    around = {p[:k] for p in asked for k in range(len(p) + 1)}
    written = next(
        (
            e
            for e in edits.all
            if trace.graph.frame_of(e.ref.node) in around and not _finite(e.value) and edits.stays(e)
        ),
        None,
    )
    if written is not None and (best is None or orders(written.stand[0], *written.stand[1:]) <= best[0]):
        return _edited(trace, written)
    if best is None:
        return None
    _, node, iteration = best
    at = np.array([iteration], np.int64).reshape(1, -1)
    value = columns.at(node.ref(), at)[1][0]
    inputs = {}
    for ref in node.inputs:
        there, found = columns.at(ref, at)
        if there.all() and isinstance(found, np.ndarray) and found.dtype.kind in "fiu" and np.size(found):
            inputs[trace.graph.name_of(ref)] = _operand(node.op, np.asarray(found, np.float64)[0], value)
    kind = "nan" if is_bad(value, np.isnan) else "inf"
    return NonfiniteOrigin(
        node.name,
        trace.graph.name_of(node.ref()),
        node.op,
        node.source,
        trace.graph.frame_of(node.name),
        iteration,
        kind,
        inputs,
    )


def _operand(op: str, operand: np.ndarray, value: Any) -> float:
    """The item of an operand that met the first bad item of the result; where many items met, the largest one."""
    result = floats(value)
    if by_place(op) and result is not None:
        try:
            return float(np.broadcast_to(operand, result.shape).ravel()[int(_not_finite(result).argmax())])
        except ValueError:  # shapes that do not go together
            pass
    flat = operand.ravel()
    return float(flat[np.abs(flat).argmax()])


def _within(path: tuple[str, ...], frame: tuple[str, ...] | str | None) -> bool:
    return frame is None or path == frame or frame in (path[-1:] or ("",)) or "/".join(path) == frame


def _finite(value: Any) -> bool:
    return not is_bad(value, _not_finite)


def _edited(trace: Trace, edit: Written) -> NonfiniteOrigin:
    node = trace.graph.nodes[edit.ref.node]
    path = next(p for r, p in edit.tags if r == edit.ref)
    kind = "nan" if is_bad(edit.value, np.isnan) else "inf"
    return NonfiniteOrigin(
        node.name,
        trace.graph.name_of(edit.ref),
        node.op,
        node.source,
        trace.graph.frame_of(node.name),
        path,
        kind,
        {},
        True,
    )


def _not_finite(array: np.ndarray) -> np.ndarray:
    return ~np.isfinite(array)


def _bad(values: Any) -> np.ndarray | None:
    """Which of these values are not finite, lists by their elements; None where none of them holds floats."""
    if isinstance(values, np.ndarray) and values.dtype != object:
        array = floats(values) if len(values) else None
        bad = None if array is None else np.asarray(_not_finite(array).reshape(len(values), -1).any(axis=1))
        return bad
    if not any(True for value in values for _ in parts(value)):
        return None
    return np.array([is_bad(value, _not_finite) for value in values], bool)


def _first(trace: Trace, columns: AlignedColumns, node: Node, edits: Edits) -> tuple[int, ...] | None:
    """The first iteration in which a node's output is not finite and its inputs are; what was edited did not come of
    it."""
    if node.op in HANDS_ON:
        return None
    iterations, values = columns.get(node.ref())
    if len(iterations) == 0:
        return None
    bad = _bad(values)
    if bad is None:
        return None
    if edits.all:
        bad &= np.array([not edits.of(node.ref(), tuple(it)) for it in iterations.tolist()], bool)
    if not bad.any():
        return None
    fine = np.ones(int(bad.sum()), bool)
    for ref in node.inputs:
        there, found = columns.at(ref, iterations[bad])
        if there.all() and (given := _bad(found)) is not None:
            fine &= ~given
    if not fine.any():
        return None
    return tuple(iterations[bad][int(fine.argmax())].tolist())
