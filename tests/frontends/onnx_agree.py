"""Checks of a node's result: equal to that of onnxruntime or ONNX's evaluator, or near the result in float64."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from tests.frontends.onnx_expected import Node, by_reference, by_runtime, in_float64

#: steps of the dtype by which the result of a single elementwise op may differ from the exact one
STEPS = 4
#: sums of many terms, with possible rounding at each addition
SUMS = ("ReduceSum", "ReduceMean", "ReduceL1", "ReduceSumSquare", "CumSum", "MatMul", "Gemm", "Einsum", "Sum", "Mean")


def same(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Mask of equal elements of two arrays: NaN equals NaN, a zero equals a zero of the same sign."""
    if one.dtype.kind in "biu":
        return np.asarray(one == other)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        a, b = one.astype(np.float64), other.astype(np.float64)
    return np.asarray(((a == b) & (np.signbit(a) == np.signbit(b))) | (np.isnan(a) & np.isnan(b)))


def near(got: np.ndarray, truth: np.ndarray, slack: np.ndarray | float) -> np.ndarray:
    """Mask of the elements of a result that are within STEPS of its dtype and ``slack`` of the exact one."""
    import ml_dtypes

    limits = ml_dtypes.finfo(got.dtype)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = got.astype(np.float64)
        away = (
            STEPS * np.maximum(np.abs(truth) * float(limits.eps), float(limits.smallest_normal) * float(limits.eps))
            + slack
        )
        low, high = ((truth + sign * away).astype(got.dtype).astype(np.float64) for sign in (-1, 1))
        return np.asarray((low <= x) & (x <= high) | np.isnan(truth) & np.isnan(x) | (x == truth))


def slack_of(node: Node, arrays: Sequence[np.ndarray], results: Sequence[np.ndarray]) -> list[np.ndarray | float]:
    """The error from rounding each of the terms of a sum: 16-bit floats are added in float32."""
    eps = 2.0**-52 if results[0].dtype == np.float64 else 2.0**-23
    exact = in_float64(node, list(arrays)) if node.op in ("Softmax", "LogSoftmax", "Gelu") else None
    if exact is not None:  # of exp(x) by the rounding of x, of its logarithm by that of exp(x)
        with np.errstate(all="ignore"):
            away = [2.0 if node.op == "LogSoftmax" else 2 * np.abs(e) * (1 + np.abs(np.log(np.abs(e)))) for e in exact]
            return [np.nan_to_num(eps * a, nan=0.0, posinf=0.0) for a in away]
    if node.op not in SUMS:
        return [0.0] * len(results)
    sizes = in_float64(node, [np.abs(a) if a.dtype.kind not in "biu" else a for a in arrays])
    terms = max((a.size for a in arrays), default=1)
    if sizes is None:
        return [0.0] * len(results)
    return [np.nan_to_num(terms * eps * np.abs(s), nan=0.0, posinf=0.0) for s in sizes]


def disagreement(
    node: Node, arrays: list[np.ndarray], got: Sequence[np.ndarray], known: list | None = None
) -> str | None:
    """A complaint about the results of a node; None if they are right."""
    wanted = by_runtime(node, arrays) if known is None else known
    whose = "onnxruntime"
    if wanted is None:
        wanted, whose = by_reference(node, arrays), "reference"
    if wanted is None:
        return None
    for place, (mine, theirs) in enumerate(zip(got, wanted, strict=True)):
        mine = np.asarray(mine)
        if node.op == "ReduceLogSumExp":  # for only zeros the evaluator subtracts infinity from itself
            theirs = np.where(np.isneginf(mine) & np.isnan(theirs), mine, theirs)
        if node.op == "NonZero":  # for a scalar onnxruntime and NumPy give one row of positions, the standard none
            theirs = theirs[: arrays[0].ndim]
        if mine.dtype != theirs.dtype or mine.shape != theirs.shape:
            return f"output {place}: {mine.dtype}{mine.shape}, {whose} {theirs.dtype}{theirs.shape}"
        right = same(mine, theirs)
        if right.all():
            continue
        if (
            whose == "onnxruntime"
            and (other := by_reference(node, arrays)) is not None
            and other[place].shape == mine.shape
        ):
            right = right | same(mine, other[place]) & (
                (mine.dtype.kind in "biu") | ~np.isfinite(mine.astype(np.float64))
            )
        truth = in_float64(node, arrays) if mine.dtype.kind not in "biu" else None
        if truth is not None and truth[place].shape == mine.shape:
            right = right | near(mine, truth[place], slack_of(node, arrays, got)[place])
        elif mine.dtype.kind not in "biu":
            right = right | near(mine, theirs.astype(np.float64), 0.0)
        if not right.all():
            at = tuple(int(k) for k in np.argwhere(~right)[0])
            exact = "" if truth is None or truth[place].shape != mine.shape else f", in float64 {truth[place][at]!r}"
            return f"output {place} {list(at)}: {mine[at]!r}, {whose} {theirs[at]!r}{exact}"
    return None
