"""A series: every firing of one value, oldest first."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from workbench.errors import DeadValueError, TraceError
from workbench.ir.node import Tag
from workbench.ir.types import TensorType, numpy_dtype
from workbench.kernels.layout import NodeLayout, ValueLayout
from workbench.libraries import needed
from workbench.text import facts_html, harmless
from workbench.trace.checks import no_such_firing, path_of, position_of, slice_of
from workbench.trace.describe import short
from workbench.trace.retention.envelope import BLOCK, NUMBERS, Envelope, blocks_of, blocks_of_numbers, merged
from workbench.trace.retention.tracks import places_of
from workbench.trace.row_ranges import FOREVER, Rows, as_array
from workbench.trace.rows import RowReader
from workbench.trace.seqlock import steady
from workbench.trace.source import RowsGone

#: values that a notebook shows at each end of a series
ENDS = 3

#: fields written by kernels.statistics
STATISTICS = np.dtype([(name, np.float64) for name in ("size", "nan", "inf", "min", "max", "sum", "sumsq")])


class Series:
    """All recorded firings of one value: ``trace[name]``. Each access reads the rows available at that moment.

    The first axis of ``values`` is firing order; ``iterations`` is (n, depth), one column per enclosing frame. Slices
    select firings: ``series[-1]`` is the last value, ``series[10:20]`` ten of them; a slice reads only its own rows.

    Parameters
    ----------
    name : str
        The name of the value.
    reader : RowReader
        The rows of the trace.
    layout : ValueLayout
        The place of the value in its rows.
    type_ : TensorType
        The declared dtype and shape, with unknown sizes as None.
    """

    def __init__(self, name: str, reader: RowReader, layout: ValueLayout, type_: TensorType) -> None:
        self.name, self.type = name, type_
        self._reader, self._layout = reader, layout
        self.frame: tuple[str, ...] = reader.layout.frames[layout.frame].path

    def _rows(self) -> Rows:
        node = self._reader.node[self._layout.node]
        return self._reader.rows_of(node, self._layout.guard, None, self._layout.place, self._layout.branches)

    @steady
    def __len__(self) -> int:
        return len(self._rows())

    def __deepcopy__(self, memo: Any) -> NoReturn:
        raise TraceError(
            "A series cannot be copied: it reads the rows of its run.",
            slug="not-copied",
            fix="take its values: series.values, or np.array(series.firings()).",
        )

    @harmless
    def __repr__(self) -> str:
        return f"<Series {self.name!r} {self.type}: {len(self)} firings>"

    @harmless
    def _repr_html_(self) -> str:
        count = len(self)
        ends = [*range(min(count, ENDS)), *range(max(ENDS, count - ENDS), count)]
        facts = [(", ".join(map(str, self.tag(k).iteration)) or "-", short(self[k])) for k in ends]
        if count > 2 * ENDS:
            facts.insert(ENDS, ("...", f"{count - 2 * ENDS:,} more"))
        return facts_html(repr(self), facts)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.firings())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """:attr:`values`, for NumPy."""
        return np.array(self.values, dtype=dtype)

    def to_pandas(self) -> Any:
        """Return a pandas Series of the values, indexed by the iteration (one level for each loop around it).

        Raises
        ------
        TraceError
            If pandas is missing (``missing-library``).
        """
        pandas = needed("pandas", error=TraceError)
        values, paths = self.values, self.iterations
        data = list(values) if values.ndim > 1 else values
        names = [f.rsplit("/", 1)[-1] for f in self.frame]
        if paths.shape[1] == 1:
            index = pandas.Index(paths[:, 0], name=names[0])
        elif paths.shape[1]:
            index = pandas.MultiIndex.from_arrays(list(paths.T), names=names)
        else:
            index = None
        return pandas.Series(data, index=index, name=self.name)

    @property
    @steady
    def values(self) -> np.ndarray:
        """(n, ...) array; an object array if shapes differ from firing to firing."""
        return stack(self._reader.read(self._layout, self._rows())[1], self.type)

    @property
    @steady
    def statistics(self) -> np.ndarray:
        """(n,) records of every firing of an array in a run with ``trace="stats"``: ``size``, ``nan`` and ``inf`` count
        items; ``min`` and ``max`` leave out NaN, ``sum`` and ``sumsq`` (the sum of squares) also infinities.

        If older arrays were dropped, this has more entries than ``values``. TraceError if the run keeps no statistics.
        """
        place = self._layout.statistics
        if place is None:
            raise TraceError(
                f"There are no statistics of {self.name!r}.",
                slug="no-statistics",
                fix='run with trace="stats"; arrays of known shape have statistics there, parts of arrays do not.',
            )
        node = self._reader.node[self._layout.node]
        rows = self._reader.rows_of(node, self._layout.guard)
        items = np.asarray(self._reader.items(place, self._layout.frame, rows), np.float64)
        return np.ascontiguousarray(items).view(STATISTICS)[:, 0]

    @property
    def measured(self) -> Series | None:
        """The same as a series of (7,) numbers, those of :data:`STATISTICS`, including dropped arrays; None if there
        are no :attr:`statistics`."""
        place = self._layout.statistics
        if place is None:
            return None
        return Series(self.name, self._reader, replace(self._layout, place=place), TensorType("float64", (7,)))

    @steady
    def envelope(self, blocks: int = 1000) -> Envelope:
        """Statistics of a limited number of blocks of consecutive firings: of the whole run with ``keep="statistics"``,
        otherwise of the kept firings. TraceError for values that are not numbers, and for arrays without
        :attr:`statistics`."""
        node = self._reader.node[self._layout.node]
        place = self._layout.statistics or self._layout.place
        is_number = place is not None and place.dtype is not None and np.dtype(place.dtype).kind in "iuf"
        if place is None or not is_number or (place.shape and self._layout.statistics is None):
            raise TraceError(
                f"There is no envelope of {self.name!r}, a {self.type}.",
                slug="no-statistics",
                fix='use a series of real numbers, or of arrays of known shape in a run with trace="stats".',
            )
        while True:
            found = self._reader.source.blocks(self._layout, node.first)
            old, low, length = found if found is not None else (np.empty(0, BLOCK), 0, 1)
            rows = as_array(self._reader.rows_of(node, self._layout.guard, (low, FOREVER), place))
            rows, items = self._reader.read(replace(self._layout, place=place), rows)
            if found is None or (now := self._reader.source.blocks(self._layout, node.first)) is None or now[1] == low:
                break
        count = -(-(int(rows[-1]) + 1 if len(rows) else low) // max(1, blocks))
        while length < count:
            length *= 2
        make = blocks_of if self._layout.statistics is None else blocks_of_numbers
        new = make(as_array(rows), np.asarray(items), length)
        both = merged(np.concatenate([old, new]), length)
        frame = self._layout.frame
        first, last = (self._reader.iterations_known(frame, both[name]) for name in ("first", "last"))
        return Envelope(first, last, both["count"], both[list(NUMBERS)])

    @property
    @steady
    def iterations(self) -> np.ndarray:
        """(n, depth) iteration numbers."""
        return self._reader.iterations(self._layout.frame, self._rows())

    @property
    def gaps(self) -> bool:
        """True if iterations between kept ones are not kept."""
        layout = self._layout
        places = [p for p in places_of(layout) if p.base and self._reader.layout.frame_of(p) == layout.frame]
        spans = [self._reader.source.held(p) for p in places] or [self._reader.source.complete(layout.frame)]
        return any(len(s) > 1 or not isinstance(s[0], range) or s[0].step > 1 for s in spans)

    @steady
    def firings(self) -> list[np.ndarray]:
        """Every firing as a separate array."""
        return [as_value(v) for v in self._reader.read(self._layout, self._rows())[1]]

    @steady
    def tag(self, index: int) -> Tag:
        """Tag of the firing at ``index``; negative indices count from the end."""
        iteration = self._reader.iterations(self._layout.frame, self._one(position_of(self.name, index)))
        return Tag(self._layout.node, self._layout.output, self.frame, tuple(int(i) for i in iteration[0]))

    @steady
    def __getitem__(self, index: int | slice) -> np.ndarray:
        if isinstance(index, slice):
            index = slice_of(self.name, index.start, index.stop, index.step)
            if index.step is not None and index.step < 0:  # the reader only reads forwards
                rows = self._rows()[index][::-1]
                return stack(self._reader.read(self._layout, rows)[1], self.type)[::-1]
            return stack(self._reader.read(self._layout, self._pick(index))[1], self.type)
        one: np.ndarray = as_value(self._reader.values(self._layout, self._one(position_of(self.name, index)))[0])
        return one

    @steady
    def window(self, start: int, stop: int, step: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """(iterations, values) of firings start, start + step, ... below stop."""
        rows, values = self._reader.read(self._layout, self._pick(slice_of(self.name, start, stop, step)))
        return self._reader.iterations(self._layout.frame, rows), stack(values, self.type)

    @property
    def conditional(self) -> bool:
        """True if the value fires only in some iterations: counting its firings then reads every row, :meth:`within`
        only a few.
        """
        return bool(self._layout.guard)

    @property
    @steady
    def rows(self) -> range:
        """Rows of its frame in which the value was due, whether kept or not, except the init row of an activation."""
        return self._reader._begun(self._reader.node[self._layout.node], None)

    @steady
    def within(self, start: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        """(iterations, values) of the firings in the rows ``start`` up to ``stop``; reads only these rows."""
        layout, reader = self._layout, self._reader
        start, stop = position_of(self.name, start), position_of(self.name, stop)
        rows = reader.rows_of(reader.node[layout.node], layout.guard, (start, stop), layout.place, layout.branches)
        rows, values = reader.read(layout, rows)
        return reader.iterations(layout.frame, rows), stack(values, self.type)

    @steady
    def at(self, iteration: int | tuple[int, ...]) -> np.ndarray:
        """The value of one iteration path; TraceError if it is not recorded, DeadValueError if it was dead there."""
        path = path_of(self.name, self.frame, iteration)
        row = self._reader.find_row(self._layout.frame, path)
        node = self._reader.node[self._layout.node]
        where = ", ".join(f"{f} {i}" for f, i in zip(self.frame, path, strict=True)) or "this run"
        if row is None:
            raise TraceError(
                f"{self.name!r} has no record at {where}.",
                slug="not-recorded",
                fix="the iteration did not happen (yet), or its rows were dropped; session.value recomputes those.",
            )
        rows = range(row, row + 1)
        if self._layout.kind != "slot" and not len(self._reader.readable(self._layout, rows)):
            raise TraceError(f"{self.name!r} is not kept at {where}.", slug="not-recorded")
        if not self._reader.reached(node, row):
            raise TraceError(f"{self.name!r} did not fire yet at {where}.", slug="not-fired")
        try:
            return self._only(node, rows, where)
        except RowsGone:
            raise TraceError(
                f"{self.name!r} is no longer kept at {where}.", slug="not-recorded", fix="session.value recomputes it."
            ) from None

    def _only(self, node: NodeLayout, rows: Rows, where: str) -> np.ndarray:
        for condition in self._layout.guard:
            if not self._reader.holds(condition, self._layout.frame, rows)[0]:
                raise DeadValueError(f"{self.name!r} is dead at {where}: its branch was not taken.", node=node.name)
        only: np.ndarray = as_value(self._reader.values(self._layout, rows)[0])
        return only

    @steady
    def of_rows(self, rows: range, init: int) -> tuple[np.ndarray, Any, np.ndarray]:
        """(rows, values, missing) of one activation, among these rows of the frame: the rows of the activation with
        init row ``init`` in which the value fired, its values there, and all rows that are not kept."""
        kept = self._reader.readable(self._layout, rows)
        number, starts, _ = self._reader.activation_of(self._layout.frame, kept)
        kept = as_array(kept)[starts[number] == init] if len(starts) > 1 else kept
        fired = as_array(self._reader.fired(self._reader.node[self._layout.node], self._layout.guard, kept))
        # a value may be kept longer than the conditions of its firing: those rows count as not kept
        first = self._reader.source.extent(self._layout.frame).first
        kept, fired = (each[each >= first] for each in (as_array(kept), fired))
        values = self._reader.values(self._layout, fired)
        missing = np.setdiff1d(as_array(rows), as_array(kept), assume_unique=True)
        if len(self._reader.readable(self._layout, rows)) < len(kept):
            raise RowsGone  # some rows were dropped meanwhile: read again
        return fired, values, missing

    def _one(self, index: int) -> Rows:
        """The row of the firing at ``index``."""
        rows = self._pick(slice(index, index + 1 or None))
        if len(rows) == 0:
            count = len(self._rows())
            if -count <= index < count:
                raise RowsGone  # every row read was dropped meanwhile, as happens under a memory budget: read again
            raise no_such_firing(self.name, count, index)
        return rows

    def _pick(self, index: slice) -> Rows:
        if (
            self._layout.guard
            and index.start is not None
            and index.start < 0
            and (index.stop is None or index.stop < 0)
        ):
            return self._from_the_end(-index.start)[index]
        return self._rows()[index]

    def _from_the_end(self, count: int) -> Rows:
        """At least the last ``count`` firings (or all), reading only as many rows as necessary."""
        node = self._reader.node[self._layout.node]
        extent = self._reader.source.extent(node.frame)
        stop = extent.end
        width = 4 * count + 64
        while True:
            window = (stop - width, stop)
            rows = self._reader.rows_of(node, self._layout.guard, window, self._layout.place, self._layout.branches)
            if len(rows) >= count or stop - width <= extent.first:
                return rows
            width *= 4


def as_value(item: Any) -> Any:
    """A recorded item as users see it: numbers become arrays, lists and dicts are copied, other opaque values
    unchanged.
    """
    if isinstance(item, np.generic):
        return np.asarray(item)
    return deepcopy(item) if isinstance(item, list | dict) else item


def stack(items: Any, type_: TensorType) -> np.ndarray:
    """One array of all items if their shapes agree, else an object array of arrays."""
    if isinstance(items, np.ndarray):
        return items
    if not items:
        shape = tuple(d or 0 for d in type_.shape or ())
        return np.empty((0, *shape), numpy_dtype(type_.dtype) if type_.is_static else float)
    like = items[0]
    if all(isinstance(i, np.ndarray | np.generic) and (i.shape, i.dtype) == (like.shape, like.dtype) for i in items):
        return np.stack(items)
    out = np.empty(len(items), object)
    for place, item in enumerate(items):  # NumPy would split a list
        out[place] = as_value(item)
    return out
