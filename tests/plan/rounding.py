"""Results that may be rounded in more than one way: sums of floats, in whatever order they are added up.

Method: with u half the unit in the last place of 1, any order of adding n terms gives a result within
(n - 1) u * sum|x| of the exact one, to first order (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed.,
section 4.2); a product of matrices has one more rounding a term. So two such results lie within 2 n u * sum|x| of each
other, and n eps * sum|x| is that bound. Below the normal numbers nothing is lost in additions; a product loses at most
the smallest subnormal number a term.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

#: ops whose float results depend on the order of additions
SUMMING = frozenset({"sum", "mean", "cumsum", "matmul"})


def adopt(op: str, inputs: list[Any], attrs: Mapping[str, Any], computed: Any, observed: Any) -> Any:
    """``observed`` in place of ``computed`` after a check against the bound above; other ops keep ``computed``."""
    if op not in SUMMING or computed.dtype.kind != "f":
        return computed
    assert observed.dtype == computed.dtype and observed.shape == computed.shape, (op, observed, computed)
    bound, size = _bound(op, inputs, attrs, computed.dtype)
    # where a partial sum may overflow, the order decides between a number, an infinity and NaN
    certain = size < np.finfo(computed.dtype).max
    wrong = np.abs(observed.astype(np.longdouble) - computed.astype(np.longdouble)) > bound
    finite = np.isfinite(computed) & np.isfinite(observed)
    same = (observed == computed) | (np.isnan(observed) & np.isnan(computed))
    bad = np.where(finite, wrong, ~same) & (certain | ~np.isfinite(size))
    assert not bad.any(), f"{op}: {observed!r}, expected {computed!r} within {bound!r}"
    return observed


def _bound(op: str, inputs: list[Any], attrs: Mapping[str, Any], dtype: np.dtype) -> tuple[Any, Any]:
    """(bound of the difference, sum of the magnitudes), both of the shape of the result and in extended precision."""
    eps, least = np.finfo(dtype).eps, np.finfo(dtype).smallest_subnormal
    sizes = [np.abs(np.asarray(x).astype(np.longdouble)) for x in inputs]
    if op == "matmul":
        size, terms = np.matmul(*sizes), sizes[0].shape[-1]
        return terms * (eps * size + least), size
    axis, keepdims = attrs.get("axis"), bool(attrs.get("keepdims", False))
    terms = sizes[0].size if axis is None else sizes[0].shape[axis]
    if op == "cumsum":
        size = np.cumsum(sizes[0], axis=axis)
        return terms * eps * size, size
    size = np.sum(sizes[0], axis=axis, keepdims=keepdims)
    if op == "mean":  # one more rounding for the division
        return (terms + 1) * eps * size / max(terms, 1) + least, size
    return terms * eps * size, size
