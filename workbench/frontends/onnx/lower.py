"""ONNX graph -> workbench nodes: scopes, names, and one rule per op; Loop, Scan and If become frames and branches.

::

    ModelProto ── prepare ──► GraphProto ── Lowering.run ──► Node, Node, ... ──► Graph.from_nodes
                                   │  each node: a rule of the op table, a control-flow lowering, or a foreign op
                                   └─ each value name becomes a public name

State that grows while a graph is read: ``nodes`` (emitted nodes), ``public`` (ONNX value names -> values), ``unknown``
(ops that no library can evaluate, reported together at the end).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workbench.errors import LoadError, UnknownOpError
from workbench.frontends.onnx import foreign
from workbench.frontends.onnx.control.branch import lower_if
from workbench.frontends.onnx.control.loop import lower_loop
from workbench.frontends.onnx.control.recurrent import RECURRENT, lower_recurrent
from workbench.frontends.onnx.control.scan import lower_scan
from workbench.frontends.onnx.control.sequence_map import lower_sequence_map
from workbench.frontends.onnx.known_types import Known
from workbench.frontends.onnx.reading.calls import line_of, opsets_of, region_of
from workbench.frontends.onnx.reading.external import tensors_of_node
from workbench.frontends.onnx.reading.torch_names import call_of, name_below
from workbench.frontends.onnx.reading.upgrades import upgraded
from workbench.frontends.onnx.reading.weights import Weights
from workbench.frontends.onnx.rules import gradient
from workbench.frontends.onnx.rules.table import RULES
from workbench.frontends.onnx.scope import OnnxScope
from workbench.frontends.onnx.tensors import Expansion, dense_of, type_of
from workbench.ir.node import FrozenAttrs, Node, Ref, Source
from workbench.ir.types import UNKNOWN, TensorType

#: (domain, op) of ops that become more than a few nodes
_CONTROL = {
    ("", "Loop"): lower_loop,
    ("", "If"): lower_if,
    ("", "Scan"): lower_scan,
    ("", "SequenceMap"): lower_sequence_map,
    (gradient.DOMAIN, "Gradient"): gradient.lower_gradient,
}


@dataclass(frozen=True, slots=True)
class OnnxNode:
    """One NodeProto as rules receive it: omitted inputs are None, attributes are plain Python values."""

    proto: Any
    op: str
    label: str
    inputs: tuple[Ref | None, ...]
    outputs: tuple[str, ...]
    attrs: Mapping[str, Any]
    version: int
    opsets: Mapping[str, int]

    def given(self) -> list[Ref]:
        return [i for i in self.inputs if i is not None]

    def input(self, index: int) -> Ref | None:
        return self.inputs[index] if index < len(self.inputs) else None

    def with_input(self, index: int, ref: Ref) -> OnnxNode:
        return replace(self, inputs=(*self.inputs[:index], ref, *self.inputs[index + 1 :]))

    def with_output(self, name: str) -> OnnxNode:
        return replace(self, outputs=(name,))


class OnnxLowering(Known):
    """One model being lowered; used once."""

    def __init__(self, opsets: Mapping[str, int], weights: Weights, unrolls: bool = False) -> None:
        super().__init__()
        self.opsets, self.weights = dict(opsets), weights
        #: whether recurrent nodes become loops; then the notes on the graph
        self.unrolls, self.notes = unrolls, list[str]()
        self.public: dict[str, Ref] = {}
        #: (key of the scope, ONNX value name) -> public name, since several graphs may use the same value name
        self.labels: dict[tuple[tuple[str, ...], str], str] = {}
        self.unknown: dict[str, list[str]] = {}
        self.expansion = Expansion()
        #: the line of code that the current node was exported from, if the model records it
        self.source: Source | None = None
        #: the PyTorch call that the current node comes from, below its module
        self.call = ""
        self._taken: set[str] = set()
        self._counts: dict[str, int] = {}

    # -- emitting nodes ---------------------------------------------------------------------------------
    def raw(
        self,
        op: str,
        inputs: Sequence[Ref],
        name: str,
        *,
        control: Sequence[str] = (),
        region: str | None = None,
        **attrs: Any,
    ) -> Ref:
        """Add a node exactly as given, under a unique name; returns its output 0."""
        unique = self.unique(name)
        self.nodes[unique] = Node(
            unique, op, tuple(inputs), tuple(control), FrozenAttrs(attrs), (), self.source, region
        )
        return Ref(unique, 0)

    def emit(
        self, scope: OnnxScope, op: str, inputs: Sequence[Ref], name: str, *, region: str | None = None, **attrs: Any
    ) -> Ref:
        """Add a node that fires exactly when ``scope`` runs."""
        control = () if any(scope.is_gated(i) for i in inputs) else tuple(filter(None, [scope.pivot()]))
        return self.raw(op, inputs, name, control=control, region=region or self.region(scope), **attrs)

    def region(self, scope: OnnxScope) -> str | None:
        """The region of a node emitted now; in a model exported by PyTorch, modules are regions too."""
        around, module = scope.inner_region(), self.call.rpartition("/")[0]
        if self.call and f"/{around}".endswith(f"/{self.call}"):  # the call itself is this loop or branch
            return around
        return "/".join(filter(None, (around, module))) or None

    def constant(self, scope: OnnxScope, value: Any, name: str, region: str | None = None) -> Ref:
        array = np.asarray(value)
        ref = self.emit(scope, "Const", [], name, region=region, value=array)
        self.constants[ref] = array
        self.types[ref] = TensorType.of(array)
        return ref

    def unique(self, name: str) -> str:
        candidate, count = name, self._counts.get(name, 0)
        while candidate in self._taken:
            count += 1
            candidate = f"{name}_{count}"
        self._taken.add(candidate)
        self._counts[name] = count  # the next search begins here: a node may have thousands of parts
        return candidate

    def add_input(self, name: str, more: Ref) -> None:
        """Give a node (a Merge) one more input: the back edge of a loop."""
        node = self.nodes[name]
        self.nodes[name] = Node(
            node.name, node.op, (*node.inputs, more), node.control, node.attrs, (), node.source, node.region
        )

    # -- names ------------------------------------------------------------------------------------------
    def publish(self, scope: OnnxScope, name: str, ref: Ref) -> None:
        """Make ``name`` refer to ``ref`` in ``scope``, and in the whole graph if no other value has the name."""
        if not name:
            return
        if name in scope.values:
            raise LoadError(f"Two values of the ONNX model are named {name!r} in one graph.", slug="duplicate-name")
        scope.values[name] = ref
        label = name if name not in self.public else f"{scope.region}/{name}" if scope.region else name
        base, count = label, 0
        while label in self.public:
            count += 1
            label = f"{base}_{count}"
        self.public[label] = ref
        self.labels[scope.key, name] = label

    def node_name(self, scope: OnnxScope, label: str) -> str:
        """Name for the node that produces the value ``label``: that label, unless an earlier value has taken it. In a
        model exported by PyTorch it is the name of the call, below its module and the enclosing loop or branch.
        """
        if not self.call:
            return self.constant_name(scope, label)
        region = scope.inner_region() or ""
        inside = f"/{region}".endswith(f"/{self.call}")  # a node that the call itself puts into its loop
        return "/".join(filter(None, (region, label if inside else name_below(self.call, label))))

    def constant_name(self, scope: OnnxScope, label: str) -> str:
        return f"{scope.region}/{label}" if label in self._taken and scope.region else label

    # -- graphs -----------------------------------------------------------------------------------------
    def open(self, scope: OnnxScope, graph: Any, role: str = "body") -> None:
        """Enter the constants and types of a graph into its scope; ``role`` is the attribute that holds the graph."""
        around = scope.parent
        while around is not None and not around.at:  # a Scan of version 8 has two frames
            around = around.parent
        if around is not None:
            scope.key = (*around.key, around.at, role)
        scope.initializers = {t.name: t for t in graph.initializer}
        scope.initializers.update((t.values.name, t) for t in graph.sparse_initializer)
        scope.declared = {i.name: type_of(i.type) for i in (*graph.value_info, *graph.output, *graph.input)}

    def late_constant(self, scope: OnnxScope, name: str) -> Ref | None:
        """The initializer of this name in this scope, emitted on first use."""
        tensor = scope.initializers.get(name)
        if tensor is None:
            return None
        what = f"Initializer {name!r}"
        array = (
            dense_of(tensor, what, self.expansion) if hasattr(tensor, "indices") else self.weights.array(tensor, what)
        )
        ref = self.constant(scope, array, self.constant_name(scope, name))
        self.publish(scope, name, ref)
        return ref

    def body(self, scope: OnnxScope, graph: Any) -> list[Ref]:
        """Lower the nodes of a graph; returns the values of its outputs."""
        around, call = self.source, self.call
        for proto in graph.node:
            scope.call, scope.at = region_of(proto), next((o for o in proto.output if o), "")
            self.source, self.call = line_of(proto) or around, call_of(proto)
            self.node(scope, proto)
        scope.call, self.source, self.call = "", around, call
        return [self.need(scope, o.name, f"The output {o.name!r} of graph {graph.name!r}") for o in graph.output]

    def need(self, scope: OnnxScope, name: str, what: str) -> Ref:
        ref = scope.resolve(name)
        if ref is None:
            raise LoadError(
                f"{what} is the value {name!r}, which no node, input or initializer of the ONNX model makes.",
                slug="undefined-value",
                fix="add what is missing, or choose outputs=... that do not need it.",
            )
        return ref

    def node(self, scope: OnnxScope, proto: Any) -> None:
        label = proto.name or next((o for o in proto.output if o), proto.op_type)
        domain = "" if proto.domain == "ai.onnx" else proto.domain
        inputs = tuple(
            self.need(scope, name, f"Input {i} of {proto.op_type} {label!r}") if name else None
            for i, name in enumerate(proto.input)
        )
        opsets = opsets_of(proto, self.opsets)
        node = OnnxNode(
            proto,
            proto.op_type,
            label,
            inputs,
            tuple(proto.output),
            foreign.plain_attrs(proto, self.weights.array),
            opsets.get(domain, 1),
            opsets,
        )
        if (domain, node.op) in _CONTROL:
            _CONTROL[domain, node.op](self, scope, node)
            return
        if self.unrolls and not domain and node.op in RECURRENT and lower_recurrent(self, scope, node):
            return
        rule = RULES.get(node.op) if not domain else None
        made = rule(self, scope, node) if rule else None
        self.results(scope, node, self._foreign(scope, node) if made is None else made)

    def results(self, scope: OnnxScope, node: OnnxNode, made: Sequence[Ref]) -> None:
        """Publish the values ``made`` as the outputs of ``node``."""
        for name, ref in zip(node.outputs, made, strict=False):
            self.publish(scope, name, ref)
            known = self.declared(scope, name)
            if known != UNKNOWN:
                self.types.setdefault(ref, known)

    def result_name(self, scope: OnnxScope, node: OnnxNode) -> str:
        """Name for the only node that an ONNX node becomes: that of its first output."""
        first = next((o for o in node.outputs if o), node.label)
        return self.node_name(scope, first)

    def _foreign(self, scope: OnnxScope, node: OnnxNode) -> list[Ref]:
        outputs = [o for o in node.outputs if o]
        declared = [self.loose(scope, self.declared(scope, o)) for o in outputs]
        proto, opsets = upgraded(self.weights.whole(node.proto, tensors_of_node), node.opsets)
        given = node.given()
        types = foreign.judged(
            proto,
            opsets,
            [self.maps.get(i) or self.type_of(i) for i in given],
            [self.constant_of(i) for i in given],
            declared,
        )
        if isinstance(types, str):
            return self.refuse(scope, node, types)
        attrs = foreign.attrs_for(proto, opsets, types, [self.maps.get(i) for i in given])
        prefix = f"{node.proto.domain}." if node.proto.domain not in ("", "ai.onnx") else ""
        name = self.result_name(scope, node)
        first = self.emit(scope, f"onnx:{prefix}{node.op}", given, name, **attrs)
        made, index = [], 0
        for output in node.outputs:
            made.append(Ref(first.node, index))
            index += bool(output)
        return made

    def refuse(self, scope: OnnxScope, node: OnnxNode, reason: str) -> list[Ref]:
        """Record for :meth:`finish` that no library can evaluate a node; returns placeholders for its outputs."""
        self.unknown.setdefault(f"{node.proto.domain or 'ai.onnx'}:{node.op} ({reason})", []).append(node.label)
        return [Ref(f"?{node.label}", i) for i in range(len(node.outputs))]

    def finish(self) -> None:
        """Raise one error for all ops that no library can evaluate."""
        if not self.unknown:
            return
        lines = [
            f"{op} at {', '.join(map(repr, names[:5]))}{' ...' if len(names) > 5 else ''}"
            for op, names in self.unknown.items()
        ]
        raise UnknownOpError(
            f"The ONNX model has ops that cannot be evaluated: {'; '.join(lines)}.",
            fix="replace these nodes by ops of the ONNX standard.",
        )
