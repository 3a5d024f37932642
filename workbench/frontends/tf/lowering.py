"""Flat TensorFlow nodes -> workbench nodes, by the rule of each op."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from workbench.errors import LoadError, UnknownOpError
from workbench.frontends.tf import eager, library
from workbench.frontends.tf.graphdef import NodeDef, TensorName
from workbench.frontends.tf.rules import DEFAULTS, RULES, VARIANT_RULES, LoweredNode
from workbench.frontends.tf.sources import Sources
from workbench.frontends.tf.tensor_proto import DTypeAttr
from workbench.ir.node import FrozenAttrs, Node, Ref
from workbench.ir.opspec import REGISTRY
from workbench.ir.types import ANY, OPAQUE

_VARIANT = 21
#: maximum number of outputs of one node
MAX_OUTPUTS = 100_000


#: a node without a rule -> its lowered form, or None
Other = Callable[[NodeDef], "LoweredNode | None"]


def lower(
    nodes: Mapping[str, NodeDef], other: Other = eager.lowered, what: str = "The GraphDef", source: str = "TensorFlow"
) -> dict[str, LoweredNode]:
    """The lowered form of each node; UnknownOpError with every op that has no counterpart.

    ``other`` handles nodes without a rule; ``what`` and ``source`` name the model and the system that wrote it.
    """
    constant = Sources(nodes)
    found: dict[str, LoweredNode] = {}
    unknown: dict[str, list[str]] = {}
    for node in nodes.values():
        if node.op in DEFAULTS:
            node = replace(node, attrs={**DEFAULTS[node.op], **node.attrs})
        rule = RULES.get(node.op)
        if node.op in VARIANT_RULES and getattr(node.attrs.get("T"), "number", 0) == _VARIANT:
            rule = VARIANT_RULES[node.op]
        low = rule(node, constant) if rule else None
        if low is None or low.op not in REGISTRY:
            low = other(node)
        if low is None:
            unknown.setdefault(node.op + (" (this variant)" if rule else ""), []).append(node.name)
        else:
            _need_inputs(node, low, what, source)
            found[node.name] = low
    if unknown:
        raise unknown_ops(unknown, what, library.hint() if other is eager.lowered else "")
    return found


def _need_inputs(node: NodeDef, low: LoweredNode, what: str, source: str) -> None:
    """Refuse a node with a wrong number of inputs, before its inputs are used."""
    spec = REGISTRY[low.via or low.op]
    least, most = spec.arity()
    if len(low.inputs) < least or (most is not None and len(low.inputs) > most):
        wanted = f"{least} or more" if most is None else str(least) if least == most else f"{least} to {most}"
        raise LoadError(
            f"{node.op} {node.name!r} has {len(node.inputs)} inputs; as {spec.name!r} it takes {wanted} "
            f"({', '.join(spec.inputs) or 'none'}).",
            slug="wrong-arity",
            node=node.name,
            fix=f"write {what[0].lower()}{what[1:]} again with {source}.",
        )


def tensors_of(name: str, low: LoweredNode) -> list[Ref]:
    """The graph's value for each tensor of a TensorFlow node."""
    if low.outputs is not None:
        return [Ref(name, i) for i in low.outputs]
    outputs = REGISTRY.lookup(low.op, low.attrs).outputs
    if outputs and outputs[-1].startswith("*"):
        count = int(low.attrs.get("num") or low.attrs.get("_num") or 1)
        if count > MAX_OUTPUTS:
            raise LoadError(
                f"{name!r} has {count:,} outputs; at most {MAX_OUTPUTS:,} are read.", slug="too-large", node=name
            )
        return [Ref(name, i) for i in range(count)]
    return [Ref(name, i) for i in range(len(outputs))]


def value_of(tensor: TensorName, tensors: Mapping[str, list[Ref]]) -> Ref:
    """The graph's value for a tensor; LoadError if its node has no such output."""
    if tensor.output >= len(tensors[tensor.node]):
        raise LoadError(
            f"Output {tensor.output} of {tensor.node!r} is used, which gives {len(tensors[tensor.node])} values.",
            slug="no-such-output",
            node=tensor.node,
            fix="write the GraphDef again with TensorFlow.",
        )
    return tensors[tensor.node][tensor.output]


def nodes_of(node: NodeDef, low: LoweredNode, tensors: Mapping[str, list[Ref]]) -> list[Node]:
    """The node, preceded by the extra node that its rule requests."""

    def value(tensor: TensorName) -> Ref:
        known = tensors[tensor.node]
        # an index beyond the outputs is kept: the graph's checker names both nodes
        return known[tensor.output] if tensor.output < len(known) else Ref(tensor.node, tensor.output)

    control = tuple(dict.fromkeys((*node.control, *low.also_after)))
    inputs = tuple(value(t) for t in low.inputs)
    before = []
    if low.via is not None:
        before.append(Node(f"{node.name}/{low.via}", low.via, inputs, control, region=node.region))
        inputs, control = (before[0].ref(),), ()
    return [*before, Node(node.name, low.op, inputs, control, FrozenAttrs(low.attrs), region=node.region)]


def check_declared(nodes: Mapping[str, NodeDef], made: Mapping[str, Node]) -> None:
    """Check that the values passed through frames, branches and calls have the dtype that TensorFlow declares.

    Raises LoadError ``declared-dtype`` otherwise: TensorFlow would refuse the graph, or misinterpret the bytes.
    (Handles, which are replaced by their values, and flows are not checked.)
    """
    for node in nodes.values():
        if node.op not in ("Enter", "Switch", "Merge", "Identity", "Exit", "NextIteration") or node.name not in made:
            continue
        declared, types = node.attrs.get("T"), made[node.name].types
        if not isinstance(declared, DTypeAttr) or not types or types[0].dtype in (ANY, OPAQUE):
            continue
        wanted = declared.name
        if wanted not in (OPAQUE, types[0].dtype):
            raise LoadError(
                f"{node.op} {node.name!r} declares {wanted}, but {types[0]} comes from {node.inputs[0].node!r}.",
                slug="declared-dtype",
                node=node.name,
                fix="write the GraphDef again with TensorFlow.",
            )


def unknown_ops(unknown: Mapping[str, list[str]], what: str, hint: str) -> UnknownOpError:
    """A single error for all nodes of a model whose ops have no counterpart, given as op -> names of its nodes."""

    def shown(names: list[str]) -> str:
        return ", ".join(map(repr, names[:5])) + (f" and {len(names) - 5} more" if len(names) > 5 else "")

    parts = "; ".join(f"{op} at {shown(names)}" for op, names in unknown.items())
    return UnknownOpError(
        f"{what} has ops without a counterpart here: {parts}.",
        fix=f"name outputs=... that do not need these nodes, or replace them by other ops{hint}.",
    )
