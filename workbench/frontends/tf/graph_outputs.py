"""Which tensors of a GraphDef are the outputs of the graph, and which nodes those need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from workbench.errors import FrameError, LoadError, WorkbenchError
from workbench.frontends.tf.graphdef import GraphDef, NodeDef, TensorName
from workbench.frontends.tf.initializers import FILLS
from workbench.frontends.tf.pruning import no_output
from workbench.frontends.tf.saved_model.variables import changes
from workbench.ir.frames.frame_tree import order_nodes
from workbench.ir.node import Node, Ref

#: nodes that nobody reads and that are there for their effect, not for their value
NO_RESULT = ("NoOp", "Assert", "ControlTrigger")


def needed(source: GraphDef, wanted: Iterable[TensorName]) -> Mapping[str, NodeDef]:
    """The nodes that tensors need; LoadError ``no-such-output`` where there is no such tensor, ``no-such-node`` where
    a node reads one that is not there."""
    stack, keep = [], set()
    for tensor in wanted:
        name = tensor.node
        while name not in source.nodes and "/" in name:  # a node of the body of a loop, branch or call
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
    """All nodes, or, where some change variables or tables (for training, or for restoring), those that the outputs
    need."""
    if any(_only_changes(n.op) for n in nodes.values()):
        return list(ends)
    return [TensorName(n, 0) for n in nodes]


def leaves(nodes: Mapping[str, NodeDef]) -> list[TensorName]:
    """Nodes with a value that no other node reads."""
    read = {used for n in nodes.values() for used in (*(t.node for t in n.inputs), *n.control)}
    ends = [n for n in nodes.values() if n.name not in read and n.op not in NO_RESULT and not _only_changes(n.op)]
    # one output of a Switch is always dead, so a Switch that nothing reads is not a result if there is any other
    results = [n for n in ends if n.op not in ("Switch", "RefSwitch")] or ends
    changed = _after_changes(nodes)
    results = [n for n in results if n.name not in changed] or results
    return [TensorName(n.name, 0) for n in results]


def _only_changes(op: str) -> bool:
    return changes(op) or op in FILLS


def _after_changes(nodes: Mapping[str, NodeDef]) -> set[str]:
    """Nodes that a change of a variable comes before: those of training and restoring."""
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
    """Leave out ``value_index`` of a Merge, and leaves inside a loop, which have no single value."""
    table = {n.name: n for n in nodes}
    kept = {k: r for k, r in results.items() if not (table[r.node].op == "Merge" and r.index == 1)}
    outside = {k: r for k, r in kept.items() if not _inside_loop(table, r.node)}
    if kept and not outside:
        raise _not_closed(next(iter(kept)))
    return outside or kept


def _inside_loop(table: Mapping[str, Node], name: str) -> bool:
    """True if any way back from the node meets an Enter before its Exit."""
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
    """Why something reads every node: a cycle, or a loop that nothing leaves."""
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
