"""Matrices built from diagonals, and diagonals and bands of matrices.

A band is the diagonals ``lo`` to ``hi`` of a matrix, counted from the main one (0) to the upper right. As a tensor its
second-to-last axis runs from ``hi`` down to ``lo``; shorter diagonals are placed at one end of the last axis, by
``align`` ("RIGHT_LEFT": those above the main one at its right end, those below at its left end), the rest is padding. A
single diagonal has no such axis. Source: https://www.tensorflow.org/api_docs/python/tf/linalg/diag.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.ir.types import TensorType
from workbench.ops.define import define
from workbench.ops.rules import (
    UNSEEN,
    WRONG_ATTR,
    WRONG_SHAPE,
    RuleError,
    as_ints,
    need_kinds,
    need_numbers,
    need_rank,
    promote,
    setting,
    show,
)

FAMILY = "matrices"
TF = "https://www.tensorflow.org/api_docs/python/tf/"
ALIGNMENTS = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")
ATTRS = {"align": "RIGHT_LEFT"}


def _align(attrs) -> str:
    align = attrs.get("align", "RIGHT_LEFT")
    if align not in ALIGNMENTS:
        raise RuleError(WRONG_ATTR, f"cannot align diagonals {align!r}.", f"Give one of {', '.join(ALIGNMENTS)}.")
    return align


def _given(arrays, i: int, default: int) -> tuple[int, ...]:
    return as_ints(arrays[i]) if i < len(arrays) else (default,)


def _band(k: Any) -> Any:
    """``(lo, hi)`` of one or two integers, or UNSEEN."""
    if k is UNSEEN:
        return UNSEEN
    if len(k) not in (1, 2) or k[0] > k[-1]:
        raise RuleError(WRONG_ATTR, f"cannot take the diagonals {k}.", "Give one number, or the lowest and highest.")
    return k[0], k[-1]


def _within(band: tuple[int, int], rows: int | None, columns: int | None) -> None:
    lo, hi = band
    for size, d, beyond in ((rows, lo, -1), (columns, hi, 1)):
        if size is not None and d * beyond >= max(size, 1):
            text = show((rows, columns))
            raise RuleError(WRONG_ATTR, f"has no diagonal {d} in matrices of shape {text}.", "Give one inside.")


def _longest(band: tuple[int, int], rows: int, columns: int) -> int:
    """Length of the longest diagonal: the one nearest to the main one."""
    return min(rows + min(band[1], 0), columns - max(band[0], 0))


def _places(rows: int, columns: int, band: tuple[int, int], align: str):
    """Row and column of each element of the band, and the mask of valid elements: arrays (diagonals, longest)."""
    lo, hi = band
    longest = _longest(band, rows, columns)
    d = np.arange(hi, lo - 1, -1)[:, None]
    length = np.minimum(rows + np.minimum(d, 0), columns - np.maximum(d, 0))
    above, below = align.split("_")
    right = ((d >= 0) & (above == "RIGHT")) | ((d <= 0) & (below == "RIGHT"))
    at = np.arange(longest) - np.where(right, longest - length, 0)
    return np.maximum(-d, 0) + at, np.maximum(d, 0) + at, (at >= 0) & (at < length)


def _part_shape(x: TensorType, band: Any) -> tuple[int | None, ...] | None:
    if x.shape is None:
        return None
    if len(x.shape) < 2:
        raise RuleError(WRONG_SHAPE, f"takes matrices, but got {x}.", "Give it a tensor of rank 2 or more.")
    if band is UNSEEN:
        return None
    *batch, rows, columns = x.shape
    _within(band, rows, columns)
    size = None if rows is None or columns is None else _longest(band, rows, columns)
    return (*batch, size) if band[0] == band[1] else (*batch, band[1] - band[0] + 1, size)


def _part_type(types, attrs, values):
    _align(attrs)
    band = _band(setting({}, "k", types, values, 1, (0,)))
    return TensorType(types[0].dtype, _part_shape(types[0], band))


def _part(arrays, attrs):
    x = arrays[0]
    band = _band(_given(arrays, 1, 0))
    _within(band, x.shape[-2], x.shape[-1])
    rows, columns, there = _places(x.shape[-2], x.shape[-1], band, _align(attrs))
    padding = arrays[2].reshape(()) if len(arrays) > 2 else np.zeros((), x.dtype)
    out = np.full((*x.shape[:-2], *there.shape), padding, x.dtype)
    out[..., there] = x[..., rows[there], columns[there]]
    return out[..., 0, :] if band[0] == band[1] else out


def _set_type(types, attrs, values):
    x, diagonal = types[:2]
    _align(attrs)
    promote([x, diagonal])
    band = _band(setting({}, "k", types, values, 2, (0,)))
    wanted = TensorType(diagonal.dtype, _part_shape(x, band))
    if not wanted.accepts(diagonal):
        raise RuleError(WRONG_SHAPE, f"takes diagonals of type {wanted}, but got {diagonal}.", "Reshape them.")
    return x


def _set(arrays, attrs):
    x, diagonal = arrays[:2]
    band = _band(_given(arrays, 2, 0))
    _within(band, x.shape[-2], x.shape[-1])
    rows, columns, there = _places(x.shape[-2], x.shape[-1], band, _align(attrs))
    out = x.copy()
    out[..., rows[there], columns[there]] = diagonal.reshape(*x.shape[:-2], *there.shape)[..., there]
    return out


def _sizes(band: tuple[int, int], longest: int, rows: int, columns: int) -> tuple[int, int]:
    """Rows and columns of the matrix; -1 for the smallest that fits, and a square if both are -1."""
    least_rows, least_columns = longest - min(band[1], 0), longest + max(band[0], 0)
    if rows == columns == -1:
        rows = columns = max(least_rows, least_columns)
    rows, columns = (least_rows if rows == -1 else rows), (least_columns if columns == -1 else columns)
    if rows < least_rows or columns < least_columns or (rows != least_rows and columns != least_columns):
        raise RuleError(
            WRONG_ATTR,
            f"cannot make diagonals of length {longest} into matrices of shape {show((rows, columns))}.",
            "Make the longest diagonal fit exactly.",
        )
    return rows, columns


def _diag_type(types, attrs, values):
    x = types[0]
    _align(attrs)
    if len(types) > 4:
        promote([x, types[4]])
    band = _band(setting({}, "k", types, values, 1, (0,)))
    sizes = [setting({}, name, types, values, i, (-1,)) for i, name in ((2, "num_rows"), (3, "num_cols"))]
    if x.shape == ():
        raise RuleError(WRONG_SHAPE, f"takes diagonals, but got {x}.", "Give it a tensor of rank 1 or more.")
    if band is UNSEEN or x.shape is None:
        return TensorType(x.dtype, None)
    single = band[0] == band[1]
    if not single and (len(x.shape) < 2 or x.shape[-2] not in (None, band[1] - band[0] + 1)):
        raise RuleError(WRONG_SHAPE, f"takes {band[1] - band[0] + 1} diagonals, but got {x}.", "Check k.")
    batch = x.shape[:-1] if single else x.shape[:-2]
    if UNSEEN in sizes or x.shape[-1] is None:
        return TensorType(x.dtype, (*batch, None, None))
    return TensorType(x.dtype, (*batch, *_sizes(band, x.shape[-1], sizes[0][0], sizes[1][0])))


def _diag(arrays, attrs):
    x = arrays[0]
    band = _band(_given(arrays, 1, 0))
    rows, columns = _given(arrays, 2, -1)[0], _given(arrays, 3, -1)[0]
    batch = x.shape[:-1] if band[0] == band[1] else x.shape[:-2]
    sizes = _sizes(band, x.shape[-1], rows, columns)
    padding = arrays[4].reshape(()) if len(arrays) > 4 else np.zeros((), x.dtype)
    at_rows, at_columns, there = _places(sizes[0], sizes[1], band, _align(attrs))
    out = np.full((*batch, *sizes), padding, x.dtype)
    out[..., at_rows[there], at_columns[there]] = x.reshape(*batch, *there.shape)[..., there]
    return out


def _band_part_type(types, attrs, values):
    need_numbers(types[:1])
    if types[0].rank is not None and types[0].rank < 2:
        raise RuleError(WRONG_SHAPE, f"takes matrices, but got {types[0]}.", "Give it a tensor of rank 2 or more.")
    for x, what in zip(types[1:], ("lower", "upper"), strict=True):
        need_kinds(x, "iu", what, "an integer")
        need_rank(x, 0, what)
    return types[0]


def _band_part(arrays, attrs):
    x, lower, upper = arrays[0], int(arrays[1]), int(arrays[2])
    d = np.arange(x.shape[-1]) - np.arange(x.shape[-2])[:, None]
    keep = ((lower < 0) | (-d <= lower)) & ((upper < 0) | (d <= upper))
    return np.where(keep, x, np.zeros((), x.dtype))


define(
    "matrix_diag",
    "diagonal k? num_rows? num_cols? padding?",
    _diag_type,
    _diag,
    "Matrices with the band k (the main diagonal) given, and padding (0) elsewhere; sizes of -1 are the smallest.",
    FAMILY,
    attrs=ATTRS,
    source=f"{TF}linalg/diag",
)
define(
    "matrix_diag_part",
    "x k? padding?",
    _part_type,
    _part,
    "The band k (the main diagonal) of matrices, with padding (0) beside shorter diagonals.",
    FAMILY,
    attrs=ATTRS,
    source=f"{TF}linalg/diag_part",
)
define(
    "matrix_set_diag",
    "x diagonal k?",
    _set_type,
    _set,
    "A copy of the matrices x with the band k (the main diagonal) replaced.",
    FAMILY,
    attrs=ATTRS,
    source=f"{TF}linalg/set_diag",
)
define(
    "matrix_band_part",
    "x lower upper",
    _band_part_type,
    _band_part,
    "x with zeros outside `lower` diagonals below and `upper` above the main one; a negative number keeps all.",
    FAMILY,
    source=f"{TF}linalg/band_part",
)
