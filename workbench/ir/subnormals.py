"""Numbers below the normal range, as the operations of a graph take them."""

from __future__ import annotations

from workbench.ir.graph import Graph
from workbench.kernels.machine import Subnormals


def arithmetic_of(graph: Graph) -> Subnormals:
    """A context in which NumPy computes in this thread as a graph's operations do: numbers below the normal range are
    kept, or taken for zero. Machines switch by themselves; what is computed beside them needs it."""
    return Subnormals(graph.flushes_subnormals)
