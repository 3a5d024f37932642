"""Inlines the calls of a model's own functions: each call is replaced with the nodes of the function, in a region of
the call.

The names of inner values are prefixed with the call's name (``norm/mean``), and attribute references are replaced with
the values of the call. A node's ``metadata_props`` hold two further facts for the lowering: under :data:`REGION` the
path of the enclosing calls, under :data:`OPSETS` the operator sets of its function that differ from the model's.
Source: https://onnx.ai/onnx/repo-docs/IR.html#functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.frontends.stack_traces import source_of
from workbench.ir.node import Source

#: key under which PyTorch's exporter stores the stack trace
STACK = "pkg.torch.onnx.stack_trace"
REGION, OPSETS = "workbench.region", "workbench.opsets"


def write_out(proto: Any, functions: Mapping[tuple[str, str, str], Any]) -> Any:
    """A copy of a model without functions; the functions may call each other, but must not be recursive."""
    model = type(proto)()
    model.CopyFrom(proto)
    del model.functions[:]
    opsets = {_domain(o.domain): o.version for o in proto.opset_import}
    _Writer(functions, opsets, _names(model.graph)).graph(model.graph, "")
    return model


def region_of(node: Any) -> str:
    """The path of the calls that enclose a node."""
    return next((p.value for p in node.metadata_props if p.key == REGION), "")


def line_of(node: Any) -> Source | None:
    """The line of the user's code that a node was exported from."""
    return next((source_of(p.value) for p in node.metadata_props if p.key == STACK), None)


def opsets_of(node: Any, opsets: dict[str, int]) -> dict[str, int]:
    """The operator sets that hold for a node, where ``opsets`` are those of the model; raises ValueError."""
    text = next((p.value for p in node.metadata_props if p.key == OPSETS), "")
    if not text:
        return opsets
    pairs = [part.rpartition("=") for part in text.split(" ")]
    return {**opsets, **{domain: int(version) for domain, _, version in pairs}}


def _domain(name: str) -> str:
    return "" if name == "ai.onnx" else name


def _names(graph: Any) -> set[str]:
    """Names of the values of a graph and of all graphs inside it."""
    found = {v.name for v in (*graph.input, *graph.output, *graph.initializer)}
    for node in graph.node:
        found.update(node.output, [node.name])
        for attribute in node.attribute:
            if attribute.HasField("g"):
                found |= _names(attribute.g)
    return found


class _Writer:
    def __init__(
        self, functions: Mapping[tuple[str, str, str], Any], opsets: Mapping[str, int], taken: set[str]
    ) -> None:
        self.functions, self.opsets, self.taken = functions, opsets, taken

    def graph(self, graph: Any, other: str) -> None:
        """Replace the calls in a graph and in the graphs inside it; ``other`` lists operator sets as a string."""
        nodes: list[Any] = []
        for node in graph.node:
            self.node(node, "", other, nodes)
        del graph.node[:]
        graph.node.extend(nodes)

    def node(self, node: Any, region: str, other: str, out: list[Any]) -> None:
        function = self.functions.get((node.domain, node.op_type, getattr(node, "overload", "")))
        if function is not None:
            self.call(node, function, region, out)
            return
        for attribute in node.attribute:
            if attribute.HasField("g"):
                self.graph(attribute.g, other)  # the construct itself has the region
        for key, value in ((REGION, region), (OPSETS, other)):
            if value:
                entry = node.metadata_props.add()
                entry.key, entry.value = key, value
        out.append(node)

    def call(self, node: Any, function: Any, region: str, out: list[Any]) -> None:
        label = self.unique(node.name or next((o for o in node.output if o), function.name))
        names = dict.fromkeys(function.input, "")
        names.update(zip(function.input, node.input, strict=False))
        results = {f: a for f, a in zip(function.output, node.output, strict=False) if a}
        through = {f for f in results if f in names}  # an input that is also a result: no node gives it its name
        names.update((f, a) for f, a in results.items() if f not in through)
        attributes = {a.name: a for a in function.attribute_proto} | {a.name: a for a in node.attribute}
        inside = label if not region or label.startswith(f"{region}/") else f"{region}/{label}"
        pairs = ((_domain(o.domain), o.version) for o in function.opset_import)
        other = " ".join(f"{d}={v}" for d, v in pairs if self.opsets.get(d) != v)
        for inner in function.node:
            copy = type(inner)()
            copy.CopyFrom(inner)
            _rename(copy, names, label, attributes)
            self.node(copy, inside, other, out)
        for formal in through:
            copy = type(node)(op_type="Identity", input=[names[formal]], output=[results[formal]])
            self.node(copy, inside, "", out)

    def unique(self, name: str) -> str:
        candidate, count = name, 1
        while f"{candidate}/" in self.taken:
            count += 1
            candidate = f"{name}_{count}"
        self.taken.add(f"{candidate}/")
        return candidate


def _rename(node: Any, names: Mapping[str, str], label: str, attributes: Mapping[str, Any]) -> None:
    """Replace names and attributes of a copied node with those of the call, also in the graphs inside it."""

    def outside(name: str) -> str:
        return names.get(name, f"{label}/{name}") if name else ""

    node.name = f"{label}/{node.name}" if node.name else ""
    node.input[:] = [outside(n) for n in node.input]
    node.output[:] = [outside(n) for n in node.output]
    given = []
    for attribute in node.attribute:
        if attribute.ref_attr_name:
            value = attributes.get(attribute.ref_attr_name)
            if value is None:
                continue  # omitted by the call: the op's own default applies
            copy = type(attribute)()
            copy.CopyFrom(value)
            copy.name = attribute.name
            attribute = copy
        elif attribute.HasField("g"):
            graph = attribute.g
            for value in (*graph.input, *graph.output, *graph.initializer, *graph.value_info):
                value.name = outside(value.name)
            for sparse in graph.sparse_initializer:
                sparse.values.name = outside(sparse.values.name)
            for inner in graph.node:
                _rename(inner, names, label, attributes)
        given.append(attribute)
    copies = [type(a).FromString(a.SerializeToString()) for a in given]
    del node.attribute[:]
    node.attribute.extend(copies)
