"""The derivatives of the ops that Gradient supports: from the gradient of a node's result to the term for each of its
inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import ExecutionError
from workbench.frontends.onnx.scope import OnnxScope
from workbench.ir.node import Node, Ref
from workbench.ir.opspec import REGISTRY, OpSpec
from workbench.ir.types import TensorType

if TYPE_CHECKING:
    from workbench.frontends.onnx.lower import OnnxLowering

Parts = Sequence["Ref | None"]
Derivative = Callable[["GradientStep", Node, Ref, Sequence[bool]], Parts]


class GradientStep:
    """Creates the nodes of a gradient, which are numbered within one region."""

    def __init__(self, lowering: OnnxLowering, scope: OnnxScope, region: str) -> None:
        self.lowering, self.scope, self.region, self.count = lowering, scope, region, 0

    def __call__(self, op: str, *inputs: Ref, **attrs: Any) -> Ref:
        self.count += 1
        name = f"{self.region}/{op}_{self.count}"
        return self.lowering.emit(self.scope, op, list(inputs), name, region=self.region, **attrs)

    def shaped(self, part: Ref, ref: Ref) -> Ref:
        """A term of the gradient, summed to the shape of ``ref``, which may have been broadcast."""
        return self("grad_sum_to", part, self("shape", ref))


def _binary(left: Callable[..., Ref], right: Callable[..., Ref]) -> Derivative:
    """A derivative from ``left`` and ``right``: (step, gradient, x, y, result) -> the term before broadcasting is
    undone.
    """

    def derivative(step: GradientStep, node: Node, gradient: Ref, needed: Sequence[bool]) -> Parts:
        values = (*node.inputs, node.ref())
        parts = []
        for rule, ref, wanted in zip((left, right), node.inputs, needed, strict=True):
            parts.append(step.shaped(rule(step, gradient, *values), ref) if wanted else None)
        return parts

    return derivative


def _unary(rule: Callable[[GradientStep, Ref, Ref, Ref], Ref]) -> Derivative:
    """A derivative from ``rule``: (step, gradient, x, result) -> the term."""
    return lambda step, node, gradient, needed: [rule(step, gradient, node.inputs[0], node.ref())]


def _reshaped(step: GradientStep, node: Node, gradient: Ref, needed: Sequence[bool]) -> Parts:
    return [step("reshape", gradient, step("shape", node.inputs[0]))]


def _less_square(step: GradientStep, gradient: Ref, result: Ref) -> Ref:
    """gradient * (1 - result squared)"""
    return step("subtract", gradient, step("multiply", gradient, step("multiply", result, result)))


def _logistic(step: GradientStep, gradient: Ref, x: Ref, y: Ref) -> Ref:
    part = step("multiply", gradient, y)
    return step("subtract", part, step("multiply", part, y))


def _relu(step: GradientStep, gradient: Ref, x: Ref, y: Ref) -> Ref:
    zeros = step("zeros_like", x)
    return step("where", step("greater", x, zeros), gradient, step("zeros_like", gradient))


def _power_base(step: GradientStep, gradient: Ref, x: Ref, y: Ref, result: Ref) -> Ref:
    lower = step("power", x, step("subtract", y, step("ones_like", y)))
    return step("multiply", gradient, step("multiply", y, lower))


def _summed(step: GradientStep, node: Node, gradient: Ref, needed: Sequence[bool]) -> Parts:
    x, axis = node.inputs[0], node.attrs.get("axis")
    if not node.attrs.get("keepdims") and (len(node.inputs) > 1 or axis is not None):
        more = [node.inputs[1]] if len(node.inputs) > 1 else []
        gradient = step("expand_dims", gradient, *more, **({} if more else {"axis": axis}))
    return [step("broadcast_to", gradient, step("shape", x))]


def _transposed(step: GradientStep, node: Node, gradient: Ref, needed: Sequence[bool]) -> Parts:
    perm = node.attrs.get("perm")
    back = None if perm is None else tuple(int(i) for i in np.argsort(perm))
    return [step("transpose", gradient, perm=back)]


def _matmul(step: GradientStep, node: Node, gradient: Ref, needed: Sequence[bool]) -> Parts:
    a, b = node.inputs
    left = step("matmul", gradient, step("grad_matrix_transpose", b)) if needed[0] else None
    right = step("matmul", step("grad_matrix_transpose", a), gradient) if needed[1] else None
    return [left and step.shaped(left, a), right and step.shaped(right, b)]


def _gemm(step: GradientStep, node: Node, gradient: Ref, needed: Sequence[bool]) -> Parts:
    a, b, *rest = node.inputs
    across, along = bool(node.attrs.get("transpose_a")), bool(node.attrs.get("transpose_b"))
    scale = {"alpha": float(node.attrs.get("alpha", 1.0)), "beta": 0.0}
    parts: list[Ref | None] = [None] * len(node.inputs)
    if needed[0]:
        first, second, flags = (b, gradient, (along, True)) if across else (gradient, b, (False, not along))
        parts[0] = step("gemm", first, second, transpose_a=flags[0], transpose_b=flags[1], **scale)
    if needed[1]:
        first, second, flags = (gradient, a, (True, across)) if along else (a, gradient, (not across, False))
        parts[1] = step("gemm", first, second, transpose_a=flags[0], transpose_b=flags[1], **scale)
    if rest and needed[2]:
        parts[2] = step("grad_scale", step.shaped(gradient, rest[0]), factor=float(node.attrs.get("beta", 1.0)))
    return parts


DERIVATIVES: dict[str, Derivative] = {
    "Identity": _unary(lambda s, g, x, y: g),
    "add": _binary(lambda s, g, x, y, r: g, lambda s, g, x, y, r: g),
    "subtract": _binary(lambda s, g, x, y, r: g, lambda s, g, x, y, r: s("negative", g)),
    "multiply": _binary(lambda s, g, x, y, r: s("multiply", g, y), lambda s, g, x, y, r: s("multiply", g, x)),
    "divide": _binary(
        lambda s, g, x, y, r: s("divide", g, y),
        lambda s, g, x, y, r: s("negative", s("divide", s("multiply", g, r), y)),
    ),
    "power": _binary(_power_base, lambda s, g, x, y, r: s("multiply", g, s("multiply", r, s("log", x)))),
    "negative": _unary(lambda s, g, x, y: s("negative", g)),
    "exp": _unary(lambda s, g, x, y: s("multiply", g, y)),
    "log": _unary(lambda s, g, x, y: s("divide", g, x)),
    "sqrt": _unary(lambda s, g, x, y: s("divide", g, s("add", y, y))),
    "reciprocal": _unary(lambda s, g, x, y: s("negative", s("multiply", g, s("multiply", y, y)))),
    "sin": _unary(lambda s, g, x, y: s("multiply", g, s("cos", x))),
    "cos": _unary(lambda s, g, x, y: s("negative", s("multiply", g, s("sin", x)))),
    "abs": _unary(lambda s, g, x, y: s("multiply", g, s("sign", x))),
    "tanh": _unary(lambda s, g, x, y: _less_square(s, g, y)),
    "sigmoid": _unary(_logistic),
    "softplus": _unary(lambda s, g, x, y: s("multiply", g, s("sigmoid", x))),
    "relu": _unary(_relu),
    "sum": _summed,
    "matmul": _matmul,
    "gemm": _gemm,
    "transpose": _transposed,
    "broadcast_to": lambda s, n, g, needed: [s.shaped(g, n.inputs[0])],
    "grad_sum_to": lambda s, n, g, needed: [s("broadcast_to", g, s("shape", n.inputs[0]))],
    **dict.fromkeys(("reshape", "flatten", "squeeze", "expand_dims"), _reshaped),
    # constant wherever they are differentiable
    **dict.fromkeys(
        ("sign", "floor", "ceil", "round", "zeros_like", "ones_like", "shape", "size", "greater", "less", "equal"),
        lambda s, n, g, needed: [None],
    ),
    "where": lambda s, n, g, needed: [
        None,
        s.shaped(s("where", n.inputs[0], g, s("zeros_like", g)), n.inputs[1]) if needed[1] else None,
        s.shaped(s("where", n.inputs[0], s("zeros_like", g), g), n.inputs[2]) if needed[2] else None,
    ],
}


def _sum_to_type(
    types: Sequence[TensorType], attrs: Mapping[str, Any], values: Sequence[Any]
) -> tuple[TensorType, ...]:
    shape = values[1] if len(values) > 1 else None
    return (TensorType(types[0].dtype, None if shape is None else tuple(int(d) for d in shape)),)


def _sum_to(arrays: Sequence[Any], attrs: Mapping[str, Any]) -> tuple[np.ndarray, ...]:
    x, shape = arrays[0], tuple(int(d) for d in arrays[1])
    x = np.asarray(x.sum(axis=tuple(range(x.ndim - len(shape))), dtype=x.dtype))
    grown = tuple(i for i, d in enumerate(shape) if d == 1 and x.shape[i] != 1)
    return (np.asarray(x.sum(axis=grown, keepdims=True, dtype=x.dtype)),)


def _turned(types: Sequence[TensorType], attrs: Mapping[str, Any], values: Sequence[Any]) -> tuple[TensorType, ...]:
    shape = types[0].shape
    return (TensorType(types[0].dtype, None if shape is None else (*shape[:-2], *shape[:-3:-1])),)


def _turn(arrays: Sequence[Any], attrs: Mapping[str, Any]) -> tuple[np.ndarray, ...]:
    if arrays[0].ndim < 2:
        raise ExecutionError(
            "The derivative of a matrix product needs matrices, but a factor is a vector.",
            slug="wrong-shape",
            fix="make it a matrix of one row or one column.",
        )
    return (np.swapaxes(arrays[0], -1, -2),)


def _register(name: str, inputs: str, infer: Any, evaluate: Any, doc: str, **attrs: Any) -> None:
    if name not in REGISTRY:
        REGISTRY.register(
            OpSpec(name, tuple(inputs.split()), ("output",), infer, evaluate, doc, "gradient", attrs=attrs)
        )


_register(
    "grad_sum_to",
    "x shape",
    _sum_to_type,
    _sum_to,
    "x summed over what broadcasting added, so that it has `shape` again.",
)
_register("grad_matrix_transpose", "x", _turned, _turn, "x with its last two axes exchanged.")
_register(
    "grad_scale",
    "x",
    lambda types, attrs, values: (types[0],),
    lambda arrays, attrs: (np.asarray(arrays[0] * arrays[0].dtype.type(attrs.get("factor", 1.0))),),
    "x times the number `factor`, in x's dtype.",
    factor=1.0,
)
