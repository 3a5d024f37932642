"""Repairs Merges whose inputs always fire. Some of SameDiff's importers lost the control dependencies by which a
constant belongs to one side of a branch, so that both inputs of a Merge fire. libnd4j takes the last of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench.frontends.tf.graphdef import NodeDef


def with_last_alive(nodes: Mapping[str, NodeDef]) -> tuple[Mapping[str, NodeDef], list[str]]:
    """The nodes, and a note on each Merge that was changed: it becomes its last input if that always fires; otherwise
    its inputs are reversed, because our Merge takes the first that has fired.
    """
    merges = [n for n in nodes.values() if n.op == "Merge" and len(n.inputs) > 1]
    if not merges:
        return nodes, []
    decided = _behind_switches(nodes)
    out, notes = dict(nodes), []
    for node in merges:
        always = [t.node not in decided for t in node.inputs]
        if not any(always) or any(t.node in nodes and nodes[t.node].op == "NextIteration" for t in node.inputs):
            continue
        last = f"{node.inputs[-1].node!r}"
        if always[-1]:
            out[node.name] = replace(node, op="Identity", inputs=node.inputs[-1:])
        else:
            out[node.name] = replace(node, inputs=node.inputs[::-1])
        notes.append(
            f"Merge {node.name!r} has inputs that no Switch decides about, because the file lacks control "
            f"dependencies; as in libnd4j, the last one that has fired is taken, beginning with {last}."
        )
    return out, notes


def _behind_switches(nodes: Mapping[str, NodeDef]) -> set[str]:
    """The names of all Switches and of the nodes that depend on them."""
    readers: dict[str, list[str]] = {}
    for node in nodes.values():
        for used in (*(t.node for t in node.inputs), *node.control):
            readers.setdefault(used, []).append(node.name)
    stack, found = [n.name for n in nodes.values() if n.op == "Switch"], set()
    while stack:
        name = stack.pop()
        if name not in found:
            found.add(name)
            stack.extend(readers.get(name, ()))
    return found
