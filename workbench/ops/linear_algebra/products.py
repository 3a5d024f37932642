"""Linear algebra: products of matrices and tensors."""

from __future__ import annotations

import numpy as np

from workbench.ir.types import TensorType
from workbench.ops.define import NUMPY, REQUIRED, define
from workbench.ops.rules import (
    WRONG_ATTR,
    WRONG_SHAPE,
    RuleError,
    Shape,
    axes_in,
    broadcast,
    need_numbers,
    need_rank,
    promote,
    show,
    working,
)

FAMILY = "linear algebra"
TRANSPOSES = {"transpose_a": False, "transpose_b": False}


def _swap(shape: Shape) -> Shape:
    return shape if shape is None or len(shape) < 2 else (*shape[:-2], shape[-1], shape[-2])


def matmul_shape(a: Shape, b: Shape) -> Shape:
    """Shape of ``a @ b`` with NumPy's rules for vectors and for stacks of matrices."""
    if a == () or b == ():
        raise RuleError(WRONG_SHAPE, "takes vectors or matrices, but got a scalar.", "Use multiply for scalars.")
    if a is None or b is None:
        return None
    inner_a, inner_b = a[-1], b[-2] if len(b) > 1 else b[-1]
    if inner_a is not None and inner_b is not None and inner_a != inner_b:
        raise RuleError(
            WRONG_SHAPE,
            f"cannot multiply {show(a)} by {show(b)}: the inner sizes {inner_a} and {inner_b} differ.",
            "Transpose or reshape one of the inputs.",
        )
    rows = a[-2:-1]  # none for a vector
    columns = b[-1:] if len(b) > 1 else ()
    batch = broadcast(a[:-2], b[:-2]) or ()
    return (*batch, *rows, *columns)


def _product_dtype(types) -> str:
    need_numbers(types)
    return promote(types)


def _widened(arrays):
    """The dtype of the result, and the inputs cast to the dtype in which products are summed."""
    wanted = np.result_type(*arrays)
    work = working(wanted)
    return wanted, arrays if work == wanted else [x.astype(work) for x in arrays]


def _matmul_type(types, attrs, values):
    a = _swap(types[0].shape) if attrs.get("transpose_a", False) else types[0].shape
    b = _swap(types[1].shape) if attrs.get("transpose_b", False) else types[1].shape
    return TensorType(_product_dtype(types), matmul_shape(a, b))


def _turned(x: np.ndarray, turn: bool) -> np.ndarray:
    return np.swapaxes(x, -1, -2) if turn and x.ndim > 1 else x


def _matmul(arrays, attrs):
    wanted, (a, b) = (np.result_type(*arrays), arrays) if attrs.get("exact") else _widened(arrays)
    result = np.matmul(_turned(a, attrs.get("transpose_a", False)), _turned(b, attrs.get("transpose_b", False)))
    return np.asarray(result).astype(wanted, copy=False)


def _gemm_type(types, attrs, values):
    for x in types[:2]:
        need_rank(x, 2, "a matrix")
    shape = _matmul_type(types[:2], attrs, values).shape
    shape = (None, None) if shape is None else shape
    return TensorType(_product_dtype(types), shape if len(types) == 2 else broadcast(shape, types[2].shape))


def _gemm(arrays, attrs):
    wanted, arrays = _widened(arrays)
    result = _matmul(arrays[:2], attrs)
    alpha, beta = attrs.get("alpha", 1.0), attrs.get("beta", 1.0)
    result = result if alpha == 1 else alpha * result
    if len(arrays) > 2:
        result = result + (arrays[2] if beta == 1 else beta * arrays[2])
    return np.asarray(result).astype(wanted, copy=False)


def _dot_type(types, attrs, values):
    a, b = types[0].shape, types[1].shape
    dtype = _product_dtype(types)
    if a == () or b == ():
        return TensorType(dtype, b if a == () else a)
    if a is None or b is None:
        return TensorType(dtype, None)
    matmul_shape(a[-1:], b[-2:])  # the same check as for the inner sizes
    return TensorType(dtype, (*a[:-1], *b[:-2], *(b[-1:] if len(b) > 1 else ())))


def _dot(arrays, attrs):
    wanted, pair = _widened(arrays)
    return np.asarray(np.dot(*pair)).astype(wanted, copy=False)


def _outer_type(types, attrs, values):
    sizes = []
    for x in types:
        known = x.shape is not None and None not in x.shape
        sizes.append(int(np.prod(x.shape, dtype=np.int64)) if known else None)
    return TensorType(_product_dtype(types), tuple(sizes))


def _tensordot_axes(attrs, ranks) -> tuple[tuple[int, ...], tuple[int, ...]]:
    axes = attrs.get("axes", 2)
    if isinstance(axes, (int, np.integer)):
        first = ranks[0]
        return tuple(range(first - int(axes), first)), tuple(range(int(axes)))
    left, right = (((a,) if isinstance(a, (int, np.integer)) else tuple(a)) for a in axes)
    if len(left) != len(right):
        raise RuleError(WRONG_ATTR, f"got axes {axes!r} of different lengths.", "Give as many axes for each input.")
    return axes_in(left, ranks[0]), axes_in(right, ranks[1])


