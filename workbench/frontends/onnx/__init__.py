"""ONNX model -> :class:`workbench.Graph`. Needs the ``onnx`` library (``pip install onnx onnxruntime``).

Loop, Scan and If become frames and branches; ops that the registry has become workbench ops; all others are evaluated
by the onnx library, node by node (``onnx:Name``). Value names of the model are public names of the graph.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench.errors import LoadError
from workbench.frontends.files import guarded
from workbench.frontends.onnx import collect, draws, foreign, sequences
from workbench.frontends.onnx.control.elements import with_element_types
from workbench.frontends.onnx.lower import OnnxLowering
from workbench.frontends.onnx.reading.declared import differ, notes_on, wrong_dtype
from workbench.frontends.onnx.reading.external import tensors
from workbench.frontends.onnx.reading.model import opsets, prepare, read_model
from workbench.frontends.onnx.reading.weights import Weights
from workbench.frontends.onnx.scope import OnnxScope
from workbench.frontends.onnx.tensors import DTYPES, dims_of, type_of
from workbench.ir.frames.regions import CALL
from workbench.ir.graph import Graph
from workbench.ir.node import Ref
from workbench.ir.types import ANY, OPAQUE, TensorType

__all__ = ["collect", "draws", "foreign", "from_onnx", "sequences"]


def from_onnx(
    model: Any, *, outputs: Sequence[str] | None = None, name: str | None = None, unroll_recurrent: bool = False
) -> Graph:
    """Import an ONNX model. Needs the ``onnx`` library (``pip install onnx onnxruntime``).

    Loop, Scan and If become loops and branches of the graph. Ops without a counterpart are evaluated by the onnx
    library, node by node (``onnx:Name``). The value names of the model are public names of the graph.

    Parameters
    ----------
    model : path, bytes or onnx.ModelProto
        The model.
    outputs : sequence of str, optional
        Names of values of the outermost graph; by default the model's own outputs. Nodes that no output depends on are
        skipped unread and may be unknown ops.
    name : str, optional
        Name of the graph; by default that of the file, else of the model.
    unroll_recurrent : bool, default False
        Whether LSTM, GRU and RNN become loops over their time steps, whose variables are H and C.

    Returns
    -------
    Graph

    Raises
    ------
    LoadError
        ``missing-extra``, ``no-such-file``, ``is-a-folder``, ``empty``, ``truncated``, ``not-onnx``, and other slugs
        for defects of the model.
    UnknownOpError
        Raised once, with every op that no library can evaluate and its nodes.

    Examples
    --------
    >>> model = wb.from_onnx("loop.onnx")
    >>> model, list(model.inputs), list(model.outputs)
    (<Graph 'loop': ... nodes, 1 frame>, ['a'], ['root'])
    """
    return _imported(model, outputs, name, False, unroll_recurrent).graph


@dataclass(frozen=True)
class LoweredModel:
    """An imported model: ``proto`` is the lowered model, with its functions inlined; ``labels`` maps the key of a graph
    inside it (see ``OnnxScope.key``) and a value name there to the public name of ``graph``.
    """

    graph: Graph
    proto: Any
    labels: Mapping[tuple[tuple[str, ...], str], str]


def lowered(model: Any, *, outputs: Sequence[str] | None = None, name: str | None = None) -> LoweredModel:
    """Like :func:`from_onnx`, with the public name of each value of the model."""
    return _imported(model, outputs, name, True)


def _imported(
    model: Any, outputs: Sequence[str] | None, name: str | None, whole: bool, unrolls: bool = False
) -> LoweredModel:
    """An imported model; its ``proto`` contains the large tensors only with ``whole``."""
    wanted = None if outputs is None else [outputs] if isinstance(outputs, str) else list(outputs)
    weights = Weights()
    try:
        prepared, notes = prepare(read_model(model, weights, wanted), weights, wanted)
        path = Path(model).stem if isinstance(model, (str, os.PathLike)) else ""
        label = name or path or prepared.graph.name or "onnx"
        with guarded(f"ONNX model {label!r}"):
            made = _lower(prepared, OnnxLowering(opsets(prepared), weights, unrolls), wanted, label, notes)
        return replace(made, proto=weights.whole(prepared, tensors)) if whole else made
    finally:
        weights.close()


def _lower(
    model: Any, lowering: OnnxLowering, outputs: Sequence[str] | None, label: str, notes: list[str]
) -> LoweredModel:
    root = OnnxScope(lowering)
    graph = model.graph
    lowering.open(root, graph)
    constants = {t.name: t for t in graph.initializer}
    inputs: dict[str, Ref] = {}
    for info in graph.input:
        if info.name in constants:  # a default value: models before IR version 4 list all initializers as inputs
            _check_default(info, constants[info.name])
            continue
        kind = type_of(info.type)
        named: dict[str, Any] = {"dims": dims} if (dims := dims_of(info.type)) else {}
        ref = lowering.raw("Placeholder", [], info.name, dtype=kind.dtype, shape=kind.shape, **named)
        lowering.types[ref] = kind
        if info.type.HasField("map_type"):
            lowering.maps[ref] = foreign.map_type_of(info.type.map_type)
        lowering.publish(root, info.name, ref)
        inputs[info.name] = ref
    results = lowering.body(root, graph)
    lowering.finish()
    ends = {o.name: ref for o, ref in zip(graph.output, results, strict=True)}
    if outputs is not None:
        ends = {o: _output(root, o) for o in outputs}
    made = Graph.from_nodes(label, lowering.nodes.values(), inputs=inputs, outputs=ends, names=lowering.public)
    made = with_element_types(made)
    notes.extend([*notes_on(_contradicted(lowering, made)), *lowering.notes])
    return LoweredModel(made.with_notes(notes), model, lowering.labels)


def _check_default(info: Any, tensor: Any) -> None:
    """LoadError if an initializer contradicts the declared type of the input of the same name."""
    declared, found = type_of(info.type), TensorType(DTYPES.get(tensor.data_type, ANY), tuple(tensor.dims))
    if not (declared.dtype == ANY or declared.accepts(found)):
        raise LoadError(
            f"The ONNX model declares {declared} for the input {info.name!r}, but its initializer is {found}.",
            slug="declared-type",
            fix="declare the input as what the initializer is, or leave it out of the inputs.",
        )


def _contradicted(lowering: OnnxLowering, graph: Graph) -> Iterator[tuple[str, TensorType, TensorType]]:
    """Values whose declared shape differs from the inferred one: (name, declared, found); LoadError for another dtype.

    Declared shapes inside loops may be those of the first trip, so shapes inside loops and branches are not checked."""
    for ref, declared in lowering.types.items():
        node = graph.nodes.get(ref.node)
        if node is None or ref.index >= len(node.types) or node.op in ("Placeholder", "Const"):
            continue
        found = node.types[ref.index]
        if not {found.dtype, declared.dtype} & {ANY, OPAQUE} and found.dtype != declared.dtype:
            raise wrong_dtype(graph.name_of(ref), declared, found, ref.node)
        if differ(declared, found) and not graph.frame_of(ref.node) and _is_always(graph, node.region):
            yield repr(graph.name_of(ref)), declared, found


def _is_always(graph: Graph, region: str | None) -> bool:
    """True if no loop or branch encloses a region."""
    while region is not None:
        found = graph.regions.get(region)
        if found is None or found.kind != CALL:
            return False
        region = found.parent
    return True


def _output(root: OnnxScope, name: str) -> Ref:
    ref = root.resolve(name)
    if ref is None:
        near = difflib.get_close_matches(name, root.values, n=3)
        raise LoadError(
            f"The ONNX model has no value {name!r} outside of its loops and branches.",
            slug="no-such-output",
            fix=f"did you mean {' or '.join(near)}?" if near else "name values of the outermost graph.",
        )
    return ref
