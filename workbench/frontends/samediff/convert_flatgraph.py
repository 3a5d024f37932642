"""SameDiff FlatBuffers -> :class:`workbench.Graph`. Neither Java nor ND4J is needed.

::

    flatgraph ──► lowering, rules ──► invariants, merges ──► TensorFlow's flows, rules, stacks ──► Graph
    variables,    nodes of            Enters for values       a workbench node
    nodes         TensorFlow 1        read in loops           for each

SameDiff has the frames of TensorFlow 1, which become frames of the graph, one to one. Values keep SameDiff's names.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench.errors import LoadError
from workbench.frontends.files import guarded, read_bytes
from workbench.frontends.samediff.containers.kinds import container_of
from workbench.frontends.samediff.containers.sdnb import read_sdnb
from workbench.frontends.samediff.containers.sdz import read_sdnb_file, read_sdz
from workbench.frontends.samediff.facts import facts_of, labels_of
from workbench.frontends.samediff.flatgraph import FlatGraph, read_flatgraph
from workbench.frontends.samediff.invariants import with_invariants
from workbench.frontends.samediff.lowering import WHAT, Values, behind, leaves, op_of_ours, reached, tf_nodes
from workbench.frontends.samediff.merges import with_last_alive
from workbench.frontends.tf.graph_outputs import of_outermost_frame
from workbench.frontends.tf.lowering import lower, nodes_of, tensors_of, value_of
from workbench.frontends.tf.stacks import with_stacks
from workbench.frontends.tf.tensor_array_flow import with_flows
from workbench.ir.graph import Graph
from workbench.ir.node import Ref


def from_samediff(source: Any, outputs: Sequence[str] | None = None, *, name: str = "graph") -> Graph:
    """Import a SameDiff graph of deeplearning4j; neither Java nor ND4J is needed.

    Files of ND4J 1.0.0-beta4 (2019) and later are read: FlatBuffers (``.fb``, or the ``.zip`` of ``sd.save``, which is
    also a FlatBuffer), and the containers ``.sdnb`` and ``.sdz``. The inputs of the graph are its placeholders;
    variables and constants are constants of the graph. All values keep their names.

    Parameters
    ----------
    source : bytes or path
        The content of a file, or the path to one. Other files, the shards of a large model, are read only if a path is
        given.
    outputs : sequence of str, optional
        Names of variables; only nodes that they depend on are imported. By default all variables that no op reads, and,
        if the training configuration names labels, also those that only ops of the loss read: the predictions.
    name : str, default "graph"
        Name of the graph; a file gives its own.

    Returns
    -------
    Graph
        ``graph.notes`` lists facts of the file that are not part of the graph: kinds of variables, losses, training
        configuration.

    Raises
    ------
    LoadError
        For bytes that are not a SameDiff graph (``not-samediff``, ``truncated``), a file that was written before 2019
        (``samediff-before-2019``), an output that does not exist (``no-such-output``), or a variable without a value
        (``no-value``).
    UnknownOpError
        Raised once, with every op that has no counterpart and the variables that it computes.

    Examples
    --------
    >>> net = wb.from_samediff("model.fb", outputs=["softmax"])
    >>> net, list(net.inputs)
    (<Graph 'model': ... nodes, 0 frames>, ['input'])
    """
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        return convert_bytes(read_bytes(path), outputs, path.stem, path)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return convert_bytes(bytes(source), outputs, name)
    raise LoadError(
        f"from_samediff takes bytes or a path, but got {type(source).__name__}.",
        slug="not-samediff",
        fix="give the bytes that SameDiff's save or asFlatFile wrote, or their path.",
    )


def convert_bytes(data: bytes, outputs: Sequence[str] | None, name: str, file: Path | None = None) -> Graph:
    """The graph of a file's content, FlatBuffers or a container; see :func:`from_samediff`."""
    with guarded(f"SameDiff graph {name!r}"):
        kind = container_of(data)
        if kind == "sdz":
            graph = read_sdz(data)
        elif kind == "sdnb":
            graph = read_sdnb(data) if file is None else read_sdnb_file(file)
        else:
            graph = read_flatgraph(data)
        return convert_flatgraph(graph, outputs, name)


def convert_flatgraph(source: FlatGraph, outputs: Sequence[str] | None, name: str) -> Graph:
    """Lower every op by its rule; see :func:`from_samediff`."""
    values = Values(source)
    wanted = _wanted(values, outputs)
    ends = _ends(values) if wanted is None else wanted
    if not ends:
        raise LoadError(f"{WHAT} has no op that gives a value.", slug="no-outputs", fix="name outputs=...")
    every = list(values.makers) or list(source.variables)
    made, notes = tf_nodes(values, reached(values, every if wanted is None else wanted))
    merged, merge_notes = with_last_alive(with_invariants(made))
    nodes = with_flows(merged)
    lowered = lower(nodes, op_of_ours, WHAT, "SameDiff")
    tensors = {n: tensors_of(n, low) for n, low in lowered.items()}
    finished = with_stacks([each for n, low in lowered.items() for each in nodes_of(nodes[n], low, tensors)])
    refs = {
        label: value_of(tensor, tensors)
        for label, tensor in values.tensors.items()
        if tensor.node in tensors and tensor.output < len(tensors[tensor.node])
    }
    if wanted is None:  # an op that closes a TensorArray has a variable without a value
        ends = [end for end in ends if end in refs] or ends
    missing = [end for end in ends if end not in refs]
    if missing:
        raise LoadError(f"{missing[0]!r} has no value.", slug="no-such-output", fix="name other outputs=...")
    results = {end: refs[end] for end in ends}
    if wanted is None:
        results = of_outermost_frame(finished, results)
    return Graph.from_nodes(
        name,
        finished,
        inputs={n: Ref(n, 0) for n, low in lowered.items() if low.op == "Placeholder"},
        outputs=results,
        names={label: ref for label, ref in refs.items() if str(ref) not in (label, f"{label}:0")},
        notes=[*facts_of(source), *notes, *merge_notes],
    )


def _wanted(values: Values, outputs: Sequence[str] | None) -> list[str] | None:
    """The named variables; ``x:0`` means ``x``, as in TensorFlow."""
    if outputs is None:
        return None
    found = []
    for output in [outputs] if isinstance(outputs, str) else outputs:
        label = output if output in values.tensors else output.removesuffix(":0")
        if label not in values.tensors:
            near = difflib.get_close_matches(label, values.tensors, n=3)
            raise LoadError(
                f"{WHAT} has no variable {output!r}.",
                slug="no-such-output",
                fix=f"did you mean {' or '.join(near)}?" if near else "name outputs as SameDiff names its variables.",
            )
        found.append(label)
    return found


def _ends(values: Values) -> list[str]:
    """Variables that no op reads, preceded by the predictions, which only ops that depend on the labels read."""
    ends = leaves(values, set())
    labelled = behind(values, labels_of(values.source))
    predictions = [n for n in leaves(values, labelled) if n not in labelled] if labelled else []
    found = list(dict.fromkeys([*predictions, *ends]))
    return found or ([] if values.makers else list(values.source.variables))
