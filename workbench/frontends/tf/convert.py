"""TensorFlow GraphDef -> :class:`workbench.Graph`. TensorFlow itself is not needed.

Frames of TensorFlow 1 (Enter, Merge, Switch, NextIteration, Exit, LoopCond) are the frames of the graph, one to one,
under TensorFlow's names: the tensor ``while/Merge:0`` is the value ``while/Merge:0``.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from workbench.errors import LoadError, UnknownOpError
from workbench.frontends.files import guarded, read_bytes
from workbench.frontends.tf.graphdef import GraphDef, NodeDef, TensorName, read_graphdef
from workbench.frontends.tf.rules import RULES, Lowered
from workbench.graph.graph import Graph
from workbench.graph.node import FrozenAttrs, Node, Ref
from workbench.graph.opspec import REGISTRY

#: nodes that nobody reads and that are there for their effect, not for their value
_NO_RESULT = ("NoOp", "Assert", "ControlTrigger")


def from_graphdef(graph_def: Any, outputs: Sequence[str] | None = None, *, name: str = "graph") -> Graph:
    """Import a frozen GraphDef.

    Parameters
    ----------
    graph_def:
        The bytes of a GraphDef, a path to a ``.pb`` file, or an object with ``SerializeToString()``.
    outputs:
        Tensor names (``"output:0"`` or ``"output"``); then only what they need is imported. By default the outputs of
        every node that nothing reads, except NoOp and Assert.

    Inputs of the graph are its Placeholders, outputs its tensors, both under TensorFlow's names (``"input_0:0"``).

    Raises
    ------
    LoadError
        For bytes that are no GraphDef (slugs as in ``read_graphdef``) or an output that is not there.
    UnknownOpError
        Once, with every op that has no counterpart and its nodes.
    """
    if isinstance(graph_def, (str, os.PathLike)):
        path = Path(graph_def)
        data, name = read_bytes(path), path.stem
    elif isinstance(graph_def, (bytes, bytearray, memoryview)):
        data = bytes(graph_def)
    elif hasattr(graph_def, "SerializeToString"):
        data = graph_def.SerializeToString()
    else:
        raise LoadError(
            f"from_graphdef takes bytes, a path or a GraphDef, but got {type(graph_def).__name__}.",
            slug="not-a-graphdef",
        )
    return convert(read_graphdef(data), outputs, name)


def convert(source: GraphDef, outputs: Sequence[str] | None, name: str) -> Graph:
    """Lower every node by its rule; see :func:`from_graphdef`."""
    with guarded(f"GraphDef {name!r}"):
        return _convert(source, outputs, name)


def _convert(source: GraphDef, outputs: Sequence[str] | None, name: str) -> Graph:
    _check_inputs(source)
    wanted = (
        None if outputs is None else [TensorName.parse(o) for o in ([outputs] if isinstance(outputs, str) else outputs)]
    )
    nodes = source.nodes if wanted is None else _needed(source, wanted)
    lowered = _lower(source, nodes)
    tensors = {n: _tensors(n, low) for n, low in lowered.items()}
    made = [made for n, low in lowered.items() for made in _nodes(nodes[n], low, tensors)]
    ends = _leaves(nodes) if wanted is None else wanted
    if not ends:
        raise LoadError(
            "The GraphDef has no outputs: something reads each of its nodes.", slug="no-outputs", fix="name outputs=..."
        )
    results: dict[str, Ref] = {}
    for end in ends:
        known = tensors[end.node]
        if wanted is not None and end.output >= max(len(known), 1):
            raise _no_output(f"{end.node}:{end.output}", nodes)
        for index in [end.output] if wanted is not None else range(len(known)):
            results[f"{end.node}:{index}"] = known[index]
    inputs = {f"{n}:0": Ref(n, 0) for n, low in lowered.items() if low.op == "Placeholder"}
    # a tensor is named by node and output; only those that are another output here need an entry
    names = {f"{n}:{i}": ref for n, refs in tensors.items() for i, ref in enumerate(refs) if ref != Ref(n, i)}
    if wanted is None:
        results = _of_outermost_frame(made, results)
    return Graph.from_nodes(name, made, inputs=inputs, outputs=results, names=names)


def _check_inputs(source: GraphDef) -> None:
    for node in source.nodes.values():
        for used in (*(t.node for t in node.inputs), *node.control):
            if used not in source.nodes:
                raise LoadError(
                    f"{node.op} {node.name!r} reads {used!r}, which is not in the GraphDef.",
                    slug="no-such-node",
                    node=node.name,
                    fix="freeze the graph with all nodes that its outputs need.",
                )


def _needed(source: GraphDef, wanted: Iterable[TensorName]) -> Mapping[str, NodeDef]:
    stack, keep = [], set()
    for tensor in wanted:
        if tensor.node not in source.nodes:
            raise _no_output(tensor.node, source.nodes)
        stack.append(tensor.node)
    while stack:
        current = stack.pop()
        if current not in keep:
            keep.add(current)
            node = source.nodes[current]
            stack.extend((*(t.node for t in node.inputs), *node.control))
    return {n: d for n, d in source.nodes.items() if n in keep}


def _lower(source: GraphDef, nodes: Mapping[str, NodeDef]) -> dict[str, Lowered]:
    def constant(tensor: TensorName) -> np.ndarray | None:
        for _ in range(64):  # through the ops that only hand a value on
            node = source.nodes[tensor.node]
            if node.op == "Const":
                return node.attrs.get("value")
            if node.op not in ("Identity", "Enter", "Switch") or not node.inputs:
                return None
            tensor = node.inputs[0]
        return None

    found: dict[str, Lowered] = {}
    unknown: dict[str, list[str]] = {}
    for node in nodes.values():
        rule = RULES.get(node.op)
        low = rule(node, constant) if rule else None
        if low is None or (low.op not in REGISTRY):
            unknown.setdefault(node.op + (" (this variant)" if rule else ""), []).append(node.name)
        else:
            found[node.name] = low
    if unknown:
        raise _unknown(unknown, source)
    return found


def _tensors(name: str, low: Lowered) -> list[Ref]:
    """Our value for each tensor of a node of TensorFlow."""
    if low.outputs is not None:
        return [Ref(name, i) for i in low.outputs]
    outputs = REGISTRY[low.op].outputs
    if outputs and outputs[-1].startswith("*"):
        return [Ref(name, i) for i in range(int(low.attrs.get("num") or low.attrs.get("_num") or 1))]
    return [Ref(name, i) for i in range(len(outputs))]


def _nodes(node: NodeDef, low: Lowered, tensors: Mapping[str, list[Ref]]) -> list[Node]:
    def value(tensor: TensorName) -> Ref:
        known = tensors[tensor.node]
        # an index beyond the outputs is left as it is: the graph's checker names both nodes
        return known[tensor.output] if tensor.output < len(known) else Ref(tensor.node, tensor.output)

    control = tuple(dict.fromkeys((*node.control, *low.also_after)))
    inputs = tuple(value(t) for t in low.inputs)
    before = []
    if low.via is not None:
        before.append(Node(f"{node.name}/{low.via}", low.via, inputs, control))
        inputs, control = (before[0].ref(),), ()
    return [*before, Node(node.name, low.op, inputs, control, FrozenAttrs(low.attrs))]


def _leaves(nodes: Mapping[str, NodeDef]) -> list[TensorName]:
    read = {used for n in nodes.values() for used in (*(t.node for t in n.inputs), *n.control)}
    ends = [n for n in nodes.values() if n.name not in read and n.op not in _NO_RESULT]
    # one output of a Switch is always dead, so a Switch that nothing reads is no result if there is any other
    results = [n for n in ends if n.op not in ("Switch", "RefSwitch")] or ends
    return [TensorName(n.name, 0) for n in results]


def _of_outermost_frame(nodes: Sequence[Node], results: dict[str, Ref]) -> dict[str, Ref]:
    """Leave out ``value_index`` of a Merge, and leaves inside a loop, which have no single value."""
    table = {n.name: n for n in nodes}
    kept = {k: r for k, r in results.items() if not (table[r.node].op == "Merge" and r.index == 1)}
    outside = {k: r for k, r in kept.items() if not _inside_loop(table, r.node)}
    return outside or kept


def _inside_loop(table: Mapping[str, Node], name: str) -> bool:
    """Whether any way back from the node meets an Enter before its Exit."""
    stack, seen = [name], set()
    while stack:
        node = table[stack.pop()]
        if node.name in seen or node.op == "Exit":
            continue
        seen.add(node.name)
        if node.op == "Enter":
            return True
        stack.extend((*(r.node for r in node.inputs), *node.control))
    return False


def _unknown(unknown: Mapping[str, list[str]], source: GraphDef) -> UnknownOpError:
    def shown(names: list[str]) -> str:
        return ", ".join(map(repr, names[:5])) + (f" and {len(names) - 5} more" if len(names) > 5 else "")

    parts = "; ".join(f"{op} at {shown(names)}" for op, names in unknown.items())
    known_functions = set(source.functions).intersection(unknown)
    hint = " Functions are not inlined yet." if known_functions else ""
    return UnknownOpError(
        f"The GraphDef has ops without a counterpart here: {parts}.{hint}",
        fix="name outputs=... that do not need these nodes, or replace them by other ops.",
    )


def _no_output(name: str, nodes: Mapping[str, NodeDef]) -> LoadError:
    near = difflib.get_close_matches(name.partition(":")[0], nodes, n=3)
    return LoadError(
        f"The GraphDef has no tensor {name!r}.",
        slug="no-such-output",
        fix=f"did you mean {' or '.join(near)}?" if near else "name outputs by node, as TensorFlow does.",
    )
