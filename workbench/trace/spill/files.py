"""The files of a run: which are open for more, how many bytes they have, which are void, and the manifest of them."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from workbench.trace.spill.columns import FORMAT, VERSION
from workbench.trace.spill.folder import Folder
from workbench.trace.spill.index import Index
from workbench.trace.spill.maps import Maps
from workbench.trace.spill.segment import Segment

#: a file is closed from so many bytes on; in long runs from a 128th of what is on disk on, up to LARGEST
SEGMENT, LARGEST = 32 << 20, 1 << 30
#: seconds between two manifests, at least
MANIFEST_EVERY = 1.0


class Files:
    """Changed by the thread that writes; what others see or change is changed under ``lock``."""

    def __init__(
        self,
        folder: Folder,
        schemas: dict[int, Any],
        lock: Any,
        segment_bytes: int,
        compression: str | None,
        head: dict[str, Any],
    ) -> None:
        self.folder, self.schemas, self._head = folder, schemas, head
        self._lock, self._segment_bytes, self._compression = lock, segment_bytes, compression
        self.maps = Maps()
        self.on_disk = self.written = 0
        self._open: dict[int, Segment] = {}
        self._all: set[Segment] = set()
        self._manifest_at = 0.0

    def open(self, store: int) -> Segment:
        """The file that the next batch of a store goes into; OSError if there can be none."""
        segment = self._open.get(store)
        if segment is not None and (segment.full or segment.size >= self._enough()):
            self._seal(segment)
            segment = None
        if segment is None:
            segment = Segment(self.folder.next_file(store), store, self.schemas[store], self._compression)
            with self._lock:
                self._open[store] = segment
                self._all.add(segment)
        return segment

    def _enough(self) -> int:
        return max(self._segment_bytes, min(self.on_disk // 128, LARGEST))

    def count(self, more: int) -> None:
        """So many bytes were written; under the lock."""
        self.on_disk += more
        self.written += more

    def _seal(self, segment: Segment) -> None:
        before = segment.size
        segment.seal()
        with self._lock:
            self.count(segment.size - before)
            del self._open[segment.store]
            if segment.live == 0:
                self._remove(segment)

    def end(self, store: int) -> None:
        """Later batches of a store go into another file: in one file the rows ascend. Under the lock."""
        if store in self._open:
            self._open[store].full = True

    def void(self, segment: Segment) -> None:
        """One piece of a file counts no more; a file without any is removed, unless it is open. Under the lock."""
        segment.live -= 1
        if segment.live == 0 and segment.sealed:
            self._remove(segment)

    def _remove(self, segment: Segment) -> None:
        self.maps.forget(segment.path)
        self.folder.forget(segment.path)
        self._all.discard(segment)
        self.on_disk -= segment.size

    def lose(self) -> None:
        """Removed files take nothing more; the next batch goes into a new one."""
        with self._lock:
            for segment in list(self._open.values()):
                if not segment.path.exists():
                    segment.abandon()
                    segment.sealed = True
                    del self._open[segment.store]

    def complete(self, indexes: Iterable[Index]) -> None:
        """Close all files properly; OSError if that cannot be."""
        for segment in list(self._open.values()):
            self._seal(segment)
        self.describe(indexes, now=True)

    def drop(self) -> None:
        """Close all files, which are then removed. Under the lock."""
        for segment in self._open.values():
            segment.abandon()
        self.on_disk = 0
        self.maps.clear()

    def describe(self, indexes: Iterable[Index], now: bool = False) -> None:
        """Write the manifest, if the last one is old enough; OSError if that cannot be."""
        begin = time.monotonic()
        if now or begin > self._manifest_at:
            self.folder.write_manifest(self.manifest(indexes))
            done = time.monotonic()
            self._manifest_at = done + max(MANIFEST_EVERY, 50 * (done - begin))  # a long one is written less often

    def manifest(self, indexes: Iterable[Index]) -> dict[str, Any]:
        """Contents of each file: rows ``first`` to ``stop`` (exclusive) of a file count, others were made anew."""
        spans: dict[Segment, list[int]] = {}
        with self._lock:
            for index in indexes:
                for piece in index.pieces:
                    if piece.segment is not None:
                        spans.setdefault(piece.segment, [piece.first, piece.stop])[1] = piece.stop
            files = [
                {
                    "file": s.path.name,
                    "store": s.store,
                    "bytes": s.size,
                    "complete": s.sealed,
                    "batches": len(s.blocks),
                    "first": span[0],
                    "stop": span[1],
                }
                for s, span in spans.items()
            ]
        return {"format": FORMAT, "version": VERSION, **self._head, "files": files}
