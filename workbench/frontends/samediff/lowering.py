"""Nodes of a FlatGraph -> TensorFlow 1 nodes, by the rule of each op."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from workbench.errors import LoadError
from workbench.frontends.samediff.flatgraph import FlatGraph, FlatNode, FlatVariable, Key
from workbench.frontends.samediff.rules import OURS, UNNAMED, Parts, refusal, rule_of
from workbench.frontends.samediff.rules.base import dtype_attr
from workbench.frontends.samediff.rules.names import plain
from workbench.frontends.samediff.schema import CLASSES, PLACEHOLDER
from workbench.frontends.tf.graphdef import NodeDef, TensorName
from workbench.frontends.tf.lowering import unknown_ops
from workbench.frontends.tf.rules import LoweredNode

WHAT = "The SameDiff graph"
_PASSES = ("identity", "enter", "switch")


class Values:
    """Origins of the variables of a graph: ``tensors`` by name, ``makers`` the ops by the names of their outputs."""

    def __init__(self, source: FlatGraph) -> None:
        self.source = source
        self.makers: dict[str, FlatNode] = {}
        self.tensors: dict[str, TensorName] = {}
        for node in source.nodes:
            for i, name in enumerate(node.outputs):
                if name in self.makers:
                    raise LoadError(f"Two ops compute {name!r}.", slug="duplicate-name")
                self.makers[name] = node
                self.tensors[name] = TensorName(node.outputs[0], i)
        for name in source.variables:
            self.tensors.setdefault(name, TensorName(name, 0))
        self.ops = {node.name: node.outputs[0] for node in source.nodes if node.name and node.name not in self.tensors}

    def named(self, key: Key, node: FlatNode) -> str:
        """The name of the variable with a key; LoadError ``no-such-node`` if there is none."""
        name = self.source.names.get(key)
        if name is None:
            raise LoadError(
                f"Op {node.op} {node.outputs[0]!r} reads output {key[1]} of node {key[0]}, which is not in the graph.",
                slug="no-such-node",
                node=node.outputs[0],
                fix="save the model again with the tool that wrote it.",
            )
        return name

    def control(self, names: Iterable[str]) -> tuple[str, ...]:
        """The nodes that compute the variables, or are the ops, of these names; other names are skipped."""
        found = (self.tensors[n].node if n in self.tensors else self.ops.get(n) for n in names)
        return tuple(dict.fromkeys(n for n in found if n is not None))

    def constant(self, name: str) -> np.ndarray | None:
        """The value of a constant variable, also through ops that pass it on."""
        for _ in range(64):
            node = self.makers.get(name)
            if node is None:
                variable = self.source.variables.get(name)
                return None if variable is None or variable.kind == PLACEHOLDER else variable.array
            if plain(node.op) not in _PASSES or not node.inputs:
                return None
            name = self.source.names.get(node.inputs[0], "")
        return None


def reached(values: Values, wanted: Iterable[str]) -> set[str]:
    """Names of the wanted variables and of those that they depend on, by data and control dependencies."""
    stack, found = list(wanted), set()
    while stack:
        name = stack.pop()
        if name in found:
            continue
        found.add(name)
        node, variable = values.makers.get(name), values.source.variables.get(name)
        used: list[str] = []
        if node is not None:
            used += [values.named(key, node) for key in node.inputs]
            used += [n for n in node.control if n in values.tensors]
            used += [values.ops[n] for n in node.control if n in values.ops]
            used += node.outputs
        if variable is not None:
            used += [n for n in variable.control if n in values.tensors]
            used += [values.ops[n] for n in variable.control if n in values.ops]
        stack.extend(used)
    return found


def tf_nodes(values: Values, needed: set[str]) -> tuple[dict[str, NodeDef], list[str]]:
    """The TensorFlow 1 nodes for the variables ``needed``, and notes on repairs.

    Raises one UnknownOpError with every op that has no counterpart.
    """
    made: dict[str, NodeDef] = {}
    notes: list[str] = []
    taken = {t.node for t in values.tensors.values()}
    unknown: dict[str, list[str]] = {}
    for name, variable in values.source.variables.items():
        if name in needed and name not in values.makers:
            made[name] = _leaf(variable, values)
    for node in values.source.nodes:
        if node.outputs[0] not in needed:
            continue
        parts = _parts(node, values, taken)
        op = op_name(node)
        rule = rule_of(op)
        if rule is None or not rule(parts):
            why = "this variant" if rule else refusal(op)
            unknown.setdefault(_shown(node, op) + (f" ({why})" if why else ""), []).append(node.outputs[0])
            continue
        made.update({part.name: part for part in parts.made})
        notes += parts.notes
    if unknown:
        raise unknown_ops(unknown, WHAT, "")
    return made, notes


def op_name(node: FlatNode) -> str:
    """The stored name of an op, or the name for its class and number in files that store no names."""
    return node.op or UNNAMED.get((node.op_class, node.number), "")


def op_of_ours(node: NodeDef) -> LoweredNode | None:
    """A node that a rule has created for a workbench op; None for other nodes."""
    return LoweredNode(node.op[len(OURS) :], node.inputs, node.attrs) if node.op.startswith(OURS) else None


def _shown(node: FlatNode, op: str) -> str:
    kind = CLASSES.get(node.op_class, f"class {node.op_class}")
    return op or f"number {node.number} of {kind}"


def _leaf(variable: FlatVariable, values: Values) -> NodeDef:
    """The node of a variable that no op computes."""
    name, dtype = variable.name, variable.dtype
    if variable.kind == PLACEHOLDER:
        if dtype is None:
            raise LoadError(f"Placeholder {name!r} has a type that is none of ours.", slug="unknown-dtype", node=name)
        return NodeDef(name, "Placeholder", (), (), {"dtype": dtype_attr(dtype), "shape": variable.shape})
    if variable.array is None:
        raise LoadError(
            f"Variable {name!r} has no array in the file, and no op computes it.",
            slug="no-value",
            node=name,
            fix="save the model with its values, or load the file that holds this shard's arrays too.",
        )
    return NodeDef(name, "Const", (), values.control(variable.control), {"value": variable.array})


def _parts(node: FlatNode, values: Values, taken: set[str]) -> Parts:
    names = [values.named(key, node) for key in node.inputs]
    by_tensor = {values.tensors[n]: n for n in names}

    def constant(tensor: TensorName) -> np.ndarray | None:
        return values.constant(by_tensor.get(tensor, ""))

    return Parts(
        node,
        tuple(values.tensors[n] for n in names),
        tuple(_dtype(values, n) for n in names),
        tuple(_dtype(values, n) for n in node.outputs),
        values.control(node.control),
        constant,
        taken,
    )


def _dtype(values: Values, name: str) -> str | None:
    variable: FlatVariable | None = values.source.variables.get(name)
    return None if variable is None else variable.dtype


def leaves(values: Values, without: set[str]) -> list[str]:
    """Names of the variables that no op reads, except those in ``without`` and ops without a value."""
    nodes: Sequence[FlatNode] = [n for n in values.source.nodes if n.outputs[0] not in without]
    read = {values.named(key, n) for n in nodes for key in n.inputs}
    read.update(name for n in nodes for name in n.control)
    for name, variable in values.source.variables.items():
        if name not in without:
            read.update(variable.control)
    ends = [n for n in nodes if n.op.lower() not in ("noop", "assert") and not read.intersection((*n.outputs, n.name))]
    # one side of a Switch is always dead, so variables on a side are results only if there are no others
    sided = _on_one_side(values)
    results = [n for n in ends if n.outputs[0] not in sided] or ends
    return [name for n in results for name in n.outputs]


def behind(values: Values, starts: Iterable[str], until: Iterable[str] = ()) -> set[str]:
    """Names of the variables that depend on one of ``starts``, not through ops named in ``until``."""
    readers: dict[str, list[str]] = {}
    for node in values.source.nodes:
        if plain(node.op) not in until:
            for key in node.inputs:
                readers.setdefault(values.named(key, node), []).extend(node.outputs)
    stack, found = [n for s in starts for n in readers.get(s, ())], set()
    while stack:
        name = stack.pop()
        if name not in found:
            found.add(name)
            stack.extend(readers.get(name, ()))
    return found


def _on_one_side(values: Values) -> set[str]:
    switched = [name for node in values.source.nodes if plain(node.op) == "switch" for name in node.outputs]
    return {*switched, *behind(values, switched, until=("merge", "exit"))}
