"""Values that SameDiff reads in a loop without an Enter: constants, variables, placeholders, and values computed from
these alone. SameDiff has them in every frame; here an Enter brings each of them in as a loop invariant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from workbench.frontends.tf.graphdef import NodeDef, TensorName

#: names of the frames that enclose a node; None for a value that is the same in all of them
Frames = tuple[str, ...] | None


def with_invariants(nodes: Mapping[str, NodeDef]) -> Mapping[str, NodeDef]:
    """The nodes with all missing Enters added; the same nodes if there are no loops."""
    if not any(n.op == "Enter" for n in nodes.values()):
        return nodes
    frames = _frames(nodes)
    out: dict[str, NodeDef] = {}
    entered: dict[tuple[TensorName, tuple[str, ...]], TensorName] = {}

    def enter(tensor: TensorName, path: tuple[str, ...]) -> TensorName:
        for depth in range(1, len(path) + 1):
            key = (tensor, path[:depth])
            if key not in entered:
                name = f"{tensor.node}/Enter" + (f"_{tensor.output}" if tensor.output else "")
                while name in nodes or name in out:
                    name += "_"
                attrs = {"frame_name": path[depth - 1].encode(), "is_constant": True}
                out[name] = NodeDef(name, "Enter", (tensor,), (), attrs)
                entered[key] = TensorName(name, 0)
            tensor = entered[key]
        return tensor

    for node in nodes.values():
        path = frames[node.name]
        if node.op == "Enter" and path is not None:
            path = path[:-1]
        inputs = node.inputs
        if path:
            inputs = tuple(enter(t, path) if frames.get(t.node, ()) is None else t for t in inputs)
        out[node.name] = node if inputs == node.inputs else replace(node, inputs=inputs)
    return out


def _frames(nodes: Mapping[str, NodeDef]) -> dict[str, Frames]:
    """The frames of each node, derived from the frames of its inputs. A loop is entered by its Enters, so
    NextIterations are skipped; a cycle without a NextIteration is left to the checker of graphs.
    """
    found: dict[str, Frames] = {}
    for start in nodes:
        stack = [(start, False)]
        while stack:
            name, ready = stack.pop()
            node = nodes[name]
            used = [u for u in _reads(node) if u in nodes and nodes[u].op != "NextIteration"]
            if ready:
                found[name] = _frame(node, [found.get(u) for u in used])
            elif name not in found:
                found[name] = None
                stack.append((name, True))
                stack.extend((u, False) for u in used if u not in found)
    return found


def _reads(node: NodeDef) -> list[str]:
    return [*(t.node for t in node.inputs), *node.control]


def _frame(node: NodeDef, around: list[Frames]) -> Frames:
    inside = max((f for f in around if f is not None), key=len, default=None)
    if node.op == "Enter":
        return (*(inside or ()), node.attrs.get("frame_name", b"").decode("utf-8", "replace"))
    if node.op == "Exit":
        return inside[:-1] if inside else ()
    if inside is None and node.op in ("Switch", "Merge"):
        return ()
    return inside
