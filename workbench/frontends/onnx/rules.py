"""ONNX op -> op of ours: how each is lowered; ``table`` says which op has which rule.

A rule gets the scope and one node, emits what stands for it and returns the value of each output. It returns None
where the node uses something that ours does not have; then the node becomes a foreign op. Where versions of an op
differ only in whether something (axes, a shape) is an attribute or an input, one rule takes both. Source:
https://onnx.ai/onnx/operators/.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.frontends.onnx.scope import Scope
from workbench.frontends.onnx.tensors import DTYPES
from workbench.graph.node import Ref
from workbench.graph.types import STRING, numpy_dtype

if TYPE_CHECKING:
    from workbench.frontends.onnx.lower import Lowering, OnnxNode

Rule = Callable[["Lowering", Scope, "OnnxNode"], "list[Ref] | None"]


def one(op: str, **fixed: Any) -> Rule:
    """The same inputs, fixed attributes."""

    def rule(lowering: Lowering, scope: Scope, node: OnnxNode) -> list[Ref] | None:
        return _emit(lowering, scope, node, op, node.given(), **fixed)

    return rule


def renamed(op: str, **names: tuple[str, Any]) -> Rule:
    """Our attribute = (ONNX attribute, its default)."""

    def rule(lowering: Lowering, scope: Scope, node: OnnxNode) -> list[Ref] | None:
        attrs = {ours: node.attrs.get(theirs, default) for ours, (theirs, default) in names.items()}
        return _emit(lowering, scope, node, op, node.given(), **attrs)

    return rule


def since(version: int, rule: Rule) -> Rule:
    """``rule`` from this version of the operator set on; before, the op meant something else."""
    return lambda lowering, scope, node: rule(lowering, scope, node) if node.version >= version else None


def _emit(lowering: Lowering, scope: Scope, node: OnnxNode, op: str, inputs: list[Ref], **attrs: Any) -> list[Ref]:
    ref = lowering.emit(scope, op, inputs, lowering.result_name(scope, node), **attrs)
    return [Ref(ref.node, i) for i in range(max(1, len(node.outputs)))]


def _dtype(lowering: Lowering, ref: Ref | None) -> np.dtype | None:
    name = None if ref is None else lowering.type_of(ref).dtype
    return None if name in (None, "any", "opaque", STRING) else numpy_dtype(str(name))


def binary(op: str) -> Rule:
    # before version 7 the ops broadcast only if an attribute said so, and along an axis of its choice
    return lambda lowering, scope, node: (
        _emit(lowering, scope, node, op, node.given()) if node.version >= 7 or not node.attrs.get("broadcast") else None
    )


def div(lowering: Lowering, scope: Scope, node: OnnxNode) -> list[Ref] | None:
    """Integers are divided towards zero."""
    dtype = _dtype(lowering, node.input(0)) or _dtype(lowering, node.input(1))
    if dtype is None or node.version < 7:
        return None
    return _emit(lowering, scope, node, "truncate_divide" if dtype.kind in "iu" else "divide", node.given())


def power(lowering: Lowering, scope: Scope, node: OnnxNode) -> list[Ref] | None:
    """The result has the dtype of the base."""
    base, exponent = node.given()
    wanted, found = _dtype(lowering, base), _dtype(lowering, exponent)
    if wanted is None or found is None or node.version < 7:
        return None
    if wanted != found:
        if wanted.kind in "iu":
            return None
        name = f"{lowering.result_name(scope, node)}/exponent"
        exponent = lowering.emit(scope, "cast", [exponent], name, dtype=lowering.type_of(base).dtype)
    return _emit(lowering, scope, node, "power", [base, exponent])


def mod(lowering: Lowering, scope: Scope, node: OnnxNode) -> list[Ref] | None:
    return _emit(lowering, scope, node, "fmod" if node.attrs.get("fmod", 0) else "remainder", node.given())


def variadic(op: str) -> Rule:
    """One or more inputs, folded from the left."""

    def rule(lowering: Lowering, scope: Scope, node: OnnxNode) -> list[Ref] | None:
        inputs = node.given()
        if node.version < 8 and len(inputs) > 2:
            return None
        if len(inputs) == 1:
            return _emit(lowering, scope, node, "Identity", inputs)
        name, left = lowering.result_name(scope, node), inputs[0]
        for i, right in enumerate(inputs[1:-1]):
            left = lowering.emit(scope, op, [left, right], f"{name}/{i}")
        return _emit(lowering, scope, node, op, [left, inputs[-1]])

    return rule


def clip(lowering: Lowering, scope: Scope, node: OnnxNode) -> list[Ref] | None:
    x, name = node.inputs[0], lowering.result_name(scope, node)
    if x is None:
        return None
    bounds = [node.input(1), node.input(2)]
    if node.version < 11:
        dtype = _dtype(lowering, x)
        if dtype is None:
            return None
        for i, key in enumerate(("min", "max")):
            if key in node.attrs:
                bounds[i] = lowering.constant(scope, np.asarray(node.attrs[key], dtype), f"{name}/{key}")
    low, high = bounds
    if low is not None and high is not None:
        return _emit(lowering, scope, node, "clip", [x, low, high])
    if low is not None:
        return _emit(lowering, scope, node, "maximum", [x, low])
    return (
        _emit(lowering, scope, node, "minimum", [x, high])
        if high is not None
        else _emit(lowering, scope, node, "Identity", [x])
    )


def cast(lowering: Lowering, scope: Scope, node: OnnxNode) -> list[Ref] | None:
    to = DTYPES.get(node.attrs.get("to", 0))  # type: ignore[arg-type]
    source = node.input(0)
    if to is None or to == STRING or source is None or _dtype(lowering, source) is None:
        return None  # to and from text
    return _emit(lowering, scope, node, "cast", node.given(), dtype=to)


def reduction(op: str, only_floats: bool = False, **fixed: Any) -> Rule:
    def rule(lowering: Lowering, scope: Scope, node: OnnxNode) -> list[Ref] | None:
        if only_floats and (d := _dtype(lowering, node.input(0))) is not None and d.kind in "iub":
            return None
        keepdims, noop = bool(node.attrs.get("keepdims", 1)), bool(node.attrs.get("noop_with_empty_axes", 0))
        attrs = {**fixed, "keepdims": keepdims, "noop_with_empty_axes": noop}
        if node.input(1) is None:
            axes = node.attrs.get("axes")
            attrs["axis"] = tuple(axes) if axes else () if noop else None
        return _emit(lowering, scope, node, op, node.given(), **attrs)

    return rule


def arg(op: str) -> Rule:
    return renamed(op, axis=("axis", 0), keepdims=("keepdims", 1), select_last=("select_last_index", 0))


def softmax(op: str) -> Rule:
    # before version 13 the axes from `axis` on were flattened into one
    return since(13, renamed(op, axis=("axis", -1)))


def gemm(lowering: Lowering, scope: Scope, node: OnnxNode) -> list[Ref] | None:
    attrs = {"transpose_a": bool(node.attrs.get("transA", 0)), "transpose_b": bool(node.attrs.get("transB", 0))}
    scale = {k: float(node.attrs.get(k, 1.0)) for k in ("alpha", "beta")}
    return _emit(lowering, scope, node, "gemm", node.given(), **attrs, **scale) if node.version >= 7 else None


def reshape(lowering: Lowering, scope: Scope, node: OnnxNode) -> list[Ref] | None:
    attrs: dict[str, Any] = {"copy_zeros": not node.attrs.get("allowzero", 0)}
    if node.input(1) is None:
        attrs["shape"] = tuple(node.attrs.get("shape", ()))
    return _emit(lowering, scope, node, "reshape", node.given(), **attrs)


def axes(op: str) -> Rule:
    """Squeeze and Unsqueeze: the axes are the second input or an attribute."""

    def rule(lowering: Lowering, scope: Scope, node: OnnxNode) -> list[Ref] | None:
        attrs = {}
        if node.input(1) is None and "axes" in node.attrs:
            attrs["axis"] = tuple(node.attrs["axes"])
        return _emit(lowering, scope, node, op, node.given(), **attrs)

    return rule


def split(lowering: Lowering, scope: Scope, node: OnnxNode) -> list[Ref] | None:
    attrs: dict[str, Any] = {"axis": int(node.attrs.get("axis", 0))}
    if node.input(1) is None:
        if "split" in node.attrs:
            attrs["sizes"] = tuple(node.attrs["split"])
        else:
            attrs.update(num=len(node.outputs), uneven=node.version >= 18)
    return _emit(lowering, scope, node, "split", node.given(), **attrs)


def slice_(lowering: Lowering, scope: Scope, node: OnnxNode) -> list[Ref] | None:
    if node.version < 10:
        axes = node.attrs.get("axes")
        parts = {"starts": tuple(node.attrs["starts"]), "ends": tuple(node.attrs["ends"])}
        return _emit(lowering, scope, node, "slice", node.given(), **parts, axes=None if axes is None else tuple(axes))
    if node.input(3) is None and node.input(4) is not None:
        return None
    return _emit(lowering, scope, node, "slice", node.given())


def constant(lowering: Lowering, scope: Scope, node: OnnxNode) -> list[Ref] | None:
    for key, dtype in (("value", None), ("value_float", np.float32), ("value_floats", np.float32),
                       ("value_int", np.int64), ("value_ints", np.int64)):  # fmt: skip
        if key in node.attrs:
            array = np.asarray(node.attrs[key], dtype)
            return [lowering.constant(scope, array, lowering.result_name(scope, node))]
    for key in ("value_string", "value_strings"):
        if key in node.attrs:
            return [lowering.constant(scope, np.asarray(node.attrs[key], object), lowering.result_name(scope, node))]
    return None


def constant_of_shape(lowering: Lowering, scope: Scope, node: OnnxNode) -> list[Ref] | None:
    return _emit(lowering, scope, node, "constant_of_shape", node.given(), value=node.attrs.get("value"))


def transpose(lowering: Lowering, scope: Scope, node: OnnxNode) -> list[Ref] | None:
    perm = node.attrs.get("perm")
    return _emit(lowering, scope, node, "transpose", node.given(), perm=None if perm is None else tuple(perm))


def cumsum(lowering: Lowering, scope: Scope, node: OnnxNode) -> list[Ref] | None:
    flags = {k: bool(node.attrs.get(k, 0)) for k in ("exclusive", "reverse")}
    return _emit(lowering, scope, node, "cumsum", node.given(), dtype="same", **flags)


def shift(lowering: Lowering, scope: Scope, node: OnnxNode) -> list[Ref] | None:
    op = "left_shift" if node.attrs.get("direction") == "LEFT" else "right_shift"
    return _emit(lowering, scope, node, op, node.given())


def top_k(lowering: Lowering, scope: Scope, node: OnnxNode) -> list[Ref] | None:
    if node.input(1) is None:
        return None
    axis, largest = int(node.attrs.get("axis", -1)), bool(node.attrs.get("largest", 1))
    return _emit(lowering, scope, node, "top_k", node.given(), axis=axis, largest=largest)


def dropout(lowering: Lowering, scope: Scope, node: OnnxNode) -> list[Ref] | None:
    """Outside of training nothing is dropped."""
    if len(node.outputs) > 1 or node.input(2) is not None or node.version < 7:
        return None
    return _emit(lowering, scope, node, "Identity", node.given()[:1])
