"""Locations of the rows of a store: pieces in row order, in memory or in a file."""

from __future__ import annotations

import bisect
from collections.abc import Iterator

from workbench.trace.spill.batch import Raw
from workbench.trace.spill.segment import Segment


class SpillChunk:
    """Rows ``first`` to ``stop`` (exclusive): the first rows of ``raw`` in memory or, once written, those of batch
    ``number`` of ``segment``. A piece that a step back discarded is ``gone``."""

    __slots__ = ("first", "gone", "number", "raw", "segment", "stop")

    def __init__(self, first: int, stop: int, raw: Raw) -> None:
        self.first, self.stop = first, stop
        self.raw: Raw | None = raw
        self.segment: Segment | None = None
        self.number = -1
        self.gone = False


class Index:
    """The pieces of one store. The caller holds the lock."""

    def __init__(self) -> None:
        self.pieces: list[SpillChunk] = []
        self._firsts: list[int] = []
        self.spans: list[range] = []  # stretches of rows without gaps

    @property
    def first(self) -> int:
        """The first row of the last stretch without gaps; 0 if there are no rows."""
        return self.spans[-1].start if self.spans else 0

    @property
    def stop(self) -> int:
        return self.pieces[-1].stop if self.pieces else 0

    def add(self, piece: SpillChunk) -> None:
        """Append a piece."""
        self.pieces.append(piece)
        self._firsts.append(piece.first)
        if self.spans and self.spans[-1].stop == piece.first:
            self.spans[-1] = range(self.spans[-1].start, piece.stop)
        else:
            self.spans.append(range(piece.first, piece.stop))

    def unite(self, pieces: list[SpillChunk], segment: Segment, number: int) -> None:
        """Merge these neighbours, which are now in one batch, into one piece."""
        at = bisect.bisect_left(self._firsts, pieces[0].first)
        one = pieces[0]
        one.stop, one.raw, one.segment, one.number = pieces[-1].stop, None, segment, number
        del self.pieces[at + 1 : at + len(pieces)], self._firsts[at + 1 : at + len(pieces)]

    def cut(self, row: int) -> list[SpillChunk]:
        """Forget the rows from ``row`` on, and return the pieces that are discarded entirely."""
        at = bisect.bisect_left(self._firsts, row)
        gone = self.pieces[at:]
        del self.pieces[at:], self._firsts[at:]
        for piece in gone:
            piece.gone = True
        if self.pieces:
            self.pieces[-1].stop = min(self.pieces[-1].stop, row)
        self.spans = [range(s.start, min(s.stop, row)) for s in self.spans if s.start < row]
        return gone

    def between(self, start: int, stop: int) -> Iterator[SpillChunk]:
        """The pieces that contain some of these rows, newest first."""
        at = bisect.bisect_left(self._firsts, stop) - 1
        while at >= 0 and self.pieces[at].stop > start:
            yield self.pieces[at]
            at -= 1
