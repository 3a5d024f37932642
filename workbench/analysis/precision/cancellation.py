"""Cancellation: significant digits lost where two nearly equal numbers are subtracted, with the node named.

The subtraction itself is exact or nearly so; it exposes the rounding errors that its operands already have.  With
operands a and b and the result r it loses log10(max(|a|, |b|) / |r|) digits (N. J. Higham, "Accuracy and Stability of
Numerical Algorithms", 2nd ed., SIAM 2002, section 1.7).  That *matters* only if

* an operand has a rounding error: it is computed, and its values are not integers that the dtype represents exactly;
* the loss reaches a result.  The relative error of r is followed through later nodes of the same iteration: products
  and quotients pass it on, a sum with a larger number absorbs it.  A correction like Newton's, f(x) / f'(x) added to x,
  is therefore not reported, and (1 - cos x) / x^2 is.

It reaches a result if the next value of a loop variable, or an output of the graph, has lost more than half of the
dtype's digits. A residual, which is only compared with a tolerance, has enough digits while its error is small compared
with the tolerance. The analysis is of first order and of one iteration: errors that accumulate slowly over many
iterations are not detected.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.ir.graph import Graph
from workbench.ir.node import Node, Ref, Source
from workbench.ir.types import numpy_dtype
from workbench.text import harmless
from workbench.trace import Trace
from workbench.trace.aligned_columns import MAX_FIRINGS, AlignedColumns, trace_of

#: nodes that return the value or magnitude of their first input without a rounding error
EXACT = frozenset(
    "Const Placeholder Identity Switch Enter Exit Merge NextIteration negative abs stop_gradient "
    "reshape transpose squeeze expand_dims gather getitem maximum minimum where cast sign round floor "
    "ceil".split()
)
#: after these nodes the relative error is not followed
DEAD_END = frozenset(
    "less less_equal greater greater_equal equal not_equal LoopCond Switch_predicate sign isnan "
    "isfinite isinf argmax argmin".split()
)

COMPARISONS = frozenset("less less_equal greater greater_equal".split())
#: minimum error of a residual that matters, as a share of its threshold
SMALL = 0.1


@dataclass(frozen=True)
class Cancellation:
    """Digits lost at one subtraction, found by :func:`cancellations`. ``print`` it.

    Attributes
    ----------
    node, name : str
        The node, and the public name of its value.
    source : Source or None
        The source line of the node.
    frame : tuple of str
        Path of its frame.
    iteration : tuple of int
        The iteration with the largest loss.
    first : tuple of int
        The first iteration in which more than half of the digits were lost.
    digits, available : float
        Decimal digits lost in ``iteration``, and digits that the dtype has.
    left, right, result : float
        The operands and the result in that iteration.
    count : int
        Number of iterations in which more than half of the digits were lost.
    sink : str or None
        The loop variable or output that the loss reaches.
    """

    node: str
    name: str
    source: Source | None
    frame: tuple[str, ...]
    iteration: tuple[int, ...]
    first: tuple[int, ...]
    digits: float
    available: float
    left: float
    right: float
    result: float
    count: int
    sink: str | None

    @property
    def matters(self) -> bool:
        return self.sink is not None

    @harmless
    def __str__(self) -> str:
        where = f" in iteration {', '.join(map(str, self.iteration))}" if self.iteration else ""
        lost = "all" if self.result == 0 else f"{self.digits:.1f} of"
        line = "" if self.source is None else f" ({self.source})"
        arrives = f"; it arrives in {self.sink}" if self.sink else "; no variable or output has a significant error"
        return (
            f"{self.node}{line} loses {lost} {self.available:.1f} digits{where}: "
            f"{self.left:.9g} and {self.right:.9g} leave {self.result:.3g}{arrives}."
        )


def cancellations(
    trace_or_session: Any,
    frame: tuple[str, ...] | str | None = None,
    *,
    harmless: bool = False,
    firings: int = MAX_FIRINGS,
) -> list[Cancellation]:
    """Find the subtractions that lost more than half of the digits of their dtype.

    Parameters
    ----------
    trace_or_session : Trace or Session
        The run. Only recorded values are read.
    frame : str or tuple of str, optional
        Name or path of a loop, () for the outermost level; by default all.
    harmless : bool, default False
        Whether to list also losses that do not reach a loop variable or output.
    firings : int
        Number of newest firings of each node to read.

    Returns
    -------
    list of Cancellation
        The largest loss first; harmless ones at the end.

    References
    ----------
    N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., SIAM 2002, section 1.7.
    """
    trace = trace_of(trace_or_session)
    graph, columns = trace.graph, AlignedColumns(trace, firings=firings)
    found = []
    for node in _subtractions(trace, frame):
        answer = _examine(trace, graph, columns, node)
        if answer is not None and (harmless or answer.matters):
            found.append(answer)
    return sorted(found, key=lambda c: (not c.matters, -c.digits))


def _subtractions(trace: Trace, frame: tuple[str, ...] | str | None) -> list[Node]:
    graph, picked = trace.graph, []
    for layout in trace.layout.nodes:
        node = graph.nodes[layout.name]
        path = graph.frame_of(node.name)
        wanted = frame is None or path == frame or isinstance(frame, str) and frame in (path[-1:] or ("",))[0:1]
        wanted = wanted or isinstance(frame, str) and "/".join(path) == frame
        if wanted and node.op in ("add", "subtract") and len(node.inputs) == 2:
            kind = numpy_dtype(node.types[0].dtype).kind if node.types[0].dtype in _FLOATS else ""
            if kind == "f" and node.inputs[0] != node.inputs[1]:
                picked.append(node)
    return picked


_FLOATS = ("float16", "float32", "float64")


def _examine(trace: Trace, graph: Graph, columns: AlignedColumns, node: Node) -> Cancellation | None:
    iterations, result = columns.get(node.ref())
    if len(iterations) == 0 or result.dtype.kind != "f":
        return None
    sides = []
    for ref in node.inputs:
        there, values = columns.at(ref, iterations)
        if not there.all() or np.asarray(values).dtype.kind not in "fiu":
            return None
        sides.append(np.asarray(values))
    eps = float(np.finfo(result.dtype).eps)
    available = -math.log10(eps)
    with np.errstate(all="ignore"):
        shape = result.shape
        a, b = (np.broadcast_to(_fit(s, result.ndim), shape).astype(np.float64).reshape(len(result), -1) for s in sides)
        r = result.astype(np.float64).reshape(len(result), -1)
        if r.shape[1] == 0:
            return None
        big = np.maximum(np.abs(a), np.abs(b))
        lost = np.where((big > 0) & np.isfinite(big), np.log10(big / np.abs(r)), 0.0)
        # integers below 1 / eps, and their halves, quarters ..., have no rounding error that could be exposed
        whole = (np.floor(a * 1024) == a * 1024) & (np.floor(b * 1024) == b * 1024) & (big < 1 / (1024 * eps))
        lost = np.where(whole | ~np.isfinite(r), 0.0, np.minimum(lost, available))
    rounded = any(_rounds(graph, ref) for ref in node.inputs)
    worst_item = lost.argmax(axis=1)
    per_row = lost[np.arange(len(lost)), worst_item]
    bad = per_row > available / 2
    if not bad.any() or not rounded:
        return None
    sink = _sink(trace, graph, columns, node, iterations[bad], eps * big.max(axis=1)[bad], math.sqrt(eps))
    at = int(per_row.argmax())
    item = worst_item[at]
    return Cancellation(
        node.name,
        graph.name_of(node.ref()),
        node.source,
        graph.frame_of(node.name),
        tuple(iterations[at].tolist()),
        tuple(iterations[int(bad.argmax())].tolist()),
        float(per_row[at]),
        available,
        float(a[at, item]),
        float(b[at, item]),
        float(r[at, item]),
        int(bad.sum()),
        sink,
    )


def _fit(values: np.ndarray, ndim: int) -> np.ndarray:
    """Add axes to operands of lower rank, which broadcast from the right, after the time axis."""
    missing = ndim - values.ndim
    return values.reshape(len(values), *([1] * missing), *values.shape[1:]) if missing > 0 else values


def _rounds(graph: Graph, ref: Ref) -> bool:
    """True if a value is computed by an op that rounds."""
    stack, seen = [ref.node], set()
    while stack:
        name = stack.pop()
        if name in seen:
            continue
        seen.add(name)
        node = graph.nodes[name]
        if node.op not in EXACT:
            return True
        stack.extend(r.node for r in node.inputs)
    return False


def _sink(
    trace: Trace,
    graph: Graph,
    columns: AlignedColumns,
    node: Node,
    iterations: np.ndarray,
    error: np.ndarray,
    limit: float,
) -> str | None:
    """The loop variable or output in which the absolute ``error`` of ``node`` exceeds ``limit`` times the value."""
    frame = graph.frame_of(node.name)
    variables = {v.next_iteration: v.name for f in graph.frames.values() for v in f.variables}
    outputs = {ref: name for name, ref in graph.outputs.items()}
    errors: dict[str, np.ndarray] = {node.name: error}
    values = {node.name: columns.at(node.ref(), iterations)[1]}
    order = [n.name for n in trace.layout.nodes]
    with np.errstate(all="ignore"):
        for name in order[order.index(node.name) :]:
            at = graph.nodes[name]
            if name != node.name:
                if at.op in DEAD_END or graph.frame_of(name) != frame or at.op in ("Merge", "Enter", "Exit"):
                    reached = None if at.op not in ("Merge",) else _handed(at, errors)
                else:
                    reached = _through(graph, columns, at, errors, values, iterations)
                if reached is None:
                    continue
                there, found = columns.at(at.ref(), iterations)
                if not there.all() or np.asarray(found).dtype.kind != "f":
                    continue
                errors[name], values[name] = reached, found
            size = np.abs(np.asarray(values[name], np.float64)).reshape(len(iterations), -1).max(axis=1)
            arrived = bool(np.any(errors[name] > limit * size))
            if arrived and name in variables:
                merge = next(v.merge for f in graph.frames.values() for v in f.variables if v.next_iteration == name)
                if not _small_beside_its_threshold(graph, columns, merge, iterations, errors[name]):
                    return variables[name]
                continue
            if arrived and at.ref() in outputs:
                return outputs[at.ref()]
    return None


def _small_beside_its_threshold(
    graph: Graph, columns: AlignedColumns, merge: str, iterations: np.ndarray, error: np.ndarray
) -> bool:
    """True for a residual: a variable that is only compared with numbers, whose ``error`` is small relative to them.

    The step of a converging iterate loses its digits because the iterate has converged; the condition does not need
    them.
    """
    waiting, thresholds = [merge], []
    while waiting:
        name = waiting.pop()
        for reader in graph.consumers(name):
            node = graph.nodes[reader]
            if node.op in ("Switch", "Identity", "abs"):
                waiting.append(reader)
            elif node.op in COMPARISONS:
                thresholds += [ref for ref in node.inputs if ref.node != name]
            elif node.op != "Exit":
                return False
    for ref in thresholds:
        there, values = columns.at(ref, iterations)
        values = np.asarray(values)
        if not there.all() or values.dtype.kind not in "fiu" or values.size == 0:
            return False
        if not np.all(error <= SMALL * np.abs(values.astype(np.float64)).min()):
            return False
    return bool(thresholds)


def _handed(node: Node, errors: dict[str, np.ndarray]) -> np.ndarray | None:
    return next((errors[r.node] for r in node.inputs if r.node in errors), None)


def _through(
    graph: Graph,
    columns: AlignedColumns,
    node: Node,
    errors: dict[str, np.ndarray],
    values: dict[str, Any],
    iterations: np.ndarray,
) -> np.ndarray | None:
    """The absolute error after one node, to first order; None if none of its inputs has one."""
    mine = [r for r in node.inputs if r.node in errors]
    if node.op == "Switch":
        mine = [r for r in mine if r == node.inputs[0]]
    if not mine:
        return None

    def size(ref: Ref) -> np.ndarray:
        there, found = columns.at(ref, iterations)
        if not there.all() or np.asarray(found).dtype.kind not in "fiu":
            return np.full(len(iterations), np.nan)
        return np.abs(np.asarray(found, np.float64)).reshape(len(iterations), -1).max(axis=1)

    own = errors[mine[0].node]
    if node.op in ("add", "subtract", "negative", "abs", "Identity", "Switch", "NextIteration", "maximum", "minimum"):
        return np.max([errors[r.node] for r in mine], axis=0)
    if node.op in ("multiply", "divide") and len(node.inputs) == 2:
        out = size(node.ref())
        parts = [errors[r.node] / size(r) * out for r in mine]
        if node.op == "multiply" and len(mine) == 1:  # also if the value itself is 0
            other = node.inputs[1] if node.inputs[0] == mine[0] else node.inputs[0]
            parts = [own * size(other)]
        elif node.op == "divide" and mine == [node.inputs[0]]:
            parts = [own / size(node.inputs[1])]
        return np.nan_to_num(np.max(parts, axis=0), nan=0.0, posinf=np.inf)
    if node.op in ("sum", "reduce_sum", "mean"):
        return own
    if node.op == "exp":
        return own * size(node.ref())
    if node.op in ("sin", "cos", "tanh"):
        return own
    # all other ops are assumed to pass the relative error on
    return np.nan_to_num(own / size(mine[0]) * size(node.ref()), nan=0.0, posinf=np.inf)
