"""The last step of a capture: removes nodes that no result needs, and names values after Python's variables.

A ``while`` loop is always kept, because a loop that never ends prevents the function from returning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from workbench.frontends.python.engine import Engine
from workbench.ir.builder.value import Value
from workbench.ir.graph import Graph
from workbench.ir.node import FrozenAttrs
from workbench.ir.opspec import REGISTRY


def finish(engine: Engine, outputs: Mapping[str, Value]) -> Graph:
    """The graph of the captured nodes, with these outputs."""
    b = engine.builder
    kept = _needed(engine, outputs)
    loops = {name for name in engine.may_hang if name in b._nodes and name not in kept}
    kept = kept | _needed_by(engine, loops)
    for name in loops:  # marked as nodes that may raise, which always run
        b._nodes[name] = replace(b._nodes[name], attrs=FrozenAttrs({**b._nodes[name].attrs, "_raises": True}))
    b._nodes = {name: node for name, node in b._nodes.items() if name in kept}
    b._names = {name: ref for name, ref in b._names.items() if ref.node in kept}
    taken = set(b._names.values())
    for name, ref in engine.named.items():
        if name in b._names or ref.node not in kept or ref in taken or name in b._inputs:
            continue
        if b._nodes[ref.node].op not in ("Placeholder", "Const"):
            b._names[name] = ref
            taken.add(ref)
    return b.build(dict(outputs))


def _needed(engine: Engine, outputs: Mapping[str, Value]) -> set[str]:
    """Inputs, the nodes that the outputs depend on, and nodes in which Python would raise."""
    nodes = engine.builder._nodes
    stack = [value.ref.node for value in outputs.values()]
    stack += [n for n, node in nodes.items() if node.op == "Placeholder" or _may_raise(node)]
    return _needed_by(engine, stack)


def _needed_by(engine: Engine, names: Iterable[str]) -> set[str]:
    nodes, stack = engine.builder._nodes, list(names)
    kept: set[str] = set()
    while stack:
        name = stack.pop()
        if name in kept:
            continue
        kept.add(name)
        node = nodes[name]
        stack.extend(r.node for r in node.inputs)
        stack.extend(node.control)
    return kept


def _may_raise(node) -> bool:
    if node.op in ("Placeholder", "Const"):
        return False
    return bool(node.attrs.get("checked") or node.attrs.get("_raises")) or not REGISTRY.lookup(node.op, node.attrs).pure
