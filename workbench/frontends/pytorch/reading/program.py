"""The program of an archive as plain data: graphs of calls, the types of their values, inputs and outputs.

Source: torch/_export/serde/schema.py of PyTorch 2.13 (schema 8.20). Minor versions only add fields; another major
version is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.frontends.pytorch.reading.archive import Archive, refused
from workbench.frontends.pytorch.reading.arguments import Argument, GraphOf, InnerGraph, ValueName, parse_argument
from workbench.frontends.pytorch.reading.fields import as_kind, field, tagged
from workbench.frontends.pytorch.reading.tensors import check_layout, dims_of, dtype_of, read_tensors
from workbench.frontends.stack_traces import source_of
from workbench.ir.node import Source
from workbench.ir.types import TensorType

MAJOR = 8
#: maximum nesting of graphs: branches and bodies of loops
MAX_DEPTH = 40


@dataclass(frozen=True, slots=True)
class Meta:
    """Type of a tensor; strides are in elements."""

    type: TensorType
    strides: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class OpCall:
    """One call: ``aten.add.Tensor``, its arguments by name or position, and its results.

    ``source`` is the line of the user's code; ``scope`` is the path of the module, ``layers.0.c1``.
    """

    name: str
    target: str
    args: tuple[Argument, ...]
    kwargs: Mapping[str, Argument]
    outputs: tuple[Argument, ...]
    source: Source | None
    scope: str


@dataclass(frozen=True, slots=True)
class SubGraph(InnerGraph):
    """The whole program, a branch or the body of a loop."""

    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    calls: tuple[OpCall, ...]
    types: Mapping[str, Meta]

    def reads(self) -> frozenset[str]:
        """Names of the values that its calls and results read."""
        waiting: list[Any] = [self.outputs, *(c.args for c in self.calls), *(c.kwargs.values() for c in self.calls)]
        found: set[str] = set()
        while waiting:
            for item in waiting.pop():
                if isinstance(item, ValueName):
                    found.add(item.name)
                elif isinstance(item, list):
                    waiting.append(item)
        return frozenset(found)


@dataclass(frozen=True, slots=True)
class ExportedProgram:
    """``inputs`` and ``outputs`` describe each input and output of ``graph``: (kind, dotted name or None)."""

    graph: SubGraph
    inputs: tuple[tuple[str, str | None], ...]
    outputs: tuple[tuple[str, str | None], ...]
    tensors: Mapping[str, np.ndarray]
    result: Any
    torch_version: str


def read_program(data: bytes) -> ExportedProgram:
    """Read the bytes of a ``.pt2`` file; LoadError if they are not a program of schema 8."""
    archive = Archive(data)
    if archive.word("byteorder") not in ("", "little"):
        raise refused(f"its bytes are in {archive.word('byteorder')!r} order")
    models = archive.names("models", ".json")
    if len(models) != 1:
        raise refused(
            f"its archive holds {len(models)} programs in the form that PyTorch 2.9 and newer write",
            "export one program with PyTorch 2.9 or newer: torch.export.save(program, 'model.pt2').",
        )
    document = archive.document(models[0])
    version = field(document, "schema_version", dict)
    major, minor = field(version, "major", int), field(version, "minor", int, 0)
    if major != MAJOR:
        raise refused(
            f"it is of schema {major}.{minor}; schema {MAJOR} is read, which PyTorch 2.9 to 2.14 write",
            "export it with such a PyTorch, or export the model to ONNX: torch.onnx.export(..., dynamo=True).",
        )
    module = field(document, "graph_module", dict)
    signature = field(module, "signature", dict)
    return ExportedProgram(
        parse_graph(field(module, "graph", dict), 0),
        tuple(_spec(s, "input_specs") for s in field(signature, "input_specs", list)),
        tuple(_spec(s, "output_specs") for s in field(signature, "output_specs", list)),
        read_tensors(archive),
        _result_tree(module),
        field(document, "torch_version", str, "of an unknown version"),
    )


def parse_graph(node: dict[str, Any], depth: int) -> SubGraph:
    """A graph, with the graphs in it."""
    if depth > MAX_DEPTH:
        raise refused(f"it has more than {MAX_DEPTH} levels of branches and loops in each other")

    def inner(graph: dict[str, Any]) -> SubGraph:
        return parse_graph(graph, depth + 1)

    def arguments(key: str) -> tuple[Argument, ...]:
        return tuple(parse_argument(a, inner) for a in field(node, key, list))

    return SubGraph(
        arguments("inputs"),
        arguments("outputs"),
        tuple(_call(as_kind(c, dict, "nodes"), inner) for c in field(node, "nodes", list)),
        {name: _meta(as_kind(m, dict, name)) for name, m in field(node, "tensor_values", dict).items()},
    )


def _call(node: dict[str, Any], inner: GraphOf) -> OpCall:
    args: list[Argument] = []
    kwargs: dict[str, Argument] = {}
    for given in field(node, "inputs", list):
        name = field(as_kind(given, dict, "inputs"), "name", str)
        value = parse_argument(given.get("arg"), inner)
        if name:
            kwargs[name] = value
        else:
            args.append(value)
    metadata = field(node, "metadata", dict, {})
    target = field(node, "target", str).removeprefix("torch.ops.")
    outputs = tuple(parse_argument(o, inner) for o in field(node, "outputs", list))
    name = field(node, "name", str, "") or next((o.name for o in outputs if isinstance(o, ValueName)), target)
    source = source_of(str(metadata.get("stack_trace") or ""))
    return OpCall(
        name, target, tuple(args), kwargs, outputs, source, _scope(str(metadata.get("nn_module_stack") or ""))
    )


def _meta(node: dict[str, Any]) -> Meta:
    check_layout(node)
    return Meta(TensorType(dtype_of(node.get("dtype")), dims_of(node, "sizes")), dims_of(node, "strides"))


def _spec(node: Any, what: str) -> tuple[str, str | None]:
    """Kind of an input or output, and its dotted name in the module."""
    kind, content = tagged(node, what)
    as_kind(content, dict, kind)
    names = [v for k, v in content.items() if k.endswith("_name") and isinstance(v, str)]
    return kind, names[0] if names else None


def _scope(stack: str) -> str:
    """The path of the innermost module: of ``key,path,class;key,path,class`` the last path."""
    parts = [entry.split(",") for entry in stack.split(";") if entry]
    path = parts[-1][1] if parts and len(parts[-1]) == 3 else ""
    return "" if path.startswith("_empty_nn_module_stack") else re.sub(r"^_export_root(\.|$)|@\d+$", "", path)


def _result_tree(module: dict[str, Any]) -> Any:
    """The structure of the results, as described by PyTorch; None if there is no description."""
    for entry in field(module, "module_call_graph", list, []):
        if type(entry) is dict and entry.get("fqn") == "" and type(entry.get("signature")) is dict:
            try:
                return json.loads(str(entry["signature"].get("out_spec")))[1]
            except (ValueError, RecursionError, LookupError, TypeError):
                return None
    return None
