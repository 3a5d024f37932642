"""The dtypes that nodes of ours compute as JAX does, and constants among the inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.ir.builder.value import Value

if TYPE_CHECKING:
    from workbench.frontends.jax.lower import JaxLowering

INTEGER = frozenset(("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"))
DOUBLE = frozenset(("float64",))
FLOAT = DOUBLE | {"float32"}
REAL = INTEGER | FLOAT
PLAIN = REAL | {"bool"}


def known(lowering: JaxLowering, value: Value) -> np.ndarray | None:
    """The array of a constant; None for what is only known at run time."""
    node = lowering.builder.node(value.ref.node)
    while node.op in ("Enter", "Identity", "Switch", "broadcast_to") and not _changes(node):
        node = lowering.builder.node(node.inputs[0].node)
    found: Any = node.attrs.get("value") if node.op == "Const" else None
    return found


def _changes(node: Any) -> bool:
    """The Enter of a loop variable gives only the first of its values."""
    return bool(node.op == "Enter" and not node.attrs.get("is_constant"))
