"""Rules for ONNX ops that become one or a few workbench ops; ``table`` assigns them to ops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.frontends.onnx.rules.general import Rule, emit_as, known_dtype, reduction
from workbench.frontends.onnx.scope import OnnxScope
from workbench.ir.node import Ref
from workbench.ir.types import ANY, NARROW, OPAQUE, STRING, numpy_dtype

if TYPE_CHECKING:
    from workbench.frontends.onnx.lower import OnnxLowering, OnnxNode

#: float dtypes in which no sums are computed
SHORT = ("float16", "bfloat16")


def cast_like(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
    source, like = (lowering.type_of(i).dtype for i in node.given())
    if {source, like} & {ANY, OPAQUE, STRING, *NARROW}:
        return None  # unknown, or with different conversion rules
    return emit_as(lowering, scope, node, "cast", node.given()[:1], dtype=like)


def is_inf(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
    both = node.attrs.get("detect_negative", 1) and node.attrs.get("detect_positive", 1)
    x = node.input(0)
    if x is not None and lowering.type_of(x).dtype in NARROW:
        return None
    return emit_as(lowering, scope, node, "isinf", node.given()) if both else None


def total(of: str) -> Rule:
    """Sum and Mean of one or more inputs, folded from the left; 16-bit floats are added in float32 and rounded once."""

    def rule(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
        inputs, dtype = node.given(), known_dtype(lowering, node.input(0))
        if (dtype is None and of == "mean") or (node.version < 8 and len(inputs) > (1 if of == "mean" else 2)):
            return None
        name = lowering.result_name(scope, node)
        if len(inputs) == 1:
            return emit_as(lowering, scope, node, "Identity", inputs)
        wide = len(inputs) > 2 or of == "mean"
        parts = [_wide(lowering, scope, ref, f"{name}/wide_{k}") if wide else ref for k, ref in enumerate(inputs)]
        whole = parts[0]
        for i, right in enumerate(parts[1:-1]):
            whole = lowering.emit(scope, "add", [whole, right], f"{name}/{i}")
        if of == "sum":
            return _narrowed(lowering, scope, node, "add", [whole, parts[-1]], inputs[0])
        whole = lowering.emit(scope, "add", [whole, parts[-1]], f"{name}/{len(parts) - 2}")
        number = np.asarray(len(inputs), numpy_dtype(lowering.type_of(parts[0]).dtype))
        count = lowering.constant(scope, number, f"{name}/count")
        return _narrowed(lowering, scope, node, "divide", [whole, count], inputs[0])

    return rule


def _wide(lowering: OnnxLowering, scope: OnnxScope, ref: Ref, name: str) -> Ref:
    """A 16-bit float cast to float32; any other value unchanged."""
    if lowering.type_of(ref).dtype not in SHORT:
        return ref
    return lowering.emit(scope, "cast", [ref], name, dtype="float32")


def _narrowed(
    lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode, op: str, inputs: list[Ref], like: Ref
) -> list[Ref]:
    """The last op of a node, and the cast back to the dtype of ``like`` if this is a 16-bit float."""
    dtype = lowering.type_of(like).dtype
    if dtype not in SHORT or lowering.type_of(inputs[0]).dtype == dtype:
        return emit_as(lowering, scope, node, op, inputs)
    whole = lowering.emit(scope, op, inputs, f"{lowering.result_name(scope, node)}/whole")
    return emit_as(lowering, scope, node, "cast", [whole], dtype=dtype)


def squares(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
    if node.attrs.get("noop_with_empty_axes"):
        return None
    x, name = node.given()[0], lowering.result_name(scope, node)
    wide = _wide(lowering, scope, x, f"{name}/wide")
    squared = lowering.emit(scope, "square", [wide], f"{name}/squares")
    lowering.types[squared] = lowering.type_of(wide)
    if wide == x:
        return reduction("sum", dtype="same")(lowering, scope, node.with_input(0, squared))
    inside = node.with_input(0, squared).with_output(f"{node.outputs[0]}/sum")
    made = reduction("sum", dtype="same")(lowering, scope, inside)
    return made and emit_as(lowering, scope, node, "cast", made, dtype=lowering.type_of(x).dtype)


def log_sum(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
    dtype = known_dtype(lowering, node.input(0))
    if dtype is None or dtype.kind in "iub" or node.attrs.get("noop_with_empty_axes"):
        return None
    x = node.given()[0]
    wide = _wide(lowering, scope, x, f"{lowering.result_name(scope, node)}/wide")
    inside = node.with_input(0, wide).with_output(f"{node.outputs[0]}/sum")
    made = reduction("sum", dtype="same")(lowering, scope, inside)
    return made and _narrowed(lowering, scope, node, "log", made, x)


def mish(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
    """x * tanh(softplus(x)), which onnxruntime computes in steps that lose digits below zero."""
    if known_dtype(lowering, node.input(0)) is None:
        return None
    x, name = node.given()[0], lowering.result_name(scope, node)
    wide = _wide(lowering, scope, x, f"{name}/wide")
    soft = lowering.emit(scope, "softplus", [wide], f"{name}/softplus")
    bent = lowering.emit(scope, "tanh", [soft], f"{name}/tanh")
    if wide == x:
        return emit_as(lowering, scope, node, "multiply", [x, bent])
    product = lowering.emit(scope, "multiply", [wide, bent], f"{name}/product")
    return emit_as(lowering, scope, node, "cast", [product], dtype=lowering.type_of(x).dtype)


def trilu(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
    k = node.input(1)
    known = np.asarray(0) if k is None else lowering.constant_of(k)
    if known is None or known.size != 1:
        return None
    op = "triu" if node.attrs.get("upper", 1) else "tril"
    return emit_as(lowering, scope, node, op, node.given()[:1], k=int(known.reshape(())))


def one_hot(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
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


def pad(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
    """Pad with known widths that are not negative; negative widths crop, which our pad does not support."""
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
    def rule(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
        flags = {k: bool(node.attrs.get(k, 0)) for k in ("exclusive", "reverse")}
        return emit_as(lowering, scope, node, op, node.given(), dtype="same", **flags)

    return rule
