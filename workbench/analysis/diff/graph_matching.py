"""Matches the values of two graphs: by name if names agree, else by structure.

::

    equal graphs ────────────────────────────────────────────► every value with itself
    others: public names with the same op ──┐
            inputs and outputs in order ────┤ pairs
                                            ▼
            forwards:  same op, paired inputs   ─► a pair     (a value renamed by another exporter)
            backwards: paired readers, same op  ─► a pair     (the nodes before a changed node)
            leftovers: same name or same readers, another op ─► a pair     (the changed node itself)

A pair always has the same depth of frames. Casts and Identity nodes, which another dtype adds or removes, are skipped
when inputs are compared, as are the nodes that quantise; an op on quantised tensors counts as the float op that it
represents.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass, field

import numpy as np

from workbench.analysis.diff.quantised.scales import Form, Scales
from workbench.ir.frames.frame_tree import output_frame
from workbench.ir.graph import Graph
from workbench.ir.node import Node, Ref

#: nodes that pass a value on, in the same or in another dtype
_THROUGH = (
    "Identity",
    "cast",
    "Cast",
    "onnx:QuantizeLinear",
    "onnx:DequantizeLinear",
    "onnx:com.microsoft.QuantizeLinear",
    "onnx:com.microsoft.DequantizeLinear",
    "onnx:DynamicQuantizeLinear",
)
#: sums of integers, which a cast and a multiplication by the scales convert to real numbers
_SUMS = ("onnx:MatMulInteger", "onnx:ConvInteger")
#: maximum number of rounds forwards and backwards; each pairs at least one value
_ROUNDS = 64


@dataclass
class Pairing:
    """``refs`` maps values of a to values of b; ``how`` is "name", "structure" or "place" for each."""

    refs: dict[Ref, Ref] = field(default_factory=dict)
    how: dict[Ref, str] = field(default_factory=dict)


def pair_graphs(
    a: Graph, b: Graph, used_a: Collection[str], used_b: Collection[str], named: Iterable[tuple[Ref, Ref]] | None = None
) -> Pairing:
    """Pair the values of two graphs, for the nodes that the runs computed. ``named`` are the known pairs of two
    programs that should give the same results.
    """
    if a is b or a.nodes == b.nodes:
        refs = {Ref(n.name, k): Ref(n.name, k) for n in a.nodes.values() for k in range(len(n.types))}
        return Pairing(refs, dict.fromkeys(refs, "name"))
    return _Pairer(a, b, frozenset(used_a), frozenset(used_b)).run(named)


class _Pairer:
    def __init__(self, a: Graph, b: Graph, used_a: frozenset[str], used_b: frozenset[str]) -> None:
        self.a, self.b, self.used_a, self.used_b = a, b, used_a, used_b
        self.found = Pairing()
        self.back: dict[Ref, Ref] = {}
        self.nodes: dict[str, str] = {}
        self._fresh: list[tuple[str, str]] = []
        self._forms: dict[tuple[bool, str], Form | None] = {}
        self._scales = {True: Scales(a), False: Scales(b)}

    def _form(self, node: Node, graph: Graph) -> tuple[str, tuple[Ref, ...]]:
        """The float op that a node is or represents, and its data inputs."""
        mine = graph is self.a
        node = graph.nodes[_home(node.ref(), graph).node]
        key = mine, node.name
        if key not in self._forms:
            self._forms[key] = self._scales[mine].form(Ref(node.name, 0))
        form = self._forms[key]
        if form is None:
            return node.op, tuple(_ahead(node, graph))
        return form.op, form.data

    def run(self, named: Iterable[tuple[Ref, Ref]] | None) -> Pairing:
        for x, y in named or ():
            self._pair_values(x, y)
        self._by_name()
        self._ends()
        for _ in range(_ROUNDS):
            before = len(self.nodes)
            self._forwards(exact=True)
            self._backwards(changed=False)
            if len(self.nodes) == before:  # different constants prevent further pairs
                self._fresh = list(self.nodes.items())
                self._forwards(exact=False)
            if len(self.nodes) == before:
                self._alone()
            if len(self.nodes) == before:
                self._backwards(changed=True)
                self._same_names(changed=True)
                if len(self.nodes) == before:
                    break
        if named is not None:
            self._last()
        return self.found

    # -- pairs -------------------------------------------------------------------------------------------
    def _free(self, x: str, y: str) -> bool:
        return x in self.used_a and y in self.used_b and x not in self.nodes and Ref(y, 0) not in self.back

    def _fits(self, x: Node, y: Node) -> bool:
        depth = [len(output_frame(n, g.frame_of(n.name))) for n, g in ((x, self.a), (y, self.b))]
        return depth[0] == depth[1] and len(x.types) == len(y.types)

    def _pair(self, x: str, y: str, how: str) -> bool:
        one, other = self.a.nodes[x], self.b.nodes[y]
        if not self._free(x, y) or not self._fits(one, other):
            return False
        self.nodes[x] = y
        for k in range(len(one.types)):
            self.found.refs[Ref(x, k)] = Ref(y, k)
            self.found.how[Ref(x, k)] = how
            self.back[Ref(y, k)] = Ref(x, k)
        self._fresh.append((x, y))
        return True

    def _pair_values(self, x: Ref, y: Ref) -> None:
        """Pair single values of nodes that may have other outputs."""
        if len(self.a.nodes[x.node].types) == len(self.b.nodes[y.node].types) and x.index == y.index:
            self._pair(x.node, y.node, "name")
        elif x not in self.found.refs and y not in self.back and self._free(x.node, y.node):
            self.nodes[x.node] = y.node
            self.found.refs[x], self.found.how[x], self.back[y] = y, "name", x

    def _last(self) -> None:
        """Pair the remaining outputs in order: two programs with the same purpose give the same results."""
        left = [r for r in self.a.outputs.values() if r not in self.found.refs]
        theirs = [r for r in self.b.outputs.values() if r not in self.back]
        if len(self.a.outputs) == len(self.b.outputs) and len(left) == len(theirs):
            for x, y in zip(left, theirs, strict=True):
                depth = [len(output_frame(g.nodes[r.node], g.frame_of(r.node))) for r, g in ((x, self.a), (y, self.b))]
                if depth[0] == depth[1]:
                    self.found.refs[x], self.found.how[x], self.back[y] = y, "place", x

    # -- names --------------------------------------------------------------------------------------------------
    def _by_name(self) -> None:
        a, b = self.a, self.b
        for one, other in ((a.inputs, b.inputs), (a.names, b.names), (a.outputs, b.outputs)):
            for name, ref in one.items():
                match = other.get(name)
                if match is not None and ref.index == match.index and self._alike(ref.node, match.node):
                    self._pair(ref.node, match.node, "name")
        self._same_names(changed=False)

    def _same_names(self, changed: bool) -> None:
        """Pair nodes of the same name; unless ``changed``, only equal nodes whose inputs are pairs, too."""
        for name, node in self.a.nodes.items():
            other = self.b.nodes.get(name)
            if other is None or not self._free(name, name):
                continue
            if changed or (node == other and all(self.found.refs.get(r) == r for r in _ahead(node, self.a))):
                self._pair(name, name, "name")

    def _alike(self, x: str, y: str) -> bool:
        one, other = self.a.nodes[x], self.b.nodes[y]
        shapes = [n.types[0].shape for n in (one, other) if n.types]
        fits = len(shapes) < 2 or None in shapes or len(shapes[0] or ()) == len(shapes[1] or ())
        return one.op == other.op and fits

    def _ends(self) -> None:
        """Pair renamed inputs and outputs in order, if both graphs have the same number of them."""
        for one, other in ((self.a.inputs, self.b.inputs), (self.a.outputs, self.b.outputs)):
            left = [[r.node for r in side.values()] for side in (one, other)]
            mine = [x for x in left[0] if x not in self.nodes]
            theirs = [y for y in left[1] if Ref(y, 0) not in self.back]
            if len(mine) == len(theirs):
                for x, y in zip(mine, theirs, strict=True):
                    if self._alike(x, y):
                        self._pair(x, y, "structure")

    # -- structure ------------------------------------------------------------------------------------------------
    def _forwards(self, exact: bool) -> None:
        """Pair readers of paired values that have the same op and the same inputs; unless ``exact``, constants need
        only have the same shape.
        """
        while self._fresh:
            x, y = self._fresh.pop()
            theirs = defaultdict[Hashable, list[str]](list)
            for reader in _readers(self.b, y):
                token = self._token(self.b.nodes[reader], self.b, self.back, exact)
                if token is not None and Ref(reader, 0) not in self.back:
                    theirs[token].append(reader)
            for reader in _readers(self.a, x) if theirs else ():
                if reader in self.nodes:
                    continue
                token = self._token(self.a.nodes[reader], self.a, None, exact)
                candidates = [c for c in theirs.get(token, ()) if Ref(c, 0) not in self.back] if token else []
                if candidates:
                    self._pair(reader, reader if reader in candidates else candidates[0], "structure")

    def _alone(self) -> None:
        """Pair nodes that no pair leads to because they read only constants, if each side has exactly one such node."""
        found: list[dict[Hashable, list[str]]] = []
        for graph, used, back in ((self.a, self.used_a, None), (self.b, self.used_b, self.back)):
            tokens = defaultdict[Hashable, list[str]](list)
            for name in used:
                taken = name in self.nodes if back is None else Ref(name, 0) in back
                token = None if taken else self._token(graph.nodes[name], graph, back, exact=True)
                if token is not None:
                    tokens[token, len(graph.frame_of(name))].append(name)
            found.append(tokens)
        for token, mine in found[0].items():
            theirs = found[1].get(token, [])
            if len(mine) == len(theirs) == 1:
                self._pair(mine[0], theirs[0], "structure")

    def _token(self, node: Node, graph: Graph, back: dict[Ref, Ref] | None, exact: bool) -> Hashable | None:
        """The operation of a node and the values of a that it reads; None if one of its inputs has no pair."""
        tokens: list[Hashable] = []
        op, inputs = self._form(node, graph)
        for ref in inputs:
            seen = _through(ref, graph, back if back is not None else self.found.refs)
            if back is None:
                known = seen if seen in self.found.refs else None
            else:
                known = back.get(seen)
            if known is None:
                source = graph.nodes[seen.node]
                if source.op != "Const":
                    return None
                value = source.attrs["value"]
                tokens.append((value.shape, _bits(value) if exact else b""))
            else:
                tokens.append(known)
        return (op, tuple(tokens)) if tokens else None

    def _backwards(self, changed: bool) -> None:
        """Pair the inputs of paired nodes; with ``changed`` also those with different ops."""
        waiting = list(self.nodes.items())
        while waiting:
            x, y = waiting.pop()
            (op, mine), (its, theirs) = self._form(self.a.nodes[x], self.a), self._form(self.b.nodes[y], self.b)
            one, other = self.a.nodes[x], self.b.nodes[y]
            if one.op == other.op:
                mine, theirs = one.inputs, other.inputs
            elif op != its and "relu" in (op, its):  # an op on quantised tensors may include a relu
                relu, graph = (one, self.a) if op == "relu" else (other, self.b)
                inner = self._form(graph.nodes[relu.inputs[0].node], graph)
                (op, mine), (its, theirs) = (inner, (its, theirs)) if graph is self.a else ((op, mine), inner)
            if op != its or one.op == other.op and len(mine) != len(theirs):
                continue
            for r, s in zip(mine, theirs, strict=False):  # the integer op may lack the bias
                r, s = _through(r, self.a, self.found.refs), _through(s, self.b, self.back)
                if r.index == s.index and (changed or self.a.nodes[r.node].op == self.b.nodes[s.node].op):
                    if self._pair(r.node, s.node, "place" if changed else "structure") and not changed:
                        waiting.append((r.node, s.node))


def _bits(value: np.ndarray) -> bytes:
    return value.tobytes() if value.dtype != object else str(value.tolist()).encode()


def _readers(graph: Graph, node: str) -> Iterable[str]:
    """Nodes that read a node, directly or through nodes that pass it on."""
    waiting, seen = list(graph.consumers(node)), set[str]()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        yield name
        if graph.nodes[name].op in _THROUGH or graph.nodes[name].op in _SUMS:
            waiting.extend(graph.consumers(name))


def _ahead(node: Node, graph: Graph) -> list[Ref]:
    """The inputs of a node without the back edges of loops."""
    if node.op != "Merge":
        return list(node.inputs)
    return [r for r in node.inputs if graph.nodes[r.node].op != "NextIteration"]


def _home(ref: Ref, graph: Graph) -> Ref:
    """The tensor before it was quantised or dequantised."""
    while (node := graph.nodes[ref.node]).op in _THROUGH[3:-1] and node.inputs:
        ref = node.inputs[0]
    return ref


def _through(ref: Ref, graph: Graph, paired: dict[Ref, Ref]) -> Ref:
    while (
        ref not in paired and ref.index == 0 and graph.nodes[ref.node].op in _THROUGH and graph.nodes[ref.node].inputs
    ):
        ref = graph.nodes[ref.node].inputs[0]
    return ref
