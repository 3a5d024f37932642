"""Finds the tensor of the checkpoint from which each variable of a SavedModel's graph is restored.

The graph itself contains this: the saver's restore op leads to RestoreV2, whose outputs are assigned to the variables,
in TensorFlow 1 in the graph, in TensorFlow 2 in a function that gets the variables as arguments. Names alone are not
sufficient: two TensorFlow 2 variables may have the same name. Variables that the saver omits are looked up by name,
then in the checkpoint's own table of objects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import LoadError
from workbench.frontends.protobuf.wire import Reader
from workbench.frontends.tf.checkpoint import Bundle
from workbench.frontends.tf.checkpoint.slices import parse_slice, places
from workbench.frontends.tf.pruning import reached
from workbench.frontends.tf.saved_model.schema import SAVED
from workbench.frontends.tf.tensor_proto import Budget, tensor_of

VARIABLES = ("VarHandleOp", "VariableV2", "Variable")
_ASSIGNS = ("AssignVariableOp", "Assign")
_CALLS = ("StatefulPartitionedCall", "PartitionedCall")
_HANDED_ON = ("Identity", "Reshape", "Cast")
_OBJECTS = "_CHECKPOINTABLE_OBJECT_GRAPH"

Nodes = Mapping[str, Mapping[str, Any]]


class Stored(NamedTuple):
    """A tensor of the checkpoint, and the text form of a slice of it ("" for the whole tensor)."""

    key: str
    slice: str = ""


class SavedVariables(Mapping[str, np.ndarray]):
    """Values by the name of the variable's node, read on demand."""

    def __init__(self, bundle: Bundle, meta: Mapping[str, Any]) -> None:
        self._bundle = bundle
        self._stored = {name: s for name, s in stored_variables(meta, bundle).items() if s.key in bundle}

    def __len__(self) -> int:
        return len(self._stored)

    def __iter__(self) -> Iterator[str]:
        return iter(self._stored)

    def __contains__(self, name: object) -> bool:
        return name in self._stored

    def __getitem__(self, name: str) -> np.ndarray:
        key, text = self._stored[name]
        whole = self._bundle[key]
        cut = parse_slice(text)
        if cut is None:
            return whole
        if cut[0] != whole.shape:
            raise LoadError(
                f"The variable {name!r} is a slice of {list(cut[0])}, but the checkpoint's tensor {key!r} is "
                f"{list(whole.shape)}.",
                slug="bad-checkpoint",
            )
        return whole[places(whole.shape, cut[1])]


def stored_variables(meta: Mapping[str, Any], bundle: Mapping[str, Any]) -> dict[str, Stored]:
    """Variable node -> the part of the checkpoint from which it is restored."""
    graph = meta.get("graph_def", {})
    nodes = {n.get("name", ""): n for n in graph.get("node", ())}
    functions = {f.get("signature", {}).get("name", ""): f for f in graph.get("library", {}).get("function", ())}
    found: dict[str, Stored] = {}
    start = _node_of(meta.get("saver_def", {}).get("restore_op_name", ""))
    reached = _reached(nodes, start) if start in nodes else nodes
    found.update(_assigned(reached))
    for node in reached.values():
        function = functions.get(_attr(node, "f").get("func", {}).get("name", ""))
        if node.get("op") in _CALLS and function is not None:
            found.update(_assigned_by(function, node))
    by_object: dict[str, str] | None = None
    for name, node in nodes.items():
        if node.get("op") not in VARIABLES or name in found:
            continue
        shared = _attr(node, "shared_name").get("s", b"").decode("utf-8", "replace")
        for label in filter(None, (name, shared)):
            if by_object is None and label not in bundle:
                by_object = _objects(bundle)
            key = label if label in bundle else (by_object or {}).get(label)
            if key is not None:
                found[name] = Stored(key)
                break
    return found


def _reached(nodes: Nodes, start: str) -> dict[str, Mapping[str, Any]]:
    return reached([start], nodes, lambda node: map(_node_of, node.get("input", ())))


def _assigned(nodes: Nodes) -> dict[str, Stored]:
    """Target of every assignment of a restored tensor -> the restored tensor."""
    found = {}
    for node in nodes.values():
        inputs = node.get("input", ())
        if node.get("op") in _ASSIGNS and len(inputs) >= 2:
            stored = _restored(nodes, inputs[1])
            if stored is not None:
                found[_node_of(inputs[0])] = stored
    return found


def _assigned_by(function: Mapping[str, Any], call: Mapping[str, Any]) -> dict[str, Stored]:
    names = [a.get("name", "") for a in function.get("signature", {}).get("input_arg", ())]
    given = dict(zip(names, map(_node_of, call.get("input", ())), strict=False))
    inside = _assigned({n.get("name", ""): n for n in function.get("node_def", ())})
    return {given[target]: stored for target, stored in inside.items() if target in given}


def _restored(nodes: Nodes, tensor: str) -> Stored | None:
    """The stored tensor that RestoreV2 returns as ``tensor``, through ops that pass it on; None for any other
    tensor.
    """
    for _ in range(16):
        node = nodes.get(_node_of(tensor))
        if node is None:
            return None
        inputs = node.get("input", ())
        if node.get("op") == "RestoreV2" and len(inputs) >= 3:
            index = tensor.rpartition(":")[2]
            at = int(index) if index.isdigit() and len(index) < 7 else 0
            keys, slices = (_texts(nodes, i) for i in inputs[1:3])
            return Stored(keys[at], slices[at] if at < len(slices) else "") if at < len(keys) else None
        if node.get("op") not in _HANDED_ON or not inputs:
            return None
        tensor = inputs[0]
    return None


def _texts(nodes: Nodes, tensor: str) -> list[str]:
    value = _attr(nodes.get(_node_of(tensor), {}), "value").get("tensor")
    if value is None:
        return []
    array = tensor_of(value, Budget(1 << 22), "A name in the checkpoint")
    return [v.decode("utf-8", "replace") if isinstance(v, bytes) else "" for v in array.ravel().tolist()]


def _objects(bundle: Mapping[str, Any]) -> dict[str, str]:
    """Full name of a variable -> its key, by the checkpoint's table of objects; names shared by two are left out."""
    if _OBJECTS not in bundle:
        return {}
    raw = bundle[_OBJECTS].ravel().tolist()
    message = Reader(raw[0], SAVED).message("TrackableObjectGraph") if raw else {}
    keys: dict[str, set[str]] = {}
    for node in message.get("nodes", ()):
        for attribute in node.get("attributes", ()):
            if attribute.get("name") == "VARIABLE_VALUE":
                keys.setdefault(attribute.get("full_name", ""), set()).add(attribute.get("checkpoint_key", ""))
    return {name: next(iter(found)) for name, found in keys.items() if len(found) == 1}


def _attr(node: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    return next((e.get("value", {}) for e in node.get("attr", ()) if e.get("key") == key), {})


def _node_of(tensor: str) -> str:
    """Node of an input: ``^node``, ``node``, ``node:0`` or, in a function, ``node:output:0``."""
    return tensor.removeprefix("^").partition(":")[0]
