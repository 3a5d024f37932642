"""Writing a trace to one file, column by column and block by block; the format is described in ``saved.format``."""

from __future__ import annotations

import math
import os
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import TraceError
from workbench.files import replacing
from workbench.ir.types import numpy_dtype
from workbench.kernels.layout import Place
from workbench.trace.layout_columns import slot_key, slots
from workbench.trace.retention.saved import kept_rows
from workbench.trace.row_ranges import clipped, runs_of
from workbench.trace.saved.edits import write_edits
from workbench.trace.saved.format import FORMAT, PARTIAL, VERSION
from workbench.trace.saved.items import write_item
from workbench.trace.saved.members import MAX_BYTES, MemberWriter, raw_bytes
from workbench.trace.saved.source import shifts_of
from workbench.trace.seqlock import consistent_read
from workbench.trace.source import Extent, RowsGone
from workbench.trace.spill.status import StatusLine, size_text

if TYPE_CHECKING:
    from workbench.trace.trace import Trace

#: bytes of numbers, and rows of objects, read at a time; those of a mapped file are copied once
BLOCK, OBJECTS = 4 << 20, 4096
#: seconds until a terminal shows progress
LONG = 1.0

Progress = Callable[[int, int], object]


def save_trace(
    trace: Trace,
    path: str | os.PathLike[str],
    progress: Progress | None = None,
    more: Callable[[MemberWriter], object] | None = None,
) -> None:
    """Write the present state of ``trace``; see :meth:`Trace.save`. ``more`` writes additional members."""
    consistent_read(trace.source, lambda: _save(trace, Path(path), progress or _Shown(), more))


def _save(trace: Trace, path: Path, progress: Progress, more: Callable[[MemberWriter], object] | None) -> None:
    saving = _Saving(trace, progress)
    if saving.total > MAX_BYTES:
        raise TraceError(
            f"The trace has {size_text(saving.total)}; files of more than {size_text(MAX_BYTES)} are not read again.",
            slug="too-large",
            fix="keep what is on disk (session.trace.spill.keep = True) or record fewer values (outputs=, trace=).",
        )
    with replacing(path, "The trace", TraceError) as target:
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
            members = MemberWriter(file)
            saving.write(members)
            if more is not None:
                more(members)


class _Shown:
    """Shows progress as a line of a terminal, once it takes long."""

    def __init__(self) -> None:
        self._begun, self._line = time.monotonic(), StatusLine()

    def __call__(self, done: int, total: int) -> None:
        if time.monotonic() > self._begun + LONG:
            text = f"saving the trace: {size_text(done)} of {size_text(total)} ({100 * done // max(1, total)} %)"
            self._line.show(text, last=done >= total)


