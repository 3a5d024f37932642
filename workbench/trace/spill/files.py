"""The files of a run: open files, their sizes, void files, and the manifest."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from workbench.trace.spill.columns import FORMAT, VERSION
from workbench.trace.spill.folder import Folder
from workbench.trace.spill.index import Index
from workbench.trace.spill.maps import Maps
from workbench.trace.spill.segment import Segment

#: size in bytes at which a file is closed; in long runs a 128th of the bytes on disk, up to LARGEST
SEGMENT, LARGEST = 32 << 20, 1 << 30
#: minimum seconds between two manifests
MANIFEST_EVERY = 1.0


class Files:
    """The writing thread changes this object; state that other threads read or change is changed under ``lock``."""

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
        """The file for the next batch of a store; OSError if it cannot be created."""
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
        """Count ``more`` bytes as written; call under the lock."""
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
        """Write later batches of a store to another file, since rows ascend within a file. Call under the lock."""
        if store in self._open:
            self._open[store].full = True

    def void(self, segment: Segment) -> None:
        """Discard one piece of a file; a file without valid pieces is removed unless open. Call under the lock."""
        segment.live -= 1
        if segment.live == 0 and segment.sealed:
            self._remove(segment)

    def _remove(self, segment: Segment) -> None:
        self.maps.forget(segment.path)
        self.folder.forget(segment.path)
        self._all.discard(segment)
        self.on_disk -= segment.size

    def lose(self) -> None:
        """Stop using files that were removed; the next batch goes into a new one."""
        with self._lock:
            for segment in list(self._open.values()):
                if not segment.path.exists():
                    segment.abandon()
                    segment.sealed = True
                    del self._open[segment.store]

    def complete(self, indexes: Iterable[Index]) -> None:
        """Close all files properly; OSError if that fails."""
        for segment in list(self._open.values()):
            self._seal(segment)
        self.describe(indexes, now=True)

    def drop(self) -> None:
        """Close all files, which will be removed. Call under the lock."""
        for segment in self._open.values():
            segment.abandon()
        self.on_disk = 0
        self.maps.clear()

    def describe(self, indexes: Iterable[Index], now: bool = False) -> None:
        """Write the manifest if the last one is old enough; OSError if that fails."""
        begin = time.monotonic()
        if now or begin > self._manifest_at:
            self.folder.write_manifest(self.manifest(indexes))
            done = time.monotonic()
            self._manifest_at = done + max(MANIFEST_EVERY, 50 * (done - begin))  # a long manifest is written less often

    def manifest(self, indexes: Iterable[Index]) -> dict[str, Any]:
        """The valid rows ``first`` to ``stop`` (exclusive) of each file; other rows were rewritten elsewhere."""
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
