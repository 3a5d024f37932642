"""The dtypes that workbench nodes compute as JAX does, and constants among the inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from workbench.ir.builder.value import Value
from workbench.ir.node import Node, Ref
from workbench.ir.opspec import REGISTRY

if TYPE_CHECKING:
    from workbench.frontends.jax.lower import JaxLowering

INTEGER = frozenset(("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"))
NARROW = frozenset(("float16", "bfloat16"))
DOUBLE = frozenset(("float64",))
FLOAT = DOUBLE | {"float32"}
REAL = INTEGER | FLOAT
PLAIN = REAL | {"bool"}


def known(lowering: JaxLowering, value: Value) -> np.ndarray | None:
    """The array of a constant or of a scalar computed from constants alone, as ``jnp.remainder`` does with its divisor;
    None for a value known only at run time.
    """
    return _known(lowering, value.ref)


def _known(lowering: JaxLowering, ref: Ref) -> np.ndarray | None:
    node = lowering.builder.node(ref.node)
    while node.op in ("Enter", "Identity", "Switch", "broadcast_to") and not _changes(node):
        ref = node.inputs[0]
        node = lowering.builder.node(ref.node)
    if node.op == "Const":
        found: np.ndarray = node.attrs["value"]
        return found
    if ref not in lowering.known:
        lowering.known[ref] = _computed(lowering, node, ref)
    return lowering.known[ref]


def _computed(lowering: JaxLowering, node: Node, ref: Ref) -> np.ndarray | None:
    """A scalar that a workbench op computes from constants."""
    spec = REGISTRY.get(node.op)
    if spec is None or spec.evaluate is None or not (spec.ufunc or node.op == "where"):
        return None
    inputs = [_known(lowering, r) for r in node.inputs]
    if lowering.builder.type_of(ref).shape or any(v is None for v in inputs):
        return None
    (made,) = spec.evaluate(inputs, node.attrs)
    return np.asarray(made)


def _changes(node: Node) -> bool:
    """True for the Enter of a loop variable, which gives only the first of its values."""
    return node.op == "Enter" and not node.attrs.get("is_constant")
