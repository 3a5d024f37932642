"""One Arrow IPC file while it is written, batch by batch; a batch that does not fit leaves no trace and can be tried
again.

The format is that of https://arrow.apache.org/docs/format/Columnar.html#ipc-file-format. pyarrow makes the bytes, which
are collected without a copy; writing them is a system call of our own, so that an error says what happened and the file
ends where the last complete batch ends.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from workbench.trace.spill.errors import pyarrow

#: buffers of one system call (the least that POSIX promises is 16; Linux has 1024)
AT_ONCE = 512
#: in front of the schema: the magic word, padded
MAGIC = 8


class _Collector:
    """Takes what pyarrow writes."""

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
        """Nothing is held back."""

    def close(self) -> None:
        """The file is closed elsewhere."""

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
        self.live = 0  # pieces that still count
        self.full = False  # no more batches come
        self.sealed = False
        flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
        self._fd = os.open(path, flags, 0o600)
        self.inode = os.fstat(self._fd).st_ino
        self._sink = _Collector()
        options = pa.ipc.IpcWriteOptions(compression=compression, use_threads=False)  # there may be none to be had
        self._writer = pa.ipc.new_file(self._sink, schema, options=options)
        self._waiting: tuple[int, int, int] | None = None  # offset, rows and first row of a batch that is not written

    @property
    def staged(self) -> int:
        """Bytes that are to be written next."""
        return sum(p.nbytes for p in self._sink.parts)

    def stage(self, batch: Any, first_row: int) -> None:
        """Make the bytes of a batch; :meth:`commit` writes them."""
        at = self._sink.position
        self._writer.write_batch(batch)
        if not self.blocks:
            head = b"".join(bytes(p) for p in self._sink.parts[:8])
            at = MAGIC + 8 + int.from_bytes(head[MAGIC + 4 : MAGIC + 8], "little")
        self._waiting = (at, batch.num_rows, first_row)

    def commit(self) -> None:
        """Write what is staged; OSError if that is not possible, the file is as before then."""
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
        """Write the footer, that other programs need, and close the file; OSError leaves it open to try again."""
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
