"""Arrays that ops make from nothing but constants, made while the plan is: weights that a model fills at its start.

Only ops that fill an array are carried out here, for they take no time to speak of and fail only for want of memory.
Equal arrays are made once for all plans that live.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.ir.node import Node
from workbench.ir.opspec import REGISTRY
from workbench.ir.types import TensorType
from workbench.plan.memory.storage import array_bytes

FILLING = frozenset(("constant_of_shape", "fill", "zeros_like", "ones_like", "eye"))
#: larger arrays are made anew in every run, and released after it
MOST_BYTES = 1 << 30

_MADE: weakref.WeakValueDictionary[Any, np.ndarray] = weakref.WeakValueDictionary()


def fold(node: Node, constants: Sequence[np.ndarray | None], type_: TensorType) -> np.ndarray | None:
    """The value that a node has in every run, if it is constant; ``type_`` is the type of its output."""
    if node.op not in FILLING or any(c is None for c in constants):
        return None
    if not type_.is_static or array_bytes(type_) > MOST_BYTES:
        return None
    spec = REGISTRY.lookup(node.op, node.attrs)
    key = (node.op, tuple((k, _token(v)) for k, v in sorted(node.attrs.items())), *map(_token, constants))
    found = _MADE.get(key)
    if found is None and spec.evaluate is not None:
        try:
            found = np.asarray(spec.evaluate(list(constants), node.attrs)[0], order="C")
        except Exception:  # it fails in the run then, where the error names the firing
            return None
        found.flags.writeable = False
        found = _MADE.setdefault(key, found)
    return found


def _token(value: Any) -> Any:
    return (value.dtype.str, value.shape, value.tobytes()) if isinstance(value, np.ndarray) else repr(value)
