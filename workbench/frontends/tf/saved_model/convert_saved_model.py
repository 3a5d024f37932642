"""TensorFlow's SavedModel -> :class:`workbench.Graph`, without TensorFlow.

::

    folder ──┬── saved_model.pb or .pbtxt ──► MetaGraphDef (by tags) ──┬─ graph, functions ──┐
             │                                                         └─ signature ─────────┼─► convert ─► Graph
             ├── variables/variables.index, .data-* ──► restore: variable node -> value ─────┤
             └── assets/* ──► vocabulary: keys and values of tables ─────────────────────────┘
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from workbench.errors import LoadError
from workbench.frontends.files import guarded, read_bytes
from workbench.frontends.protobuf.wire import Reader
from workbench.frontends.tf.checkpoint import Bundle
from workbench.frontends.tf.convert import convert, tensors_named
from workbench.frontends.tf.graphdef import graph_of
from workbench.frontends.tf.message import read_message
from workbench.frontends.tf.pruning import reached
from workbench.frontends.tf.saved_model.restore import SavedVariables
from workbench.frontends.tf.saved_model.schema import SAVED
from workbench.frontends.tf.saved_model.vocabulary import Assets
from workbench.frontends.tf.tensor_name import TensorName
from workbench.ir.graph import Graph
from workbench.ir.node import Ref

FILES = ("saved_model.pb", "saved_model.pbtxt")
SERVE = "serve"
DEFAULT_SIGNATURE = "serving_default"
#: the signature that TensorFlow adds for the model's initialisation, which has no other use
_INIT = "__saved_model_init_op"
#: TensorFlow 1 collections: those with the node of the initialisation, and the one with the assets
_INIT_COLLECTIONS, _ASSETS = ("saved_model_main_op", "legacy_init_op"), "saved_model_assets"


def from_saved_model(
    path: str | os.PathLike[str],
    *,
    signature: str | None = None,
    tags: Iterable[str] | None = None,
    outputs: Sequence[str] | None = None,
    name: str | None = None,
) -> Graph:
    """Import a graph of a TensorFlow SavedModel, with its variables and hash tables; TensorFlow itself is not needed.

    Inputs and outputs have the names of the signature; the tensors' own names are names of the graph too.

    Parameters
    ----------
    path : path
        The folder, or the ``saved_model.pb`` (or ``.pbtxt``) in it.
    signature : str, optional
        The signature whose inputs and outputs become the graph's; by default ``serving_default``, or the only one.
    tags : iterable of str, optional
        The tags of the graph; by default ``serve``, or those of the only graph.
    outputs : sequence of str, optional
        Outputs of the signature, or tensors (``"dense/BiasAdd:0"``), to use instead of all outputs of the signature.
    name : str, optional
        Name of the graph; by default that of the folder.

    Returns
    -------
    Graph

    Raises
    ------
    LoadError
        ``no-such-file``, ``is-a-folder``, ``not-a-saved-model``, ``no-such-tags``, ``no-such-signature``,
        ``no-such-output``, ``bad-checkpoint``, ``bad-checksum``, ``bad-asset``, ``no-such-asset``, ``bad-vocabulary``,
        or an error of :func:`from_graphdef`.

    Examples
    --------
    >>> model = wb.from_saved_model("saved_model")
    >>> list(model.inputs), list(model.outputs)
    (['data'], ['out', 'shifted'])
    """
    file = find_file(Path(path))
    label = name or file.parent.name or "saved_model"
    message = read_message(read_bytes(file), SAVED, "SavedModel", "not-a-saved-model")
    with guarded(f"SavedModel {label!r}"):
        meta = _meta_graph(message.get("meta_graphs", ()), tags)
        inputs, ends = _signature(meta, signature, outputs)
        variables: Mapping[str, np.ndarray] = {}
        stored: Mapping[str, np.ndarray] = {}
        prefix = file.parent / "variables" / "variables"
        if prefix.with_name("variables.index").exists():
            stored = Bundle(prefix)
            variables = SavedVariables(stored, meta)
        tensors = list(ends.values())
        source = graph_of(meta.get("graph_def", {}), tensors_named(tensors), _starting(meta))
        graph = convert(source, tensors, label, variables, _assets(meta, file.parent), stored)
        return _renamed(graph, inputs, ends)


def find_file(path: Path) -> Path:
    """The saved_model file of a folder, or the file itself; raises LoadError."""
    if not path.is_dir():
        return path
    for name in FILES:
        if (path / name).is_file():
            return path / name
    raise LoadError(
        f"{str(path)!r} is a folder without {' or '.join(FILES)}.",
        slug="is-a-folder",
        fix="give the path of the model file in it.",
    )


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
        f"The SavedModel has no graph with the tags {sorted(wanted)}.",
        slug="no-such-tags",
        fix=f"give tags=...; its graphs have: {shown}.",
    )


def _starting(meta: Mapping[str, Any]) -> set[str] | None:
    """The nodes that run when the model is loaded: its initialisation, and restoring; None if there is no such node."""
    named = [
        t
        for e in meta.get("signature_def", ())
        if e.get("key") == _INIT
        for t in _tensors(e.get("value", {}).get("outputs", ()), skip_composite=True).values()
    ]
    for entry in meta.get("collection_def", ()):
        if entry.get("key") in _INIT_COLLECTIONS:
            named += entry.get("value", {}).get("node_list", {}).get("value", ())
    if not named:
        return None
    names = [TensorName.parse(text).node for text in (*named, meta.get("saver_def", {}).get("restore_op_name", ""))]
    nodes = {raw.get("name", ""): raw for raw in meta.get("graph_def", {}).get("node", ())}
    return set(reached(names, nodes, lambda raw: (TensorName.parse(text).node for text in raw.get("input", ()))))


def _assets(meta: Mapping[str, Any], folder: Path) -> Assets:
    found = [*meta.get("asset_file_def", ())]
    for entry in meta.get("collection_def", ()):
        if entry.get("key") == _ASSETS:
            messages = entry.get("value", {}).get("any_list", {}).get("value", ())
            found += [Reader(m.get("value", b""), SAVED).message("AssetFileDef") for m in messages]
    return Assets(
        folder,
        {
            t: e.get("filename", "")
            for e in found
            for t in _tensors([{"key": "file", "value": e.get("tensor_info", {})}], skip_composite=True).values()
        },
    )


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
            f"The graph of the SavedModel has {which}.",
            slug="no-such-signature",
            fix=f"give signature=... out of: {', '.join(map(repr, useful[:20]))}."
            if useful
            else "name tensors of the graph with outputs=...",
        )
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
                f"The output {key!r} of the signature is not a single tensor (sparse or ragged).",
                slug="composite-output",
                fix="name the tensors that it is made of with outputs=...",
            )
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
    return Graph.from_nodes(
        graph.name, graph.nodes.values(), inputs=feeds, outputs=results, names=names, notes=graph.notes
    )
