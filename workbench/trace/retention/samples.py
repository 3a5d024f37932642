"""Some columns of one store, with every row or every k-th one, in as few bytes as they need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.kernels import columns
from workbench.trace.retention.column import BlockColumn, Objects, object_bytes
from workbench.trace.retention.tracks import Track


class Samples:
    """Columns of one store, all thinned alike: the rows r with r % every == phase % every and ``first`` <= r <
    ``stop``.

    :meth:`thin` doubles ``every`` and keeps the phases, so the rows kept afterwards are a subset of those kept before.
    """

    def __init__(self, tracks: Sequence[Track], every: int, block_bytes: int) -> None:
        self.tracks, self.every = tuple(tracks), every
        self.first, self.stop = 0, 0
        self._block_bytes = block_bytes
        self._columns: dict[tuple[Track, int], Any] = {}
        self._make()

    def _make(self) -> None:
        self._columns = {(t, p): self._column(t) for t in self.tracks for p in self._phases(t)}

    def _phases(self, track: Track) -> tuple[int, ...]:
        return track.phases if self.every > 1 else (0,)

    def _column(self, track: Track) -> BlockColumn | Objects:
        if track.is_object:
            return Objects()
        # not below block_bytes: blocks smaller than a huge page get small pages, whose first touch is the largest cost
        count = -(-self._block_bytes // track.size) if 2 * track.size <= self._block_bytes else 1
        return BlockColumn(track.size, count)

    @property
    def bytes(self) -> int:
        return sum(c.bytes for c in self._columns.values())

    def growth(self, first: int, count: int, objects: Mapping[int, Sequence[Any]]) -> int:
        """Maximum additional bytes for :meth:`add`."""
        total = 0
        for (track, phase), column in self._columns.items():
            start = self._start(first, phase)
            if track.is_object:
                total += sum(object_bytes(i) for i in objects[track.offset][start - first :: self.every])
            else:
                total += column.growth(max(0, -(-(first + count - start) // self.every)))
        return total

    def _start(self, row: int, phase: int) -> int:
        """The first row at or after ``row`` that is kept."""
        return row + (phase - row) % self.every

    def add(self, first: int, rows: np.ndarray, objects: Mapping[int, Sequence[Any]]) -> None:
        """Add those of the rows ``first``, first + 1, ... that are due to be kept; ``rows`` is (n, row_bytes) uint8,
        and ``objects`` holds the references by column.
        """
        if self.stop != first:  # rows in between are missing, so older rows cannot be distinguished from them
            self.clear(first)
        moves = []
        for (track, phase), column in self._columns.items():
            at = self._start(first, phase) - first
            if track.is_object:
                column.extend(objects[track.offset][at :: self.every])
                continue
            for part in column.room(max(0, -(-(len(rows) - at) // self.every))):
                moves.append((track.offset, track.size, at, self.every, part))
                at += len(part) * self.every
        if moves:
            columns.gather(rows, moves)
        self.stop = first + len(rows)

    def clear(self, first: int) -> None:
        """Drop all rows; the next ones begin at ``first``."""
        self._make()
        self.first = self.stop = first

    def thin(self) -> None:
        """Drop every second row, with hardly any additional memory."""
        before, old = self.every, self._columns
        self.every *= 2
        self._make()
        for (track, phase), source in old.items():
            row = self.first + (phase - self.first) % before
            targets = [(p, self._columns[track, p]) for p in (self._phases(track) if before == 1 else (phase,))]
            for block in source.drain():
                for wanted, target in targets:
                    target.extend(block[(wanted - row) % self.every // before :: 2])
                row += len(block) * before

    def cut(self, row: int) -> None:
        """Forget the rows from ``row`` on."""
        if row >= self.stop:
            return
        if row <= self.first:
            self.clear(max(0, row))
            return
        for (_, phase), column in self._columns.items():
            column.cut(max(0, -(-(row - self._start(self.first, phase)) // self.every)))
        self.stop = row

    def rows(self, phase: int) -> range:
        """Rows of which some column is kept: those read from the next row (phase 0), or from themselves (phase 1)."""
        start = self._start(self.first, phase)
        return range(start, max(start, self.stop + 1), self.every)

    def held(self, track: Track, shift: int) -> range:
        """Rows in which a place of this column, read with ``shift``, is held."""
        start = self._start(self.first, self._phase(track, shift)) - shift
        return range(start, max(start, self.stop - shift), self.every)

    def _phase(self, track: Track, shift: int) -> int:
        if self.every == 1:
            return 0
        return 1 + shift if 1 + shift in track.phases else track.phases[0]

    def read(self, track: Track, shift: int, rows: range | np.ndarray) -> Any:
        """Raw items of held rows."""
        phase = self._phase(track, shift)
        start, column = self._start(self.first, phase) - shift, self._columns[track, phase]
        if isinstance(rows, range):
            low, step = (rows.start - start) // self.every, max(1, rows.step // self.every)
            return column.slice(low, low + (len(rows) - 1) * step + 1, step)
        return column.take((rows - start) // self.every)
