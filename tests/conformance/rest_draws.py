"""Graphs that draw random numbers: which tensors depend on a draw, and how such a tensor is compared.

Another generator gives other numbers, so a tensor that depends on a draw is compared in dtype, shape and, from 16
elements on, in its mean (within six standard errors) and range. Where the draws themselves were recorded, the graph is
run a second time with the recorded numbers in their place, and then every output must agree as in any other graph.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.frontends.tf.graphdef import GraphDef, NodeDef

#: ops of TensorFlow that draw
DRAWS = (
    "Multinomial",
    "RandomGamma",
    "RandomPoisson",
    "RandomPoissonV2",
    "RandomShuffle",
    "RandomStandardNormal",
    "RandomUniform",
    "RandomUniformInt",
    "TruncatedNormal",
    "ParameterizedTruncatedNormal",
)


def draws(node: NodeDef) -> bool:
    return node.op in DRAWS


def depending(source: GraphDef) -> set[str]:
    """Nodes that draw, and all that read them."""
    found = {n.name for n in source.nodes.values() if draws(n)}
    grown = True
    while grown and found:
        more = {n.name for n in source.nodes.values() if any(t.node in found for t in n.inputs)} - found
        grown = bool(more)
        found |= more
    return found


def with_recorded_draws(source: GraphDef, known: Mapping[str, np.ndarray]) -> tuple[GraphDef, bool]:
    """The graph with a constant in place of each draw that was recorded, and whether all were."""
    nodes: dict[str, NodeDef] = {}
    whole = True
    for name, node in source.nodes.items():
        value = known.get(f"{name}:0")
        if not draws(node):
            nodes[name] = node
        elif value is None:
            nodes[name] = node
            whole = False
        else:
            nodes[name] = NodeDef(name, "Const", (), node.control, {"value": value})
    return GraphDef(nodes, source.functions, source.producer), whole


def agrees_in_distribution(got: Any, expected: np.ndarray) -> str:
    """Empty, or what differs: dtype, shape, mean (six standard errors) or range (three times as wide or narrow)."""
    a, b = np.asarray(got), np.asarray(expected)
    if a.dtype != b.dtype or a.shape != b.shape:
        return f"{a.dtype}{list(a.shape)} instead of {b.dtype}{list(b.shape)}"
    if a.size < 16:
        return ""
    x, y = a.astype(np.float64), b.astype(np.float64)
    if not np.isfinite(x).all() and np.isfinite(y).all():
        return "not finite"
    error = math.sqrt((x.var() + y.var()) / a.size)
    if abs(x.mean() - y.mean()) > 6 * error + 1e-6:
        return f"mean {x.mean():.4g} instead of {y.mean():.4g}"
    if np.ptp(x) > 3 * np.ptp(y) + 1e-6 or np.ptp(y) > 3 * np.ptp(x) + 1e-6:
        return f"range {x.min():.4g} to {x.max():.4g} instead of {y.min():.4g} to {y.max():.4g}"
    return ""
