"""Distance between two blocks of firings: the largest absolute, relative and ulp distance per firing, and its index.

Agreement is defined in :mod:`~workbench.analysis.diff.tolerance`, distances of numbers in
:mod:`~workbench.analysis.diff.distances`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from workbench.analysis.diff.distances import distance, magnitude, ulps, widened
from workbench.analysis.diff.tolerance import Kind, Tolerance, code_of
from workbench.ir.types import Opaque

#: maximum number of items of both sides that are compared at once
BLOCK_ITEMS = 1 << 17
#: maximum bytes of blocks that are first tested for equality: most values of a large graph are equal and small
_SMALL = 4096
#: fields of non-array values that are not content: names, and facts that the elements repeat
_LABELS = frozenset(("name", "key", "source", "of", "dtype"))


@dataclass(slots=True)
class Measured:
    """For n pairs of firings: those beyond the tolerance, the distances of each (NaN if there is none), and the flat
    index of the worst item (-1 if there is none).
    """

    differs: np.ndarray
    kind: np.ndarray
    absolute: np.ndarray
    relative: np.ndarray
    ulp: np.ndarray
    worst: np.ndarray

    @classmethod
    def equal(cls, n: int) -> Measured:
        zeros = np.zeros(n)
        return cls(np.zeros(n, bool), np.full(n, -1, np.int8), zeros, zeros.copy(), zeros.copy(), np.full(n, -1))

    def put(self, at: Any, other: Measured) -> None:
        for name in self.__slots__:
            getattr(self, name)[at] = getattr(other, name)


def measure(a: Any, b: Any, tolerance: Tolerance) -> Measured:
    """Compare the firings of two blocks of the same length: arrays (n, ...), or lists of single values."""
    n = len(a)
    if _stacked(a) and _stacked(b):
        return _same_shape(a, b, tolerance) if a.shape == b.shape else _each(n, Kind.SHAPE)
    found, start = Measured.equal(n), 0
    while start < n:  # consecutive firings of the same shape and dtype are measured together
        stop, like = start + 1, _like(a[start], b[start])
        while like is not None and stop < n and stop - start < BLOCK_ITEMS and _like(a[stop], b[stop]) == like:
            stop += 1
        part = slice(start, stop)
        if like is None:
            found.put(part, _single(a[start], b[start], tolerance))
        else:
            found.put(part, _same_shape(np.stack(list(a[part])), np.stack(list(b[part])), tolerance))
        start = stop
    return found


def _stacked(block: Any) -> bool:
    return isinstance(block, np.ndarray) and block.dtype != object


def _like(a: Any, b: Any) -> Any:
    """Dtype and shape by which values can be stacked; None if they cannot be."""
    if not (isinstance(a, np.ndarray | np.generic) and isinstance(b, np.ndarray | np.generic)):
        return None
    if a.shape != b.shape or a.dtype == object or b.dtype == object:
        return None
    return a.shape, a.dtype, b.dtype


def _each(n: int, kind: Kind) -> Measured:
    found = Measured.equal(n)
    found.differs[:], found.kind[:] = True, code_of(kind)
    for column in (found.absolute, found.relative, found.ulp):
        column[:] = np.nan
    return found


def _single(a: Any, b: Any, tolerance: Tolerance) -> Measured:
    """The distance between two single values."""
    if isinstance(a, np.ndarray | np.generic) and isinstance(b, np.ndarray | np.generic):
        if a.shape != b.shape:
            return _each(1, Kind.SHAPE)
        return _same_shape(np.asarray(a)[None], np.asarray(b)[None], tolerance)
    if type(a) is type(b) and isinstance(a, Opaque):
        a, b = content_of(a), content_of(b)
    if is_sequence(a) and is_sequence(b):  # by their first elements that differ
        if len(a) != len(b):
            return _each(1, Kind.SHAPE)
        worst = Measured.equal(1)
        for one, other in zip(a, b, strict=True):
            found = _single(one, other, tolerance)
            if found.differs[0]:
                return found
            worst = found if found.absolute[0] > worst.absolute[0] else worst
        return worst
    same = a is b or type(a) is type(b) and isinstance(a, str | bytes | bool | int | float) and a == b
    return Measured.equal(1) if same else _each(1, Kind.OTHER)


def content_of(value: Opaque) -> list[Any]:
    """Content of a TensorList, a TensorArray, a stack or an optional, which do not define equality."""
    return [getattr(value, f.name) for f in fields(value) if f.name not in _LABELS]  # type: ignore[arg-type]


def is_sequence(value: Any) -> bool:
    """True for lists, and their representation in graphs."""
    return not isinstance(value, np.ndarray | np.generic | str | bytes) and (
        hasattr(value, "__len__") and hasattr(value, "__iter__")
    )


def _same_shape(a: np.ndarray, b: np.ndarray, tolerance: Tolerance) -> Measured:
    n = len(a)
    found = Measured.equal(n)
    if a.nbytes <= _SMALL and a.dtype == b.dtype and a.tobytes() == b.tobytes():
        return found
    if tolerance.dtypes and a.dtype != b.dtype:
        found = _each(n, Kind.DTYPE)
        found.absolute[:] = found.relative[:] = found.ulp[:] = 0.0
    if n == 0 or a.size == 0:
        return found
    a, b = a.reshape(n, -1), b.reshape(n, -1)
    if not (_is_number(a.dtype) and _is_number(b.dtype)):
        alike = a.dtype.kind == b.dtype.kind
        unequal = np.asarray(_as_texts(a) != _as_texts(b), bool).reshape(n, -1) if alike else np.ones(a.shape, bool)
        found.put(unequal.any(axis=1), _texts(unequal[unequal.any(axis=1)]))
        return found
    wide_a, wide_b = widened(a, b)
    with np.errstate(invalid="ignore"):
        unequal = wide_a != wide_b
        if wide_a.dtype.kind in "fc":
            unequal &= ~(np.isnan(wide_a) & np.isnan(wide_b))
    rows = np.flatnonzero(unequal.any(axis=1))
    if not len(rows):
        return found
    everything = len(rows) == n
    part = slice(None) if everything else rows
    measured = _numbers(a[part], b[part], wide_a[part], wide_b[part], tolerance)
    if tolerance.dtypes and a.dtype != b.dtype:
        measured.kind[~measured.differs] = code_of(Kind.DTYPE)
        measured.differs[:] = True
    found.put(part, measured)
    return found


def _as_texts(items: np.ndarray) -> np.ndarray:
    """Bytes as the strings that a file stores."""
    if items.dtype != object or not any(isinstance(i, bytes) for i in items.flat):
        return items
    texts = np.empty(items.shape, object)
    texts.flat[:] = [i.decode("utf-8", "replace") if isinstance(i, bytes) else i for i in items.flat]
    return texts


def _texts(unequal: np.ndarray) -> Measured:
    found = _each(len(unequal), Kind.OTHER)
    found.worst[:] = unequal.argmax(axis=1) if len(unequal) else found.worst
    return found


def _is_number(dtype: np.dtype) -> bool:
    return dtype.kind in "biufc" or dtype.isbuiltin == 2  # bfloat16 and similar dtypes


def _numbers(a: np.ndarray, b: np.ndarray, wide_a: np.ndarray, wide_b: np.ndarray, tolerance: Tolerance) -> Measured:
    n, found = len(a), Measured.equal(len(a))
    with np.errstate(all="ignore"):
        absolute = distance(wide_a, wide_b)
        size = np.maximum(magnitude(wide_a), magnitude(wide_b))
        relative = np.where(absolute == 0, 0.0, absolute / size)
        steps = ulps(a, b)
        within = (absolute <= tolerance.atol + tolerance.rtol * size) | (wide_a == wide_b)
        if tolerance.ulp is not None and steps is not None:
            within |= steps <= tolerance.ulp
        if wide_a.dtype.kind == wide_b.dtype.kind == "b":
            within = wide_a == wide_b  # no number is between true and false
    nan = np.zeros(absolute.shape, bool)
    infinite = nan
    if wide_a.dtype.kind in "fc" or wide_b.dtype.kind in "fc":
        nan_a, nan_b = np.isnan(wide_a), np.isnan(wide_b)
        nan = nan_a != nan_b
        infinite = (np.isinf(wide_a) | np.isinf(wide_b)) & (wide_a != wide_b) & ~nan
        within = (within | (nan_a & nan_b)) & ~nan & ~infinite
        odd = nan_a | nan_b | infinite | (np.isinf(wide_a) & np.isinf(wide_b))
        absolute, relative = np.where(odd, 0.0, absolute), np.where(odd, 0.0, relative)
        if steps is not None:
            steps = np.where(odd, 0, steps)
    found.differs = ~within.all(axis=1)
    found.absolute = absolute.max(axis=1).astype(np.float64)
    found.relative = relative.max(axis=1).astype(np.float64)
    found.ulp = np.full(n, np.nan) if steps is None else steps.max(axis=1).astype(np.float64)
    # worst: first items that differ by NaN or infinities, then the one furthest beyond the tolerance
    rank = np.where(within, -1.0, absolute) if found.differs.any() else absolute
    has_nan, has_infinite = nan.any(axis=1), infinite.any(axis=1)
    found.worst = rank.argmax(axis=1)
    for rows, pattern in ((has_infinite, infinite), (has_nan, nan)):
        if rows.any():
            found.worst = np.where(rows, pattern.argmax(axis=1), found.worst)
    kinds = np.where(has_nan, code_of(Kind.NAN), np.where(has_infinite, code_of(Kind.INF), 0))
    found.kind = np.where(found.differs, kinds, -1).astype(np.int8)
    return found
