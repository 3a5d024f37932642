"""Rows of a machine as Arrow record batches, and back as NumPy views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.ir.types import numpy_dtype
from workbench.kernels.layout import Place
from workbench.trace.spill import objects as codec
from workbench.trace.spill.columns import Columns, SpillColumn, size_of
from workbench.trace.spill.errors import pyarrow


class Raw:
    """Rows in memory in the machine's format: ``rows`` (n, row bytes) uint8, ``objects`` by offset."""

    def __init__(self, columns: Columns, rows: np.ndarray, objects: Mapping[int, Sequence[Any]]) -> None:
        self.columns, self.rows, self.objects = columns, rows, objects

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def nbytes(self) -> int:
        """Bytes of the rows and of their objects."""
        return self.rows.nbytes + sum(codec.weight(items) for items in self.objects.values())

    @classmethod
    def joined(cls, parts: Sequence[tuple[Raw, int]]) -> Raw:
        """The first n rows of each (raw, n), concatenated."""
        if len(parts) == 1 and parts[0][1] == len(parts[0][0]):
            return parts[0][0]
        rows = np.concatenate([raw.rows[:n] for raw, n in parts])
        objects = {at: [i for raw, n in parts for i in raw.objects[at][:n]] for at in parts[0][0].objects}
        return cls(parts[0][0].columns, rows, objects)

    def items(self, place: Place, at: slice | np.ndarray) -> Any:
        """Values at a place in some of the rows: an array (a view if ``at`` is a slice), or a list of objects."""
        if place.dtype is None:
            held = self.objects[place.offset]
            return held[at] if isinstance(at, slice) else [held[k] for k in at.tolist()]
        return items_of(self.rows[:, place.offset : place.offset + size_of(place)], place)[at]


def items_of(raw: np.ndarray, place: Place) -> np.ndarray:
    """(n, bytes) viewed as (n, *shape) of the place's dtype."""
    dtype = numpy_dtype(place.dtype or "")
    if raw.shape[1] == 0:
        return np.empty((len(raw), *place.shape), dtype)
    return raw.view(dtype).reshape(len(raw), *place.shape)


def encode(schema: Any, first_row: int, raw: Raw) -> tuple[Any, list[int]]:
    """(a record batch of the rows, offsets of the object columns with absent values)."""
    pa = pyarrow()
    n = len(raw)
    absent: list[int] = []
    arrays = [_numbers(pa.int64(), n, np.arange(first_row, first_row + n, dtype=np.int64))]
    for column in raw.columns.columns:
        if column.dtype is None:
            array, some_absent = codec.encode(raw.objects[column.offset])
            arrays.append(array)
            absent += [column.offset] * some_absent
        else:
            arrays.append(_numbers(column.arrow, n, together(raw.rows, column)))
    return pa.RecordBatch.from_arrays(arrays, schema=schema), absent


def together(rows: np.ndarray, column: SpillColumn) -> np.ndarray:
    """The bytes of one column, row after row."""
    part = rows[:, column.offset : column.offset + column.size]
    for item in (8, 4, 2):  # in items as large as possible: NumPy copies single bytes slowly
        if column.size % item == 0:
            return np.ascontiguousarray(part.view(f"u{item}"))
    return np.ascontiguousarray(part)


def _numbers(type_: Any, n: int, data: np.ndarray) -> Any:
    pa = pyarrow()
    buffer = pa.py_buffer(data)
    if not pa.types.is_fixed_size_list(type_):
        return pa.Array.from_buffers(type_, n, [None, buffer], null_count=0)
    items = pa.Array.from_buffers(type_.value_type, n * type_.list_size, [None, buffer], null_count=0)
    return pa.Array.from_buffers(type_, n, [None], null_count=0, children=[items])


class Decoded:
    """A record batch read back: its columns as views of the file. ValueError if it differs from what was written."""

    def __init__(self, columns: Columns, batch: Any, rows: int, first_row: int | None = None) -> None:
        self.columns = columns
        self._rows = rows
        if batch.num_rows != rows or batch.num_columns != len(columns.columns) + 1:
            raise ValueError(f"{batch.num_rows} rows of {batch.num_columns} columns are not what was written")
        numbers = self._bytes(batch.column(0), 8).view(np.int64)[:, 0]
        self.first_row = int(numbers[0]) if rows else 0
        if first_row is not None and rows and self.first_row != first_row:
            raise ValueError(f"expected row {first_row}, got {self.first_row}")
        self._parts: list[Any] = []
        for number, column in enumerate(columns.columns, 1):
            part = batch.column(number)
            if column.dtype is None:
                self._parts.append(codec.ObjectColumn(part))
            else:
                self._parts.append(self._bytes(part, column.size))

    def _bytes(self, part: Any, size: int) -> np.ndarray:
        """(rows, size) uint8, a view of the file."""
        data = part.buffers()[-1]
        if part.null_count or part.offset or len(part) != self._rows or data is None or data.size < self._rows * size:
            raise ValueError("a column is shorter than it says")
        return np.frombuffer(data, np.uint8, self._rows * size).reshape(self._rows, size)

    def __len__(self) -> int:
        return self._rows

    def items(self, place: Place, at: slice | np.ndarray) -> Any:
        """Like :meth:`Raw.items`."""
        if place.dtype is not None and size_of(place) == 0:
            return items_of(np.empty((self._rows, 0), np.uint8), place)[at]
        number, ahead = self.columns.find(place)
        part = self._parts[number]
        if place.dtype is None:
            return [part[row] for row in np.arange(self._rows)[at].tolist()]
        return items_of(part[:, ahead : ahead + size_of(place)], place)[at]
