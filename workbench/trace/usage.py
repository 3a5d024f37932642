"""The typed kernels that a recorded run could use: op and type combinations of the nodes that fired."""

from __future__ import annotations

from dataclasses import dataclass, field

from workbench.ir.node import Node, Ref
from workbench.ir.opspec import REGISTRY
from workbench.ir.types import ANY, OPAQUE, TensorType
from workbench.kernels.types.compilable import why_not
from workbench.kernels.types.ops import OPS
from workbench.kernels.types.profiles import Instance
from workbench.trace.trace import Trace


@dataclass
class Usage:
    """Resources that one or more runs used.

    ``fired`` counts firings by combination; ``fused`` are chains of two of these ops that the executor may compute in
    one pass; ``refused`` maps a combination that no build compiles to the reason; ``dtypes`` are all dtypes that
    occurred.
    """

    fired: dict[Instance, int] = field(default_factory=dict)
    fused: dict[Instance, None] = field(default_factory=dict)
    refused: dict[Instance, str] = field(default_factory=dict)
    dtypes: set[str] = field(default_factory=set)

    def add(self, trace: Trace) -> Usage:
        """Add one trace; nodes that never fired, ops without typed kernels and unknown types are left out."""
        for layout in trace.layout.nodes:
            node = trace.graph.nodes[layout.name]
            times = trace.count(layout.name)
            if not times:
                continue
            self.dtypes.update(t.dtype for t in node.types if t.dtype not in (ANY, OPAQUE))
            instance = _instance(trace, node)
            if instance is None:
                continue
            reason = why_not(*instance)
            if reason is not None:
                self.refused[instance] = reason
                continue
            self.fired[instance] = self.fired.get(instance, 0) + times
            self.fused.update(dict.fromkeys(_chains(trace, node, instance)))
        return self


#: name of an op in the graph -> its name among the typed kernels, if they differ
_KERNEL_NAMES = {spec.name: op for op in OPS if (spec := REGISTRY.get(op)) is not None}


def kernel_name(op: str) -> str | None:
    """The typed kernels' name of a graph op, or None if it has none."""
    spec = REGISTRY.get(op)
    if spec is None:
        return None
    name = _KERNEL_NAMES.get(spec.name, spec.name)
    return name if name in OPS else None


def _instance(trace: Trace, node: Node) -> Instance | None:
    op = kernel_name(node.op)
    if op is None or len(node.inputs) < OPS[op].inputs:
        return None
    # a reduction's second input contains its axes, which are not passed to a kernel
    inputs = tuple(_dtype(trace, ref) for ref in node.inputs[: OPS[op].inputs])
    output = _dtype(trace, Ref(node.name, 0))
    if output is None or None in inputs:
        return None
    return op, tuple(t for t in inputs if t is not None), output


def _dtype(trace: Trace, ref: Ref) -> str | None:
    """The declared dtype, otherwise that of the last recorded value; None if there is neither."""
    declared = trace.graph.nodes[ref.node].types[ref.index].dtype
    if declared not in (ANY, OPAQUE):
        return declared
    if ref not in trace.layout.values:
        return None
    series = trace[ref]
    found = TensorType.of(series[-1]).dtype if len(series) else OPAQUE
    return None if found in (ANY, OPAQUE) else found


def _chains(trace: Trace, node: Node, instance: Instance) -> list[Instance]:
    """Chains (a x b) y c that end in this node, and whose first step is the node of one of its inputs."""
    op, inputs, output = instance
    found: list[Instance] = []
    for place, ref in enumerate(node.inputs[: OPS[op].inputs]):
        before = trace.graph.nodes[ref.node]
        first = kernel_name(before.op)
        if first is None or len(inputs) != 2 or {*inputs, output} != {before.types[0].dtype}:
            continue
        names = (f"{first}_{op}",) if place == 0 else (f"{first}_reverse_{op}", f"{first}_{op}")
        name = next((n for n in names if n in OPS and OPS[n].inputs == 3), None)
        if name is not None and why_not(name, (output,) * 3, output) is None:
            found.append((name, (output,) * 3, output))
    return found
