"""``load``: a graph from a file, whatever wrote it. The content decides, not the suffix."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench.errors import GraphError, LoadError
from workbench.frontends.files import read_bytes
from workbench.frontends.onnx import from_onnx
from workbench.frontends.sniff import kind_of
from workbench.frontends.tf import convert, from_saved_model
from workbench.frontends.tf.graphdef import read_graphdef
from workbench.graph.graph import Graph
from workbench.graph.text import parse

_READS = "ONNX models, TensorFlow GraphDefs and SavedModels (binary or text) and saved workbench graphs can be read."


def load(path: str | os.PathLike[str], *, outputs: Sequence[str] | None = None) -> Graph:
    """Read a graph from a file.

    Parameters
    ----------
    path:
        An ONNX model, a TensorFlow GraphDef (``.pb`` or ``.pbtxt``), a SavedModel (its folder or the file in it), or
        a graph that was saved with ``graph.text()``.
    outputs:
        Names of the values that become the graph's outputs; by default those that the file declares, and for a GraphDef
        those of the nodes that nothing reads.

    Raises
    ------
    LoadError
        Slugs ``no-such-file``, ``is-a-folder``, ``empty``, ``unreadable``, ``too-large``, ``truncated``, ``not-onnx``,
        ``not-a-graphdef``, ``unsupported-format``, ``unknown-format``, ``no-such-output``, or one of the reader's.
    UnknownOpError
        Once, with every op that has no counterpart.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise LoadError(
            f"load takes a path, but got {type(path).__name__}.", slug="not-a-path", fix="give a file name."
        )
    file = Path(path)
    if file.is_dir():
        return from_saved_model(file, outputs=outputs)
    data = read_bytes(file)
    kind = kind_of(data)
    if kind == "onnx":
        return from_onnx(file, outputs=outputs)
    if kind in ("graphdef", "graphdef-text"):
        return convert(read_graphdef(data), outputs, file.stem)
    if kind in ("saved-model", "saved-model-text"):
        return from_saved_model(file, outputs=outputs)
    if kind == "graph-text":
        return _from_text(data, outputs)
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
    return Graph.from_nodes(graph.name, graph.nodes.values(), inputs=graph.inputs, outputs=refs, names=graph.names)


def _refusal(file: Path, kind: str, data: bytes) -> LoadError:
    shown = repr(str(file))
    if kind == "zip":
        return LoadError(
            f"{shown} is a zip archive. {_READS}", slug="unsupported-format", fix="give one of these files."
        )
    slug: Any = {".onnx": "not-onnx", ".pb": "not-a-graphdef"}.get(file.suffix.lower(), "unknown-format")
    what = {".onnx": "no ONNX model", ".pb": "no GraphDef"}.get(file.suffix.lower(), "in no known format")
    looks = "It is text." if kind == "text" else "Its bytes make no sense as one."
    return LoadError(
        f"{shown} is {what}. {looks} {_READS}", slug=slug, fix="check that the file is what its name says."
    )
