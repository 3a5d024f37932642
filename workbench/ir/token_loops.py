"""Decoding loops: each iteration chooses integers by floats, and the next one reads rows of a table at them.

::

    Merge ─► ... whole numbers ... ─► gather(table of floats, here) ─► floats ─► argmax ─► ... ─► NextIteration
    token    the rows of these                                                   chosen

Language models process their tokens in this way. Such numbers are codes: their order is arbitrary, and they have
neither a mean nor a limit. The loop may carry only the newest token, or all tokens so far.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

from workbench.ir.frames.frame_tree import FramePath
from workbench.ir.graph import Graph
from workbench.ir.node import Ref

#: ops that read rows of their first input at the indices in another
READS = frozenset(["gather", "getitem", "gather_nd", "embedding"])
#: ops that read the shape of floats, not their values
_SHAPES = frozenset(["shape", "size", "rank", "dim_size", "len"])
#: ops that pass a number on unchanged
_SAME = frozenset(["Switch", "Identity", "NextIteration", "Exit", "reshape", "squeeze", "expand_dims"])
#: maximum number of nodes that one search visits
_LOOKED = 4096


@dataclass(frozen=True)
class TokenLoop:
    """A decoding loop: ``variable`` is the Merge of the token that an iteration reads, ``chosen`` the next one."""

    frame: FramePath
    variable: Ref
    chosen: Ref


_known: WeakKeyDictionary[Graph, tuple[TokenLoop, ...]] = WeakKeyDictionary()


def token_loops(graph: Graph) -> tuple[TokenLoop, ...]:
    """The decoding loops of a graph, outer ones first, each with its first token variable."""
    if graph not in _known:
        _known[graph] = _found(graph)
    return _known[graph]


def token_values(graph: Graph) -> frozenset[Ref]:
    """The tokens of the loops of a graph: the choices, the variables, and nodes that pass them on unchanged."""
    found = {ref for loop in token_loops(graph) for ref in (loop.variable, loop.chosen)}
    waiting = list(found)
    while waiting:
        for name in graph.consumers(waiting.pop().node):
            node = graph.nodes[name]
            if node.op in _SAME:
                more = {Ref(name, k) for k in range(2 if node.op == "Switch" else 1)} - found
                found |= more
                waiting += more
    return frozenset(found)


def _found(graph: Graph) -> tuple[TokenLoop, ...]:
    found: dict[FramePath, TokenLoop] = {}
    for path in sorted(graph.frames, key=len):
        for variable in graph.frames[path].variables if path else ():
            if path in found or not _is_whole(graph, Ref(variable.merge)) or not _is_read(graph, variable.merge):
                continue
            chosen = _choice(graph, graph.nodes[variable.next_iteration].inputs[0])
            if chosen is not None:
                found[path] = TokenLoop(path, Ref(variable.merge), chosen)
    return tuple(found.values())


def layer_of(name: str, region: str = "") -> str:
    """The layer in the name of a node, such as ``layers.0.attn`` for ``/layers.0/attn/MatMul`` and
    ``layers/0/attn/mm``.

    ``region`` is the name of the enclosing loop or branch, which is left out.

    >>> layer_of("/layers.0/attn/MatMul_output_0"), layer_of("while_11/layers/0/mm", "while_11"), layer_of("mm")
    ('layers.0.attn', 'layers.0', '')
    """
    name = name.removeprefix(f"{region}/") if region else name
    return ".".join(part for part in name.split("/")[:-1] if part)


def _is_whole(graph: Graph, ref: Ref) -> bool:
    return graph.type_of(ref).dtype.startswith(("int", "uint"))


def _is_float(graph: Graph, ref: Ref) -> bool:
    return graph.type_of(ref).dtype.startswith(("float", "bfloat"))


def _is_read(graph: Graph, merge: str) -> bool:
    """True if rows of floats are read at a variable, directly or through integers, in the same iteration."""
    seen, waiting = {merge}, [merge]
    while waiting and len(seen) < _LOOKED:
        at = waiting.pop()
        for name in graph.consumers(at):
            node = graph.nodes[name]
            if name in seen or node.op in ("NextIteration", "Exit", "LoopCond") or node.op in _SHAPES:
                continue
            floats = bool(node.types) and node.types[0].dtype.startswith(("float", "bfloat"))
            if node.op in READS and floats and node.inputs[0].node != at and _is_float(graph, node.inputs[0]):
                return True
            if node.types and _is_whole(graph, Ref(name)):
                seen.add(name)
                waiting.append(name)
    return False


def _choice(graph: Graph, ref: Ref) -> Ref | None:
    """The nearest integer value before ``ref`` that is computed from floats, such as an argmax."""
    seen, waiting = {ref.node}, [ref]
    while waiting and len(seen) < _LOOKED:
        at = waiting.pop(0)
        node = graph.nodes[at.node]
        if not _is_whole(graph, at) or node.op in _SHAPES:
            continue
        if any(_is_float(graph, r) for r in node.inputs):
            return at
        for r in node.inputs:
            if r.node not in seen and graph.nodes[r.node].op not in ("NextIteration", "Enter"):
                seen.add(r.node)
                waiting.append(r)
    return None


__all__ = ["TokenLoop", "layer_of", "token_loops", "token_values"]
