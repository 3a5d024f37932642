"""TensorFlow GraphDef -> :class:`workbench.Graph`. TensorFlow itself is not needed.

::

    graphdef -> inline, structured -> variables, flows -> lowering, rules -> stacks -> Graph
    nodes,      one flat level of     constants and       one node of ours   one more
    functions   TensorFlow 1's ops    flows made plain    for each           loop variable

Frames of TensorFlow 1 (Enter, Merge, Switch, NextIteration, Exit, LoopCond) are the frames of the graph, one to one,
under TensorFlow's names: the tensor ``while/Merge:0`` is the value ``while/Merge:0``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from workbench.errors import LoadError
from workbench.frontends.files import guarded, read_bytes
from workbench.frontends.sniff import is_message_text
from workbench.frontends.tf.ends import leaves, needed, no_ends, no_output, of_outermost_frame, starts
from workbench.frontends.tf.flows import with_flows
from workbench.frontends.tf.graphdef import GraphDef, TensorName, read_graphdef
from workbench.frontends.tf.inline import Inliner
from workbench.frontends.tf.lowering import check_declared, lower, nodes_of, tensors_of, value_of
from workbench.frontends.tf.stacks import with_stacks
from workbench.frontends.tf.variables import with_values
from workbench.graph.graph import Graph
from workbench.graph.node import Ref


def from_graphdef(
    graph_def: Any,
    outputs: Sequence[str] | None = None,
    *,
    name: str = "graph",
    variables: Mapping[str, np.ndarray] | None = None,
) -> Graph:
    """Import a GraphDef: frames of TensorFlow 1, functions of TensorFlow 2, frozen or with the values of its variables.

    Parameters
    ----------
    graph_def:
        The bytes or the text of a GraphDef, a path to a ``.pb`` or ``.pbtxt`` file, or an object with
        ``SerializeToString()``.
    outputs:
        Tensor names (``"output:0"`` or ``"output"``); then only what they need is imported. By default the outputs of
        every node that nothing reads, except NoOp and Assert.
    variables:
        Values of the graph's variables, by node name or shared name; they become constants.

    Inputs of the graph are its Placeholders, outputs its tensors, both under TensorFlow's names (``"input_0:0"``).

    Raises
    ------
    LoadError
        For bytes that are no GraphDef (slugs as in ``read_graphdef``) or an output that is not there.
    UnknownOpError
        Once, with every op that has no counterpart and its nodes.
    """
    if isinstance(graph_def, str) and is_message_text(graph_def):
        data = graph_def.encode("utf-8", "surrogatepass")
    elif isinstance(graph_def, (str, os.PathLike)):
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
    return convert(read_graphdef(data), outputs, name, variables)


def convert(
    source: GraphDef,
    outputs: Sequence[str] | None,
    name: str,
    variables: Mapping[str, np.ndarray] | None = None,
) -> Graph:
    """Lower every node by its rule; see :func:`from_graphdef`."""
    with guarded(f"GraphDef {name!r}"):
        return _convert(source, outputs, name, variables)


def _convert(
    source: GraphDef, outputs: Sequence[str] | None, name: str, variables: Mapping[str, np.ndarray] | None
) -> Graph:
    _check_inputs(source)
    if isinstance(outputs, str):
        outputs = [outputs]
    wanted = None if outputs is None else [TensorName.parse(o) for o in outputs]
    ends = leaves(source.nodes) if wanted is None else wanted
    if not ends:
        raise no_ends(source.nodes)
    flat = Inliner(source, needed(source, ends if wanted is not None else starts(source.nodes, ends)))
    nodes = with_flows(with_values(flat.nodes, variables))
    lowered = lower(nodes)
    tensors = {n: tensors_of(n, low) for n, low in lowered.items()}
    made = with_stacks([made for n, low in lowered.items() for made in nodes_of(nodes[n], low, tensors)])
    results: dict[str, Ref] = {}
    for end in ends:
        known = _tensors(end.node, flat, tensors)
        if wanted is not None and end.output >= len(known):
            raise no_output(f"{end.node}:{end.output}", source.nodes)
        for index in [end.output] if wanted is not None else range(len(known)):
            results[f"{end.node}:{index}"] = known[index]
    inputs = {f"{n}:0": Ref(n, 0) for n, low in lowered.items() if low.op == "Placeholder"}
    # a tensor is named by node and output; only those that are another output here need an entry
    names = {f"{n}:{i}": ref for n, refs in tensors.items() for i, ref in enumerate(refs) if ref != Ref(n, i)}
    public = {label: value_of(t, tensors) for label, t in flat.public.items() if t.node in tensors}
    names.update((label, ref) for label, ref in public.items() if label not in lowered)
    if wanted is None:
        results = of_outermost_frame(made, results)
    graph = Graph.from_nodes(name, made, inputs=inputs, outputs=results, names=names)
    check_declared(nodes, graph.nodes)
    return graph


def _tensors(name: str, flat: Inliner, tensors: Mapping[str, list[Ref]]) -> list[Ref]:
    """Our values for the tensors of a node of the source, or of a body."""
    count = flat.count(name)
    if count is None:
        if name not in tensors:
            raise no_output(name, tensors)
        return tensors[name]
    return [value_of(flat.resolve(TensorName(name, i)), tensors) for i in range(count)]


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
