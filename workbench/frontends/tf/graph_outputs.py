"""Selects the output tensors of a GraphDef and the nodes that they depend on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from workbench.errors import FrameError, LoadError, WorkbenchError
from workbench.frontends.tf.graphdef import GraphDef, NodeDef, TensorName
from workbench.frontends.tf.initializers import FILLS
from workbench.frontends.tf.pruning import no_output
from workbench.frontends.tf.saved_model.variables import changes
from workbench.ir.frames.frame_tree import order_nodes
from workbench.ir.node import Node, Ref

#: ops whose unread nodes exist for their effect, not for their value
NO_RESULT = ("NoOp", "Assert", "ControlTrigger")


def needed(source: GraphDef, wanted: Iterable[TensorName]) -> Mapping[str, NodeDef]:
    """The nodes that tensors depend on; LoadError ``no-such-output`` if a tensor does not exist, ``no-such-node`` if a
    node reads a missing one.
    """
    stack, keep = [], set()
    for tensor in wanted:
        name = tensor.node
        while name not in source.nodes and "/" in name:  # a node in the body of a loop, branch or call
            name = name.rpartition("/")[0]
        if name not in source.nodes:
            raise no_output(tensor.node, source.nodes)
        stack.append(name)
    while stack:
        current = stack.pop()
        if current not in keep:
            keep.add(current)
            node = source.nodes[current]
            used = (*(t.node for t in node.inputs), *node.control)
            for name in used:
                if name not in source.nodes:
                    raise LoadError(
                        f"{node.op} {node.name!r} reads {name!r}, which is not in the GraphDef.",
                        slug="no-such-node",
                        node=node.name,
                        fix="freeze the graph with all nodes that its outputs need.",
                    )
            stack.extend(used)
    return {n: d for n, d in source.nodes.items() if n in keep}


def starts(nodes: Mapping[str, NodeDef], ends: Sequence[TensorName]) -> list[TensorName]:
    """All nodes; or the outputs, if some nodes change variables or tables (for training or restoring)."""
    if any(_only_changes(n.op) for n in nodes.values()):
        return list(ends)
    return [TensorName(n, 0) for n in nodes]


def leaves(nodes: Mapping[str, NodeDef]) -> list[TensorName]:
    """Nodes with a value that no other node reads."""
    read = {used for n in nodes.values() for used in (*(t.node for t in n.inputs), *n.control)}
    ends = [n for n in nodes.values() if n.name not in read and n.op not in NO_RESULT and not _only_changes(n.op)]
    # one output of a Switch is always dead, so an unread Switch is a result only if there are no others
    results = [n for n in ends if n.op not in ("Switch", "RefSwitch")] or ends
    changed = _after_changes(nodes)
    results = [n for n in results if n.name not in changed] or results
    return [TensorName(n.name, 0) for n in results]


def _only_changes(op: str) -> bool:
    return changes(op) or op in FILLS


def _after_changes(nodes: Mapping[str, NodeDef]) -> set[str]:
    """Nodes that depend on a change of a variable, as in training and restoring."""
    readers: dict[str, list[str]] = {}
    for node in nodes.values():
        for used in (*(t.node for t in node.inputs), *node.control):
            readers.setdefault(used, []).append(node.name)
    stack, found = [n.name for n in nodes.values() if _only_changes(n.op)], set()
    while stack:
        name = stack.pop()
        if name not in found:
            found.add(name)
            stack.extend(readers.get(name, ()))
    return found


def of_outermost_frame(nodes: Sequence[Node], results: dict[str, Ref]) -> dict[str, Ref]:
    """The results without ``value_index`` of Merges and without nodes inside a loop, which have no single value."""
    table = {n.name: n for n in nodes}
    kept = {k: r for k, r in results.items() if not (table[r.node].op == "Merge" and r.index == 1)}
    outside = {k: r for k, r in kept.items() if not _inside_loop(table, r.node)}
    if kept and not outside:
        raise _not_closed(next(iter(kept)))
    return outside or kept


def _inside_loop(table: Mapping[str, Node], name: str) -> bool:
    """True if a path backwards from the node reaches an Enter before an Exit."""
    stack, seen = [name], set()
    while stack:
        node = table[stack.pop()]
        if node.name in seen or node.op == "Exit":
            continue
        seen.add(node.name)
        if node.op == "Enter":
            return True
        stack.extend((*(r.node for r in node.inputs), *node.control))
    return False


def no_ends(nodes: Mapping[str, NodeDef]) -> WorkbenchError:
    """The error for a graph without outputs: every node is read because of a cycle, or a loop without an Exit."""
    if all(n.op in NO_RESULT or _only_changes(n.op) for n in nodes.values()):
        return LoadError("The GraphDef has no node that gives a value.", slug="no-outputs", fix="name outputs=...")
    stubs = {
        n.name: Node(n.name, n.op.removeprefix("Ref"), tuple(Ref(t.node) for t in n.inputs), n.control)
        for n in nodes.values()
    }
    try:
        order_nodes(stubs)
    except FrameError as error:
        return error
    loops = [n.name for n in nodes.values() if n.op in ("NextIteration", "RefNextIteration")]
    if loops:
        return _not_closed(loops[0])
    return LoadError(
        "The GraphDef has no outputs: something reads each of its nodes.", slug="no-outputs", fix="name outputs=..."
    )


def _not_closed(inside: str) -> LoadError:
    return LoadError(
        f"The GraphDef has no output: {inside!r} is inside a loop, and nothing leaves it.",
        slug="frame-not-closed",
        fix="close the loop with Exit, or name outputs=... to get their values of every iteration.",
    )
