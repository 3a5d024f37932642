"""The keeper that writes rows evicted from memory to disk, and reads them back."""

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from workbench.errors import TraceError
from workbench.ir.graph import Graph
from workbench.kernels.layout import Layout, Place
from workbench.text import harmless
from workbench.trace.retention.activations import Activations, Table
from workbench.trace.retention.backend import Live, NoBlocks
from workbench.trace.row_ranges import Rows, Spans
from workbench.trace.source import RowsGone
from workbench.trace.spill.batch import Raw
from workbench.trace.spill.columns import Columns, columns_of
from workbench.trace.spill.errors import SpillError, pyarrow
from workbench.trace.spill.files import SEGMENT
from workbench.trace.spill.folder import Folder, clean
from workbench.trace.spill.gather import joined, moved, within
from workbench.trace.spill.index import SpillChunk
from workbench.trace.spill.objects import NOT_KEPT
from workbench.trace.spill.patches import Patches
from workbench.trace.spill.status import SpillStatus
from workbench.trace.spill.writer import Writer

#: maximum bytes of chunks that wait to be written (one chunk may always wait)
QUEUE = 8 << 20
COMPRESSION = (None, "lz4", "zstd")


class SpillStore(NoBlocks):
    """Rows of one run on disk, in a separate folder below ``folder``.

    Parameters
    ----------
    folder:
        Parent of the run's folder. Folders left there by dead processes are removed first.
    graph, layout:
        The run's graph and layout, which define the columns and their names.
    live:
        Returns (init rows, parent rows) of the activations of a frame that the machine knows. Activations of the rows
        on disk stay in memory, 16 bytes each.
    limit:
        Maximum bytes on disk; None for no limit. It can be changed at any time.
    queue_bytes:
        Maximum bytes of chunks that wait for the disk.
    segment_bytes:
        Size at which a file is closed and the next one begun.
    compression:
        None (reading maps the files, without a copy), "lz4" or "zstd".
    keep:
        Whether the files stay when the store is closed; can be changed until then.

    Raises TraceError (slug ``missing-library``) without pyarrow, SpillError if the folder cannot be created. Any thread
    may call the methods, except :meth:`retire` and :meth:`rewind`, which belong to the run.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        graph: Graph,
        layout: Layout,
        live: Live,
        *,
        limit: int | None = None,
        queue_bytes: int = QUEUE,
        segment_bytes: int = SEGMENT,
        compression: str | None = None,
        keep: bool = False,
    ) -> None:
        if compression not in COMPRESSION:
            raise TraceError(
                f"compression={compression!r} is not supported.", slug="bad-retention", fix='use None, "lz4" or "zstd".'
            )
        if limit is not None and limit <= 0:
            raise TraceError(f"limit must be a positive number of bytes, got {limit}.", slug="bad-retention")
        pyarrow()
        columns = columns_of(graph, layout)
        self.cleaned = clean(folder)
        self._activations = Activations(layout, live)
        self.patches = Patches()
        head = {"graph": graph.name, "fingerprint": graph.fingerprint}
        self._writer = Writer(
            Folder(folder),
            columns,
            {s: c.schema(graph) for s, c in columns.items()},
            head,
            limit,
            queue_bytes,
            segment_bytes,
            compression,
            keep,
        )
        self._finalizer = weakref.finalize(self, _close, self._writer)

    # -- what the machine calls -------------------------------------------------------------------------------------
    def retire(self, store: int, first_row: int, rows: np.ndarray, objects: Mapping[int, Sequence[Any]]) -> None:
        """Take over rows that are about to be evicted; SpillError if they cannot be kept."""
        columns = self._writer.columns.get(store)
        if columns is None:
            return  # the outermost level
        self._writer.retry()
        known = self._writer.index[store].stop
        ahead = max(0, known - first_row) if known else 0
        if ahead >= len(rows):
            return
        copy = np.array(rows[ahead:])
        copy.flags.writeable = False
        raw = Raw(columns, copy, {offset: list(items[ahead:]) for offset, items in objects.items()})
        piece = SpillChunk(first_row + ahead, first_row + len(rows), raw)
        self._writer.put(store, piece, raw.nbytes)
        self._activations.add(store, self._activations.ahead(store, piece.stop), piece.stop)
        self._writer.line.show(self.status)

    def rewind(self, store: int, row: int) -> None:
        """Forget the rows of a store from ``row`` on, which will be rewritten."""
        if store in self._writer.columns:
            self._writer.cut(store, row)
            self._activations.cut(store, row)

    # -- the reading side of trace.retention.RetentionBackend ---------------------------------------------
    @property
    def version(self) -> int:
        return len(self._writer.absent)

    @property
    def bytes(self) -> int:
        """Bytes in memory: waiting chunks and activations."""
        return self._writer.waiting + self._activations.bytes

    def activations(self, frame: int) -> Table:
        return self._activations.of(frame)

    def known(self, frame: int) -> int:
        return self._activations.known(frame)

    def held(self, place: Place) -> Spans:
        store = place.base - 1
        if store not in self._writer.index or (store, place.offset) in self._writer.absent:
            return ()
        with self._writer.lock:
            return tuple(range(s.start - place.shift, s.stop - place.shift) for s in self._writer.index[store].spans)

    def complete(self, frame: int) -> Spans:
        if frame not in self._writer.index:
            return ()
        with self._writer.lock:  # a guard may read the previous row
            return tuple(range(s.start + (s.start > 0), s.stop) for s in self._writer.index[frame].spans)

    # -- reading ----------------------------------------------------------------------------------------------------
    def extent(self, store: int) -> tuple[int, int]:
        """(first, stop) of the newest rows kept without gaps; equal if there are none."""
        index = self._writer.index.get(store)
        if index is None:
            return 0, 0
        with self._writer.lock:
            return index.first, index.stop

    def covers(self, store: int, stop: int) -> bool:
        """True if all rows of a store up to ``stop`` (exclusive) are on disk or waiting."""
        first, end = self.extent(store)
        return first == 0 and end >= stop

    def first(self, place: Place) -> int:
        """The first row in which a place can be read."""
        return self.extent(place.base - 1)[0] - place.shift

    def column(self, place: Place, start: int, stop: int, step: int = 1) -> tuple[int, Any]:
        """(first row read, items of rows start, start + step, ... below stop); the items are a read-only array, or a
        list.

        Missing rows are left out at both ends. Raises RowsGone and SpillError like :meth:`take`.
        """
        first, last = self.extent(place.base - 1)
        low, high = start + place.shift, min(stop + place.shift, last)
        if low < first:
            low += -(-(first - low) // step) * step
        return low - place.shift, self.take(place, range(low - place.shift, max(low, high) - place.shift, step))

    def take(self, place: Place, rows: Rows) -> Any:
        """Values at a place in these rows, in ascending order: a read-only array, or a list of objects.

        RowsGone if a row is missing, or holds an object other than an array, which is not written; SpillError if files
        are gone or differ from what was written.
        """
        store = place.base - 1
        columns = self._writer.columns[store]
        wanted = moved(rows, place.shift)
        if len(wanted) == 0:
            return joined([], place)
        with self._writer.lock:
            pieces = [
                (p.first, p.stop, p.raw, p.segment, p.number)
                for p in self._writer.index[store].between(int(wanted[0]), int(wanted[-1]) + 1)
            ]
        parts, done = [], 0
        for begin, end, raw, segment, number in reversed(pieces):
            at, count = within(wanted, begin, end)
            if count == 0:
                continue
            if segment is not None:
                found = self._writer.files.maps.items(segment, number, columns, place, at)
            else:
                assert raw is not None
                found = raw.items(place, at)
            if place.dtype is None and any(item is NOT_KEPT for item in found):
                raise RowsGone(place)
            parts.append(found)
            done += count
        if done < len(wanted):
            raise RowsGone(place)
        items = self.patches.lay_over(place, wanted, joined(parts, place))
        if isinstance(items, np.ndarray):
            items.flags.writeable = False
        return items

    # -- state ------------------------------------------------------------------------------------------------------
    @property
    def folder(self) -> Path:
        """The folder of this run."""
        return self._writer.folder.path

    @property
    def limit(self) -> int | None:
        """Maximum bytes on disk."""
        return self._writer.limit

    @limit.setter
    def limit(self, limit: int | None) -> None:
        if limit is not None and limit <= 0:
            raise TraceError(f"limit must be a positive number of bytes, got {limit}.", slug="bad-retention")
        self._writer.limit = limit

    @property
    def reserved(self) -> int:
        """Maximum bytes of memory in use: waiting chunks, and the one being prepared for the file."""
        writer = self._writer
        return max(writer.queue_bytes, writer.largest) + writer.largest

    @property
    def status(self) -> SpillStatus:
        """Current progress of the writing."""
        writer = self._writer
        with writer.lock:
            state = "stopped" if writer.error else "writing" if writer.waiting else "idle"
            state = "closed" if writer.closed else state
            return SpillStatus(
                state,
                str(self.folder),
                writer.files.on_disk,
                writer.files.written,
                writer.waiting,
                writer.rows,
                writer.rate(),
                writer.limit,
                "" if writer.error is None else str(writer.error),
            )

    @property
    def keep(self) -> bool:
        """True if the files stay when the store is closed."""
        return self._writer.keep

    @keep.setter
    def keep(self, keep: bool) -> None:
        self._writer.keep = keep

    def columns(self, store: int) -> Columns:
        """The columns of a store."""
        return self._writer.columns[store]

    def flush(self) -> None:
        """Wait until everything is written; SpillError if writing fails."""
        self._writer.flush()

    def close(self) -> None:
        """Remove the files, whose rows count as dropped from then on, or complete them if ``keep`` is set.

        SpillError if they cannot be completed; nothing is closed then.
        """
        self._writer.line.show(self.status, last=True)
        self._writer.close()
        self._finalizer.detach()

    @harmless
    def __repr__(self) -> str:
        return f"<SpillStore {self.status}>"


def _close(writer: Writer) -> None:
    """Close a store that is no longer referenced, or at the end of the process."""
    try:
        writer.close()
    except SpillError:  # no caller is left to receive the error; files stay as they are
        pass
