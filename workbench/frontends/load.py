"""``load``: a graph from a file, from bytes or from a model in memory. The content decides, not the suffix."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from workbench.errors import GraphError, LoadError
from workbench.frontends.files import read_bytes
from workbench.frontends.formats import TORCH_EXPORT, format_of, format_of_folder
from workbench.frontends.onnx import from_onnx
from workbench.frontends.protobuf.wire import MAX_BYTES
from workbench.frontends.pytorch import from_exported
from workbench.frontends.samediff.convert_flatgraph import convert_bytes
from workbench.frontends.sniff import is_big_model, kind_of
from workbench.frontends.stablehlo import convert_program
from workbench.frontends.tf import convert, from_graphdef, from_saved_model
from workbench.frontends.tf.convert import tensors_named
from workbench.frontends.tf.graphdef import read_graphdef
from workbench.frontends.tf.saved_model.convert_saved_model import FILES
from workbench.ir.graph import Graph
from workbench.ir.text import parse

_READS = (
    "ONNX models, TensorFlow GraphDefs and SavedModels (binary or text), SameDiff graphs, StableHLO programs, exported "
    "programs of PyTorch and saved workbench graphs can be read."
)
_TAKES = "give a path, bytes, an open binary file, an onnx.ModelProto or a GraphDef."


def load(source: Any, *, outputs: Sequence[str] | None = None, unroll_recurrent: bool = False) -> Graph:
    """Read a graph from a file, from bytes or from a model in memory.

    Parameters
    ----------
    source : path, bytes, binary file, onnx.ModelProto or GraphDef
        The content decides, not the suffix: an ONNX model, a TensorFlow GraphDef (``.pb`` or ``.pbtxt``), a SavedModel
        (its folder or the file in it), a SameDiff graph (``.fb``, ``.sdnb``, ``.sdz``), a StableHLO program (``.mlir``,
        bytecode, a blob of ``jax.export``), a program that PyTorch exported (``.pt2``), or a graph that was saved with
        ``graph.text()``. Further files are read only if a path is given: external tensors of an ONNX model, variables
        of a SavedModel, shards of a SameDiff model.
    outputs : sequence of str, optional
        Names of the values that become the graph's outputs; by default those that the file declares, for a GraphDef
        those of the nodes that nothing reads. Nodes that no output depends on are ignored and may be unknown ops.
    unroll_recurrent : bool, default False
        Whether LSTM, GRU and RNN of an ONNX model become loops over their time steps, whose variables are H and C. In a
        ``.pt2`` file they always are.

    Returns
    -------
    Graph
        ``graph.notes`` lists the repairs, such as nodes that were out of order or wrongly declared shapes.

    Raises
    ------
    LoadError
        Slugs ``no-such-file``, ``is-a-folder``, ``empty``, ``unreadable``, ``too-large``, ``truncated``, ``not-onnx``,
        ``not-a-graphdef``, ``unsupported-format``, ``unknown-format``, ``no-such-output``, ``not-a-path``, or one of
        the reader's. For a known format that cannot be read (TensorFlow Lite, PyTorch, Keras and others) the message
        names the format.
    UnknownOpError
        Raised once, with every op that has no counterpart.

    Examples
    --------
    >>> wb.load("loop.onnx").run(a=np.float32(2.0))
    {'root': array(1.4142157, dtype=float32)}
    >>> wb.load(graph.text().encode()) == graph
    True
    """
    read_onnx = functools.partial(from_onnx, unroll_recurrent=unroll_recurrent)
    if isinstance(source, (str, os.PathLike)):
        return _from_path(Path(source), outputs, read_onnx)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _from_bytes(bytes(source), "graph", None, outputs, read_onnx)
    if hasattr(source, "SerializeToString"):
        if type(source).__name__ == "ModelProto":
            return read_onnx(source, outputs=outputs)
        if type(source).__name__ == "GraphDef":
            return from_graphdef(source, outputs)
    elif callable(getattr(source, "read", None)):
        return _from_bytes(_all_of(source), "graph", None, outputs, read_onnx)
    raise LoadError(f"load takes a model or a path, but got {type(source).__name__}.", slug="not-a-path", fix=_TAKES)


def _from_path(file: Path, outputs: Sequence[str] | None, read_onnx: Callable[..., Graph]) -> Graph:
    if file.is_dir():
        found = None if any((file / name).exists() for name in FILES) else format_of_folder(file)
        if found is not None:
            raise LoadError(f"{str(file)!r} is {found.name}.", slug="is-a-folder", fix=found.fix)
        return from_saved_model(file, outputs=outputs)
    if is_big_model(file):
        return read_onnx(file, outputs=outputs)
    return _from_bytes(read_bytes(file), file.stem, file, outputs, read_onnx)


def _all_of(file: Any) -> bytes:
    """The content of an open file from its current position."""
    try:
        data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise LoadError(f"The open file cannot be read: {error}.", slug="unreadable", fix=_TAKES) from error
    if not isinstance(data, bytes):
        raise LoadError("The open file gives text, not bytes.", slug="unreadable", fix='open it with mode "rb".')
    if len(data) > MAX_BYTES:
        raise LoadError(f"The open file has more than {MAX_BYTES:,} bytes.", slug="too-large", fix="give its path.")
    return data


def _from_bytes(
    data: bytes, name: str, file: Path | None, outputs: Sequence[str] | None, read_onnx: Callable[..., Graph]
) -> Graph:
    kind = kind_of(data)
    if kind == "onnx":
        return read_onnx(data if file is None else file, outputs=outputs)
    if kind in ("graphdef", "graphdef-text"):
        return convert(read_graphdef(data, tensors_named(outputs)), outputs, name)
    if kind in ("saved-model", "saved-model-text"):
        if file is None:
            raise LoadError(
                "The bytes are those of a SavedModel, whose variables are in other files.",
                slug="saved-model-bytes",
                fix="give the path of its folder.",
            )
        return from_saved_model(file, outputs=outputs)
    if kind in ("samediff", "sdnb", "sdz"):
        return convert_bytes(data, outputs, name, file)
    if kind == "graph-text":
        return _from_text(data, outputs)
    if kind == "stablehlo":
        return convert_program(data, outputs, name, "program" if file is None else str(file))
    if kind == "zip" and format_of(data) is TORCH_EXPORT:
        return from_exported(data, outputs, name)
    raise _refusal(file, kind, data)


def _from_text(data: bytes, outputs: Sequence[str] | None) -> Graph:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise LoadError("The saved graph is not UTF-8 text.", slug="bad-graph-text", fix="save it again.") from error
    graph = parse(text)
    if outputs is None:
        return graph
    wanted = [outputs] if isinstance(outputs, str) else outputs
    try:
        refs = {name: graph.value(name) for name in wanted}
    except GraphError as error:
        raise LoadError(error.message, slug="no-such-output", fix=error.fix) from error
    return Graph.from_nodes(
        graph.name,
        graph.nodes.values(),
        inputs=graph.inputs,
        outputs=refs,
        names=graph.names,
        notes=graph.notes,
        flushes_subnormals=graph.flushes_subnormals,
    )


def _refusal(file: Path | None, kind: str, data: bytes) -> LoadError:
    shown, suffix = ("The model", "") if file is None else (repr(str(file)), file.suffix.lower())
    if kind == "empty":
        return LoadError(f"{shown} has no bytes.", slug="empty", fix="write or fetch it again.")
    found = format_of(data)
    if found is not None:
        return LoadError(f"{shown} is {found.name}. {_READS}", slug="unsupported-format", fix=found.fix)
    slug: Any = {".onnx": "not-onnx", ".pb": "not-a-graphdef"}.get(suffix, "unknown-format")
    what = {".onnx": "no ONNX model", ".pb": "no GraphDef"}.get(suffix, "in no known format")
    looks = "It is text." if kind == "text" else "Its bytes make no sense as one."
    return LoadError(
        f"{shown} is {what}. {looks} {_READS}", slug=slug, fix="check that the file is what its name says."
    )
