"""Subnormal numbers in the operations of a graph."""

from __future__ import annotations

from workbench.ir.graph import Graph
from workbench.kernels.machine import Subnormals


def arithmetic_of(graph: Graph) -> Subnormals:
    """A context in which NumPy computes in this thread like a graph's operations: subnormal numbers are kept, or
    flushed to zero. Machines do this themselves; computations outside of them need this context.
    """
    return Subnormals(graph.flushes_subnormals)
