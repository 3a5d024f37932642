"""GraphDef nodes of mathematics and arrays: the right op and attributes, the numbers of its outputs, their dtypes."""

from __future__ import annotations

import numpy as np
import pytest

from tests.frontends.protobytes import const, data, float32, integer, node, shape, tensor
from workbench.errors import UnknownOpError
from workbench.frontends import from_graphdef

NUMBERS = {"f4": 1, "f8": 2, "i4": 3, "u1": 4, "i1": 6, "c8": 8, "i8": 9, "b1": 10, "c16": 18, "u8": 23, "u4": 22}


def kind(dtype) -> int:
    return NUMBERS[np.dtype(dtype).str[1:]]


def value(entry) -> bytes:
    """An AttrValue: a bool, an int, a float, text, a dtype, a tuple as a shape, or a list of floats."""
    if isinstance(entry, bool):
        return integer(5, int(entry))
    if isinstance(entry, int):
        return integer(3, entry)
    if isinstance(entry, float):
        return float32(4, entry)
    if isinstance(entry, str):
        return data(2, entry)
    if isinstance(entry, tuple):
        return data(7, shape(*entry))
    if isinstance(entry, list):
        return data(1, b"".join(float32(4, x) for x in entry))
    return integer(6, kind(entry))


def results(op, inputs, attrs, outputs=1):
    arrays = [np.asarray(x) for x in inputs]
    parts = [const(f"c{i}", tensor(kind(a.dtype), a.shape, data(4, a.tobytes()))) for i, a in enumerate(arrays)]
    parts.append(node("n", op, *(f"c{i}" for i in range(len(arrays))), **{k: value(v) for k, v in attrs.items()}))
    graph = from_graphdef(b"".join(parts), outputs=[f"n:{i}" for i in range(outputs)])
    got = graph.run()
    return [got[f"n:{i}"] for i in range(outputs)]


rng = np.random.default_rng(2)
M = rng.normal(size=(3, 3)) + 2 * np.eye(3)
Z = (M + 1j * M.T).astype(np.complex64)
F = np.array([1.5, -2.0, 0.25], np.float32)

f4, i4, i8 = np.float32, np.int32, np.int64
X = np.arange(12, dtype=f4).reshape(3, 4)


def ints(*values, dtype=i4):
    return np.array(values, dtype)


