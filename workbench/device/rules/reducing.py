"""Reductions, running sums, products of matrices, and sorting."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from workbench.device import semantics
from workbench.device.rules.rule import Rule, RuleNode, single

#: op -> function of the namespace
REDUCTIONS = {name: name for name in ("sum", "prod", "mean", "max", "min", "any", "all")}
POSITIONS = frozenset(("argmax", "argmin"))
RUNNING = {"cumsum": "cumulative_sum", "cumprod": "cumulative_prod"}
PRODUCTS = frozenset(("matmul", "dot"))
REDUCING = frozenset((*REDUCTIONS, *POSITIONS, *RUNNING, *PRODUCTS, "sort"))
#: products of fewer multiplications stay on the host, which adds in an order different from its library's
LEAST_PRODUCT = 32768


def reducing_rule(node: RuleNode) -> Rule | None:
    """The rule of such an op; None for axes that depend on values, and attributes that the standard lacks."""
    if node.op in PRODUCTS:
        return _product(node)
    if not node.ins[0].shape or any(v is None for v in node.values[1:]):
        return None
    axes = _axes(node)
    if node.op in REDUCTIONS:
        return _reduction(node, axes)
    if node.op in POSITIONS:
        return _position(node, axes)
    rank = len(node.dims(0))
    axis = axes[0] if axes is not None and len(axes) == 1 else 0 if axes is None and rank == 1 else None
    if node.op in RUNNING:
        return None if axis is None else _running(node, axis)
    axis = int(node.attrs["axis"]) if isinstance(node.attrs.get("axis"), int) else rank - 1
    if len(node.ins) > 1 or not node.plain("axis", "kind"):
        return None
    if node.space.native:
        return single(lambda xp, arrays: xp.sort(arrays[0], axis=axis))
    return single(lambda xp, arrays: semantics.sort(xp, arrays[0], axis % rank))


def _axes(node: RuleNode) -> tuple[int, ...] | None:
    given = node.values[1] if len(node.ins) > 1 else node.attrs.get("axis")
    if given is None:
        return None
    found = tuple(int(a) % len(node.dims(0)) for a in np.ravel(np.asarray(given, np.int64)))
    return None if not found and not node.attrs.get("noop_with_empty_axes", True) else found


def _reduction(node: RuleNode, axes: tuple[int, ...] | None) -> Rule | None:
    if not node.plain("axis", "keepdims", "noop_with_empty_axes", "dtype", "of_none") or axes == ():
        return None
    name, target, keep = REDUCTIONS[node.op], node.outs[0].dtype, bool(node.attrs.get("keepdims", False))
    source = node.ins[0].dtype
    adds = node.op in ("sum", "prod", "mean")
    if adds and target not in ("int64", "uint64", "float32", "float64"):
        return None
    if node.op == "mean" and not target.startswith("float"):
        return None
    if node.op in ("max", "min") and source == "bool":
        return None

    def call(xp: Any, arrays: Any) -> Any:
        x = arrays[0]
        if adds:  # NumPy casts item by item within the sum
            wanted = getattr(xp, target)
            x = x if x.dtype == wanted else xp.astype(x, wanted)
        return getattr(xp, name)(x, axis=axes, keepdims=keep)

    return single(call)


def _position(node: RuleNode, axes: tuple[int, ...] | None) -> Rule | None:
    if (
        not node.plain("axis", "keepdims", "dtype")
        or axes is not None
        and len(axes) != 1
        or node.ins[0].dtype == "bool"
    ):
        return None
    if axes is None and node.attrs.get("keepdims"):
        return None
    name, keep, target = node.op, bool(node.attrs.get("keepdims", False)), node.outs[0].dtype
    axis = None if axes is None else axes[0]
    return single(
        lambda xp, arrays: xp.astype(getattr(xp, name)(arrays[0], axis=axis, keepdims=keep), getattr(xp, target))
    )


def _running(node: RuleNode, axis: int) -> Rule | None:
    name, target = RUNNING[node.op], node.outs[0].dtype
    if not node.plain("axis", "dtype") or not hasattr(node.space.xp, name) or node.ins[0].dtype == "bool":
        return None
    return single(lambda xp, arrays: getattr(xp, name)(arrays[0], axis=axis, dtype=getattr(xp, target)))


def _product(node: RuleNode) -> Rule | None:
    if len(node.ins) != 2 or not node.plain() or any(t.dtype != node.outs[0].dtype for t in node.ins):
        return None
    a, b = node.dims(0), node.dims(1)
    if not a or not b or not node.outs[0].dtype.startswith("float") or node.op == "dot" and max(len(a), len(b)) > 2:
        return None
    if math.prod(node.out) * a[-1] <= LEAST_PRODUCT:
        return None
    return single(lambda xp, arrays: xp.matmul(arrays[0], arrays[1]))
