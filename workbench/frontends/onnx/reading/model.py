"""Reading an ONNX model: bytes, path or ModelProto -> a ModelProto without functions, in order, with inferred types.

::

    bytes ─► read_model ─► pruned ─► functions inlined ─► pruned ─► skeleton ─► nodes in order ─► types
               │           to the requested outputs                  of small tensors
               └─ large tensors stay in place (``weights``): the rest is fast, and below protobuf's 2 GB
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from workbench.errors import LoadError
from workbench.frontends import sniff
from workbench.frontends.files import read_bytes
from workbench.frontends.formats import format_of
from workbench.frontends.onnx.library import onnx
from workbench.frontends.onnx.reading import validate, wiring
from workbench.frontends.onnx.reading.declared import with_types
from workbench.frontends.onnx.reading.external import load_external
from workbench.frontends.onnx.reading.local_functions import inlined
from workbench.frontends.onnx.reading.slim import slim
from workbench.frontends.onnx.reading.weights import Weights
from workbench.frontends.protobuf import wire
from workbench.frontends.sniff import is_big_model
from workbench.ir.buffers import LEAST_BYTES, MappedFile

_NO_GRAPH = "it holds no graph"
#: field number of the graph in ModelProto
_GRAPH = 7
#: ops whose graphs are lowered here
_CONTROL = ("If", "Loop", "Scan", "SequenceMap")


def read_model(model: Any, weights: Weights, outputs: Sequence[str] | None = None) -> Any:
    """The ModelProto of ``model`` (bytes, a path, or a ModelProto), with its large tensors in ``weights``; raises
    LoadError.

    With ``outputs``, nodes that they do not depend on are left out, unless a function produces one of the outputs.
    """
    library = onnx()
    folder: str | None = None
    if isinstance(model, library.ModelProto):
        proto = weights.slimmed(model)
    else:
        path: Path | None = None
        data: Any
        if isinstance(model, (str, os.PathLike)):
            path = Path(model)
            folder, data = str(path.parent), weights.file(path) if is_big_model(path) else read_bytes(path)
        elif isinstance(model, (bytes, bytearray, memoryview)):
            data = bytes(model)
        else:
            raise LoadError(
                f"from_onnx takes a path, bytes or an onnx.ModelProto, but got {type(model).__name__}.",
                slug="not-a-model",
                fix="give one of these; model.SerializeToString() makes bytes.",
            )
        check_bytes(data)
        proto = library.ModelProto()
        try:
            proto.ParseFromString(_slim(data, path, weights))
        except Exception as error:  # protobuf's DecodeError is in one of several modules
            raise _not_a_model(str(error)) from error
    if outputs is not None and set(outputs) <= wiring.values_of(proto.graph):
        proto = wiring.pruned(proto, outputs)
    load_external(proto, folder, weights)
    return proto


def _slim(data: Any, path: Path | None, weights: Weights) -> bytes:
    """A model without the bytes of its large tensors, which stay in ``data``: the mapped file at ``path``, or bytes."""

    def keep(offset: int, length: int) -> bytes:
        if isinstance(data, MappedFile):
            return weights.mark_bytes(weights.in_file(data, offset, length))
        return weights.mark_bytes(lambda: memoryview(data)[offset : offset + length])

    made = slim(data, keep)
    if isinstance(data, MappedFile):
        data.check()
        _check_wire(made)  # the file may have changed while it was examined
    if len(made) > wire.MAX_BYTES:
        raise LoadError(
            f"Without its large tensors the ONNX model has {len(made):,} bytes; at most {wire.MAX_BYTES:,} are read.",
            slug="too-large",
        )
    return made


def check_bytes(data: Any) -> None:
    """Check for the usual mistakes, because the library reports all of them with the same message."""
    if not data:
        raise LoadError("The model has no bytes.", slug="empty", fix="write or fetch the file again.")
    head = data[: sniff.HEAD_BYTES] if isinstance(data, MappedFile) else data
    found = None if sniff.kind_of(head) == "onnx" else format_of(head)
    if found is not None:
        raise LoadError(f"This is no ONNX model: it is {found.name}.", slug="not-onnx", fix=found.fix)
    if sniff.is_text(head):
        raise _not_a_model("it is text")
    try:
        fields = set(wire.scan(data, limit=1_000_000))
    except wire.WireError as error:
        if error.slug == "truncated" and sniff.kind_of(head) == "onnx":
            raise LoadError(
                f"The ONNX model is cut off: {error.message}", slug="truncated", fix="fetch or write the file again."
            ) from error
        raise _not_a_model(error.message.rstrip(".")) from error
    if (_GRAPH, wire.LENGTH) not in fields:
        raise _not_a_model(_NO_GRAPH)
    _check_wire(data)


def _check_wire(data: Any) -> None:
    try:
        validate.check_wire(data)
    except wire.WireError as error:
        if error.slug != "malformed":
            raise LoadError(f"The ONNX model is refused: {error.message}", slug=error.slug) from error
        raise _not_a_model(error.message.rstrip(".")) from error


def prepare(proto: Any, weights: Weights, outputs: Sequence[str] | None = None) -> tuple[Any, list[str]]:
    """Inline the model's own functions, put the nodes in order and infer types as far as ONNX can; the model given,
    whose large tensors are in ``weights``, is not changed. Returns the model and notes on repairs."""
    if not proto.HasField("graph") or not (proto.graph.node or proto.graph.output):
        raise _not_a_model(_NO_GRAPH)
    if not proto.graph.output:
        raise LoadError(
            "The ONNX model has no outputs.", slug="no-outputs", fix="name at least one output in the model."
        )
    whole = inlined(proto)
    if outputs is not None and set(outputs) <= wiring.values_of(whole.graph):
        whole = wiring.pruned(whole, outputs)
    notes: list[str] = []
    made, standing_in = _skeleton(whole, weights)
    _open_dims(made.graph)
    wiring.sort_nodes(made.graph, notes)
    made = _expanded(with_types(made, notes))
    graph = made.graph
    inputs = [type(i).FromString(i.SerializeToString()) for i in graph.input if i.name not in standing_in]
    if standing_in:
        del graph.input[:]
        graph.input.extend(inputs)
    small = {t.name for t in graph.initializer}
    graph.initializer.extend(t for t in whole.graph.initializer if t.name not in small)
    return made, notes


def _skeleton(model: Any, weights: Weights) -> tuple[Any, set[str]]:
    """A copy without large initializers, which do not matter for shapes, and the names of inputs that replace them."""
    made = wiring.without_graph(model)
    graph, source = made.graph, model.graph
    for field, value in source.ListFields():
        if field.name != "initializer":
            wiring.copy_field(graph, field, value)
    inputs, standing_in = {i.name for i in source.input}, set()
    for tensor in source.initializer:
        if tensor.ByteSize() <= LEAST_BYTES and not weights.has(tensor):
            graph.initializer.append(tensor)
        elif tensor.name not in inputs:
            standing_in.add(tensor.name)
            graph.input.append(onnx().helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims)))
    return made, standing_in


def _open_dims(graph: Any) -> None:
    """Make dimensions below 0 dynamic, because some exporters write dynamic dimensions this way."""
    for value in (*graph.input, *graph.value_info, *graph.output):
        for dim in value.type.tensor_type.shape.dim if value.type.HasField("tensor_type") else ():
            if dim.dim_value < 0:
                dim.ClearField("dim_value")
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _open_dims(attribute.g)


def _graphs(graph: Any) -> Iterator[Any]:
    """A graph and all graphs inside it."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _graphs(attribute.g)


def _expanded(proto: Any) -> Any:
    """Replace standard ops that take graphs but are not control flow (FlexAttention) with their defining functions."""
    found = set()
    for graph in _graphs(proto.graph):
        for node in graph.node:
            if node.op_type not in _CONTROL and any(a.HasField("g") for a in node.attribute):
                found.add((node.domain, node.op_type))
    if not found:
        return proto
    from onnx import inliner

    try:
        return with_types(inliner.inline_selected_functions(proto, sorted(found), False, True), [])
    except Exception:
        return proto  # they are refused by name in the lowering


def opsets(proto: Any) -> dict[str, int]:
    """domain -> version that the model imports; the default domain is ""."""
    found = {("" if o.domain == "ai.onnx" else o.domain): int(o.version) for o in proto.opset_import}
    found.setdefault("", 1)
    return found


def _not_a_model(reason: str) -> LoadError:
    return LoadError(
        f"This is no ONNX model: {reason.rstrip('.')}.", slug="not-onnx", fix="give a model as onnx.save writes it."
    )
