"""One item of an array at computed indices, read or replaced by compiled code; Python handles indices out of range."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.ir.node import Node
from workbench.ir.types import TensorType, numpy_dtype
from workbench.plan.memory.storage import in_rows


@dataclass(frozen=True, slots=True)
class ItemCode:
    """``scalar_op`` names the code; ``sizes``: items on the first axis, bytes of a part, items on the second axis."""

    scalar_op: str
    sizes: tuple[int, int, int]


def item_code(node: Node, ins: Sequence[TensorType], outs: Sequence[TensorType]) -> ItemCode | None:
    """Code for ``x[i]``, ``x[i, j]`` and ``x[i] = value`` on arrays of known shape, with indices of int64."""
    if node.op not in ("getitem", "setitem") or not all(in_rows(t) for t in (*ins, *outs)):
        return None
    index, first = node.attrs["index"], 1 if node.op == "getitem" else 2
    if tuple(index) != tuple(("input", k) for k in range(len(ins) - first)):
        return None
    if any(t.dtype != "int64" or t.shape != () for t in ins[first:]):
        return None
    dims = [d or 0 for d in ins[0].shape or ()]
    axes = len(ins) - first
    if not 1 <= axes <= min(len(dims), 2 if node.op == "getitem" else 1):
        return None
    part = TensorType(ins[0].dtype, tuple(dims[axes:]))
    block = math.prod(dims[axes:]) * numpy_dtype(part.dtype).itemsize
    if (outs[0] if node.op == "getitem" else ins[1]) != part:
        return None
    scalar_op = {("getitem", 1): "item_1", ("getitem", 2): "item_2", ("setitem", 1): "put_1"}[node.op, axes]
    return ItemCode(f"checked_{scalar_op}", (dims[0], block, dims[1] if axes == 2 else 0))
