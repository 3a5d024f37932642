"""Facts about values while a model is lowered, before any run: declared and inferred types, and constants."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from workbench.errors import WorkbenchError
from workbench.frontends.onnx.foreign.values import MapType
from workbench.frontends.onnx.scope import OnnxScope
from workbench.ir.node import FRAME_OPS, Node, Ref
from workbench.ir.opspec import REGISTRY
from workbench.ir.types import ANY, OPAQUE, UNKNOWN, TensorType


class Known:
    """Types and constants of the values of ``nodes``, which grow while a model is read."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        #: types by value, found by ONNX's shape inference or inferred from them; then constants by value
        self.types: dict[Ref, TensorType] = {}
        self.constants: dict[Ref, np.ndarray] = {}
        #: inputs of the model that are dicts
        self.maps: dict[Ref, MapType] = {}
        #: values whose type could not be inferred
        self._unknown: set[Ref] = set()

    def declared(self, scope: OnnxScope, name: str) -> TensorType:
        """Type of a value of this scope, from the model or ONNX's inference."""
        return scope.declared.get(name, UNKNOWN)

    def type_of(self, ref: Ref, depth: int = 16) -> TensorType:
        """The known type of a value; frame ops have their input's type, other nodes infer their own."""
        known = next((self.types[r] for r in self._back(ref) if r in self.types), UNKNOWN)
        node = self.nodes.get(ref.node)
        if known.dtype != ANY or node is None or not depth or node.op in FRAME_OPS or ref in self._unknown:
            return known
        types = [self.type_of(i, depth - 1) for i in node.inputs]
        try:
            inferred = REGISTRY.lookup(node.op, node.attrs).infer(types, node.attrs, [None] * len(types))[ref.index]
        except (WorkbenchError, IndexError):  # reported when the types of the whole graph are inferred
            self._unknown.add(ref)
            return known
        if inferred.dtype != ANY:
            self.types[ref] = inferred
        else:
            self._unknown.add(ref)
        return inferred

    def constant_of(self, ref: Ref) -> np.ndarray | None:
        """The constant value of ``ref``, if it comes from a constant."""
        return next((self.constants[r] for r in self._back(ref) if r in self.constants), None)

    def _back(self, ref: Ref) -> Iterator[Ref]:
        """``ref`` and the values that it is passed on from unchanged."""
        while True:
            yield ref
            node = self.nodes.get(ref.node)
            if node is None or node.op not in ("Enter", "Switch", "Identity") or not node.inputs:
                return
            ref = node.inputs[0]

    @staticmethod
    def loose(scope: OnnxScope, known: TensorType) -> TensorType:
        """The declared type without the facts that may change from iteration to iteration."""
        # Inside a body the declared dimensions may be those of the first iteration only.
        if scope.parent is None or known.shape is None or known.dtype == OPAQUE:
            return known
        return TensorType(known.dtype, (None,) * len(known.shape))
