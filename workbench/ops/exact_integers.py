"""Detects integer results that left the range of their dtype and wrapped around, by comparison with exact results.

The exact result is computed in float64. A wrapped result differs from it by a multiple of 2**bits, so a threshold of
half of that excludes rounding. Arithmetic of Python's ints (``checked``) fails instead of wrapping.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workbench.ir.node import Node

#: op -> function for the exact result in float64
_EXACT: dict[str, Callable[..., np.ndarray]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "negative": np.negative,
    "abs": np.abs,
    "square": np.square,
    "power": np.power,
    "cast": lambda x: x,
    "left_shift": lambda x, y: np.ldexp(x, np.clip(y, 0, 2000).astype(int)),
}


def can_wrap(node: Node) -> bool:
    """True for a node whose integers may wrap around."""
    return node.op in _EXACT and not node.attrs.get("checked")


def wrapped_items(op: str, operands: Sequence[Any], results: Any) -> np.ndarray | None:
    """A mask of the items that wrapped in the results of several firings, which are the first axis, also of the
    operands. None if not all values are integers.
    """
    if not all(isinstance(v, np.ndarray) and v.dtype.kind in "iu" for v in (results, *operands)):
        return None
    given = [v.reshape(len(v), *(1,) * (results.ndim - v.ndim), *v.shape[1:]).astype(np.float64) for v in operands]
    with np.errstate(all="ignore"):
        exact = _EXACT[op](*given)
        wrapped = ~(np.abs(exact - results.astype(np.float64)) <= 2.0 ** (8 * results.itemsize - 1))
    return np.broadcast_to(wrapped, results.shape)
