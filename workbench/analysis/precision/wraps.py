"""``first_wrap``: the first integer result of a run that left the range of its dtype and wrapped around.

Nothing is recorded for it during a run: the newest firings of integer arithmetic are recomputed from recorded operands,
a block at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.analysis.diff.trace_side import Orders
from workbench.ir.node import Node, Source
from workbench.ops.exact_integers import can_wrap, wrapped_items
from workbench.text import harmless
from workbench.trace import Trace
from workbench.trace.aligned_columns import MAX_FIRINGS, AlignedColumns, trace_of
from workbench.trace.edited_firings import Edits

_SIGNS = {"add": "+", "subtract": "-", "multiply": "*", "power": "**", "left_shift": "<<"}


@dataclass(frozen=True)
class Wrap:
    """The first integer result that wrapped around, found by :func:`first_wrap`. ``print`` it.

    Attributes
    ----------
    node, name, op : str
        The node, the public name of its value, and its op.
    source : Source or None
        The source line of the node.
    frame : tuple of str
        Path of its frame.
    iteration : tuple of int
        Iteration of each frame of the path.
    index : tuple of int
        Position of the item in the value.
    operands : tuple of int
        The operands of that item.
    value : int
        The result after wrapping.
    dtype : str
        The dtype, such as "int32".
    """

    node: str
    name: str
    op: str
    source: Source | None
    frame: tuple[str, ...]
    iteration: tuple[int, ...]
    index: tuple[int, ...]
    operands: tuple[int, ...]
    value: int
    dtype: str

    @property
    def signed(self) -> bool:
        """False for unsigned dtypes, whose arithmetic often wraps on purpose, as in hashes and random numbers."""
        return self.dtype.startswith("int")

    @property
    def formula(self) -> str:
        """Operands and result, such as ``3 * 827370449 = -1812855949``."""
        given = [f"({x})" if x < 0 and k else str(x) for k, x in enumerate(self.operands)]
        sign = _SIGNS.get(self.op)
        left = f" {sign} ".join(given) if sign and len(given) == 2 else f"{self.op}({', '.join(given)})"
        return f"{left} = {self.value}"

    @harmless
    def __str__(self) -> str:
        where = f" in iteration {', '.join(map(str, self.iteration))}" if self.iteration else ""
        at = f", item {list(self.index)}" if self.index else ""
        line = "" if self.source is None else f" ({self.source})"
        return f"{self.node}{line} is the first to wrap around in {self.dtype}{where}{at}: {self.formula}."


def first_wrap(source: Any, *, firings: int = MAX_FIRINGS) -> Wrap | None:
    """Find the first integer result, in the order of execution, that differs from the exact one.

    Sums, products, differences, powers, shifts, absolute values and casts of integers are checked, in recorded values
    only; signed results come before unsigned ones, in any order of execution. A result that all readers discard by
    ``where`` does not count.

    Parameters
    ----------
    source : Session or Trace
        The run, at any stop.
    firings : int
        Number of newest firings of each node to read.

    Returns
    -------
    Wrap or None
        None if no result wrapped.

    Raises
    ------
    WorkbenchError
        For anything but a session or a trace (``no-trace``).

    Examples
    --------
    >>> b = wb.GraphBuilder("doubling")
    >>> x = b.while_loop(lambda k, x: k < 40, lambda k, x: (k + 1, x + x), (b.constant(0), b.constant(1, "int32")))[1]
    >>> with wb.Session(b.build({"x": x})) as doubling:
    ...     doubling.run()
    ...     found = wb.first_wrap(doubling)
    <Stop FINISHED: ...>
    >>> found.iteration, found.formula
    ((30,), '1073741824 + 1073741824 = -2147483648')
    """
    trace = trace_of(source)
    columns, orders, edits = AlignedColumns(trace, firings=firings), Orders(trace), Edits(trace.graph, trace.edits())
    best: tuple[tuple[bool, tuple[int, ...]], Wrap] | None = None
    for layout in trace.layout.nodes:
        node = trace.graph.nodes[layout.name]
        found = _first(trace, columns, node, edits) if can_wrap(node) else None
        if found is None:
            continue
        key = not found.signed, orders(found.frame, layout.ip, found.iteration)
        if best is None or key < best[0]:
            best = key, found
    return None if best is None else best[1]


def _first(trace: Trace, columns: AlignedColumns, node: Node, edits: Edits) -> Wrap | None:
    iterations, values = columns.get(node.ref())
    if not len(values):
        return None
    given = []
    for ref in node.inputs:
        there, found = columns.at(ref, iterations)
        if not there.all():
            return None
        given.append(found)
    wrapped = wrapped_items(node.op, given, values)
    if wrapped is None:
        return None
    if wrapped.any():
        wrapped = wrapped & _is_used(trace, columns, node, iterations, values.shape)
    for at in np.flatnonzero(wrapped.reshape(len(values), -1).any(axis=1)).tolist():
        iteration = tuple(iterations[at].tolist())
        if edits.all and edits.of(node.ref(), iteration):
            continue
        index = tuple(int(i) for i in np.unravel_index(int(wrapped[at].argmax()), wrapped[at].shape))
        operands = tuple(int(np.broadcast_to(g[at], values[at].shape)[index]) for g in given)
        name, frame = trace.graph.name_of(node.ref()), trace.graph.frame_of(node.name)
        value, dtype = int(values[at][index]), values.dtype.name
        return Wrap(node.name, name, node.op, node.source, frame, iteration, index, operands, value, dtype)
    return None


def _is_used(
    trace: Trace, columns: AlignedColumns, node: Node, iterations: np.ndarray, shape: tuple[int, ...]
) -> np.ndarray:
    """A mask of the items that a reader uses: a ``where`` uses one of its two sides."""
    used, ref = np.zeros(shape, bool), node.ref()
    if ref in trace.graph.outputs.values():
        return np.ones(shape, bool)
    for name in trace.graph.consumers(node.name):
        reader = trace.graph.nodes[name]
        same_frame = trace.graph.frame_of(name) == trace.graph.frame_of(node.name)
        if reader.op != "where" or reader.inputs[0] == ref or not same_frame:
            return np.ones(shape, bool)
        there, chosen = columns.at(reader.inputs[0], iterations)
        if not there.all():
            return np.ones(shape, bool)
        chosen = np.asarray(chosen, bool)
        chosen = chosen.reshape(len(chosen), *(1,) * (len(shape) - chosen.ndim), *chosen.shape[1:])
        try:
            for place in (1, 2):
                if reader.inputs[place] == ref:
                    used |= np.broadcast_to(chosen if place == 1 else ~chosen, shape)
        except ValueError:  # the condition has more items than the value
            return np.ones(shape, bool)
    return used
