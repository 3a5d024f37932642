"""ONNX model -> :class:`workbench.Graph`. Needs the ``onnx`` library (``pip install 'workbench[onnx]'``).

Loop, Scan and If become frames and branches; the ops that the registry has become ops of ours; everything else is
evaluated by the onnx library, node by node (``onnx:Name``). Value names of the model are public names of the graph.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench.errors import LoadError
from workbench.frontends.files import guarded
from workbench.frontends.onnx import collect, foreign
from workbench.frontends.onnx.lower import Lowering
from workbench.frontends.onnx.model import opsets, prepare, read_model
from workbench.frontends.onnx.scope import Scope
from workbench.frontends.onnx.tensors import type_of
from workbench.graph.graph import Graph
from workbench.graph.node import Ref

__all__ = ["collect", "foreign", "from_onnx"]


def from_onnx(model: Any, *, outputs: Sequence[str] | None = None, name: str | None = None) -> Graph:
    """Import an ONNX model.

    Parameters
    ----------
    model:
        A path, the bytes of a ModelProto, or an ``onnx.ModelProto``.
    outputs:
        Names of values of the outermost graph; by default the model's own outputs.
    name:
        Name of the graph; by default the model's own, or the file's.

    Raises
    ------
    LoadError
        Slugs ``missing-extra``, ``no-such-file``, ``is-a-folder``, ``empty``, ``truncated``, ``not-onnx``, and others
        that say what in the model is wrong.
    UnknownOpError
        Once, with every op that nothing can evaluate and its nodes.
    """
    prepared = prepare(read_model(model))
    label = name or (Path(model).stem if isinstance(model, (str, os.PathLike)) else "") or prepared.graph.name or "onnx"
    with guarded(f"ONNX model {label!r}"):
        return _lower(prepared, outputs, label)


def _lower(model: Any, outputs: Sequence[str] | None, label: str) -> Graph:
    lowering = Lowering(opsets(model))
    root = Scope(lowering)
    graph = model.graph
    lowering.open(root, graph)
    constants = {t.name for t in graph.initializer}
    inputs: dict[str, Ref] = {}
    for info in graph.input:
        if info.name in constants:
            continue  # a default value: models before IR version 4 list all initializers as inputs
        kind = type_of(info.type)
        ref = lowering.raw("Placeholder", [], info.name, dtype=kind.dtype, shape=kind.shape)
        lowering.types[ref] = kind
        lowering.publish(root, info.name, ref)
        inputs[info.name] = ref
    results = lowering.body(root, graph)
    lowering.finish()
    ends = {o.name: ref for o, ref in zip(graph.output, results, strict=True)}
    if outputs is not None:
        ends = {o: _output(root, o) for o in ([outputs] if isinstance(outputs, str) else outputs)}
    return Graph.from_nodes(label, lowering.nodes.values(), inputs=inputs, outputs=ends, names=lowering.public)


def _output(root: Scope, name: str) -> Ref:
    ref = root.resolve(name)
    if ref is None:
        near = difflib.get_close_matches(name, root.values, n=3)
        raise LoadError(
            f"The ONNX model has no value {name!r} outside of its loops and branches.",
            slug="no-such-output",
            fix=f"did you mean {' or '.join(near)}?" if near else "name values of the outermost graph.",
        )
    return ref
