"""Lowering rules from ONNX ops to workbench ops; ``table`` assigns them to ops.

A rule gets the scope and one node, emits the equivalent nodes and returns the value of each output. It returns None if
the node uses a feature that our op lacks; the node then becomes a foreign op. If versions of an op differ only in
whether a parameter (axes, a shape) is an attribute or an input, one rule handles both. Source:
https://onnx.ai/onnx/operators/.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.frontends.onnx.library import onnx
from workbench.frontends.onnx.rules.before_version_7 import operands
from workbench.frontends.onnx.scope import OnnxScope
from workbench.frontends.onnx.tensors import DTYPES
from workbench.ir.node import Ref
from workbench.ir.types import NARROW, STRING, UNKNOWN, numpy_dtype
from workbench.ops.rules import highest, lowest

if TYPE_CHECKING:
    from workbench.frontends.onnx.lower import OnnxLowering, OnnxNode

Rule = Callable[["OnnxLowering", OnnxScope, "OnnxNode"], "list[Ref] | None"]


def one(op: str, **fixed: Any) -> Rule:
    """A rule for one workbench op with the same inputs and fixed attributes."""

    def rule(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
        return emit_as(lowering, scope, node, op, node.given(), **fixed)

    return rule


def renamed(op: str, **names: tuple[str, Any]) -> Rule:
    """A rule for one workbench op with renamed attributes: our attribute = (ONNX attribute, its default)."""

    def rule(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
        attrs = {ours: node.attrs.get(theirs, default) for ours, (theirs, default) in names.items()}
        return emit_as(lowering, scope, node, op, node.given(), **attrs)

    return rule


def since(version: int, rule: Rule, before: Rule) -> Rule:
    """``rule`` from this version of the operator set on; earlier versions use ``before``."""
    return lambda lowering, scope, node: (rule if node.version >= version else before)(lowering, scope, node)


def emit_as(
    lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode, op: str, inputs: list[Ref], **attrs: Any
) -> list[Ref]:
    """Emit a single workbench node for ``node``, under the name of its first output."""
    ref = lowering.emit(scope, op, inputs, lowering.result_name(scope, node), **attrs)
    return [Ref(ref.node, i) for i in range(max(1, len(node.outputs)))]


def known_dtype(lowering: OnnxLowering, ref: Ref | None) -> np.dtype | None:
    """The dtype of a numeric value, if it is known."""
    name = None if ref is None else lowering.type_of(ref).dtype
    return None if name in (None, "any", "opaque", STRING) else numpy_dtype(str(name))


def binary(op: str) -> Rule:
    return lambda lowering, scope, node: emit_as(lowering, scope, node, op, operands(lowering, scope, node))


def div(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
    """Div, which truncates integer quotients toward zero."""
    dtype = known_dtype(lowering, node.input(0)) or known_dtype(lowering, node.input(1))
    if dtype is None:
        return None
    op = "truncate_divide" if dtype.kind in "iu" else "divide"
    return emit_as(lowering, scope, node, op, operands(lowering, scope, node))


def floats_only(op: str) -> Rule:
    """A rule for an op of floats only: in old versions of the standard it also takes integers and gives integers."""

    def rule(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
        dtype = known_dtype(lowering, node.input(0))
        return None if dtype is not None and dtype.kind in "iu" else emit_as(lowering, scope, node, op, node.given())

    return rule


def numbers_only(op: str) -> Rule:
    """A rule for an op that the workbench lacks for floats of 8 bits or less."""

    def rule(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
        x = node.input(0)
        if x is not None and lowering.type_of(x).dtype in NARROW:
            return None
        return emit_as(lowering, scope, node, op, node.given())

    return rule


def power(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
    """Pow: the result has the dtype of the base. An exponent that this dtype would round is used unrounded: (-1)**1e-38
    is NaN.
    """
    base, exponent = node.given()
    wanted, found = known_dtype(lowering, base), known_dtype(lowering, exponent)
    if wanted is None or found is None:
        return None
    base, exponent = operands(lowering, scope, node)
    if wanted == found and wanted.kind in "iu":
        return emit_as(lowering, scope, node, "whole_power", [base, exponent])
    if wanted != found:
        if wanted.kind in "iu":
            return None
        name, own = lowering.result_name(scope, node), lowering.type_of(base).dtype
        if not _holds(wanted, found, lowering.constant_of(exponent)):
            sides = [
                lowering.emit(scope, "cast", [ref], f"{name}/{side}", dtype="float64")
                for ref, side in ((base, "base"), (exponent, "exponent"))
            ]
            wide = lowering.emit(scope, "power", sides, f"{name}/wide")
            return emit_as(lowering, scope, node, "cast", [wide], dtype=own)
        exponent = lowering.emit(scope, "cast", [exponent], f"{name}/exponent", dtype=own)
    return emit_as(lowering, scope, node, "power", [base, exponent])


def _holds(dtype: np.dtype, other: np.dtype, known: np.ndarray | None) -> bool:
    """True if a float dtype represents every value of another one, or the known constant values."""
    if known is not None:
        with np.errstate(all="ignore"):
            there = known.astype(np.float64)
            return bool(np.array_equal(there, there.astype(dtype).astype(np.float64), equal_nan=True))
    return bool(np.can_cast(other, dtype))


def mod(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
    return emit_as(lowering, scope, node, "fmod" if node.attrs.get("fmod", 0) else "remainder", node.given())


def variadic(op: str) -> Rule:
    """A rule for one or more inputs, folded from the left."""

    def rule(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
        inputs = node.given()
        if node.version < 8 and len(inputs) > 2:
            return None
        if len(inputs) == 1:
            return emit_as(lowering, scope, node, "Identity", inputs)
        name, left = lowering.result_name(scope, node), inputs[0]
        for i, right in enumerate(inputs[1:-1]):
            left = lowering.emit(scope, op, [left, right], f"{name}/{i}")
        return emit_as(lowering, scope, node, op, [left, inputs[-1]])

    return rule


def clip(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
    x, name = node.inputs[0], lowering.result_name(scope, node)
    if x is None:
        return None
    bounds = [node.input(1), node.input(2)]
    if node.version < 11:
        dtype = known_dtype(lowering, x)
        if dtype is None:
            return None
        for i, key in enumerate(("min", "max")):
            if key in node.attrs:
                bounds[i] = lowering.constant(scope, np.asarray(node.attrs[key], dtype), f"{name}/{key}")
    low, high = bounds
    dtype = known_dtype(lowering, x)
    if dtype is not None and (low is None) != (high is None):
        # for zeros of different sign maximum and minimum may return the bound, clip returns x
        low = low or lowering.constant(scope, lowest(dtype), f"{name}/min")
        high = high or lowering.constant(scope, highest(dtype), f"{name}/max")
    if low is not None and high is not None:
        return emit_as(lowering, scope, node, "clip", [x, low, high])
    if low is not None:
        return emit_as(lowering, scope, node, "maximum", [x, low])
    return (
        emit_as(lowering, scope, node, "minimum", [x, high])
        if high is not None
        else emit_as(lowering, scope, node, "Identity", [x])
    )


def cast(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
    number = node.attrs.get("to", 0)
    to = DTYPES.get(onnx().TensorProto.DataType.Value(number) if isinstance(number, str) else int(number))
    source = node.input(0)
    if to is None or to == STRING or source is None or known_dtype(lowering, source) is None:
        return None  # to or from strings
    if to in NARROW or lowering.type_of(source).dtype in NARROW:
        return None  # these have different rounding and saturation
    return emit_as(lowering, scope, node, "cast", node.given(), dtype=to)


def reduction(op: str, only_floats: bool = False, **fixed: Any) -> Rule:
    def rule(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
        if only_floats and (d := known_dtype(lowering, node.input(0))) is not None and d.kind in "iub":
            return None
        keepdims, noop = bool(node.attrs.get("keepdims", 1)), bool(node.attrs.get("noop_with_empty_axes", 0))
        attrs = {**fixed, "keepdims": keepdims, "noop_with_empty_axes": noop}
        if node.input(1) is None:
            axes = node.attrs.get("axes")
            attrs["axis"] = tuple(axes) if axes else () if noop else None
        return emit_as(lowering, scope, node, op, node.given(), **attrs)

    return rule


def arg(op: str) -> Rule:
    return renamed(op, axis=("axis", 0), keepdims=("keepdims", 1), select_last=("select_last_index", 0))


def gather_elements(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
    axis = int(node.attrs.get("axis", 0))
    return emit_as(lowering, scope, node, "take_along_axis", node.given(), axis=axis, crop=True)


def softmax(op: str) -> Rule:
    def rule(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
        if node.version >= 13:
            return emit_as(lowering, scope, node, op, node.given(), axis=int(node.attrs.get("axis", -1)))
        # before version 13 the axes from `axis` on were flattened into one; flattening is not needed if only one of
        # them is not of size 1
        name, given, axis = lowering.result_name(scope, node), node.given(), int(node.attrs.get("axis", 1))
        shape = lowering.type_of(given[0]).shape
        if shape is not None and scope.parent is None:
            long = [i for i, size in enumerate(shape) if i >= axis % len(shape) and size != 1]
            if len(long) == 1:
                return emit_as(lowering, scope, node, op, given, axis=long[0])
        flat = lowering.emit(scope, "flatten", given, f"{name}/flat", axis=axis)
        done = lowering.emit(scope, op, [flat], f"{name}/of_rows", axis=1)
        again = lowering.emit(scope, "shape", given, f"{name}/shape")
        return emit_as(lowering, scope, node, "reshape", [done, again])

    return rule


def gemm(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
    if _few_by_many(lowering, node):
        return None
    attrs = {"transpose_a": bool(node.attrs.get("transA", 0)), "transpose_b": bool(node.attrs.get("transB", 0))}
    scale = {k: float(node.attrs.get(k, 1.0)) for k in ("alpha", "beta")}
    given = node.given() if scale["beta"] else node.given()[:2]  # what is left out is not read: it may be infinite
    return emit_as(lowering, scope, node, "gemm", given, **attrs, **scale)


def _few_by_many(lowering: OnnxLowering, node: OnnxNode) -> bool:
    """True if a few rows are multiplied by a large matrix, so that reading the matrix takes all the time. NumPy's BLAS
    reads it in threads that wait for each other and for those of onnxruntime, which has the matrix packed and is
    several times as fast.
    """
    a, b = (lowering.type_of(r) if r is not None else UNKNOWN for r in (node.input(0), node.input(1)))
    rows = a.shape[1 if node.attrs.get("transA", 0) else 0] if a.shape is not None and a.rank == 2 else None
    known = b.shape is not None and b.is_static and b.dtype == "float32"
    return rows is not None and rows <= 8 and known and math.prod(d or 0 for d in b.shape or ()) >= 1 << 16


def shift(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
    op = "left_shift" if node.attrs.get("direction") == "LEFT" else "right_shift"
    return emit_as(lowering, scope, node, op, node.given())


def top_k(lowering: OnnxLowering, scope: OnnxScope, node: OnnxNode) -> list[Ref] | None:
    if node.input(1) is None:
        return None
    axis, largest = int(node.attrs.get("axis", -1)), bool(node.attrs.get("largest", 1))
    return emit_as(lowering, scope, node, "top_k", node.given(), axis=axis, largest=largest)
