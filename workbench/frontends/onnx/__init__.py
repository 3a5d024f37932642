"""ONNX model -> :class:`workbench.Graph`. Needs the ``onnx`` library (``pip install 'workbench[onnx]'``).

Loop, Scan and If become frames and branches; the ops that the registry has become ops of ours; everything else is
evaluated by the onnx library, node by node (``onnx:Name``). Value names of the model are public names of the graph.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.errors import LoadError
from workbench.frontends.files import guarded
from workbench.frontends.onnx import collect, draws, foreign, sequences
from workbench.frontends.onnx.lower import Lowering
from workbench.frontends.onnx.model import opsets, prepare, read_model
from workbench.frontends.onnx.scope import Scope
from workbench.frontends.onnx.tensors import type_of
from workbench.graph.graph import Graph
from workbench.graph.node import Ref
from workbench.graph.types import ANY, OPAQUE, TensorType

__all__ = ["collect", "draws", "foreign", "from_onnx", "sequences"]


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
    return lowered(model, outputs=outputs, name=name).graph


@dataclass(frozen=True)
class Lowered:
    """An imported model: ``proto`` is what was lowered, with its functions put in; ``labels`` maps the key of a graph
    inside of it (see ``Scope.key``) and a value name there to the public name of ``graph``."""

    graph: Graph
    proto: Any
    labels: Mapping[tuple[tuple[str, ...], str], str]


def lowered(model: Any, *, outputs: Sequence[str] | None = None, name: str | None = None) -> Lowered:
    """The same as :func:`from_onnx`, with what became of each value of the model."""
    prepared = prepare(read_model(model))
    label = name or (Path(model).stem if isinstance(model, (str, os.PathLike)) else "") or prepared.graph.name or "onnx"
    with guarded(f"ONNX model {label!r}"):
        return _lower(prepared, outputs, label)


def _lower(model: Any, outputs: Sequence[str] | None, label: str) -> Lowered:
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
    made = Graph.from_nodes(label, lowering.nodes.values(), inputs=inputs, outputs=ends, names=lowering.public)
    _check_declared(lowering, made)
    return Lowered(made, model, lowering.labels)


def _check_declared(lowering: Lowering, graph: Graph) -> None:
    """What the model declares of a value is what comes; shapes inside of loops may be those of the first trip, and
    those of a branch that is not taken are nobody's."""
    for ref, declared in lowering.types.items():
        node = graph.nodes.get(ref.node)
        if node is None or ref.index >= len(node.types) or node.op in ("Placeholder", "Const"):
            continue
        found = node.types[ref.index]
        known = not {found.dtype, declared.dtype} & {ANY, OPAQUE}
        outside = not graph.frame_of(ref.node) and node.region is None
        if known and found.dtype != declared.dtype or outside and _differ(declared, found):
            raise LoadError(
                f"The ONNX model declares {declared} for the value {graph.name_of(ref)!r}, but {found} comes.",
                slug="declared-type", node=ref.node, fix="infer the types of the model again (onnx.shape_inference).",
            )  # fmt: skip


def _differ(one: TensorType, two: TensorType) -> bool:
    if one.shape is None or two.shape is None:
        return False
    if len(one.shape) != len(two.shape):
        return True
    return any(a != b for a, b in zip(one.shape, two.shape, strict=True) if a is not None and b is not None)


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