CASES = {
    # name: op, inputs, attrs, expected outputs
    "old select of rows": ("Select", [[True, False, True], X, -X], {"T": f4}, [X * np.array([[1], [-1], [1]], f4)]),
    "bitcast": ("Bitcast", [F], {"type": i4}, [F.view(i4)]),
    "adjoint of complex": ("BatchMatMulV2", [Z, Z], {"adj_x": True, "T": np.complex64}, [Z.conj().T @ Z]),
    "adjoint of real": ("BatchMatMul", [X, X], {"adj_y": True, "T": f4}, [X @ X.T]),
    "svd values only": ("Svd", [M], {"compute_uv": False}, [np.linalg.svd(M, compute_uv=False)]),
    "determinant": ("MatrixDeterminant", [M], {}, [np.linalg.det(M)]),
    "sign and log": ("LogMatrixDeterminant", [M], {}, list(np.linalg.slogdet(M))),
    "solve": ("MatrixSolve", [M, M.T], {"adjoint": True}, [np.linalg.solve(M.T, M.T)]),
    "upper": ("MatrixTriangularSolve", [M, M.T], {"lower": False}, [np.linalg.solve(np.triu(M), M.T)]),
    "least squares": ("MatrixSolveLs", [M[:, :2], M, 0.0], {}, [np.linalg.lstsq(M[:, :2], M)[0]]),
    "inverse": ("MatrixInverse", [M], {"adjoint": True}, [np.linalg.inv(M.T)]),
    "eigenvalues": ("SelfAdjointEigV2", [M + M.T], {"compute_v": False}, [np.linalg.eigvalsh(M + M.T)]),
    "diag": ("MatrixDiag", [F], {}, [np.diag(F)]),
    "diag at its old alignment": (
        "MatrixDiagV2",
        [X[:, :3], ints(-1, 1), i4(3), i4(3), f4(0)],
        {},
        [np.array([[4, 0, 0], [8, 5, 1], [0, 9, 6]], f4)],
    ),
    "diag at its new alignment": (
        "MatrixDiagV3",
        [X[:, :3], ints(-1, 1), i4(3), i4(3), f4(0)],
        {},
        [np.array([[4, 1, 0], [8, 5, 2], [0, 9, 6]], f4)],
    ),
    "diag part": (
        "MatrixDiagPartV3",
        [X, ints(1, 2), f4(9)],
        {"align": "LEFT_LEFT"},
        [np.array([[2, 7, 9], [1, 6, 11]], f4)],
    ),
    "set diag": ("MatrixSetDiag", [X, F], {}, [np.where(np.eye(3, 4) == 1, F[:, None], X)]),
    "diag of a matrix": ("Diag", [X], {}, [np.diag(X.reshape(-1)).reshape(3, 4, 3, 4)]),
    "diag part of a tensor": ("DiagPart", [M], {}, [np.diag(M)]),
    "fft": ("FFT2D", [Z], {"Tcomplex": np.complex64}, [np.fft.fft2(Z).astype(np.complex64)]),
    "rfft": ("RFFT", [X, ints(3)], {}, [np.fft.rfft(X, 3).astype(np.complex64)]),
    "irfft": ("IRFFT", [Z, ints(4)], {}, [np.fft.irfft(Z, 4).astype(f4)]),
    "segments": ("SegmentMax", [F, ints(0, 0, 2)], {"T": f4}, [np.array([1.5, 0, 0.25], f4)]),
    "unsorted": ("UnsortedSegmentProd", [F, ints(1, -1, 1), i4(3)], {}, [np.array([1, 0.375, 1], f4)]),
    "sparse": (
        "SparseSegmentSqrtNWithNumSegments",
        [F, ints(0, 0), ints(1, 1), i4(2)],
        {},
        [np.array([0, 3 / np.sqrt(2)], f4)],
    ),
    "bincount": ("Bincount", [ints(0, 2, 2), i4(4), np.zeros(0, f4)], {"T": f4}, [np.array([1, 0, 2, 0], f4)]),
    "dense bincount": (
        "DenseBincount",
        [ints(0, 2, 2), i4(3), np.zeros(0, i8)],
        {"T": i8, "binary_output": True},
        [np.array([1, 0, 1], i8)],
    ),
    "parts": ("DynamicPartition", [F, ints(1, 0, 1)], {"num_partitions": 2}, [F[[1]], F[[0, 2]]]),
    "stitch": ("ParallelDynamicStitch", [ints(1), ints(0, 2), F[:1], F[1:]], {"N": 2}, [F[[1, 0, 2]]]),
    "difference": ("ListDiff", [ints(1, 2, 3), ints(2)], {"out_idx": i8}, [ints(1, 3), ints(0, 2, dtype=i8)]),
    "identities": ("IdentityN", [F, X], {}, [F, X]),
    "shapes": ("ShapeN", [F, X], {"out_type": i8}, [ints(3, dtype=i8), ints(3, 4, dtype=i8)]),
    "nth": ("NthElement", [X, i4(1)], {"reverse": True}, [X[:, 2]]),
    "buckets": ("Bucketize", [F], {"boundaries": [0.0, 1.0]}, [ints(2, 0, 1)]),
    "upper bound": ("UpperBound", [X, X[:, :1]], {"out_type": i8}, [np.ones((3, 1), i8)]),
    "unique": ("Unique", [ints(5, 3, 5)], {"out_idx": i8}, [ints(5, 3), ints(0, 1, 0, dtype=i8)]),
    "unique rows": (
        "UniqueWithCountsV2",
        [X[[1, 0, 1]], ints(0, dtype=i8)],
        {},
        [X[[1, 0]], ints(0, 1, 0), ints(2, 1)],
    ),
    "pad with a value": ("PadV2", [F, ints(1, 0).reshape(1, 2), f4(7)], {}, [np.array([7, *F], f4)]),
    "mirror": ("MirrorPad", [F, ints(2, 0).reshape(1, 2)], {"mode": "REFLECT"}, [F[[2, 1, 0, 1, 2]]]),
    "symmetric": ("MirrorPad", [F, ints(2, 0).reshape(1, 2)], {"mode": "SYMMETRIC"}, [F[[1, 0, 0, 1, 2]]]),
    "roll": ("Roll", [X, ints(1, -1), ints(0, 1)], {}, [np.roll(X, (1, -1), (0, 1))]),
    "parallel": ("ParallelConcat", [X[:1], X[2:]], {"shape": (2, 4)}, [X[[0, 2]]]),
    "empty": ("Empty", [ints(2, 1)], {"dtype": i8, "init": True}, [np.zeros((2, 1), i8)]),
    "batch gather": (
        "GatherV2",
        [X, ints(1, 0, 3).reshape(3, 1), i4(1)],
        {"batch_dims": 1},
        [np.take_along_axis(X, np.array([[1], [0], [3]]), 1)],
    ),
    "scattered": ("TensorScatterSub", [F, ints(1, 1).reshape(2, 1), np.ones(2, f4)], {}, [F - np.array([0, 2, 0], f4)]),
    "added": (
        "ScatterNdNonAliasingAdd",
        [F, ints(1, 1).reshape(2, 1), np.ones(2, f4)],
        {},
        [F + np.array([0, 2, 0], f4)],
    ),
    "ensured": ("EnsureShape", [X], {"shape": (3, -1)}, [X]),
    "greatest of none": ("Max", [X[:0], ints(0)], {}, [np.full(4, -np.inf, f4)]),
    "length": ("EuclideanNorm", [X, ints(1)], {}, [np.linalg.norm(X, axis=1)]),
    "running": ("CumulativeLogsumexp", [F, i4(0)], {"reverse": True}, [np.logaddexp.accumulate(F[::-1])[::-1]]),
    "clipped": ("ClipByValue", [F, f4(-1), f4(1)], {}, [np.clip(F, -1, 1)]),
    "complex": ("Complex", [F, F], {}, [(F + 1j * F).astype(np.complex64)]),
    "modulus": ("ComplexAbs", [Z], {}, [np.abs(Z)]),
    "bits": ("PopulationCount", [ints(7, 8)], {}, [np.array([3, 1], np.uint8)]),
    "near": ("ApproximateEqual", [F, F + 0.5], {"T": f4, "tolerance": 0.5}, [np.ones(3, bool)]),
    "nearer": ("ApproximateEqual", [np.zeros(2), np.array([9.9999e-6, 1e-5])], {}, [np.array([True, False])]),
    "no nan": ("DivNoNan", [F, f4(0)], {}, [np.zeros(3, f4)]),
}


