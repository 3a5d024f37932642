"""TensorFlow op -> workbench op: the interface of rules, and factories for the usual ones.

A rule gets one NodeDef and returns its lowered form. Nearly all rules are one to one, so that a node, its tensors and
its firings keep their TensorFlow names. Inputs that are tensors in TensorFlow (axes, shapes, permutations) stay inputs;
an input that our op needs as an attribute must be a constant, and becomes a control input, so that it still fires.
Source: https://www.tensorflow.org/api_docs/python/tf/raw_ops.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.frontends.tf.graphdef import NodeDef, TensorName
from workbench.frontends.tf.tensor_proto import DTypeAttr


@dataclass(frozen=True, slots=True)
class LoweredNode:
    """The lowered form of one NodeDef.

    ``inputs`` are TensorFlow tensors. ``also_after`` names nodes whose constant value became an attribute.
    ``outputs[i]`` is the output of our op for tensor ``i`` of TensorFlow's op (None: the same order). ``via`` is an op
    that is applied to the inputs first, as a separate node.
    """

    op: str
    inputs: tuple[TensorName, ...]
    attrs: Mapping[str, Any] = field(default_factory=dict)
    also_after: tuple[str, ...] = ()
    outputs: tuple[int, ...] | None = None
    via: str | None = None


#: value of a tensor that is a constant, or None
Constant = Callable[[TensorName], "np.ndarray | None"]
#: (node, constants) -> its lowered form; None for a variant of the op that ours lacks
Rule = Callable[[NodeDef, Constant], "LoweredNode | None"]


def same(op: str, **fixed: Any) -> Rule:
    return lambda node, constant: LoweredNode(op, node.inputs, fixed)


def attrs(op: str, **names: str) -> Rule:
    """A rule with renamed attributes, our attribute = TensorFlow's attribute, which are plain numbers, bools and
    strings.
    """

    def rule(node: NodeDef, constant: Constant) -> LoweredNode:
        found = {
            ours: plain(node.attrs[theirs]) for ours, theirs in names.items() if node.attrs.get(theirs) is not None
        }
        return LoweredNode(op, node.inputs, found)

    return rule


def plain(value: Any) -> Any:
    if isinstance(value, DTypeAttr):
        return value.name
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return tuple(value) if isinstance(value, list) else value


def is_integer(node: NodeDef) -> bool:
    dtype = node.attrs.get("T")
    return isinstance(dtype, DTypeAttr) and np.dtype(dtype.name if dtype.name != "bfloat16" else "f4").kind in "biu"


def constant_attr(op: str, position: int, attr: str, **more: str) -> Rule:
    """A rule by which the input at ``position``, a constant integer, becomes the attribute ``attr``."""

    def rule(node: NodeDef, constant: Constant) -> LoweredNode | None:
        if position >= len(node.inputs):
            return None
        value = constant(node.inputs[position])
        if value is None or value.size != 1:
            return None
        rest = tuple(t for i, t in enumerate(node.inputs) if i != position)
        attrs = {ours: plain(node.attrs[theirs]) for ours, theirs in more.items() if theirs in node.attrs}
        return LoweredNode(op, rest, {attr: int(value.reshape(())), **attrs}, (node.inputs[position].node,))

    return rule
