"""Values that ops compute from constants alone, computed during planning: weights that a model fills or arranges at its
start, and sizes that follow from shapes.

Ops that fill an array are evaluated here in every graph, because they take little time and fail only for lack of
memory. In graphs with ops of a framework, in which sizes, axes and weights are results of nodes, ops that move elements
and arithmetic on a few integers are also evaluated: later nodes then have known shapes, and a framework prepares its
weights once. Equal arrays are shared by all existing plans.
"""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.ir.graph import Graph
from workbench.ir.infer import Fold
from workbench.ir.node import Node
from workbench.ir.opspec import REGISTRY
from workbench.ir.types import TensorType, numpy_dtype
from workbench.ops.foreign import is_foreign
from workbench.plan.memory.storage import array_bytes

FILLING = frozenset(("constant_of_shape", "fill", "zeros_like", "ones_like", "eye"))
MOVING = frozenset(
    """broadcast_to cast concat expand_dims flatten gather pad reshape slice squeeze stack tile transpose""".split()
)
ARITHMETIC = frozenset("add subtract multiply maximum minimum truncate_divide floor_divide remainder".split())
#: maximum bytes of filled, and of moved arrays; larger ones are computed in every run, and released after it
MOST_BYTES, MOST_MOVED_BYTES = 1 << 30, 1 << 20
#: maximum number of integers for arithmetic: sizes and indices, not data
MOST_INTEGERS = 64
#: maximum bytes of an array that is a key by its value; larger ones by their hash
LONG = 256

_MADE: weakref.WeakValueDictionary[Any, np.ndarray] = weakref.WeakValueDictionary()


def folds_all(graph: Graph) -> bool:
    """Return whether more than filled arrays is folded in a graph."""
    return any(is_foreign(n.op) for n in graph.nodes.values())


def folder(graph: Graph) -> Fold | None:
    """The function from which type inference gets constants; None if it would not use them."""
    return fold if folds_all(graph) else None


def fold(
    node: Node, ins: Sequence[TensorType], constants: Sequence[np.ndarray | None], outs: Sequence[TensorType]
) -> np.ndarray | None:
    """The value that a node has in every run, if it is constant; ``ins`` and ``outs`` are the types of its inputs and
    outputs, ``constants`` the inputs that are constant."""
    if node.op == "shape" and ins[0].is_static:
        like: Any = np.zeros((), numpy_dtype("bool"))
        return _made(node, [np.broadcast_to(like, [d or 0 for d in ins[0].shape or ()])])
    if any(c is None for c in constants) or len(outs) != 1 or not constants:
        return None
    given = [c for c in constants if c is not None]
    if not outs[0].is_static or any(c.dtype.kind not in "biufc" for c in given):
        return None
    size = array_bytes(outs[0])
    if node.op in FILLING:
        return _made(node, given) if size <= MOST_BYTES else None
    if node.op in MOVING:
        small = size <= MOST_MOVED_BYTES and all(c.nbytes <= MOST_MOVED_BYTES for c in given)
        return _made(node, given) if small else None
    if node.op in ARITHMETIC and all(c.dtype.kind == "i" and c.size <= MOST_INTEGERS for c in given):
        return _made(node, given)
    return None


def _made(node: Node, constants: Sequence[np.ndarray]) -> np.ndarray | None:
    spec = REGISTRY.lookup(node.op, node.attrs)
    if spec.evaluate is None:
        return None
    if node.op == "shape":
        key: Any = (node.op, repr(sorted(node.attrs.items())), constants[0].shape)
    else:
        key = (node.op, tuple((k, _token(v)) for k, v in sorted(node.attrs.items())), *map(_token, constants))
    found = _MADE.get(key)
    if found is None:
        try:
            with np.errstate(all="ignore"):
                found = np.array(spec.evaluate(list(constants), node.attrs)[0], order="C")
        except Exception:  # it then fails in the run, where the error names the firing
            return None
        found.flags.writeable = False
        found = _MADE.setdefault(key, found)
    return found


def _token(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return repr(value)
    content = value.tobytes()
    return value.dtype.str, value.shape, content if len(content) <= LONG else hashlib.sha256(content).digest()
