"""Reading an ONNX model: bytes, path or ModelProto -> a checked ModelProto without functions, with inferred types."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.errors import LoadError
from workbench.frontends import sniff, wire
from workbench.frontends.files import read_bytes
from workbench.frontends.onnx import vet
from workbench.frontends.onnx.external import load_external
from workbench.frontends.onnx.library import onnx
from workbench.frontends.onnx.local_functions import inlined

_NO_GRAPH = "it holds no graph"
#: field number of the graph in ModelProto
_GRAPH = 7
#: ops whose graphs are lowered here
_CONTROL = ("If", "Loop", "Scan", "SequenceMap")


def read_model(model: Any) -> Any:
    """The ModelProto that ``model`` (bytes, a path, or a ModelProto) stands for; raises LoadError."""
    library = onnx()
    if isinstance(model, library.ModelProto):
        load_external(model, None)
        return model
    folder: str | None = None
    if isinstance(model, (str, os.PathLike)):
        path = Path(model)
        data, folder = read_bytes(path), str(path.parent)
    elif isinstance(model, (bytes, bytearray, memoryview)):
        data = bytes(model)
    else:
        raise LoadError(
            f"from_onnx takes a path, bytes or an onnx.ModelProto, but got {type(model).__name__}.", slug="not-a-model"
        )
    check_bytes(data)
    proto = library.ModelProto()
    try:
        proto.ParseFromString(data)
    except Exception as error:  # protobuf's DecodeError lives in one of several modules
        raise _not_a_model(str(error)) from error
    load_external(proto, folder)
    return proto


def check_bytes(data: bytes) -> None:
    """Tell the usual mistakes apart before the library answers with one word for all of them."""
    if not data:
        raise LoadError("The model has no bytes.", slug="empty", fix="write or fetch the file again.")
    if sniff.is_text(data):
        raise _not_a_model("it is text")
    try:
        fields = set(wire.scan(data, limit=1_000_000))
    except wire.WireError as error:
        if error.slug == "truncated" and sniff.kind_of(data) == "onnx":
            raise LoadError(
                f"The ONNX model is cut off: {error.message}", slug="truncated", fix="fetch or write the file again."
            ) from error
        raise _not_a_model(error.message.rstrip(".")) from error
    if (_GRAPH, wire.LENGTH) not in fields:
        raise _not_a_model(_NO_GRAPH)
    try:
        vet.check_wire(data)
    except wire.WireError as error:
        if error.slug != "malformed":
            raise LoadError(f"The ONNX model is refused: {error.message}", slug=error.slug) from error
        raise _not_a_model(error.message.rstrip(".")) from error


def _graphs(graph: Any) -> Iterator[Any]:
    """A graph and all graphs inside it."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _graphs(attribute.g)


def prepare(proto: Any) -> Any:
    """Inline the model's own functions and infer types as far as ONNX can; the model given is not changed."""
    if not proto.HasField("graph") or not (proto.graph.node or proto.graph.output):
        raise _not_a_model(_NO_GRAPH)
    if not proto.graph.output:
        raise LoadError(
            "The ONNX model has no outputs.", slug="no-outputs", fix="name at least one output in the model."
        )
    return _expanded(_typed(inlined(proto)))


def _typed(proto: Any) -> Any:
    vet.check_attributes(proto.graph.node)
    try:
        return onnx().shape_inference.infer_shapes(proto, check_type=False, strict_mode=False)
    except Exception:
        return proto  # types are a help, not a need: the graph infers its own


def _expanded(proto: Any) -> Any:
    """Standard ops that take graphs and are no control flow (FlexAttention) become the functions that define them."""
    found = set()
    for graph in _graphs(proto.graph):
        for node in graph.node:
            if node.op_type not in _CONTROL and any(a.HasField("g") for a in node.attribute):
                found.add((node.domain, node.op_type))
    if not found:
        return proto
    from onnx import inliner

    try:
        return _typed(inliner.inline_selected_functions(proto, sorted(found), False, True))
    except Exception:
        return proto  # they are refused by name where they are lowered


def opsets(proto: Any) -> dict[str, int]:
    """domain -> version that the model imports; the default domain is ""."""
    found = {("" if o.domain == "ai.onnx" else o.domain): int(o.version) for o in proto.opset_import}
    found.setdefault("", 1)
    return found


def _not_a_model(reason: str) -> LoadError:
    return LoadError(
        f"This is no ONNX model: {reason.rstrip('.')}.",
        slug="not-onnx",
        fix="give a model as onnx.save writes it.",
    )
