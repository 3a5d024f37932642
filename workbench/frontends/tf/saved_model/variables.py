"""Variables: their values at import become constants.

A graph used for inference reads variables and never changes them, so a variable's handle can be replaced by its value:
a node that creates a variable becomes a constant, and a read becomes an identity. A node that changes a variable is an
error that names both, unless no output depends on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from workbench.errors import LoadError
from workbench.frontends.tf.graphdef import NodeDef, TensorName
from workbench.frontends.tf.tensor_proto import DTypeAttr

MAKES = ("VarHandleOp", "Variable", "VariableV2", "AutoReloadVariable", "TemporaryVariable")
_READS = ("ReadVariableOp", "_ReadVariablesOp")
_PASSES = ("Identity", "Enter", "RefEnter", "Switch", "RefSwitch", "Merge", "RefIdentity", *_READS)


def changes(op: str) -> bool:
    """True if an op changes a variable (its first input)."""
    return (
        op.startswith(("Assign", "ResourceApply", "ResourceSparseApply", "ResourceScatter", "ResourceStridedSlice"))
        or op in ("DestroyResourceOp", "CountUpTo", "ResourceCountUpTo")
        or op.startswith(("Scatter", "SparseApply", "Apply"))
        and op not in ("ScatterNd", "ScatterNdNonAliasingAdd")
    )


def with_values(nodes: Mapping[str, NodeDef], variables: Mapping[str, np.ndarray] | None) -> Mapping[str, NodeDef]:
    """The nodes with every variable a constant; LoadError ``assigns-variable`` or ``no-variable-value``."""
    found = {}
    for node in nodes.values():
        if changes(node.op):
            raise _changed(node, nodes)
        if node.op in MAKES:
            found[node.name] = _constant(node, variables or {})
        elif node.op in ("VarIsInitializedOp", "IsVariableInitialized"):
            attrs = {"value": np.array(True), "dtype": DTypeAttr(10)}
            found[node.name] = replace(node, op="Const", inputs=(), attrs=attrs)
        elif node.op in _READS:
            found[node.name] = replace(node, op="Identity")
        elif node.op == "VariableShape":
            found[node.name] = replace(node, op="Shape")
        elif node.op == "ResourceGatherNd":
            found[node.name] = replace(node, op="GatherNd")
    return {**nodes, **found} if found else nodes


def _constant(node: NodeDef, variables: Mapping[str, np.ndarray]) -> NodeDef:
    shared = node.attrs.get("shared_name")
    names = [node.name, *([shared.decode("utf-8", "replace")] if isinstance(shared, bytes) and shared else [])]
    value = next((variables[n] for n in names if n in variables), None)
    if value is None:
        raise LoadError(
            f"The variable {node.name!r} has no value in the GraphDef.",
            slug="no-variable-value",
            node=node.name,
            fix="load the SavedModel that it belongs to, freeze the graph, or give variables={name: array}.",
        )
    value = np.asarray(value)
    dtype, shape = node.attrs.get("dtype"), node.attrs.get("shape")
    wanted = dtype.name if isinstance(dtype, DTypeAttr) else value.dtype.name
    fits = shape is None or (len(shape) == value.ndim and all(d in (None, n) for d, n in zip(shape, value.shape)))  # noqa: B905
    named = "string" if value.dtype.kind in "OSU" else value.dtype.name
    if named != wanted or not fits:
        raise LoadError(
            f"The variable {node.name!r} is {wanted}{'' if shape is None else list(shape)}, but its value is "
            f"{named}{list(value.shape)}.",
            slug="variable-type",
            node=node.name,
            fix="give a value of that type.",
        )
    return replace(node, op="Const", attrs={"value": value, "dtype": DTypeAttr(1) if dtype is None else dtype})


def _changed(node: NodeDef, nodes: Mapping[str, NodeDef]) -> LoadError:
    tensor = node.inputs[0] if node.inputs else TensorName(node.name, 0)
    for _ in range(64):
        made = nodes.get(tensor.node)
        if made is None or made.op not in _PASSES or not made.inputs:
            break
        tensor = made.inputs[0]
    return LoadError(
        f"{node.op} {node.name!r} changes the variable {tensor.node!r}; an imported graph cannot.",
        slug="assigns-variable",
        node=node.name,
        fix="name outputs=... that do not need the change, or carry the value in a loop variable.",
    )
