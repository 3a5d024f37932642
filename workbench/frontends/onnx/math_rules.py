"""Rules for ops of ONNX that are one or a few ops of ours; ``table`` says which op has which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.frontends.onnx.rules import Rule, emit_as, known_dtype, reduction
from workbench.frontends.onnx.scope import Scope
from workbench.graph.node import Ref
from workbench.graph.types import ANY, NARROW, OPAQUE, STRING

if TYPE_CHECKING:
    from workbench.frontends.onnx.lower import Lowering, OnnxNode


def cast_like(lowering: Lowering, scope: Scope, node: OnnxNode) -> list[Ref] | None:
    source, like = (lowering.type_of(i).dtype for i in node.given())
    if {source, like} & {ANY, OPAQUE, STRING, *NARROW}:
        return None  # unknown, or with rules of their own
    return emit_as(lowering, scope, node, "cast", node.given()[:1], dtype=like)


def is_inf(lowering: Lowering, scope: Scope, node: OnnxNode) -> list[Ref] | None:
    both = node.attrs.get("detect_negative", 1) and node.attrs.get("detect_positive", 1)
    return emit_as(lowering, scope, node, "isinf", node.given()) if both else None


def mean(lowering: Lowering, scope: Scope, node: OnnxNode) -> list[Ref] | None:
    inputs, dtype = node.given(), known_dtype(lowering, node.input(0))
    if dtype is None or node.version < 8 and len(inputs) > 1:
        return None
    name, total = lowering.result_name(scope, node), inputs[0]
    for i, right in enumerate(inputs[1:]):
        total = lowering.emit(scope, "add", [total, right], f"{name}/{i}")
    count = lowering.constant(scope, np.asarray(len(inputs), dtype), f"{name}/count")
    return emit_as(lowering, scope, node, "divide", [total, count])


def squares(lowering: Lowering, scope: Scope, node: OnnxNode) -> list[Ref] | None:
    if node.attrs.get("noop_with_empty_axes"):
        return None
    x = node.given()[0]
    squared = lowering.emit(scope, "square", [x], f"{lowering.result_name(scope, node)}/squares")
    lowering.types[squared] = lowering.type_of(x)
    return reduction("sum", dtype="same")(lowering, scope, node.with_input(0, squared))


def log_sum(lowering: Lowering, scope: Scope, node: OnnxNode) -> list[Ref] | None:
    dtype = known_dtype(lowering, node.input(0))
    if dtype is None or dtype.kind in "iub" or node.attrs.get("noop_with_empty_axes"):
        return None
    made = reduction("sum", dtype="same")(lowering, scope, node.with_output(f"{node.outputs[0]}/sum"))
    return made and emit_as(lowering, scope, node, "log", made)


def trilu(lowering: Lowering, scope: Scope, node: OnnxNode) -> list[Ref] | None:
    k = node.input(1)
    known = np.asarray(0) if k is None else lowering.constant_of(k)
    if known is None or known.size != 1:
        return None
    op = "triu" if node.attrs.get("upper", 1) else "tril"
    return emit_as(lowering, scope, node, op, node.given()[:1], k=int(known.reshape(())))


def one_hot(lowering: Lowering, scope: Scope, node: OnnxNode) -> list[Ref] | None:
    indices, depth, values = node.given()
    name, whole = lowering.result_name(scope, node), []
    for label, ref in (("indices", indices), ("depth", depth)):
        dtype = known_dtype(lowering, ref)
        if dtype is None:
            return None
        integers = dtype.kind in "iu"
        whole.append(ref if integers else lowering.emit(scope, "cast", [ref], f"{name}/{label}", dtype="int64"))
    sides = []
    for label, at in (("on", 1), ("off", 0)):
        position = lowering.constant(scope, np.int64(at), f"{name}/{label}/position")
        sides.append(lowering.emit(scope, "gather", [values, position], f"{name}/{label}"))
    axis = int(node.attrs.get("axis", -1))
    return emit_as(lowering, scope, node, "one_hot", [*whole, *sides], axis=axis, wrap_negative=True)


def pad(lowering: Lowering, scope: Scope, node: OnnxNode) -> list[Ref] | None:
    """Widths that are known and not negative; others cut, which our pad does not."""
    x, name = node.given()[0], lowering.result_name(scope, node)
    pads, value, axes = node.attrs.get("pads"), node.input(2), node.input(3)
    if node.version >= 11:
        listed = None if node.input(1) is None else lowering.constant_of(node.given()[1])
        pads = None if listed is None else listed.reshape(-1).tolist()
    if pads is None or axes is not None or any(p < 0 for p in pads):
        return None
    widths = np.asarray(pads, np.int64).reshape(2, -1).T
    attrs: dict[str, Any] = {"mode": node.attrs.get("mode", "constant")}
    if attrs["mode"] != "constant":
        return emit_as(lowering, scope, node, "pad", [x], pad_width=tuple(map(tuple, widths.tolist())), **attrs)
    dtype = known_dtype(lowering, x)
    if value is None:
        if dtype is None:
            return None
        value = lowering.constant(scope, np.asarray(node.attrs.get("value", 0.0), dtype), f"{name}/value")
    return emit_as(lowering, scope, node, "pad", [x, lowering.constant(scope, widths, f"{name}/widths"), value])


def cumulative(op: str) -> Rule:
    def rule(lowering: Lowering, scope: Scope, node: OnnxNode) -> list[Ref] | None:
        flags = {k: bool(node.attrs.get(k, 0)) for k in ("exclusive", "reverse")}
        return emit_as(lowering, scope, node, op, node.given(), dtype="same", **flags)

    return rule
