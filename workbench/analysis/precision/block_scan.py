"""Blockwise scan of a trace's values for the first firing that fails a test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from workbench.analysis.diff.measure import content_of, is_sequence
from workbench.analysis.diff.side import Column
from workbench.ir.types import Opaque

#: maximum number of items tested at once
BLOCK_ITEMS = 1 << 20
Test = Callable[[np.ndarray], np.ndarray]


def floats(value: Any) -> np.ndarray | None:
    """An array of floats or complex numbers in a dtype with which NumPy computes; None for anything else."""
    if not isinstance(value, np.ndarray | np.generic):
        return None
    array = np.asarray(value)
    if array.dtype.isbuiltin == 2:  # bfloat16 and similar dtypes
        return array.astype(np.float32) if "float" in array.dtype.name else None
    return array if array.dtype.kind in "fc" else None


def parts(value: Any, place: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
    """(place, array) for the arrays of floats in a value: the value itself, or items of lists and similar objects."""
    array = floats(value)
    if array is not None:
        yield place, array
    elif isinstance(value, Opaque):
        for held in content_of(value):
            yield from parts(held, place)
    elif is_sequence(value) and not isinstance(value, dict):
        for k, item in enumerate(value):
            yield from parts(item, (*place, k))


def is_bad(value: Any, test: Test) -> bool:
    """True if an item of a value, or of an array in a list, passes the test; False if there are no floats."""
    return any(bool(test(array).any()) for _, array in parts(value))


def read(column: Column, start: int = 0) -> Iterator[tuple[int, Any]]:
    """(first position, values) for blocks of the firings from ``start`` on."""
    length = 256
    while start < column.length:
        stop = min(column.length, start + length)
        values = column.take(slice(start, stop))
        yield start, values
        length = max(1, BLOCK_ITEMS // max(1, int(getattr(values[0], "size", 64))))
        start = stop


def bad_firings(column: Column, test: Test, start: int = 0) -> Iterator[int]:
    """Positions of the firings of which an item passes the test, oldest first."""
    for at, values in read(column, start):
        if isinstance(values, np.ndarray) and values.dtype != object:
            array = floats(values)
            if array is None:
                return
            bad = test(array)
            found = np.flatnonzero(bad if bad.ndim == 1 else bad.reshape(len(bad), -1).any(axis=1))
            yield from (found + at).tolist()
        else:
            yield from (at + k for k, value in enumerate(values) if is_bad(value, test))
        if column.once:
            return
