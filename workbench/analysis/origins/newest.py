"""The first node of a loop that made NaN or an infinity out of finite numbers, in what was recorded last.

For answers that are given while a run goes on and may take no long look: only the newest firings of each node are
read, nothing is recomputed, and NaN and infinities count alike. :func:`~workbench.analysis.origins.nan_origin` reads
every firing, recomputes what is gone, and names the guilty operand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.analysis.columns import MAX_FIRINGS, Columns, trace_of
from workbench.analysis.diff.trace_side import HANDS_ON, Orders
from workbench.graph.node import Node, Source
from workbench.trace import Trace


@dataclass(frozen=True)
class NonfiniteOrigin:
    """``kind`` (nan or inf) first came out of ``node`` at ``iteration``, from finite ``inputs`` (name -> number; of
    arrays the largest)."""

    node: str
    name: str
    op: str
    source: Source | None
    frame: tuple[str, ...]
    iteration: tuple[int, ...]
    kind: str
    inputs: dict[str, float]

    def __str__(self) -> str:
        where = f" in iteration {', '.join(map(str, self.iteration))}" if self.iteration else ""
        line = "" if self.source is None else f" ({self.source})"
        came = ", ".join(f"{k} = {v:.9g}" for k, v in self.inputs.items()) or "no input"
        kind = "NaN" if self.kind == "nan" else "an infinity"
        return f"{self.node}{line} is the first to give {kind}{where}: {came}."


def nonfinite_origin(
    trace_or_session: Any, frame: tuple[str, ...] | str | None = None, *, firings: int = MAX_FIRINGS
) -> NonfiniteOrigin | None:
    """The first firing, in the order of execution, that is not finite while its inputs are; None if there is none.

    ``frame`` is a loop's name or path, None for all. A start value or constant that is not finite has no inputs and is
    named itself. Only recorded values are looked at, of each node the newest ``firings``.
    """
    trace = trace_of(trace_or_session)
    columns = Columns(trace, firings=firings)
    orders = Orders(trace)
    best: tuple[tuple[int, ...], Node, tuple[int, ...]] | None = None
    for layout in trace.layout.nodes:
        node, path = trace.graph.nodes[layout.name], trace.graph.frame_of(layout.name)
        if frame is not None and path != frame and frame not in (path[-1:] or ("",)) and "/".join(path) != frame:
            continue
        iteration = _first(trace, columns, node)
        if iteration is None:
            continue
        key = orders(path, layout.ip, iteration)
        if best is None or key < best[0]:
            best = key, node, iteration
    if best is None:
        return None
    _, node, iteration = best
    at = np.array([iteration], np.int64).reshape(1, -1)
    value = np.asarray(columns.at(node.ref(), at)[1])
    inputs = {}
    for ref in node.inputs:
        there, found = columns.at(ref, at)
        if there.all() and np.asarray(found).dtype.kind in "fiu" and np.size(found):
            flat = np.asarray(found, np.float64).ravel()
            inputs[trace.graph.name_of(ref)] = float(flat[np.abs(flat).argmax()])
    kind = "nan" if np.isnan(value).any() else "inf"
    return NonfiniteOrigin(
        node.name, trace.graph.name_of(node.ref()), node.op, node.source, trace.graph.frame_of(node.name), iteration,
        kind, inputs,
    )  # fmt: skip


def _first(trace: Trace, columns: Columns, node: Node) -> tuple[int, ...] | None:
    """The first iteration in which a node's output is not finite and its inputs are."""
    if node.op in HANDS_ON:
        return None
    iterations, values = columns.get(node.ref())
    if len(iterations) == 0 or np.asarray(values).dtype.kind != "f":
        return None
    bad = ~np.isfinite(values).reshape(len(values), -1).all(axis=1)
    if not bad.any():
        return None
    fine = np.ones(int(bad.sum()), bool)
    for ref in node.inputs:
        there, found = columns.at(ref, iterations[bad])
        if there.all() and np.asarray(found).dtype.kind == "f":
            fine &= np.isfinite(np.asarray(found)).reshape(len(fine), -1).all(axis=1)
    if not fine.any():
        return None
    return tuple(iterations[bad][int(fine.argmax())].tolist())
