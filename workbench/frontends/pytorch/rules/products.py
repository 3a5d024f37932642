"""Matrix products, linear layers, and attention."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from workbench.frontends.pytorch.rules.draws import dropped
from workbench.frontends.pytorch.rules.elementwise import computed
from workbench.frontends.pytorch.rules.table import out_dtype, plain, rule, wide
from workbench.ir.builder.value import Value

if TYPE_CHECKING:
    from workbench.frontends.pytorch.lower import TorchLowering


@rule("linear.default")
def linear(lowering: TorchLowering, input: Value, weight: Value, bias: Value | None = None) -> Value:
    dtype = out_dtype(lowering)
    return lowering.cast(affine(lowering, input, weight, bias, lowering.op), dtype)


def affine(lowering: TorchLowering, x: Value, weight: Value, bias: Value | None, last: Any) -> Value:
    """``x @ weight.T + bias``, with 16-bit floats in float32; ``last`` creates the node of the result."""
    make = last if bias is None else lowering.part
    made: Value = make("matmul", wide(lowering, x), wide(lowering, weight), transpose_b=True)
    return made if bias is None else last("add", made, wide(lowering, bias))


@rule("matmul.default", "mm.default", "bmm.default", "mv.default", "dot.default")
def _matmul(
    lowering: TorchLowering, self: Value, other: Any = None, mat2: Any = None, vec: Any = None, tensor: Any = None
) -> Value:
    right = next(v for v in (other, mat2, vec, tensor) if v is not None)
    if lowering.call.target == "aten.matmul.default" and (self.type.rank == 1 or right.type.rank == 1):
        return _with_vector(lowering, self, right)
    if right.type.rank == 1:
        return _with_vector(lowering, self, right)
    return computed(lowering, "matmul", self, right)


def _with_vector(lowering: TorchLowering, a: Value, b: Value) -> Value:
    """A matrix product with a vector, which is a row on the left and a column on the right."""
    left = lowering.part("expand_dims", a, axis=0) if a.type.rank == 1 else a
    right = lowering.part("expand_dims", b, axis=1) if b.type.rank == 1 else b
    made = lowering.part("matmul", wide(lowering, left), wide(lowering, right))
    rank = made.type.rank or 2
    gone = [k for k, there in ((rank - 2, a.type.rank == 1), (rank - 1, b.type.rank == 1)) if there]
    return lowering.cast(lowering.op("squeeze", made, axis=tuple(gone)), out_dtype(lowering))


@rule("addmm.default", "baddbmm.default", "addmv.default")
def _addmm(
    lowering: TorchLowering,
    self: Value,
    mat1: Any = None,
    mat2: Any = None,
    beta: Any = 1,
    alpha: Any = 1,
    batch1: Any = None,
    batch2: Any = None,
    **named: Any,
) -> Value | None:
    left, right = (mat1, mat2) if batch1 is None else (batch1, batch2)
    if named or left is None or not plain(alpha, beta):
        return None
    product = lowering.part("matmul", wide(lowering, left), wide(lowering, right))
    if alpha != 1:
        product = lowering.part("multiply", product, lowering.number(alpha, product.dtype))
    if beta == 0:
        return lowering.cast(product, out_dtype(lowering), named=True)
    start = wide(lowering, self)
    if beta != 1:
        start = lowering.part("multiply", start, lowering.number(beta, start.dtype))
    return computed(lowering, "add", start, product)


@rule("outer.default", "ger.default")
def _outer(lowering: TorchLowering, self: Value, vec2: Value) -> Value:
    return computed(lowering, "outer", self, vec2)


@rule("einsum.default")
def _einsum(lowering: TorchLowering, equation: str, tensors: list[Value], path: Any = None) -> Value:
    return computed(lowering, "einsum", *tensors, equation=equation.replace(" ", ""))


@rule("linalg_cross.default", "cross.default")
def _cross(lowering: TorchLowering, self: Value, other: Value, dim: Any = -1) -> Value | None:
    last = dim in (-1, (self.type.rank or 0) - 1) and self.shape == other.shape
    return computed(lowering, "cross", self, other) if last else None


@rule("scaled_dot_product_attention.default")
def _attention(
    lowering: TorchLowering,
    query: Value,
    key: Value,
    value: Value,
    attn_mask: Value | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Value | None:
    size = (query.shape or (None,))[-1]
    if size is None:
        return None
    dtype = out_dtype(lowering)
    q, k, v = (wide(lowering, x) for x in (query, key, value))
    if enable_gqa:
        heads, own = (query.shape or ())[-3], (key.shape or ())[-3]
        if heads is None or own is None:
            return None
        k, v = (lowering.part("repeat", x, repeats=heads // own, axis=(x.type.rank or 3) - 3) for x in (k, v))
    factor = lowering.number(1 / math.sqrt(size) if scale is None else scale, q.dtype)
    scores = lowering.part("multiply", lowering.part("matmul", q, k, transpose_b=True), factor)
    seen = None
    if is_causal:
        ones = lowering.part(
            "fill",
            lowering.vector([lowering.sizes_of(query)[-2], lowering.sizes_of(key)[-2]]),
            lowering.number(True, "bool"),
        )
        seen = lowering.part("tril", ones)
    elif attn_mask is not None and attn_mask.dtype == "bool":
        seen = attn_mask
    elif attn_mask is not None:
        scores = lowering.part("add", scores, lowering.cast(attn_mask, scores.dtype))
    if seen is not None:
        scores = lowering.part("where", seen, scores, lowering.number(-math.inf, scores.dtype))
    weights = lowering.part("softmax", scores, axis=-1)
    if seen is not None and not is_causal:  # a row that attends to nothing gives zeros
        some = lowering.part("any", seen, axis=((seen.type.rank or 1) - 1,), keepdims=True)
        weights = lowering.part("where", some, weights, lowering.number(0.0, weights.dtype))
    if dropout_p:
        weights, _ = dropped(lowering, weights, dropout_p)
    return lowering.cast(lowering.op("matmul", weights, v), dtype)
