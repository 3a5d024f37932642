"""Products, decompositions, diagonals of matrices, and Fourier transforms."""

from __future__ import annotations

import numpy as np

from workbench.frontends.tf.graphdef import NodeDef
from workbench.frontends.tf.rules.base import Constant, LoweredNode, Rule, attrs, plain, same
from workbench.frontends.tf.tensor_proto import DTypeAttr


def _batch_matmul(node: NodeDef, constant: Constant) -> LoweredNode:
    turned = [bool(node.attrs.get(key, False)) for key in ("adj_x", "adj_y")]
    dtype = node.attrs.get("T") or node.attrs.get("Ta")
    if any(turned) and isinstance(dtype, DTypeAttr) and dtype.name.startswith("complex"):
        return LoweredNode("adjoint_matmul", node.inputs, {"adjoint_a": turned[0], "adjoint_b": turned[1]})
    return LoweredNode("matmul", node.inputs, {"transpose_a": turned[0], "transpose_b": turned[1]})


def _svd(node: NodeDef, constant: Constant) -> LoweredNode:
    wanted, full = bool(node.attrs.get("compute_uv", True)), bool(node.attrs.get("full_matrices", False))
    return LoweredNode("svd", node.inputs, {"compute_uv": wanted, "full_matrices": full})


def _lstsq(node: NodeDef, constant: Constant) -> LoweredNode:
    regularizer = constant(node.inputs[2]) if len(node.inputs) > 2 else None
    # a regularizer of 0 is dropped: without it the method also works for matrices without full rank
    if regularizer is not None and not np.any(regularizer):
        return LoweredNode("lstsq", node.inputs[:2], also_after=(node.inputs[2].node,))
    return LoweredNode("lstsq", node.inputs)


def _aligned(op: str, default: str) -> Rule:
    return lambda node, constant: LoweredNode(op, node.inputs, {"align": plain(node.attrs.get("align")) or default})


_FOURIER = {
    f"{theirs}{n}D": f"{ours}{n}d"
    for theirs, ours in (("FFT", "fft"), ("IFFT", "ifft"), ("RFFT", "rfft"), ("IRFFT", "irfft"))
    for n in (2, 3)
}
_ONE_TO_ONE = {
    "Cholesky": "cholesky",
    "BatchCholesky": "cholesky",
    "MatrixDeterminant": "determinant",
    "BatchMatrixDeterminant": "determinant",
    "LogMatrixDeterminant": "log_determinant",
    "MatrixBandPart": "matrix_band_part",
    "BatchMatrixBandPart": "matrix_band_part",
    "Diag": "tensor_diag",
    "DiagPart": "tensor_diag_part",
    "Cross": "cross",
    "FFT": "fft",
    "IFFT": "ifft",
    "RFFT": "rfft",
    "IRFFT": "irfft",
    **_FOURIER,
}

RULES: dict[str, Rule] = {
    **{theirs: same(ours) for theirs, ours in _ONE_TO_ONE.items()},
    **dict.fromkeys(("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"), _batch_matmul),
    **dict.fromkeys(("Svd", "BatchSvd"), _svd),
    **dict.fromkeys(("MatrixInverse", "BatchMatrixInverse"), attrs("matrix_inverse", adjoint="adjoint")),
    **dict.fromkeys(("MatrixSolve", "BatchMatrixSolve"), attrs("solve", adjoint="adjoint")),
    **dict.fromkeys(
        ("MatrixTriangularSolve", "BatchMatrixTriangularSolve"),
        attrs("triangular_solve", lower="lower", adjoint="adjoint"),
    ),
    **dict.fromkeys(("MatrixSolveLs", "BatchMatrixSolveLs"), _lstsq),
    "Qr": attrs("qr", full_matrices="full_matrices"),
    "SelfAdjointEigV2": attrs("eigh", compute_v="compute_v"),
    "Lu": attrs("lu", dtype="output_idx_type"),
    **dict.fromkeys(("MatrixDiag", "MatrixDiagV2", "BatchMatrixDiag"), _aligned("matrix_diag", "LEFT_LEFT")),
    **dict.fromkeys(
        ("MatrixDiagPart", "MatrixDiagPartV2", "BatchMatrixDiagPart"), _aligned("matrix_diag_part", "LEFT_LEFT")
    ),
    **dict.fromkeys(
        ("MatrixSetDiag", "MatrixSetDiagV2", "BatchMatrixSetDiag"), _aligned("matrix_set_diag", "LEFT_LEFT")
    ),
    "MatrixDiagV3": _aligned("matrix_diag", "RIGHT_LEFT"),
    "MatrixDiagPartV3": _aligned("matrix_diag_part", "RIGHT_LEFT"),
    "MatrixSetDiagV3": _aligned("matrix_set_diag", "RIGHT_LEFT"),
    "Einsum": attrs("einsum", equation="equation"),
}
