"""Products of matrices with their adjoints, of vectors of 3 numbers, and diagonals of tensors of any even rank."""

from __future__ import annotations

import numpy as np

from workbench.ir.types import TensorType
from workbench.ops.define import define
from workbench.ops.linear_algebra.decompositions import TF, adjoint, matrices, pair
from workbench.ops.linear_algebra.products import matmul_shape
from workbench.ops.rules import WRONG_SHAPE, RuleError, broadcast, element_count, need_numbers, promote, ufunc_type

FAMILY = "matrices"


def _tensor_diag_type(types, attrs, values):
    need_numbers(types)
    return TensorType(types[0].dtype, None if types[0].shape is None else types[0].shape * 2)


def _tensor_diag(arrays, attrs):
    return np.diag(arrays[0].reshape(-1)).reshape(arrays[0].shape * 2)


def _tensor_diag_part_type(types, attrs, values):
    need_numbers(types)
    shape = types[0].shape
    if shape is None:
        return TensorType(types[0].dtype, None)
    half = len(shape) // 2
    pairs = list(zip(shape[:half], shape[half:], strict=False))
    if len(shape) % 2 or not shape or any(None not in pair and pair[0] != pair[1] for pair in pairs):
        raise RuleError(WRONG_SHAPE, f"takes a tensor whose shape is one shape twice, but got {types[0]}.", "Reshape.")
    return TensorType(types[0].dtype, tuple(a if b is None else b for a, b in pairs))


def _tensor_diag_part(arrays, attrs):
    shape = arrays[0].shape[: arrays[0].ndim // 2]
    count = element_count(shape) or 0
    return np.diagonal(arrays[0].reshape(count, count)).reshape(shape)


def _cross_type(types, attrs, values):
    shape = broadcast(*(x.shape for x in types))
    if any(x.shape is not None and (not x.shape or x.shape[-1] not in (None, 3)) for x in types):
        text = " and ".join(map(str, types))
        raise RuleError(WRONG_SHAPE, f"takes vectors of 3 numbers, but got {text}.", "Make the last axis of size 3.")
    dtype = ufunc_type(np.subtract, [ufunc_type(np.multiply, types)] * 2).dtype
    return TensorType(dtype, None if shape is None else (*shape[:-1], 3))


def _cross(arrays, attrs):
    (a0, a1, a2), (b0, b1, b2) = (np.moveaxis(x, -1, 0) for x in arrays)
    return np.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], axis=-1)


def _product_type(types, attrs, values):
    shapes = []
    for x, key in zip(types, ("adjoint_a", "adjoint_b"), strict=True):
        parts = matrices(x)
        turned = attrs.get(key, False)
        shapes.append(None if parts is None else (*parts[0], *((parts[2], parts[1]) if turned else parts[1:])))
    return TensorType(promote(types), matmul_shape(*shapes))


def _product(arrays, attrs):
    a, b, wanted = pair(arrays)
    a = adjoint(a) if attrs.get("adjoint_a", False) else a
    return np.matmul(a, adjoint(b) if attrs.get("adjoint_b", False) else b).astype(wanted, copy=False)


define(
    "tensor_diag",
    "x",
    _tensor_diag_type,
    _tensor_diag,
    "Zeros of the shape of x twice over, with x where both indices are the same.",
    FAMILY,
    source=f"{TF}linalg/tensor_diag",
)
define(
    "tensor_diag_part",
    "x",
    _tensor_diag_part_type,
    _tensor_diag_part,
    "The elements of x whose index is one index twice over.",
    FAMILY,
    source=f"{TF}linalg/tensor_diag_part",
)
define(
    "cross",
    "a b",
    _cross_type,
    _cross,
    "The cross products of vectors of 3 numbers in the last axis.",
    FAMILY,
    source=f"{TF}linalg/cross",
)
define(
    "adjoint_matmul",
    "a b",
    _product_type,
    _product,
    "a @ b of floats or complex numbers; the attrs take the adjoint of an input first.",
    FAMILY,
    attrs={"adjoint_a": False, "adjoint_b": False},
    source=f"{TF}linalg/matmul",
)
