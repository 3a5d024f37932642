"""Hash tables get their keys and values from the nodes that fill them.

A table that does not change while a graph runs can be replaced by its content. A node that creates a table gets two
inputs, the keys and the values of the node that fills it when the model is initialised::

    InitializeTableV2(table, keys, values)              keys   ──┐
    InitializeTableFromTextFileV2(table, file)    ──►   values ──┴─► HashTableV2 ──► LookupTableFindV2
    LookupTableImportV2(table, keys, values)

Handles pass through frames and branches as they do in TensorFlow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from workbench.errors import LoadError
from workbench.frontends.tf.graphdef import NodeDef, TensorName
from workbench.frontends.tf.initializers import FILLS, MAKES, identity
from workbench.frontends.tf.pruning import reached
from workbench.frontends.tf.saved_model.vocabulary import Assets, entries, not_an_asset
from workbench.frontends.tf.sources import Sources
from workbench.frontends.tf.tensor_proto import DTypeAttr

_FROM_FILE = ("InitializeTableFromTextFile", "InitializeTableFromTextFileV2")
_CHANGES = ("LookupTableInsert", "LookupTableInsertV2", "LookupTableRemoveV2")


def with_tables(
    nodes: Mapping[str, NodeDef], ends: Iterable[str], assets: Assets | None, stored: Mapping[str, np.ndarray]
) -> Mapping[str, NodeDef]:
    """The nodes that ``ends`` depend on, with every table's keys and values as its inputs.

    ``stored`` holds the tensors of the checkpoint by name. Without tables the nodes are returned unchanged. Raises
    LoadError ``no-table-values``, ``two-initializers``, ``changes-table``, ``table-type`` or errors of a vocabulary
    file.
    """
    if not any(n.op in MAKES for n in nodes.values()):
        return nodes
    source = Sources(nodes)
    fillers: dict[str, list[NodeDef]] = {}
    for node in nodes.values():
        made = source.producer(node.inputs[0]) if node.op in FILLS and node.inputs else None
        if made is not None and made.op in MAKES:
            fillers.setdefault(_table(made), []).append(node)
    out = dict(nodes)
    for node in _needed(nodes, ends).values():
        if node.op in _CHANGES:
            raise LoadError(
                f"{node.op} {node.name!r} changes a table; an imported graph cannot.",
                slug="changes-table",
                node=node.name,
                fix="name outputs=... that do not need the change.",
            )
        if node.op in MAKES:
            for made in _filled(node, fillers.get(_table(node), []), out, source, assets, stored):
                out[made.name] = made
    return _needed(out, ends)


def _filled(
    node: NodeDef,
    found: Sequence[NodeDef],
    nodes: Mapping[str, NodeDef],
    source: Sources,
    assets: Assets | None,
    stored: Mapping[str, np.ndarray],
) -> list[NodeDef]:
    """The table's node with its inputs, and the nodes of its constants."""
    if not found:
        raise LoadError(
            f"Nothing fills the table {_shown(node)}.",
            slug="no-table-values",
            node=node.name,
            fix="load the SavedModel that it belongs to, whose initialisation fills it.",
        )
    filler = found[0]
    if any((f.op, f.inputs, f.attrs) != (filler.op, filler.inputs, filler.attrs) for f in found[1:]):
        raise LoadError(
            f"{filler.name!r} and {found[1].name!r} both fill the table {_shown(node)}.",
            slug="two-initializers",
            node=node.name,
            fix="export the model with one initializer for each table.",
        )
    dtypes = [_dtype(node, f"{what}_dtype") for what in ("key", "value")]
    if filler.op in _FROM_FILE:
        if assets is None or len(filler.inputs) < 2:
            raise not_an_asset(filler)
        values = entries(assets.read(_asset(filler.inputs[1], nodes, source), filler), filler, *dtypes)
        given: list[Any] = list(values)
    elif len(filler.inputs) < 3:
        raise _bad(filler, "has no keys and values")
    else:
        given = [_constant(t, source, stored) for t in filler.inputs[1:3]]
    made, inputs = [], []
    for i, (what, dtype, value) in enumerate(zip(("keys", "values"), dtypes, given, strict=True)):
        if value is None:  # known only at run time
            if node.control:
                raise _bad(filler, "computes the table's content, and the table is made inside a loop or branch")
            inputs.append(filler.inputs[i + 1])
            continue
        if not _is(value, dtype):
            raise LoadError(
                f"The table {_shown(node)} holds {dtype} as {what}, but {filler.name!r} gives {value.dtype}.",
                slug="table-type",
                node=node.name,
                fix="write the SavedModel again with TensorFlow.",
            )
        name = f"{node.name}/{what}"
        while name in nodes:
            name += "_"
        attrs = {"value": value.reshape(-1), "dtype": node.attrs[f"{what[:-1]}_dtype"]}
        made.append(NodeDef(name, "Const", (), node.control, attrs, region=node.region))
        inputs.append(TensorName(name, 0))
    return [*made, replace(node, inputs=tuple(inputs))]


def _table(node: NodeDef) -> str:
    return identity(node.name, node.attrs.get("shared_name"), node.attrs.get("container"))


def _dtype(node: NodeDef, attr: str) -> str:
    dtype = node.attrs.get(attr)
    if not isinstance(dtype, DTypeAttr):
        raise _bad(node, f"does not say its {attr}")
    return dtype.name


def _is(value: np.ndarray, dtype: str) -> bool:
    return value.dtype.kind in "OSU" if dtype == "string" else value.dtype.name == dtype


def _constant(tensor: TensorName, source: Sources, stored: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """The value of a tensor that is a constant or in the checkpoint; None for other tensors."""
    value = source(tensor)
    made = source.producer(tensor)
    if value is not None or made is None or made.op != "RestoreV2" or len(made.inputs) < 3:
        return value
    names = source(made.inputs[1])
    at = source.origin(tensor).output
    if names is None or not 0 <= at < names.size:
        raise _bad(made, "does not say what it restores")
    key = names.reshape(-1)[at]
    return stored[key.decode("utf-8", "replace") if isinstance(key, bytes) else str(key)]


def _asset(tensor: TensorName, nodes: Mapping[str, NodeDef], source: Sources) -> str:
    """Name of the tensor that TensorFlow feeds with a file's path, which may pass through a variable."""
    for _ in range(16):
        made = source.producer(tensor)
        if made is None:
            return ""
        if made.op == "ReadVariableOp" and made.inputs:
            handle = source.producer(made.inputs[0])
            writes = [
                n
                for n in nodes.values()
                if n.op == "AssignVariableOp" and len(n.inputs) == 2 and source.producer(n.inputs[0]) == handle
            ]
            if handle is None or len(writes) != 1:
                return ""
            tensor = writes[0].inputs[1]
            continue
        return f"{made.name}:{source.origin(tensor).output}"
    return ""


def _shown(node: NodeDef) -> str:
    """A table for messages."""
    name = node.attrs.get("shared_name")
    return repr(node.name) + (f" (shared name {name.decode('utf-8', 'replace')!r})" if name else "")


def _needed(nodes: Mapping[str, NodeDef], ends: Iterable[str]) -> dict[str, NodeDef]:
    """The nodes that ``ends`` depend on, in their order."""
    keep = reached(ends, nodes, lambda node: (*(t.node for t in node.inputs), *node.control))
    return {name: node for name, node in nodes.items() if name in keep}


def _bad(node: NodeDef, why: str) -> LoadError:
    return LoadError(
        f"{node.op} {node.name!r} {why}.",
        slug="no-table-values",
        node=node.name,
        fix="write the SavedModel again with TensorFlow.",
    )
