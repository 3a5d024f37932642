"""Inputs and outputs of the nodes of an ONNX graph, used for pruning and for ordering the nodes.

A node reads its inputs, the outer values used by the graphs in its attributes, and the values that a Gradient names in
its attributes. The standard requires each node to follow the producers of the values that it reads; onnxruntime's
converter to float16 and its quantiser violate this, and onnxruntime loads the models that they write.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from workbench.errors import LoadError

#: attributes of Gradient that name values
_NAMING = frozenset(("xs", "zs", "y"))


def reads(node: Any) -> Iterator[str]:
    """Names of the values that a node needs, some of them more than once."""
    yield from (name for name in node.input if name)
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield from _captured(attribute.g)
        for graph in attribute.graphs:
            yield from _captured(graph)
        if node.op_type == "Gradient" and attribute.name in _NAMING:
            yield from (text.decode("utf-8", "replace") for text in (attribute.s, *attribute.strings) if text)


def _captured(graph: Any) -> set[str]:
    """Names that a graph takes from enclosing graphs."""
    read = {name for node in graph.node for name in reads(node)}
    read.update(output.name for output in graph.output)
    return read - set(_given(graph)) - {name for node in graph.node for name in node.output}


def _given(graph: Any) -> Iterator[str]:
    """Names of the values of a graph that no node produces."""
    yield from (value.name for value in graph.input)
    yield from (tensor.name for tensor in graph.initializer)
    yield from (tensor.values.name for tensor in graph.sparse_initializer)


def values_of(graph: Any) -> set[str]:
    """Names of the values of a graph, without those of the graphs inside it."""
    return {*_given(graph), *(name for node in graph.node for name in node.output if name)}


def pruned(model: Any, wanted: Sequence[str]) -> Any:
    """A copy of a model with all inputs and only the nodes that the values ``wanted`` depend on."""
    graph = model.graph
    makers = {name: i for i, node in enumerate(graph.node) for name in node.output if name}
    needed, stack, kept = set(wanted), list(wanted), set()
    while stack:
        at = makers.get(stack.pop())
        if at is None or at in kept:
            continue
        kept.add(at)
        for name in reads(graph.node[at]):
            if name not in needed:
                needed.add(name)
                stack.append(name)
    made = without_graph(model)
    out = made.graph
    for field, value in graph.ListFields():
        if field.name in ("node", "initializer", "sparse_initializer", "output", "value_info"):
            continue
        copy_field(out, field, value)
    out.node.extend(node for i, node in enumerate(graph.node) if i in kept)
    needed.update(name for node in out.node for name in node.output)
    out.initializer.extend(t for t in graph.initializer if t.name in needed)
    out.sparse_initializer.extend(t for t in graph.sparse_initializer if t.values.name in needed)
    out.value_info.extend(v for v in graph.value_info if v.name in needed)
    _keep_called(made)
    declared = {v.name: v for v in (*graph.input, *graph.value_info, *graph.output)}
    for name in dict.fromkeys(wanted):
        value = out.output.add(name=name)
        if name in declared:
            value.CopyFrom(declared[name])
    return made


def _keep_called(model: Any) -> None:
    """Drop the functions that are no longer called."""
    bodies = {(f.domain, f.name, f.overload): f for f in model.functions}
    called: set[tuple[str, str, str]] = set()
    stack = list(_calls(model.graph.node))
    while stack:
        key = stack.pop()
        if key in bodies and key not in called:
            called.add(key)
            stack.extend(_calls(bodies[key].node))
    if len(called) < len(model.functions):
        kept = [type(f).FromString(f.SerializeToString()) for key, f in bodies.items() if key in called]
        del model.functions[:]
        model.functions.extend(kept)


def _calls(nodes: Any) -> Iterator[tuple[str, str, str]]:
    for node in nodes:
        yield node.domain, node.op_type, node.overload
        for attribute in node.attribute:
            for graph in (*((attribute.g,) if attribute.HasField("g") else ()), *attribute.graphs):
                yield from _calls(graph.node)


def without_graph(model: Any) -> Any:
    """A copy of a model with an empty graph."""
    made = type(model)()
    for field, value in model.ListFields():
        if field.name != "graph":
            copy_field(made, field, value)
    made.graph.SetInParent()
    return made


def copy_field(target: Any, field: Any, value: Any) -> None:
    """Set a field of a message to the value that ``ListFields`` of another message returned."""
    if isinstance(value, (str, bytes, int, float)):
        setattr(target, field.name, value)
    elif hasattr(value, "CopyFrom"):
        getattr(target, field.name).CopyFrom(value)
    else:
        getattr(target, field.name).extend(value)


def sort_nodes(graph: Any, notes: list[str]) -> None:
    """Put each node after the producers of the values that it reads, in inner graphs too; ``notes`` gets the graphs
    that were reordered. Raises LoadError ``cycle``. Names that no node outputs are reported later, where they are read.
    """
    for node in graph.node:
        for attribute in node.attribute:
            for inside in (*((attribute.g,) if attribute.HasField("g") else ()), *attribute.graphs):
                sort_nodes(inside, notes)
    makers: dict[str, int] = {}
    for i, node in enumerate(graph.node):
        for name in node.output:
            makers.setdefault(name, i)
    given = set(_given(graph))
    needs = [{makers[n] for n in reads(node) if n in makers and n not in given} for node in graph.node]
    late = sum(any(maker >= i for maker in made) for i, made in enumerate(needs))
    if not late:
        return
    order = _order(needs)
    if len(order) < len(needs):
        raise _cycle(graph, needs, set(range(len(needs))) - set(order))
    nodes = [type(n).FromString(n.SerializeToString()) for n in (graph.node[i] for i in order)]
    del graph.node[:]
    graph.node.extend(nodes)
    notes.append(
        f"{late} node{'s' if late > 1 else ''} of the graph {graph.name!r} preceded a node whose result "
        f"{'they read' if late > 1 else 'it reads'}; the nodes were put in order."
    )


def _order(needs: Sequence[set[int]]) -> list[int]:
    """The lexicographically smallest order in which each index follows those that it needs; cycles are left out."""
    readers: list[list[int]] = [[] for _ in needs]
    for i, made in enumerate(needs):
        for maker in made:
            readers[maker].append(i)
    open_ = [len(made) for made in needs]
    ready = [i for i, count in enumerate(open_) if not count]
    order = []
    while ready:
        at = heapq.heappop(ready)
        order.append(at)
        for reader in readers[at]:
            open_[reader] -= 1
            if not open_[reader]:
                heapq.heappush(ready, reader)
    return order


def _cycle(graph: Any, needs: Sequence[set[int]], among: Iterable[int]) -> LoadError:
    """The error for a cycle, found by walking back from a node that cannot be ordered until a node recurs."""
    left = set(among)
    at, seen = min(left), {}
    path: list[int] = []
    while at not in seen:
        seen[at] = len(path)
        path.append(at)
        at = min(needs[at] & left)
    cycle = [_label(graph.node[i]) for i in reversed(path[seen[at] :])]
    shown = ", ".join(cycle if len(cycle) <= 12 else [*cycle[:6], "...", *cycle[-5:]])
    what = f"a cycle through the nodes {shown}" if len(cycle) > 1 else f"the node {shown} reads its own result"
    return LoadError(
        f"The nodes of the graph {graph.name!r} cannot be put in order: {what}.",
        slug="cycle",
        fix="write what is repeated as a Loop.",
    )


def _label(node: Any) -> str:
    name = node.name or next((o for o in node.output if o), "")
    return f"{node.op_type} {name!r}"
