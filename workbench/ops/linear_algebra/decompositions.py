"""Decompositions of stacks of matrices, and solvers that use them.

Computed by LAPACK in the dtype of the input; float16 and bfloat16 are computed in float32, integers and bools are
refused. Matrices are the last two axes; axes before them are a batch. A singular or not positive definite matrix
fails the run, as the decomposition does not exist.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.ir.types import TensorType
from workbench.ops.define import NUMPY, define
from workbench.ops.rules import WRONG_SHAPE, RuleError, attr_dtype, need_kinds

FAMILY = "decompositions"
TF = "https://www.tensorflow.org/api_docs/python/tf/"
_REAL = {"complex64": "float32", "complex128": "float64"}


def matrices(x: TensorType, what: str = "input", square: bool = False):
    """Batch, rows and columns; None for an unknown rank. Raises RuleError for anything but matrices of floats."""
    need_kinds(x, "fc", what, "floats or complex numbers")
    if x.shape is None:
        return None
    if len(x.shape) < 2:
        raise RuleError(WRONG_SHAPE, f"takes matrices as {what}, but got {x}.", "Give a tensor of rank 2 or more.")
    *batch, rows, columns = x.shape
    if square and None not in (rows, columns) and rows != columns:
        raise RuleError(WRONG_SHAPE, f"takes square matrices as {what}, but got {x}.", "Make rows and columns equal.")
    return tuple(batch), rows, columns


def _least(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else min(a, b)


def working(x: np.ndarray) -> np.ndarray:
    """``x`` in a dtype that LAPACK supports."""
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


def adjoint(x: np.ndarray) -> np.ndarray:
    """The conjugate of x with its last two axes swapped."""
    return np.conj(np.swapaxes(x, -1, -2))


def pair(arrays):
    """Two arrays cast to a common dtype that LAPACK supports, and their common dtype."""
    wanted = np.result_type(*arrays)
    a, b = (working(x.astype(wanted, copy=False)) for x in arrays[:2])
    return a, b, wanted


def _square_type(types, attrs, values):
    parts = matrices(types[0], square=True)
    if parts is None:
        return types[0]
    batch, rows, columns = parts
    size = columns if rows is None else rows
    return TensorType(types[0].dtype, (*batch, size, size))


def _square(name: str, function: Callable, doc: str, url: str, attrs=None) -> None:
    def evaluate(arrays, given):
        x = working(arrays[0])
        x = adjoint(x) if given.get("adjoint", False) else x
        return function(x).astype(arrays[0].dtype, copy=False)

    define(name, "x", _square_type, evaluate, doc, FAMILY, attrs=attrs, source=url)


def _number_type(types, attrs, values):
    parts = matrices(types[0], square=True)
    return TensorType(types[0].dtype, None if parts is None else parts[0])


def _det(arrays, attrs):
    return np.linalg.det(working(arrays[0])).astype(arrays[0].dtype, copy=False)


def _slogdet_type(types, attrs, values):
    return _number_type(types, attrs, values), _number_type(types, attrs, values)


def _slogdet(arrays, attrs):
    return [np.asarray(part).astype(arrays[0].dtype, copy=False) for part in np.linalg.slogdet(working(arrays[0]))]


def _svd_type(types, attrs, values):
    x, parts = types[0], matrices(types[0])
    real = _REAL.get(x.dtype, x.dtype)
    if not attrs.get("compute_uv", True):
        # without them the two matrices are empty, as in TensorFlow
        empty = TensorType(x.dtype, (0,))
        s = None if parts is None else (*parts[0], _least(*parts[1:]))
        return TensorType(real, s), empty, empty
    if parts is None:
        return TensorType(real, None), TensorType(x.dtype, None), TensorType(x.dtype, None)
    batch, rows, columns = parts
    least, full = _least(rows, columns), attrs.get("full_matrices", False)
    u = (*batch, rows, rows if full else least)
    v = (*batch, columns, columns if full else least)
    return TensorType(real, (*batch, least)), TensorType(x.dtype, u), TensorType(x.dtype, v)


def _svd(arrays, attrs):
    x = arrays[0]
    real = x.real.dtype
    if not attrs.get("compute_uv", True):
        s = np.linalg.svd(working(x), compute_uv=False)
        return s.astype(real, copy=False), np.zeros(0, x.dtype), np.zeros(0, x.dtype)
    u, s, vh = np.linalg.svd(working(x), full_matrices=bool(attrs.get("full_matrices", False)))
    return s.astype(real, copy=False), u.astype(x.dtype, copy=False), adjoint(vh).astype(x.dtype, copy=False)


def _qr_type(types, attrs, values):
    x, parts = types[0], matrices(types[0])
    if parts is None:
        return x, x
    batch, rows, columns = parts
    inner = rows if attrs.get("full_matrices", False) else _least(rows, columns)
    return TensorType(x.dtype, (*batch, rows, inner)), TensorType(x.dtype, (*batch, inner, columns))


def _qr(arrays, attrs):
    x = working(arrays[0])
    parts = np.linalg.qr(x, "complete") if attrs.get("full_matrices", False) else np.linalg.qr(x, "reduced")
    return [part.astype(arrays[0].dtype, copy=False) for part in parts]


def _eigh_type(types, attrs, values):
    x, parts = types[0], matrices(types[0], square=True)
    real = _REAL.get(x.dtype, x.dtype)
    if parts is None:
        return TensorType(real, None), (x if attrs.get("compute_v", True) else TensorType(x.dtype, (0,)))
    batch, rows, columns = parts
    size = columns if rows is None else rows
    vectors = (*batch, size, size) if attrs.get("compute_v", True) else (0,)
    return TensorType(real, (*batch, size)), TensorType(x.dtype, vectors)


def _eigh(arrays, attrs):
    x = arrays[0]
    real = x.real.dtype
    if not attrs.get("compute_v", True):
        return np.linalg.eigvalsh(working(x)).astype(real, copy=False), np.zeros(0, x.dtype)
    e, v = np.linalg.eigh(working(x))
    return e.astype(real, copy=False), v.astype(x.dtype, copy=False)


def _lu_type(types, attrs, values):
    parts = matrices(types[0], square=True)
    order = attr_dtype({"dtype": "int32", **attrs})
    return _square_type(types, attrs, values), TensorType(order, None if parts is None else (*parts[0], parts[1]))


def _lu(arrays, attrs):
    """LU decomposition by rows with partial pivoting, for all matrices of the batch at once.
    https://en.wikipedia.org/wiki/LU_decomposition.
    """
    x = arrays[0]
    work = working(x).copy().reshape(-1, *x.shape[-2:])
    size, many = work.shape[-1], np.arange(len(work))
    order = np.tile(np.arange(size), (len(work), 1))
    for j in range(size if len(work) else 0):
        pivot = j + np.argmax(np.abs(work[:, j:, j]), axis=1)
        for rows in (work, order):
            rows[many, j], rows[many, pivot] = rows[many, pivot].copy(), rows[many, j].copy()
        if np.any(work[:, j, j] == 0):
            raise np.linalg.LinAlgError("Singular matrix")
        work[:, j + 1 :, j] /= work[:, j, j, None]
        work[:, j + 1 :, j + 1 :] -= work[:, j + 1 :, j, None] * work[:, j, None, j + 1 :]
    lu = work.reshape(x.shape).astype(x.dtype, copy=False)
    return lu, order.reshape(x.shape[:-1]).astype(attrs.get("dtype", "int32"))


ADJOINT = {"adjoint": False}
_square(
    "cholesky",
    np.linalg.cholesky,
    "The lower triangular matrix L with L @ adjoint(L) = x; only the lower triangle of x is read.",
    f"{NUMPY}generated/numpy.linalg.cholesky.html",
)
_square(
    "matrix_inverse",
    np.linalg.inv,
    "The inverses of matrices, with `adjoint` of their adjoints.",
    f"{NUMPY}generated/numpy.linalg.inv.html",
    ADJOINT,
)
define(
    "determinant",
    "x",
    _number_type,
    _det,
    "The determinants of matrices.",
    FAMILY,
    source=f"{NUMPY}generated/numpy.linalg.det.html",
)
define(
    "log_determinant",
    "x",
    _slogdet_type,
    _slogdet,
    "Sign and logarithm of the absolute value of determinants.",
    FAMILY,
    outputs="sign log_abs",
    source=f"{NUMPY}generated/numpy.linalg.slogdet.html",
)
define(
    "svd",
    "x",
    _svd_type,
    _svd,
    "Singular values s and matrices u and v with x = u * s @ adjoint(v).",
    FAMILY,
    outputs="s u v",
    attrs={"compute_uv": True, "full_matrices": False},
    source=f"{TF}linalg/svd",
)
define(
    "qr",
    "x",
    _qr_type,
    _qr,
    "q with orthonormal columns and upper triangular r with x = q @ r.",
    FAMILY,
    outputs="q r",
    attrs={"full_matrices": False},
    source=f"{NUMPY}generated/numpy.linalg.qr.html",
)
define(
    "eigh",
    "x",
    _eigh_type,
    _eigh,
    "Ascending eigenvalues and eigenvectors (in columns) of matrices that equal "
    "their adjoint; only the lower triangle is read.",
    FAMILY,
    outputs="values vectors",
    attrs={"compute_v": True},
    source=f"{NUMPY}generated/numpy.linalg.eigh.html",
)
define(
    "lu",
    "x",
    _lu_type,
    _lu,
    "L below the diagonal (its own is 1) and U from it on, in one matrix, and the order "
    "of the rows of x in which x[order] = L @ U.",
    FAMILY,
    outputs="lu order",
    attrs={"dtype": "int32"},
    source=f"{TF}linalg/lu",
)
