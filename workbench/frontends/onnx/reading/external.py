"""Finds the tensors that an ONNX model keeps in other files, and checks that the files are in the model's folder.

The onnx library checks paths too; these checks come before it opens anything: a location is relative, passes through no
link and ends in a regular file of the folder; offset and length fit the file and the tensor. Source:
https://onnx.ai/onnx/repo-docs/ExternalData.html.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from workbench.errors import LoadError, WorkbenchError
from workbench.frontends.onnx.library import onnx
from workbench.frontends.onnx.reading.weights import Weights, stored_bytes
from workbench.frontends.onnx.tensors import DTYPES
from workbench.ir.buffers import LEAST_BYTES, MappedFile
from workbench.ir.types import STRING

_FIX = "keep the data files beside the model, as onnx.save_model(..., save_as_external_data=True) writes them."


def tensors(model: Any) -> Iterator[Any]:
    """Every TensorProto of a model, in graphs, functions, attributes and sparse tensors."""
    for part in (model.graph, *model.functions, *(t.algorithm for t in model.training_info)):
        for graph in graphs(part):
            yield from getattr(graph, "initializer", ())
            for sparse in getattr(graph, "sparse_initializer", ()):
                yield from (sparse.values, sparse.indices)
            for node in graph.node:
                yield from _of_attributes(node)


def tensors_of_node(node: Any) -> Iterator[Any]:
    """Every TensorProto of a node, in its attributes and the graphs there."""
    yield from _of_attributes(node)
    for attribute in node.attribute:
        for inside in (*((attribute.g,) if attribute.HasField("g") else ()), *attribute.graphs):
            for graph in graphs(inside):
                yield from graph.initializer
                for inner in graph.node:
                    yield from _of_attributes(inner)


def graphs(graph: Any) -> Iterator[Any]:
    """A graph or function, and all graphs in attributes of its nodes."""
    stack = [graph]
    while stack:
        graph = stack.pop()
        yield graph
        for attribute in (a for n in graph.node for a in n.attribute):
            stack.extend([attribute.g] if attribute.HasField("g") else ())
            stack.extend(attribute.graphs)


def _of_attributes(node: Any) -> Iterator[Any]:
    for attribute in node.attribute:
        if attribute.HasField("t"):
            yield attribute.t
        yield from attribute.tensors
        for sparse in (
            *([attribute.sparse_tensor] if attribute.HasField("sparse_tensor") else ()),
            *attribute.sparse_tensors,
        ):
            yield from (sparse.values, sparse.indices)


def load_external(model: Any, folder: str | None, weights: Weights) -> None:
    """Load the external tensors: the bytes of small ones and of attributes are read into the model, those of large
    initializers stay in their files (``weights``). LoadError ``external-data`` for a file that must not or cannot be
    read.
    """
    library = onnx()
    found = [t for t in tensors(model) if t.data_location == library.TensorProto.EXTERNAL and not weights.has(t)]
    if not found:
        return
    if folder is None:
        raise _refused(
            f"The tensor {found[0].name!r} is in another file, but the model was given without a path", "path"
        )
    places = [_checked(tensor, Path(folder), weights) for tensor in found]
    total = sum(size for _, size in places)
    there = sum(len(file) for file in {id(f): f for f, _ in places if f is not None}.values())
    if total > 8 * there:  # tensors may share a file, but a small file must not be used a thousand times
        raise _refused(f"Its tensors claim {total:,} bytes of {there:,} in other files", "data")
    initializers = {id(t) for g in graphs(model.graph) for t in g.initializer}
    try:
        for tensor, (file, size) in zip(found, places, strict=True):
            offset = _number(tensor, "offset", 0) or 0
            if file is not None and id(tensor) in initializers and size >= LEAST_BYTES:
                weights.mark(tensor, weights.in_file(file, offset, size))
                continue
            tensor.raw_data = file.read(offset, size) if file is not None and size else b""
            del tensor.external_data[:]
            tensor.ClearField("data_location")
    except (OSError, ValueError, WorkbenchError) as error:
        raise _refused(f"The tensors that it keeps in other files cannot be read: {error}", "data") from error


def _location(tensor: Any) -> PurePosixPath:
    text = next((e.value for e in tensor.external_data if e.key == "location"), "")
    posix, windows = PurePosixPath(text), PureWindowsPath(text)
    if not text or "\0" in text or posix.is_absolute() or windows.is_absolute() or windows.drive or "\\" in text:
        raise _refused(f"The tensor {tensor.name!r} names no file beside the model: {text!r}", "location")
    if ".." in posix.parts:
        raise _refused(f"The tensor {tensor.name!r} points out of the model's folder: {text!r}", "location")
    return posix


def _checked(tensor: Any, folder: Path, weights: Weights) -> tuple[MappedFile | None, int]:
    """The file of a tensor, None for an empty one, and the number of bytes that will be read."""
    location = _location(tensor)
    path = folder
    for part in location.parts:
        path = path / part
        if path.is_symlink():
            raise _refused(f"The tensor {tensor.name!r} is behind a link, {str(location)!r}", "location")
    if not path.is_file():
        raise _refused(f"There is no file {str(location)!r} for the tensor {tensor.name!r}", "location")
    offset, length = _number(tensor, "offset", 0), _number(tensor, "length", None)
    try:
        file = weights.beside(folder, location.parts) if path.stat().st_size else None
    except (OSError, ValueError) as error:
        raise _refused(f"The file {str(location)!r} cannot be read: {error}", "data") from error
    size = 0 if file is None else len(file)
    read = size - (offset or 0) if length is None else length
    if offset is None or offset > size or read > size - offset:
        raise _refused(f"The tensor {tensor.name!r} claims more of {str(location)!r} than its {size:,} bytes", "data")
    dtype = DTYPES.get(tensor.data_type, STRING)
    if dtype != STRING and all(d >= 0 for d in tensor.dims):
        needed = stored_bytes(dtype, tensor.dims)
        if needed != read:
            raise _refused(f"The tensor {tensor.name!r} needs {needed:,} bytes, but {read:,} are given", "data")
    return file, read


def _number(tensor: Any, key: str, default: int | None) -> int | None:
    text = next((e.value for e in tensor.external_data if e.key == key), None)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise _refused(f"The {key} of the tensor {tensor.name!r} is {text[:40]!r}", "data")
    return int(text)


def _refused(reason: str, what: str) -> LoadError:
    fix = "give the path of the model instead." if what == "path" else _FIX
    return LoadError(f"The ONNX model is refused. {reason}.", slug="external-data", fix=fix)
