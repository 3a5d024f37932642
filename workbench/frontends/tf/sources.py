"""Origins of tensors through nodes that only forward a value, which rules query for their inputs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from workbench.frontends.tf.graphdef import NodeDef, TensorName

_PASSES = ("Identity", "Enter", "RefEnter", "Switch", "RefSwitch")


class Sources:
    """Called with a tensor, returns its value if that is a constant, otherwise None."""

    def __init__(self, nodes: Mapping[str, NodeDef]) -> None:
        self.nodes = nodes

    def __call__(self, tensor: TensorName) -> np.ndarray | None:
        node = self.producer(tensor)
        value = node.attrs.get("value") if node is not None and node.op == "Const" else None
        return value if isinstance(value, np.ndarray) else None

    def producer(self, tensor: TensorName) -> NodeDef | None:
        """The node that computed the value."""
        return self.nodes.get(self.origin(tensor).node)

    def origin(self, tensor: TensorName) -> TensorName:
        """The tensor as an output of the node that computed it."""
        for _ in range(256):
            node = self.nodes.get(tensor.node)
            if node is None or node.op not in _PASSES or not node.inputs:
                return tensor
            tensor = node.inputs[0]
        return TensorName("", 0)
