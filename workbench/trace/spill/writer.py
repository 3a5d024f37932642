"""The writing thread: chunks wait in a short queue, and a caller that adds one waits until there is room.

State that never changes: the folder, the columns and schema of each store, sizes. State that changes, under ``lock``:
the index of each store, the queue (its first chunk is the one being written), ``error`` and the counters. The files
themselves belong to the thread alone, except for those that a step back invalidated.

An error stops the thread at the current chunk; :meth:`Writer.retry` lets it try that chunk again. A chunk leaves the
queue only once it is in a file. If the system refuses a new thread, the caller that adds a chunk or waits for one
writes it, holding ``lock``, until a thread can be started.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workbench.threads import Lock
from workbench.trace.spill.batch import Raw, encode
from workbench.trace.spill.columns import Columns
from workbench.trace.spill.errors import SpillError, limit_reached, writing_failed
from workbench.trace.spill.files import Files
from workbench.trace.spill.folder import Folder
from workbench.trace.spill.index import Index, SpillChunk
from workbench.trace.spill.segment import Segment
from workbench.trace.spill.status import Rate, StatusLine

#: chunks of fewer bytes wait this many seconds for others; together they form batches of at most this many bytes
SMALL, LINGER, BATCH = 1 << 16, 0.05, 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class QueuedChunk:
    """A chunk in the queue."""

    store: int
    piece: SpillChunk
    size: int
    since: float


class Writer:
    """Writes the chunks of one run; the part of a SpillStore that its thread may refer to."""

    def __init__(
        self,
        folder: Folder,
        columns: dict[int, Columns],
        schemas: dict[int, Any],
        head: dict[str, Any],
        limit: int | None,
        queue_bytes: int,
        segment_bytes: int,
        compression: str | None,
        keep: bool,
    ) -> None:
        self.folder, self.columns = folder, columns
        self.limit, self.queue_bytes, self.keep = limit, queue_bytes, keep
        self.lock = threading.Condition(Lock())  # type: ignore[arg-type]  # it is one
        self.index = {store: Index() for store in columns}
        self.files = Files(folder, schemas, self.lock, segment_bytes, compression, head)
        self.error: SpillError | None = None
        self.closed = False
        self.waiting = self.rows = self.largest = 0
        self.absent: set[tuple[int, int]] = set()  # (store, offset) of object columns with values that are not on disk
        self.rate, self.line = Rate(), StatusLine()
        self._queue: deque[QueuedChunk] = deque()
        self._hurry = self._batches = 0
        self._staged: tuple[Segment, list[QueuedChunk]] | None = None  # a batch whose bytes are ready but not written
        self._thread: threading.Thread | None = None

    # -- from outside -----------------------------------------------------------------------------------------------
    def put(self, store: int, piece: SpillChunk, size: int) -> None:
        """Queue a chunk once there is room; SpillError if writing has stopped."""
        with self.lock:
            self.largest = max(self.largest, size)
            if self._queue and self.waiting + size > self.queue_bytes:
                self._wait(lambda: self._queue and self.waiting + size > self.queue_bytes)
            self._check()
            self.index[store].add(piece)
            self._queue.append(QueuedChunk(store, piece, size, time.monotonic()))
            self.waiting += size
            self._has_thread()
            self.lock.notify_all()

    def retry(self) -> None:
        """Try again if writing has stopped; SpillError if it stops again."""
        if self.error is None and not self.closed:
            return
        with self.lock:
            if self.error is not None:
                self.error = None
                before = self._batches
                self._wait(lambda: self._queue and self._batches == before)
            self._check()

    def flush(self) -> None:
        """Wait until the queue is empty; SpillError if writing fails."""
        self.retry()
        with self.lock:
            self._wait(lambda: self._queue)
            self._check()

    def _wait(self, while_: Callable[[], Any]) -> None:
        """Wait until the condition is false or an error stops the writing; no batch waits for more chunks meanwhile."""
        self._hurry += 1
        self.lock.notify_all()
        try:
            while while_() and self.error is None and not self.closed:
                if self._has_thread():
                    self.lock.wait()
        finally:
            self._hurry -= 1

    def _has_thread(self) -> bool:
        """Start the thread if there is none yet. If the system refuses one, write the queue here; small chunks only
        once there are enough of them."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="workbench-spill", daemon=True)
            try:
                self._thread.start()
            except BaseException as error:
                self._thread = None  # a thread that started before an interrupt nevertheless sees this and ends
                if not isinstance(error, RuntimeError | MemoryError):
                    raise
                while self._queue and (self._hurry or self.waiting >= SMALL) and self.error is None and not self.closed:
                    self._carry_out(self._staged[1] if self._staged is not None else self._neighbours())
        return self._thread is not None

    def cut(self, store: int, row: int) -> None:
        """Forget the rows of a store from ``row`` on."""
        with self.lock:
            for piece in self.index[store].cut(row):
                if piece.segment is not None:
                    self.files.void(piece.segment)
            self.files.end(store)

    def close(self) -> None:
        """End the thread and remove the files; with ``keep`` complete them, and close nothing if that fails."""
        if self.closed or not self.folder.ours:
            return
        if self.keep:
            self.flush()
            self._complete()
        with self.lock:
            self.closed = True
            self.lock.notify_all()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        self._finish()

    def _check(self) -> None:
        if self.closed:
            raise SpillError("The trace on disk is closed.", slug="spill-closed", fix="make a new session.")
        if self.error is not None:
            raise self.error.with_traceback(None)

    # -- the thread -------------------------------------------------------------------------------------------------
    def _run(self) -> None:
        while (batch := self._next()) is not None:
            self._carry_out(batch)

    def _carry_out(self, batch: list[QueuedChunk]) -> None:
        """Write a batch and take it off the queue; a failure becomes ``error``."""
        try:
            self._write(batch)
        except SpillError as error:
            self._stop(error)
        except OSError as error:
            if isinstance(error, FileNotFoundError):
                self._staged = None  # the chunk goes into a new file once a folder exists again
                self.files.lose()
            self._stop(writing_failed(error, self.folder.path, self.waiting))
        except Exception as error:  # any error must reach the run
            self._stop(SpillError(f"The trace cannot be written to disk: {error}.", slug="spill-failed"))
        else:
            with self.lock:
                for item in batch:
                    self._queue.remove(item)
                    self.waiting -= item.size
                self._batches += 1
                self.lock.notify_all()

    def _next(self) -> list[QueuedChunk] | None:
        """The chunks of the next batch; None at the end. Small ones wait a moment for more chunks of their store."""
        with self.lock:
            while not self.closed and threading.current_thread() is self._thread:
                if self.error is not None or not self._queue:
                    self.lock.wait()
                    continue
                if self._staged is not None:
                    return self._staged[1]
                batch = self._neighbours()
                left = batch[0].since + LINGER - time.monotonic()
                if left <= 0 or self._hurry or sum(i.size for i in batch) >= SMALL:
                    return batch
                self.lock.wait(left)
        return None

    def _neighbours(self) -> list[QueuedChunk]:
        """The first chunk and the following ones of its store, as many as fit into one batch."""
        batch = [self._queue[0]]
        size = batch[0].size
        for item in itertools.islice(self._queue, 1, None):
            last = batch[-1]
            if item.store == last.store and not item.piece.gone:
                size += item.size
                if size > BATCH or item.piece.first != last.piece.stop or last.piece.gone:
                    break
                batch.append(item)
        return batch

    def _stop(self, error: SpillError) -> None:
        with self.lock:
            self.error = error
            self.lock.notify_all()

    def _write(self, batch: list[QueuedChunk]) -> None:
        if self._staged is None:
            with self.lock:
                parts = [(i.piece.raw, i.piece.stop - i.piece.first) for i in batch if not i.piece.gone]
            raws = [(raw, n) for raw, n in parts if raw is not None]
            if not raws:
                return
            first = batch[0].piece.first
            segment = self.files.open(batch[0].store)
            made, absent = encode(segment.schema, first, Raw.joined(raws))
            self.absent |= {(segment.store, offset) for offset in absent}
            segment.stage(made, first)
            self._staged = segment, batch
        segment = self._staged[0]
        self._room(segment.staged)
        before = segment.size
        segment.commit()
        with self.lock:
            self._staged = None
            self.files.count(segment.size - before)
            self.rate.add(self.files.written)
            self.rows += segment.blocks[-1][2]
            pieces = [i.piece for i in batch if not i.piece.gone]
            if pieces:
                self.index[segment.store].unite(pieces, segment, len(segment.blocks) - 1)
                segment.live += 1
        self.files.describe(self.index.values())

    def _room(self, wanted: int) -> None:
        if self.limit is not None and self.files.on_disk + wanted > self.limit:
            raise limit_reached(self.limit, self.files.on_disk, wanted, self.waiting)

    def _complete(self) -> None:
        """Close all files properly; the queue is empty then."""
        try:
            self.files.complete(self.index.values())
        except OSError as error:
            raise writing_failed(error, self.folder.path, 0) from error

    def _finish(self) -> None:
        if not self.keep:
            with self.lock:
                for index in self.index.values():
                    index.cut(0)
                self.files.drop()
                self.waiting = 0
        self.folder.close(self.keep)
