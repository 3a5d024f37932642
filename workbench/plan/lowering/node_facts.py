"""Facts about nodes that lowering needs: types, constants, and their instructions on arrays."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from workbench.device import OpenDevice, Placement, place_node
from workbench.ir.graph import Graph
from workbench.ir.node import Node, Ref
from workbench.ir.opspec import REGISTRY, Bound
from workbench.ir.types import TensorType
from workbench.plan.lowering.array_layout import ArrayCode
from workbench.plan.lowering.constant_folding import FILLING, fold, folds_all
from workbench.plan.lowering.kernel_choice import array_code_of
from workbench.plan.schedule.guards import is_loop_merge, root_of

#: ops that compute nothing
CONTROL = frozenset(
    ("Const", "Enter", "Exit", "Merge", "Placeholder", "Switch", "Identity", "NextIteration", "LoopCond")
)

#: ops whose values are constant if all their inputs are
CONSTANT = CONTROL | FILLING


class NodeFacts:
    """Facts about nodes that do not depend on slots, each computed once."""

    def __init__(
        self, graph: Graph, types: Mapping[str, tuple[TensorType, ...]], home: OpenDevice | None = None
    ) -> None:
        self.graph, self.types, self.home = graph, types, home
        self._placed: dict[str, Placement | None] = {}
        self.coded: dict[str, ArrayCode | None] = {}
        # likeness of nodes (:meth:`likeness`) -> their instructions
        self._codes: dict[int, ArrayCode | None] = {}
        self._alike: dict[tuple[object, ...], int | None] = {}
        self._likeness: dict[str, int | None] = {}
        self._constants: dict[Ref, np.ndarray | None] = {}
        self._folded: dict[str, np.ndarray | None] = {}
        self._folds_all = folds_all(graph)
        self._bound: dict[str, Bound | None] = {}

    def code_of(self, node: Node) -> ArrayCode | None:
        """Instructions on arrays for a node, if there are any."""
        if self.home is not None and self._on_device(node):
            return None
        if node.name not in self.coded:
            like = self.likeness(node)
            if like is not None and like in self._codes:
                found = self._codes[like]
            else:
                types = [self.type_of(r) for r in node.inputs]
                values = [self.constant_of(r) for r in node.inputs]
                found = array_code_of(node, types, self.types[node.name], values, self.bound(node))
                if like is not None:
                    self._codes[like] = found
            self.coded[node.name] = found
        return self.coded[node.name]

    def _on_device(self, node: Node) -> bool:
        """Return whether one of a node's values is on the device, where instructions on rows cannot read it."""
        home = self.home
        types = (*(self.type_of(r) for r in node.inputs), *self.types[node.name])
        return home is not None and any(home.holds(t) for t in types)

    def placed(self, node: Node) -> Placement | None:
        """The placement of a node that works on arrays, in plans with a device."""
        if self.home is None:
            return None
        if node.name not in self._placed:
            types = [self.type_of(r) for r in node.inputs]
            values = [self.constant_of(r) for r in node.inputs]
            spec = REGISTRY.lookup(node.op, node.attrs)
            self._placed[node.name] = place_node(self.home, spec, node.attrs, types, self.types[node.name], values)
        return self._placed[node.name]

    def likeness(self, node: Node) -> int | None:
        """One number for all nodes whose instructions on arrays are the same; None if an input is constant or the op
        was prepared for the node, which is then handled individually.
        """
        if node.name not in self._likeness:
            self._likeness[node.name] = self._compared(node)
        return self._likeness[node.name]

    def _compared(self, node: Node) -> int | None:
        nodes, known = self.graph.nodes, self._folds_all
        for ref in node.inputs:
            maybe = known or nodes[ref[0]].op in CONSTANT
            if maybe and self.constant_of(ref) is not None:
                return None
        # a plan has one object per type (ir: infer)
        types = [self.types[r[0]][r[1]] for r in node.inputs]
        key = (node.op, node.attrs, len(types), *map(id, types), *map(id, self.types[node.name]))
        if key not in self._alike:
            self._alike[key] = None if self.bound(node) is not None else len(self._alike)
        return self._alike[key]

    def bound(self, node: Node) -> Bound | None:
        """The node's op prepared for it, if the op supports that."""
        if node.name not in self._bound:
            bind = REGISTRY.lookup(node.op, node.attrs).bind
            if bind is None:
                self._bound[node.name] = None
            else:
                types, values = [self.type_of(r) for r in node.inputs], [self.constant_of(r) for r in node.inputs]
                self._bound[node.name] = bind(node.attrs, types, values)
        return self._bound[node.name]

    def constant_of(self, ref: Ref) -> np.ndarray | None:
        """The value, if it is known during planning."""
        if ref not in self._constants:
            self._constants[ref] = self._constant(ref)
        return self._constants[ref]

    def _constant(self, ref: Ref) -> np.ndarray | None:
        node = self.graph.nodes[root_of(self.graph, ref).node]
        while node.op in ("Enter", "Identity"):
            node = self.graph.nodes[root_of(self.graph, node.inputs[0]).node]
        return node.attrs["value"] if node.op == "Const" else self.folded(node)

    def folded(self, node: Node) -> np.ndarray | None:
        """The value that a node computes from constants alone, if it is computed during planning."""
        if node.op not in FILLING and (not self._folds_all or node.op in CONTROL):
            return None
        if node.name not in self._folded:
            constants = [self.constant_of(r) for r in node.inputs]
            types = [self.type_of(r) for r in node.inputs]
            self._folded[node.name] = fold(node, types, constants, self.types[node.name])
        return self._folded[node.name]

    def made_in_rows(self, ref: Ref, depth: int = 8) -> bool:
        """Return whether compiled code writes a value to a row."""
        node = self.graph.nodes[root_of(self.graph, ref).node]
        if depth and node.op == "Merge" and not is_loop_merge(self.graph, node):  # a raw frame's loop Merge: objects
            return all(self.made_in_rows(r, depth - 1) for r in node.inputs)
        if depth and node.op in ("Exit", "Enter"):
            return self.made_in_rows(node.inputs[0], depth - 1)
        if self.home is not None and self.home.holds(self.type_of(ref)):
            return False
        if node.op == "Placeholder":
            return True
        return node.op not in CONTROL and self.code_of(node) is not None

    def type_of(self, ref: Ref) -> TensorType:
        """The type of a value."""
        return self.types[ref.node][ref.index]
