"""TensorFlow GraphDef -> :class:`workbench.Graph`. TensorFlow itself is not needed.

::

    graphdef -> inline, structured -> tables, variables, flows -> lowering, rules -> stacks -> Graph
    nodes,      one flat level of     constants and       a workbench node   an extra
    functions   TensorFlow 1's ops    flows resolved      for each           loop variable

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
from workbench.frontends.tf.functions.inline import Inliner
from workbench.frontends.tf.functions.structured import STRUCTURED
from workbench.frontends.tf.graph_outputs import leaves, needed, no_ends, of_outermost_frame, starts
from workbench.frontends.tf.graphdef import GraphDef, TensorName, read_graphdef
from workbench.frontends.tf.lowering import check_declared, lower, nodes_of, tensors_of, value_of
from workbench.frontends.tf.pruning import no_output
from workbench.frontends.tf.saved_model.variables import with_values
from workbench.frontends.tf.saved_model.vocabulary import Assets
from workbench.frontends.tf.stacks import with_stacks
from workbench.frontends.tf.tables import with_tables
from workbench.frontends.tf.tensor_array_flow import with_flows
from workbench.ir.graph import Graph
from workbench.ir.node import Ref


def from_graphdef(
    graph_def: Any,
    outputs: Sequence[str] | None = None,
    *,
    name: str = "graph",
    variables: Mapping[str, np.ndarray] | None = None,
) -> Graph:
    """Import a TensorFlow GraphDef; TensorFlow itself is not needed.

    Frames of TensorFlow 1 and functions of TensorFlow 2 are both read, frozen or with the values of the variables. The
    inputs of the graph are its Placeholders, the outputs are tensors, both under TensorFlow's names (``"x:0"``).

    Parameters
    ----------
    graph_def : bytes, str, path or GraphDef
        The bytes or the text of a GraphDef, a path to a ``.pb`` or ``.pbtxt`` file, or an object with
        ``SerializeToString()``.
    outputs : sequence of str, optional
        Tensor names (``"output:0"`` or ``"output"``); only nodes that they depend on are imported. By default the
        outputs of every node that no other reads, except NoOp and Assert.
    name : str, default "graph"
        Name of the graph; a file gives its own.
    variables : mapping of str to array, optional
        Values of the graph's variables, by node name or shared name; they become constants.

    Returns
    -------
    Graph

    Raises
    ------
    LoadError
        For bytes that are not a GraphDef (``not-a-graphdef``, ``truncated``), an output that does not exist
        (``no-such-output``), or a hash table that no node fills (``no-table-values``).
    UnknownOpError
        Raised once, with every op that has no counterpart and its nodes.

    Examples
    --------
    >>> loop = wb.from_graphdef("loop.pb")
    >>> loop, list(loop.inputs)
    (<Graph 'loop': ... nodes, 1 frame>, ['x:0'])
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
    return convert(read_graphdef(data, tensors_named(outputs)), outputs, name, variables)


def tensors_named(outputs: Sequence[str] | None) -> list[TensorName] | None:
    """The tensors named by ``outputs``: one name, several, or None for the graph's own outputs."""
    if outputs is None:
        return None
    return [TensorName.parse(o) for o in ([outputs] if isinstance(outputs, str) else outputs)]


def convert(
    source: GraphDef,
    outputs: Sequence[str] | None,
    name: str,
    variables: Mapping[str, np.ndarray] | None = None,
    assets: Assets | None = None,
    stored: Mapping[str, np.ndarray] | None = None,
) -> Graph:
    """Lower every node by its rule; see :func:`from_graphdef`.

    ``assets`` are the files of a SavedModel, ``stored`` the tensors of its checkpoint.
    """
    with guarded(f"GraphDef {name!r}"):
        return _convert(source, outputs, name, variables, assets, stored or {})


def _convert(
    source: GraphDef,
    outputs: Sequence[str] | None,
    name: str,
    variables: Mapping[str, np.ndarray] | None,
    assets: Assets | None,
    stored: Mapping[str, np.ndarray],
) -> Graph:
    wanted = tensors_named(outputs)
    ends = leaves(source.nodes) if wanted is None else wanted
    if not ends:
        raise no_ends(source.nodes)
    first = [TensorName(filler, 0) for filler in source.fillers]
    reached = needed(source, [*(ends if wanted is not None else starts(source.nodes, ends)), *first])
    flat = Inliner(source, reached, STRUCTURED)
    filled = with_tables(flat.nodes, [n for end in ends for n in _nodes_of(end, flat)], assets, stored)
    nodes = with_flows(with_values(filled, variables))
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
    # a tensor is named by node and output; only tensors with a different output here need an entry
    names = {f"{n}:{i}": ref for n, refs in tensors.items() for i, ref in enumerate(refs) if ref != Ref(n, i)}
    public = {label: value_of(t, tensors) for label, t in flat.public.items() if t.node in tensors}
    names.update((label, ref) for label, ref in public.items() if label not in lowered)
    if wanted is None:
        results = of_outermost_frame(made, results)
    graph = Graph.from_nodes(name, made, inputs=inputs, outputs=results, names=names)
    check_declared(nodes, graph.nodes)
    return graph


def _nodes_of(end: TensorName, flat: Inliner) -> list[str]:
    """The nodes of the flat graph that compute the tensors of an output node."""
    count = flat.count(end.node)
    return [end.node] if count is None else [flat.resolve(TensorName(end.node, i)).node for i in range(count)]


def _tensors(name: str, flat: Inliner, tensors: Mapping[str, list[Ref]]) -> list[Ref]:
    """The graph's values for the tensors of a node of the source or of a body."""
    count = flat.count(name)
    if count is None:
        if name not in tensors:
            raise no_output(name, tensors)
        return tensors[name]
    return [value_of(flat.resolve(TensorName(name, i)), tensors) for i in range(count)]
