"""TensorFlow's SavedModel -> :class:`workbench.Graph`, without TensorFlow.

::

    folder ──┬── saved_model.pb or .pbtxt ──► MetaGraphDef (by tags) ──┬─ graph, functions ──┐
             │                                                         └─ signature ─────────┼─► convert ─► Graph
             └── variables/variables.index, .data-* ──► restore: variable node -> value ─────┘
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from workbench.errors import LoadError
from workbench.frontends.files import guarded, read_bytes
from workbench.frontends.tf.checkpoint import Bundle
from workbench.frontends.tf.convert import convert
from workbench.frontends.tf.graphdef import graph_of
from workbench.frontends.tf.message import read_message
from workbench.frontends.tf.restore import Variables
from workbench.frontends.tf.saved_schema import SAVED
from workbench.graph.graph import Graph
from workbench.graph.node import Ref

FILES = ("saved_model.pb", "saved_model.pbtxt")
SERVE = "serve"
DEFAULT_SIGNATURE = "serving_default"
#: the signature that TensorFlow adds for the model's initialisation, which is no use to anyone else
_INIT = "__saved_model_init_op"


def from_saved_model(
    path: str | os.PathLike[str],
    *,
    signature: str | None = None,
    tags: Iterable[str] | None = None,
    outputs: Sequence[str] | None = None,
    name: str | None = None,
) -> Graph:
    """Import a graph of a SavedModel with the values of its variables.

    Parameters
    ----------
    path:
        The folder, or the ``saved_model.pb`` (or ``.pbtxt``) in it.
    signature:
        Which signature's inputs and outputs become the graph's; ``serving_default`` where there is one, else the only
        one.
    tags:
        The tags of the graph; ``serve`` where there is one, else the only one.
    outputs:
        Outputs of the signature, or tensors (``"dense/BiasAdd:0"``), to take instead of all outputs of the signature.

    Inputs and outputs have the signature's names; the tensors' own names are names of the graph too.

    Raises
    ------
    LoadError
        ``no-such-file``, ``not-a-saved-model``, ``no-such-tags``, ``no-such-signature``, ``no-such-output``,
        ``bad-checkpoint``, ``bad-checksum``, or what :func:`from_graphdef` raises.
    """
    file = find_file(Path(path))
    label = name or file.parent.name or "saved_model"
    message = read_message(read_bytes(file), SAVED, "SavedModel", "not-a-saved-model")
    with guarded(f"SavedModel {label!r}"):
        meta = _meta_graph(message.get("meta_graphs", ()), tags)
        inputs, ends = _signature(meta, signature, outputs)
        variables: Mapping[str, np.ndarray] = {}
        prefix = file.parent / "variables" / "variables"
        if prefix.with_name("variables.index").exists():
            variables = Variables(Bundle(prefix), meta)
        graph = convert(graph_of(meta.get("graph_def", {})), list(ends.values()), label, variables)
        return _renamed(graph, inputs, ends)


def find_file(path: Path) -> Path:
    """The saved_model file of a folder, or the file itself; raises LoadError."""
    if not path.is_dir():
        return path
    for name in FILES:
        if (path / name).is_file():
            return path / name
    raise LoadError(
        f"{str(path)!r} is a folder without {' or '.join(FILES)}.", slug="is-a-folder",
        fix="give the path of the model file in it.",
    )  # fmt: skip


def _meta_graph(graphs: Sequence[Mapping[str, Any]], tags: Iterable[str] | None) -> Mapping[str, Any]:
    known = [set(g.get("meta_info_def", {}).get("tags", ())) for g in graphs]
    wanted = {tags} if isinstance(tags, str) else set(tags or (SERVE,))
    for graph, has in zip(graphs, known, strict=True):
        if has == wanted:
            return graph
    if tags is None and len(graphs) == 1:
        return graphs[0]
    shown = ", ".join(str(sorted(has)) for has in known[:20]) or "none"
    raise LoadError(
        f"The SavedModel has no graph with the tags {sorted(wanted)}.", slug="no-such-tags",
        fix=f"give tags=...; its graphs have: {shown}.",
    )  # fmt: skip


def _signature(
    meta: Mapping[str, Any], name: str | None, outputs: Sequence[str] | None
) -> tuple[dict[str, str], dict[str, str]]:
    """(inputs, outputs): public name -> tensor name."""
    table = {e.get("key", ""): e.get("value", {}) for e in meta.get("signature_def", ())}
    useful = [key for key in table if key != _INIT]
    chosen = name
    if name is None:
        chosen = DEFAULT_SIGNATURE if DEFAULT_SIGNATURE in table else useful[0] if len(useful) == 1 else None
    if chosen not in table and not (name is None and outputs is not None):
        which = "no signature at all" if not useful else f"no signature {name or DEFAULT_SIGNATURE!r}"
        raise LoadError(
            f"The graph of the SavedModel has {which}.", slug="no-such-signature",
            fix=f"give signature=... out of: {', '.join(map(repr, useful[:20]))}." if useful
            else "name tensors of the graph with outputs=...",
        )  # fmt: skip
    signature = table.get(chosen or "", {})
    inputs = _tensors(signature.get("inputs", ()), skip_composite=True)
    ends = _tensors(signature.get("outputs", ()), skip_composite=outputs is not None)
    if outputs is not None:
        wanted = [outputs] if isinstance(outputs, str) else list(outputs)
        ends = {o: ends.get(o, o if ":" in o else f"{o}:0") for o in wanted}
    if not ends:
        raise LoadError(f"The signature {chosen!r} has no outputs.", slug="no-outputs", fix="name outputs=...")
    return inputs, ends


def _tensors(entries: Iterable[Mapping[str, Any]], skip_composite: bool) -> dict[str, str]:
    found = {}
    for entry in entries:
        key, info = entry.get("key", ""), entry.get("value", {})
        if "name" in info:
            found[key] = info["name"] if ":" in info["name"] else f"{info['name']}:0"
        elif not skip_composite:
            raise LoadError(
                f"The output {key!r} of the signature is no single tensor (sparse or ragged).",
                slug="composite-output", fix="name the tensors that it is made of with outputs=...",
            )  # fmt: skip
    return found


def _renamed(graph: Graph, inputs: Mapping[str, str], ends: Mapping[str, str]) -> Graph:
    """The same graph with the signature's names; the tensors' own names stay names of the graph."""
    names = {**{label: ref for label, ref in graph.outputs.items()}, **graph.names}
    public = {tensor: key for key, tensor in inputs.items()}
    feeds: dict[str, Ref] = {}
    for tensor, ref in graph.inputs.items():
        feeds[public.get(tensor, tensor)] = ref
        names.setdefault(tensor, ref)
    results = {key: graph.outputs[tensor] for key, tensor in ends.items()}
    return Graph.from_nodes(graph.name, graph.nodes.values(), inputs=feeds, outputs=results, names=names)