class _Saving:
    """The state of writing one trace to a file."""

    def __init__(self, trace: Trace, progress: Progress) -> None:
        self.trace, self.source, self.layout, self.progress = trace, trace.source, trace.layout, progress
        layout, self.done = trace.layout, 0
        self.slots = sorted(slots(layout), key=slot_key)
        self.partial, self.shifts = self.source.partial, shifts_of(layout)
        self.extents = [self.source.extent(f) for f in range(len(layout.frames))]
        stores = layout.stores or tuple(range(len(layout.frames)))
        self.firsts = [self._first(s) for s in range(len(stores))]
        for frame in range(1, 1 if self.partial else len(layout.frames)):
            self.extents[frame] = self.extents[frame]._replace(first=self.firsts[frame])
        self.total = sum(self._size(p) * self._count(p) for p in self.slots if p.base > 0)

    def _first(self, store: int) -> int:
        """The row of a store from which every row is kept."""
        frames = len(self.layout.frames)
        if store == 0 or (store >= frames and self.layout.stores[store] == 0):
            return 0  # the outermost level has one row; its values are written one by one
        spans = [self.source.complete(store)] if 0 < store < frames else []
        for place in self.slots:
            if place.base == store + 1 and (place.dtype is not None or self.trace.spill is None):
                spans.append(self.source.held(place))
        starts = [s[-1].start if s and isinstance(s[-1], range) and s[-1].step == 1 else 0 for s in spans if s]
        return max(starts, default=0)

    def _rows(self, place: Place) -> range:
        extent = Extent(*self.extents[self.layout.frame_of(place)])
        first = max(self.firsts[place.base - 1], self.source.first(place) if self.layout.frame_of(place) == 0 else 0)
        return range(first, max(first, extent.stop, extent.partial + 1))

    def _count(self, place: Place) -> int:
        """Approximate number of rows written for a column."""
        rows = self._rows(place)
        if not self._in_part(place):
            return len(rows)
        return sum(map(len, clipped(self.source.held(place), 0, rows.stop)))

    def _in_part(self, place: Place) -> bool:
        return self.partial and self.layout.frame_of(place) > 0

    @staticmethod
    def _size(place: Place) -> int:
        return 8 if place.dtype is None else max(1, numpy_dtype(place.dtype).itemsize * math.prod(place.shape))

    def write(self, file: MemberWriter) -> None:
        """Write all members; ``trace.json`` is the last one."""
        layout, source = self.layout, self.source
        head: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "frames": [asdict(f) for f in layout.frames],
            "nodes": [asdict(n) for n in layout.nodes],
            "values": [asdict(v) for v in layout.values.values()],
            "columns": [],
            "pool": [],
            "extents": [list(e) for e in self.extents],
            "stores": list(layout.stores),
            "firsts": self.firsts[len(layout.frames) :],
        }
        if self.partial:
            count = range(len(layout.frames))
            stops = [e.end for e in self.extents]
            head |= {
                "version": PARTIAL,
                "partial": True,
                "begun": [source.begun(f) for f in count],
                "known": [source.known(f) for f in count],
                "complete": [runs_of(clipped(source.complete(f), 0, stops[f])) if f else [] for f in count],
            }
        file.text("graph.txt", self.trace.graph.text())
        for frame in range(len(layout.frames)):
            starts, parents = source.activations(frame)
            file.array(f"f{frame}.starts.npy", starts)
            file.array(f"f{frame}.parents.npy", parents)
        for number, place in enumerate(self.slots):
            entry = {
                "base": place.base,
                "offset": place.offset,
                "dtype": place.dtype,
                "shape": place.shape,
                "until": place.until,
            }
            if place.base == 0:
                head["pool"].append(write_item(file, f"p{number}", source.pool(place)) | entry)
                continue
            column = self._column_in_part if self._in_part(place) else self._column
            head["columns"].append(column(file, f"c{number}", place) | entry)
        if edits := self.trace.edits():
            head["edits"] = write_edits(file, edits)
        file.json("trace.json", head)
        self.progress(self.total, self.total)

    def _column(self, file: MemberWriter, name: str, place: Place) -> dict[str, Any]:
        rows = self._rows(place)
        carried = rows.start > 0 and len(rows) > 0 and place.base <= len(self.layout.frames)
        first, count = rows.start - carried, len(rows) + carried
        head = {"name": name, "first": first, "rows": count}
        if place.dtype is None:
            return head | self._objects(file, name, count, lambda: self._blocks(place, rows, carried))
        return head | self._numbers(file, name, place, count, self._blocks(place, rows, carried))

    def _column_in_part(self, file: MemberWriter, name: str, place: Place) -> dict[str, Any]:
        """The part of a column that a policy keeps, which fits into memory."""
        stop = self._rows(place).stop
        seen, spans, items = kept_rows(self.source, place, self.shifts[slot_key(place)], stop)
        head = {
            "name": name,
            "first": 0,
            "rows": len(items),
            "runs": runs_of(spans),
            "seen": {str(shift): runs_of(rows) for shift, rows in seen.items()},
        }
        if place.dtype is None:
            return head | self._objects(file, name, len(items), lambda: iter((items,)))
        return head | self._numbers(file, name, place, len(items), iter((items,)))

    @staticmethod
    def _numbers(file: MemberWriter, name: str, place: Place, count: int, blocks: Iterator[Any]) -> dict[str, Any]:
        dtype = numpy_dtype(place.dtype or "")
        stored = np.dtype(f"u{dtype.itemsize}") if dtype.isbuiltin == 2 else dtype
        begun = next(blocks, None)
        first = None if begun is None else np.ascontiguousarray(begun)
        second = next(blocks, None)  # the first block may be a single row
        sample = first if second is None else np.ascontiguousarray(second)
        with file.numbers(f"{name}.npy", stored, (count, *place.shape), sample) as member:
            for items in chain((i for i in (first, second) if i is not None), blocks):
                member.write(raw_bytes(np.ascontiguousarray(items)))
        return {"kind": "numbers"}

    def _blocks(self, place: Place, rows: range, carried: bool) -> Iterator[Any]:
        """Values at a place, some rows at a time; the row before the first holds its loop variables."""
        if carried:
            yield self._take(replace(place, shift=-1), range(rows.start, rows.start + 1))
        size = self._size(place)
        step = OBJECTS if place.dtype is None else max(1, BLOCK // size)
        for start in range(rows.start, rows.stop, step):
            stop = min(start + step, rows.stop)
            yield self._take(place, range(start, stop))
            self.done += size * (stop - start)
            self.progress(min(self.done, self.total), self.total)

    def _take(self, place: Place, rows: range) -> Any:
        try:
            return self.source.take(place, rows)
        except RowsGone:
            if place.dtype is not None or self.trace.spill is None:
                raise
            return [None] * len(rows)  # objects other than arrays are neither on disk nor in files

    def _objects(
        self, file: MemberWriter, name: str, count: int, blocks: Callable[[], Iterator[Any]]
    ) -> dict[str, Any]:
        """Write a stack if all arrays agree in dtype and shape, else one member per array. Reads every value twice."""
        before = self.done
        like = None
        agree = count > 0
        for items in blocks():
            for item in items:
                like = item if like is None else like
                agree = agree and isinstance(item, np.ndarray) and item.dtype.kind in "biufc"
                agree = agree and item.dtype.isbuiltin != 2 and (item.dtype, item.shape) == (like.dtype, like.shape)
            if not agree:
                break
        self.done = before
        if not agree or like is None:
            every = (item for items in blocks() for item in items)
            return {"kind": "ragged", "items": [write_item(file, f"{name}.{k}", v) for k, v in enumerate(every)]}
        with file.numbers(f"{name}.npy", like.dtype, (count, *like.shape), like) as member:
            for items in blocks():
                for item in items:
                    member.write(raw_bytes(np.ascontiguousarray(item)))
        return {"kind": "stacked"}