def _tensordot_type(types, attrs, values):
    dtype = _product_dtype(types)
    a, b = types[0].shape, types[1].shape
    if a is None or b is None:
        return TensorType(dtype, None)
    left, right = _tensordot_axes(attrs, (len(a), len(b)))
    for i, j in zip(left, right, strict=True):
        if a[i] is not None and b[j] is not None and a[i] != b[j]:
            raise RuleError(WRONG_SHAPE, f"cannot sum axis {i} of {show(a)} with axis {j} of {show(b)}.", "Check axes.")
    rest = [d for i, d in enumerate(a) if i not in left] + [d for j, d in enumerate(b) if j not in right]
    return TensorType(dtype, tuple(rest))


def _tensordot(arrays, attrs):
    wanted, (a, b) = _widened(arrays)
    return np.asarray(np.tensordot(a, b, _tensordot_axes(attrs, (a.ndim, b.ndim)))).astype(wanted, copy=False)


def einsum_shape(equation: str, shapes: list[Shape]) -> Shape:
    """Shape of an einsum; "..." stands for broadcast axes. Raises RuleError if sizes or counts disagree."""
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != len(shapes):
        raise RuleError(WRONG_ATTR, f"has the equation {equation!r} for {len(terms)} inputs, but got {len(shapes)}.")
    sizes: dict[str, int | None] = {}
    dots: Shape = ()
    for term, shape in zip(terms, shapes, strict=True):
        head, gap, tail = term.partition("...")
        for label in head + tail:
            sizes.setdefault(label, None)
        if shape is None:
            dots = None if gap else dots
            continue
        middle = len(shape) - len(head) - len(tail)
        if middle < 0 or (middle and not gap):
            raise RuleError(WRONG_SHAPE, f"takes {term!r}, but got the shape {show(shape)}.", "Check the equation.")
        ends = shape[: len(head)] + shape[len(head) + middle :]
        own: dict[str, int] = {}
        for label, size in zip(head + tail, ends, strict=True):
            if size is not None and own.setdefault(label, size) != size:  # a diagonal: here 1 matches only 1
                raise RuleError(WRONG_SHAPE, f"has the sizes {own[label]} and {size} for {label!r} in {equation!r}.")
        for label, size in zip(head + tail, ends, strict=True):
            # 1 matches any size, as in NumPy
            if size is None or (size == 1 and sizes[label] is not None):
                continue
            if sizes[label] not in (None, 1, size):
                raise RuleError(WRONG_SHAPE, f"has the sizes {sizes[label]} and {size} for {label!r} in {equation!r}.")
            sizes[label] = size
        if gap:
            dots = None if dots is None else broadcast(dots, shape[len(head) : len(head) + middle])
    if not arrow:
        joined = inputs.replace(".", "").replace(",", "")
        output = ("..." if "..." in inputs else "") + "".join(sorted(c for c in set(joined) if joined.count(c) == 1))
    head, gap, tail = output.partition("...")
    unknown = set(head + tail) - set(sizes)
    if unknown:
        raise RuleError(WRONG_ATTR, f"has the label {unknown.pop()!r} only on the right of {equation!r}.")
    if gap and dots is None:
        return None
    # a label with known size 1 may still have a larger unknown size elsewhere
    unsure = any(s is None or None in s for s in shapes)
    dims = {k: None if v == 1 and unsure else v for k, v in sizes.items()}
    return (*(dims[c] for c in head), *((dots or ()) if gap else ()), *(dims[c] for c in tail))


def _einsum_type(types, attrs, values):
    return TensorType(_product_dtype(types), einsum_shape(attrs["equation"], [x.shape for x in types]))


def _einsum(arrays, attrs):
    wanted, arrays = _widened(arrays)
    return np.asarray(np.einsum(attrs["equation"], *arrays)).astype(wanted, copy=False)


define(
    "matmul",
    "a b",
    _matmul_type,
    _matmul,
    "a @ b, for vectors, matrices and broadcast stacks of matrices; the attrs transpose the last two axes first. "
    "With `exact` the last digits are those of NumPy, which adds in an order of its own.",
    FAMILY,
    attrs={**TRANSPOSES, "exact": False},
    source=f"{NUMPY}generated/numpy.matmul.html",
)
define(
    "gemm",
    "a b c?",
    _gemm_type,
    _gemm,
    "alpha * a @ b + beta * c, for matrices; integers stay integers.",
    FAMILY,
    attrs={**TRANSPOSES, "alpha": 1.0, "beta": 1.0},
    source="https://onnx.ai/onnx/operators/onnx__Gemm.html",
)
define(
    "dot",
    "a b",
    _dot_type,
    _dot,
    "The sum of products over the last axis of a and the last but one of b.",
    FAMILY,
    source=f"{NUMPY}generated/numpy.dot.html",
)
define(
    "outer",
    "a b",
    _outer_type,
    lambda arrays, attrs: np.outer(*arrays),
    "Products of all pairs of elements.",
    FAMILY,
    source=f"{NUMPY}generated/numpy.outer.html",
)
define(
    "tensordot",
    "a b",
    _tensordot_type,
    _tensordot,
    "The sum of products over the axes `axes`: a count, or a pair of lists.",
    FAMILY,
    attrs={"axes": 2},
    source=f"{NUMPY}generated/numpy.tensordot.html",
)
define(
    "einsum",
    "*operands",
    _einsum_type,
    _einsum,
    "The sum of products that `equation` writes down.",
    FAMILY,
    attrs={"equation": REQUIRED},
    source=f"{NUMPY}generated/numpy.einsum.html",
)