@pytest.mark.parametrize("op, inputs, attrs, expected", CASES.values(), ids=CASES)
def test_nodes(op, inputs, attrs, expected):
    for got, wanted in zip(results(op, inputs, attrs, len(expected)), expected, strict=True):
        wanted = np.asarray(wanted)
        assert got.dtype == wanted.dtype and got.shape == wanted.shape
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)


def test_factors_give_the_matrix_back():
    u = results("Svd", [M], {}, 3)
    np.testing.assert_allclose(u[1] * u[0] @ u[2].T, M, atol=1e-12)
    packed, order = results("Lu", [M], {"output_idx_type": i8}, 2)
    assert order.dtype == i8
    np.testing.assert_allclose((np.tril(packed, -1) + np.eye(3)) @ np.triu(packed), M[order], atol=1e-12)
    q, r = results("Qr", [M], {"full_matrices": True}, 2)
    np.testing.assert_allclose(q @ r, M, atol=1e-12)
    lower = results("Cholesky", [M @ M.T], {})[0]
    np.testing.assert_allclose(lower @ lower.T, M @ M.T, atol=1e-12)


@pytest.mark.parametrize(
    "op, rest",
    [
        ("RandomUniform", []),
        ("RandomStandardNormal", []),
        ("TruncatedNormal", []),
        ("StatelessRandomUniform", [ints(1, 2)]),
    ],
)
def test_draws(op, rest):
    seeds = {} if rest else {"seed": 3, "seed2": 4}
    [first] = results(op, [ints(5, 2), *rest], {"dtype": np.float64, **seeds})
    assert first.shape == (5, 2) and first.dtype == np.float64 and len(np.unique(first)) == 10
    np.testing.assert_array_equal(first, results(op, [ints(5, 2), *rest], {"dtype": np.float64, **seeds})[0])
    other = {"seed2": 5} if not rest else {}
    again = results(op, [ints(5, 2), *([ints(1, 3)] if rest else [])], {"dtype": np.float64, **seeds, **other})[0]
    assert not np.intersect1d(first, again).size


def test_draws_of_other_kinds():
    seeds = {"seed": 1, "seed2": 2}
    assert results("RandomPoisson", [ints(4), f4(3)], {"dtype": f4, **seeds})[0].dtype == f4
    assert results("RandomPoissonV2", [ints(4), f4(3)], {"dtype": i8, **seeds})[0].dtype == i8
    assert results("Multinomial", [X, i4(6)], {"output_dtype": i4, **seeds})[0].shape == (3, 6)
    assert (results("RandomGamma", [ints(4), F**2], seeds)[0] > 0).all()
    assert sorted(results("RandomShuffle", [F], seeds)[0]) == sorted(F)
    key, counter = results("StatelessRandomGetKeyCounter", [ints(1, 2)], {}, 2)
    drawn = results("StatelessRandomUniformV2", [ints(3), key, counter, i4(1)], {"dtype": f4})[0]
    np.testing.assert_array_equal(drawn, results("StatelessRandomUniform", [ints(3), ints(1, 2)], {"dtype": f4})[0])


def test_variants_that_are_refused():
    with pytest.raises(UnknownOpError, match="UniqueV2 .this variant."):
        results("UniqueV2", [X, ints(0, 1, dtype=i8)], {})
    with pytest.raises(UnknownOpError, match="DynamicPartition .this variant."):
        results("DynamicPartition", [F, ints(1, 0, 1)], {"num_partitions": 2**40})
    with pytest.raises(UnknownOpError, match="Empty .this variant."):
        from_graphdef(const("c", tensor(3, (1,), integer(7, 1))) + node("n", "Empty", "c", dtype=integer(6, 7)))
