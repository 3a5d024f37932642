"""One Arrow IPC file while it is written, batch by batch; a batch that does not fit is removed entirely and can be
retried.

The format is that of https://arrow.apache.org/docs/format/Columnar.html#ipc-file-format. pyarrow produces the bytes,
which are collected without a copy and written by a direct system call, so that an error is specific and the file ends
with the last complete batch.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from workbench.trace.spill.errors import pyarrow

#: buffers of one system call (POSIX guarantees at least 16; Linux has 1024)
AT_ONCE = 512
#: bytes before the schema: the magic word, padded
MAGIC = 8


class _Collector:
    """Collects the bytes that pyarrow writes."""

    closed = False

    def __init__(self) -> None:
        self.parts: list[memoryview] = []
        self.position = 0

    def write(self, data: Any) -> int:
        part = memoryview(data).cast("B") if len(data) else memoryview(b"")
        self.parts.append(part)
        self.position += part.nbytes
        return part.nbytes

    def tell(self) -> int:
        return self.position

    def flush(self) -> None:
        """Do nothing: there is no buffer."""

    def close(self) -> None:
        """Do nothing: the file is closed elsewhere."""

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False


class Segment:
    """A file of some batches of one store. ``blocks`` are (offset, length, rows, first row) of each; ``size`` is the
    length of the file so far. Not thread-safe except for reading these."""

    def __init__(self, path: Path, store: int, schema: Any, compression: str | None = None) -> None:
        pa = pyarrow()
        self.path, self.store, self.schema, self.compression = path, store, schema, compression
        self.blocks: list[tuple[int, int, int, int]] = []
        self.size = 0
        self.live = 0  # pieces that are still valid
        self.full = False  # no more batches are added
        self.sealed = False
        flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
        self._fd = os.open(path, flags, 0o600)
        self.inode = os.fstat(self._fd).st_ino
        self._sink = _Collector()
        # the system may refuse new threads
        options = pa.ipc.IpcWriteOptions(compression=compression, use_threads=False)
        self._writer = pa.ipc.new_file(self._sink, schema, options=options)
        # offset, rows and first row of a batch that is not written yet
        self._waiting: tuple[int, int, int] | None = None

    @property
    def staged(self) -> int:
        """Bytes to be written next."""
        return sum(p.nbytes for p in self._sink.parts)

    def stage(self, batch: Any, first_row: int) -> None:
        """Produce the bytes of a batch; :meth:`commit` writes them."""
        at = self._sink.position
        self._writer.write_batch(batch)
        if not self.blocks:
            head = b"".join(bytes(p) for p in self._sink.parts[:8])
            at = MAGIC + 8 + int.from_bytes(head[MAGIC + 4 : MAGIC + 8], "little")
        self._waiting = (at, batch.num_rows, first_row)

    def commit(self) -> None:
        """Write the staged batch; on OSError the file is as before."""
        parts = [p for p in self._sink.parts if p.nbytes]
        at = self.size
        try:
            while parts:
                at += (written := os.pwritev(self._fd, parts[:AT_ONCE], at))
                while parts and written >= parts[0].nbytes:
                    written -= parts.pop(0).nbytes
                if written:
                    parts[0] = parts[0][written:]
            if os.fstat(self._fd).st_nlink == 0:
                raise FileNotFoundError(2, "the file was removed", str(self.path))
        except OSError:
            os.ftruncate(self._fd, self.size)
            raise
        self.size = at
        self._sink.parts.clear()
        if self._waiting is not None:
            start, rows, first_row = self._waiting
            self._waiting = None
            self.blocks.append((start, at - start, rows, first_row))

    def seal(self) -> None:
        """Write the footer, which other programs need, and close the file; after OSError it stays open for another
        attempt.
        """
        if self.sealed:
            return
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        self.commit()
        self.sealed = True
        os.close(self._fd)
        self._fd = -1

    def abandon(self) -> None:
        """Close the file without a footer."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __del__(self) -> None:
        if getattr(self, "_fd", -1) >= 0:
            self.abandon()
