"""Finds the flows of TensorArrays in a graph, and replaces numbers used as flows with states.

TensorFlow writes a flow as a float that is always 0. It is an output of ops on TensorArrays, passes through frames and
branches, is added like any number in gradients, and may begin as the constant 0. Our flows carry the state, so an
addition must join two states (:data:`JOIN_FLOWS`), and a number must become a flow (:data:`NEW_FLOW`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench.frontends.tf.graphdef import NodeDef, TensorName
from workbench.frontends.tf.rules.tensor_arrays import JOIN_FLOWS, NEW_FLOW
from workbench.frontends.tf.sources import Sources

_MAKES = {
    "TensorArrayV3": 1,
    "TensorArrayWrite": 0,
    "TensorArrayScatter": 0,
    "TensorArraySplit": 0,
    "TensorArrayGradV3": 1,
    "TensorArrayGradWithShape": 1,
}
_TAKES = {
    "TensorArrayWrite": 3,
    "TensorArrayRead": 2,
    "TensorArrayGather": 2,
    "TensorArrayScatter": 3,
    "TensorArrayConcat": 1,
    "TensorArraySplit": 3,
    "TensorArraySize": 1,
    "TensorArrayGrad": 1,
    "TensorArrayGradWithShape": 1,
}
_PUSHES, _POPS = ("StackPush", "StackPushV2"), ("StackPop", "StackPopV2")
_PASSES = ("Identity", "Enter", "Exit", "NextIteration", "Switch", "Merge", "AddN", "Add", "AddV2", *_PUSHES)


def _of(table: Mapping[str, int], op: str) -> int | None:
    return table[op] if op in table else table.get(op.removesuffix("V2").removesuffix("V3"))


def with_flows(nodes: Mapping[str, NodeDef]) -> Mapping[str, NodeDef]:
    """The nodes with every number used as a flow replaced; the same nodes if there are no TensorArrays."""
    if not any(n.op.startswith("TensorArray") for n in nodes.values()):
        return nodes
    readers: dict[str, list[str]] = {}
    for node in nodes.values():
        for tensor in node.inputs:
            readers.setdefault(tensor.node, []).append(node.name)
    through = _Stacked(nodes)
    flows: set[TensorName] = set()  # outputs that are flows
    numbers: set[TensorName] = set()  # numbers that are read as flows
    stack = [TensorName(n.name, i) for n in nodes.values() if (i := _of(_MAKES, n.op)) is not None]
    stack += [n.inputs[i] for n in nodes.values() if (i := _of(_TAKES, n.op)) is not None and i < len(n.inputs)]
    seen: set[TensorName] = set()
    while stack:
        tensor = stack.pop()
        if tensor in seen:
            continue
        seen.add(tensor)
        node = nodes[tensor.node]
        passes = (node.op in _PASSES and not (node.op == "Merge" and tensor.output == 1)) or node.op in _POPS
        if _of(_MAKES, node.op) != tensor.output and not passes:
            numbers.add(tensor)
            continue
        flows.add(tensor)
        if passes:  # if one input or output is a flow, all are
            stack.extend(_passed(node) if node.op not in _POPS else through.pushed(node))
            stack.extend(TensorName(node.name, i) for i in range(2 if node.op == "Switch" else 1))
        for name in readers.get(tensor.node, ()):
            reader = nodes[name]
            if reader.op in _PASSES and tensor in _passed(reader):
                stack.append(TensorName(name, 0))
                stack.extend(through.popped(reader))
    return _rewritten(nodes, flows, numbers)


def _passed(node: NodeDef) -> tuple[TensorName, ...]:
    """The inputs that a node of ``_PASSES`` passes on."""
    if node.op == "Switch":
        return node.inputs[:1]
    return node.inputs[1:2] if node.op in _PUSHES else node.inputs


class _Stacked:
    """Pushes and pops of each stack."""

    def __init__(self, nodes: Mapping[str, NodeDef]) -> None:
        source = Sources(nodes)
        self.of: dict[str, str] = {}
        self.users: dict[str, list[NodeDef]] = {}
        for node in nodes.values():
            made = source.producer(node.inputs[0]) if node.op in (*_PUSHES, *_POPS) and node.inputs else None
            if made is not None:
                self.of[node.name] = made.name
                self.users.setdefault(made.name, []).append(node)

    def pushed(self, pop: NodeDef) -> list[TensorName]:
        return [n.inputs[1] for n in self.users.get(self.of.get(pop.name, ""), ()) if n.op in _PUSHES]

    def popped(self, push: NodeDef) -> list[TensorName]:
        if push.op not in _PUSHES:
            return []
        return [TensorName(n.name, 0) for n in self.users.get(self.of.get(push.name, ""), ()) if n.op in _POPS]


def _rewritten(nodes: Mapping[str, NodeDef], flows: set[TensorName], numbers: set[TensorName]) -> Mapping[str, NodeDef]:
    new: dict[str, NodeDef] = {}
    made: dict[TensorName, TensorName] = {}
    for tensor in numbers:
        name = f"{tensor.node}/flow" + (f"_{tensor.output}" if tensor.output else "")
        while name in nodes or name in new:
            name += "_"
        new[name] = NodeDef(name, NEW_FLOW, (tensor,), (), {}, region=nodes[tensor.node].region)
        made[tensor] = TensorName(name, 0)
    out: dict[str, NodeDef] = {}
    for node in nodes.values():
        takes, is_flow = _of(_TAKES, node.op), TensorName(node.name, 0) in flows and node.op in _PASSES
        inputs = tuple(
            made[t] if t in made and (i == takes or (is_flow and t in _passed(node))) else t
            for i, t in enumerate(node.inputs)
        )
        op = JOIN_FLOWS if is_flow and node.op in ("AddN", "Add", "AddV2") else node.op
        out[node.name] = replace(node, op=op, inputs=inputs) if (op, inputs) != (node.op, node.inputs) else node
    return {**out, **new}
