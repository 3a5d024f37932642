"""Systems of linear equations: exact, triangular, and in the sense of least squares.

Stacks of matrices, computed as in ``decompositions``; the batch axes of both sides broadcast, except in ``lstsq``.
A singular matrix fails the run.
"""

from __future__ import annotations

import numpy as np

from workbench.ir.types import TensorType
from workbench.ops.define import NUMPY, define
from workbench.ops.linear_algebra.decompositions import ADJOINT, TF, adjoint, matrices, pair
from workbench.ops.rules import WRONG_ATTR, WRONG_SHAPE, RuleError, broadcast, need_kinds, need_rank, promote, show

FAMILY = "decompositions"


def _right(matrix: TensorType, rhs: TensorType, turned: bool, square: bool, broadcasts: bool):
    """Dtype and shape of X in matrix @ X = rhs."""
    dtype = promote([matrix, rhs])
    a, b = matrices(matrix, "matrix", square), matrices(rhs, "right-hand side")
    if a is None or b is None:
        return TensorType(dtype, None)
    rows, columns = (a[2], a[1]) if turned else (a[1], a[2])
    if None not in (rows, b[1]) and rows != b[1]:
        raise RuleError(
            WRONG_SHAPE,
            f"cannot solve {show(matrix.shape)} @ x = {show(rhs.shape)}: {rows} and {b[1]} rows.",
            "Give as many rows on the right.",
        )
    batch = broadcast(a[0], b[0])
    if not broadcasts and len(a[0]) != len(b[0]):
        raise RuleError(WRONG_SHAPE, f"takes as many batch axes on both sides, but got {matrix} and {rhs}.", "Expand.")
    if batch is None:
        return TensorType(dtype, None)
    size = columns if not square else rows if rows is not None else columns
    return TensorType(dtype, (*batch, size if not square or rows is not None else b[1], b[2]))


def _solve_type(types, attrs, values):
    return _right(types[0], types[1], attrs.get("adjoint", False), True, True)


def _solve(arrays, attrs):
    a, b, wanted = pair(arrays)
    return np.linalg.solve(adjoint(a) if attrs.get("adjoint", False) else a, b).astype(wanted, copy=False)


def _triangular_solve(arrays, attrs):
    from scipy import linalg  # a large import, and few graphs need it

    a, b, wanted = pair(arrays)
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a = np.broadcast_to(a, (*batch, *a.shape[-2:])).reshape(-1, *a.shape[-2:])
    b = np.broadcast_to(b, (*batch, *b.shape[-2:]))
    out = np.empty(b.shape, a.dtype)
    flat = out.reshape(-1, *b.shape[-2:])
    trans = "C" if attrs.get("adjoint", False) else "N"
    for i, (left, right) in enumerate(zip(a, b.reshape(flat.shape), strict=True) if out.size else ()):
        flat[i] = linalg.solve_triangular(left, right, trans, lower=bool(attrs.get("lower", True)))
    return out.astype(wanted, copy=False)


def _lstsq_type(types, attrs, values):
    if len(types) > 2:
        need_kinds(types[2], "f", "regularizer", "a real number")
        need_rank(types[2], 0, "regularizer")
    return _right(types[0], types[1], False, False, False)


def _lstsq(arrays, attrs):
    a, b, wanted = pair(arrays[:2])
    weight = float(arrays[2]) if len(arrays) > 2 else 0.0
    if weight < 0:
        raise RuleError(WRONG_ATTR, f"takes a regularizer from 0 on, but got {weight}.", "Give a number from 0 on.")
    if weight:
        # the normal equations, which are not singular because of the regularizer
        rows, columns = a.shape[-2:]
        if rows >= columns:
            gram = adjoint(a) @ a + weight * np.eye(columns, dtype=a.dtype)
            return np.linalg.solve(gram, adjoint(a) @ b).astype(wanted, copy=False)
        gram = a @ adjoint(a) + weight * np.eye(rows, dtype=a.dtype)
        return (adjoint(a) @ np.linalg.solve(gram, b)).astype(wanted, copy=False)
    return (np.linalg.pinv(a) @ b).astype(wanted, copy=False)


define(
    "solve",
    "matrix rhs",
    _solve_type,
    _solve,
    "x with matrix @ x = rhs, with `adjoint` of the adjoint matrix.",
    FAMILY,
    attrs=ADJOINT,
    source=f"{NUMPY}generated/numpy.linalg.solve.html",
)
define(
    "triangular_solve",
    "matrix rhs",
    _solve_type,
    _triangular_solve,
    "x with matrix @ x = rhs, where only the lower (or upper) triangle of the matrix is read.",
    FAMILY,
    attrs={"lower": True, **ADJOINT},
    source=f"{TF}linalg/triangular_solve",
)
define(
    "lstsq",
    "matrix rhs regularizer?",
    _lstsq_type,
    _lstsq,
    "x with the least sum of squares of matrix @ x - rhs, plus regularizer times that of x.",
    FAMILY,
    source=f"{TF}linalg/lstsq",
)
