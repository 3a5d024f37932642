"""Bands, decompositions and linear systems: the examples of the specification, definitions, and element by element."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from workbench import ops
from workbench.errors import TypeMismatchError
from workbench.ir.types import TensorType


def run(name, *arrays, **attrs):
    results = ops.lookup(name).evaluate([np.asarray(a) for a in arrays], attrs)
    return results[0] if len(results) == 1 else results


rng = np.random.default_rng(5)
FLOATS = ("float32", "float64", "complex64", "complex128")


def stack(dtype, *shape):
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if dtype.startswith("complex") else x).astype(dtype)


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def near(a, b):
    single = a.dtype in (np.float32, np.complex64)
    np.testing.assert_allclose(a, b, rtol=2e-3 if single else 1e-9, atol=2e-4 if single else 1e-9)


# tf.linalg.diag, tf.linalg.diag_part and tf.linalg.set_diag: the examples of their documentation
def test_documented_bands():
    x = np.arange(1, 13).reshape(3, 4)  # [[1..4], [5..8], [9..12]]
    np.testing.assert_array_equal(run("matrix_diag_part", x), [1, 6, 11])
    np.testing.assert_array_equal(run("matrix_diag_part", x, 1), [2, 7, 12])
    np.testing.assert_array_equal(run("matrix_diag_part", x, [-1, 2]), [[0, 3, 8], [2, 7, 12], [1, 6, 11], [5, 10, 0]])
    np.testing.assert_array_equal(
        run("matrix_diag_part", x, [-1, 2], align="LEFT_RIGHT"), [[3, 8, 0], [2, 7, 12], [1, 6, 11], [0, 5, 10]]
    )
    np.testing.assert_array_equal(run("matrix_diag_part", x, [1, 3], 9), [[9, 9, 4], [9, 3, 8], [2, 7, 12]])
    bands = [[0, 8, 9], [1, 2, 3], [4, 5, 0]]
    np.testing.assert_array_equal(run("matrix_diag", bands, [-1, 1]), [[1, 8, 0], [4, 2, 9], [0, 5, 3]])
    np.testing.assert_array_equal(run("matrix_diag", [1, 2], -1), [[0, 0, 0], [1, 0, 0], [0, 2, 0]])
    np.testing.assert_array_equal(run("matrix_diag", [1, 2], -1, 3, 4, 9), [[9, 9, 9, 9], [1, 9, 9, 9], [9, 2, 9, 9]])
    seven = np.full((3, 3), 7)
    np.testing.assert_array_equal(run("matrix_set_diag", seven, bands, [-1, 1]), [[1, 8, 7], [4, 2, 9], [7, 5, 3]])


@pytest.mark.parametrize("align", ["RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"])
@pytest.mark.parametrize("rows, columns", [(3, 3), (2, 4), (5, 2), (1, 3)])
def test_bands_element_by_element(rows, columns, align):
    x = np.arange(1, 2 * rows * columns + 1).reshape(2, rows, columns)
    above, below = align.split("_")
    for lo, hi in itertools.combinations_with_replacement(range(-rows + 1, columns), 2):
        lines = [[x[1, i, i + d] for i in range(rows) if 0 <= i + d < columns] for d in range(hi, lo - 1, -1)]
        longest = max(map(len, lines))
        padded = []
        for d, line in zip(range(hi, lo - 1, -1), lines, strict=True):
            # the main diagonal is at the right end if either side says so
            right = (d >= 0 and above == "RIGHT") or (d <= 0 and below == "RIGHT")
            gap = [-1] * (longest - len(line))
            padded.append([*gap, *line] if right else [*line, *gap])
        band = run("matrix_diag_part", x, [lo, hi], -1, align=align)
        np.testing.assert_array_equal(band[1], padded[0] if lo == hi else padded)
        np.testing.assert_array_equal(run("matrix_set_diag", x, band, [lo, hi], align=align), x)
        made = run("matrix_diag", band, [lo, hi], rows, columns, 0, align=align)
        i, j = np.indices((rows, columns))
        np.testing.assert_array_equal(made, np.where((j - i >= lo) & (j - i <= hi), x, 0))


def test_band_part():
    x = np.array([[0, 1, 2, 3], [-1, 0, 1, 2], [-2, -1, 0, 1], [-3, -2, -1, 0]])
    expected = [[0, 1, 2, 3], [-1, 0, 1, 2], [0, -1, 0, 1], [0, 0, -1, 0]]
    np.testing.assert_array_equal(run("matrix_band_part", x, 1, -1), expected)
    np.testing.assert_array_equal(run("matrix_band_part", x, 0, -1), np.triu(x))
    np.testing.assert_array_equal(run("matrix_band_part", x, -1, 0), np.tril(x))


def test_tensor_diagonals_and_cross_products():
    x = np.arange(6).reshape(2, 3)
    full = run("tensor_diag", x)
    for i, j, k, m in np.ndindex(full.shape):
        assert full[i, j, k, m] == (x[i, j] if (i, j) == (k, m) else 0)
    np.testing.assert_array_equal(run("tensor_diag_part", full), x)
    np.testing.assert_array_equal(
        run("cross", np.eye(3, dtype=int), np.eye(3, dtype=int)[[1, 2, 0]]), np.eye(3)[[2, 0, 1]]
    )
    a, b = rng.normal(size=(2, 5, 3))
    np.testing.assert_allclose(run("cross", a, b), np.cross(a, b))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("rows, columns", [(4, 4), (5, 3), (3, 5)])
@pytest.mark.parametrize("full", [False, True])
def test_orthogonal_decompositions(dtype, rows, columns, full):
    x = stack(dtype, 2, rows, columns)
    s, u, v = run("svd", x, full_matrices=full)
    least = min(rows, columns)
    assert np.all(np.diff(s, axis=-1) <= 0) and s.dtype == x.real.dtype
    near(u[..., :least] * s[..., None, :] @ adjoint(v[..., :least]), x)
    near(adjoint(u) @ u, np.broadcast_to(np.eye(u.shape[-1]), (2, *u.shape[-1:] * 2)))
    near(adjoint(v) @ v, np.broadcast_to(np.eye(v.shape[-1]), (2, *v.shape[-1:] * 2)))
    near(run("svd", x, compute_uv=False)[0], s)
    q, r = run("qr", x, full_matrices=full)
    near(q @ r, x)
    near(adjoint(q) @ q, np.broadcast_to(np.eye(q.shape[-1]), (2, *q.shape[-1:] * 2)))
    assert np.all(np.tril(r[0], -1) == 0)


@pytest.mark.parametrize("dtype", FLOATS)
def test_square_decompositions(dtype):
    x = stack(dtype, 2, 4, 4)
    positive = x @ adjoint(x) + np.eye(4, dtype=dtype)
    lower = run("cholesky", positive)
    near(lower @ adjoint(lower), positive)
    assert np.all(np.triu(lower[0], 1) == 0)
    e, v = run("eigh", positive)
    near(positive @ v, v * e[..., None, :].astype(dtype))
    near(run("eigh", positive, compute_v=False)[0], e)
    packed, order = run("lu", x)
    unit = np.tril(packed, -1) + np.eye(4, dtype=dtype)
    near(unit @ np.triu(packed), np.take_along_axis(x, order[..., None].astype(int), 1))
    assert np.all(np.abs(np.tril(packed, -1)) <= 1 + 1e-6)  # partial pivoting
    near(run("matrix_inverse", x) @ x, np.broadcast_to(np.eye(4, dtype=dtype), x.shape))
    near(run("matrix_inverse", x, adjoint=True), adjoint(run("matrix_inverse", x)))
    # by Leibniz's formula
    leibniz = sum(
        np.linalg.det(np.eye(4)[list(p)]) * np.prod([x[:, i, p[i]] for i in range(4)], axis=0)
        for p in itertools.permutations(range(4))
    )
    near(run("determinant", x), leibniz)
    sign, size = run("log_determinant", x)
    near(sign * np.exp(size), leibniz)


@pytest.mark.parametrize("dtype", FLOATS)
def test_linear_systems(dtype):
    a, b = stack(dtype, 2, 4, 4) + 3 * np.eye(4, dtype=dtype), stack(dtype, 2, 4, 3)
    near(a @ run("solve", a, b), b)
    near(adjoint(a) @ run("solve", a, b, adjoint=True), b)
    near(a[0] @ run("solve", a[0], b), b)  # one matrix for all of the batch
    for lower, turned in itertools.product((True, False), repeat=2):
        triangle = np.tril(a) if lower else np.triu(a)
        x = run("triangular_solve", a, b, lower=lower, adjoint=turned)
        near((adjoint(triangle) if turned else triangle) @ x, b)
        near(
            run("triangular_solve", a[0], b, lower=lower, adjoint=turned)[1],
            run("triangular_solve", a[0], b[1], lower=lower, adjoint=turned),
        )


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("rows, columns", [(6, 3), (3, 6)])
def test_least_squares(dtype, rows, columns):
    a, b = stack(dtype, 2, rows, columns), stack(dtype, 2, rows, 2)
    for i, x in enumerate(run("lstsq", a, b)):
        near(x, np.linalg.lstsq(a[i], b[i])[0])
    x = run("lstsq", a, b, 0.25)  # where the gradient of the sum of squares is 0
    near(adjoint(a) @ (a @ x - b) + np.asarray(0.25, x.real.dtype) * x, np.zeros_like(x))


def test_adjoint_products():
    a, b = stack("complex128", 2, 3, 4), stack("complex128", 3, 4)
    np.testing.assert_allclose(run("adjoint_matmul", a, b, adjoint_b=True), a @ b.conj().T)
    np.testing.assert_allclose(run("adjoint_matmul", a, b, adjoint_a=True), np.conj(a).transpose(0, 2, 1) @ b)


@pytest.mark.parametrize("name", ["lu", "matrix_inverse"])
def test_singular_matrices_fail(name):
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        run(name, np.zeros((2, 2)))


WRONG = [
    ("matrix_diag_part", ["float32[3]"], {}, "wrong-shape", "takes matrices"),
    ("matrix_diag_part", ["float32[3,3]"], {"align": "UP"}, "wrong-attr", "align diagonals"),
    ("matrix_diag", ["float32[]"], {}, "wrong-shape", "takes diagonals"),
    ("matrix_set_diag", ["float32[3,3]", "float32[2]"], {}, "wrong-shape", "float32[3]"),
    ("tensor_diag_part", ["float32[3,2]"], {}, "wrong-shape", "one shape twice"),
    ("cross", ["float32[2]", "float32[2]"], {}, "wrong-shape", "3 numbers"),
    ("cholesky", ["float32[2,3]"], {}, "wrong-shape", "square"),
    ("determinant", ["int32[2,2]"], {}, "wrong-dtype", "floats"),
    ("svd", ["float32[2]"], {}, "wrong-shape", "takes matrices"),
    ("solve", ["float32[3,3]", "float32[2,1]"], {}, "wrong-shape", "3 and 2 rows"),
    ("lstsq", ["float32[4,2,2]", "float32[2,1]"], {}, "wrong-shape", "batch axes"),
    ("adjoint_matmul", ["float32[2,3]", "float32[2,3]"], {}, "wrong-shape", "inner sizes"),
]


@pytest.mark.parametrize("name, types, attrs, slug, words", WRONG, ids=[f"{w[0]}-{i}" for i, w in enumerate(WRONG)])
def test_errors(name, types, attrs, slug, words):
    with pytest.raises(TypeMismatchError) as caught:
        ops.lookup(name).infer([TensorType.parse(t) for t in types], attrs, [None] * len(types))
    assert caught.value.slug == slug and words in caught.value.message and caught.value.fix


def test_errors_of_values():
    x, two = np.zeros((2, 3)), np.zeros((2,))
    for name, arrays, words in [
        ("matrix_diag_part", (x, 3), "no diagonal 3"),
        ("matrix_diag_part", (x, [1, 0]), "diagonals (1, 0)"),
        ("matrix_diag", (two, 0, 3, 3), "fit exactly"),
        ("lstsq", (x, x, -1.0), "from 0 on"),
    ]:
        with pytest.raises(TypeMismatchError) as caught:
            run(name, *arrays)
        assert words in str(caught.value)
