"""The share of the iterations of a run that is kept."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from workbench.kernels.layout import Place
from workbench.text import harmless, ordinal
from workbench.trace.row_ranges import Spans, both, clipped, holding, runs_of
from workbench.trace.rows import RowReader


@dataclass(frozen=True, slots=True)
class Coverage:
    """``kept`` of ``happened`` iterations can be read; the rest is recomputed on request.

    For a loop that is entered once, ``stretches`` lists them, oldest first: (first, last, step).
    """

    kept: int
    happened: int
    stretches: tuple[tuple[int, int, int], ...] = ()

    @property
    def whole(self) -> bool:
        return self.kept == self.happened

    @harmless
    def __str__(self) -> str:
        if self.whole:
            return f"all {self.happened} iterations"
        newest = self.stretches[-4:]
        parts = [f"{'' if k == 1 else f'every {ordinal(k)} '}from {low} to {high}" for low, high, k in newest]
        more = "..., " if len(self.stretches) > 4 else ""
        return f"{self.kept} of {self.happened} iterations{': ' if parts else ''}{more}{', '.join(parts)}"


def coverage(reader: RowReader, frame: int, places: Iterable[Place] = ()) -> Coverage:
    """The iterations of a frame in which all of these places can be read; without places, those whose firings are
    known.
    """
    source = reader.source
    own = [p for p in places if p.base > 0 and reader.layout.frame_of(p) == frame]
    extent = source.extent(frame)
    stop = extent.end
    if frame == 0:
        return Coverage(1, 1)
    starts, _ = source.activations(frame)
    spans: Spans = source.complete(frame) if not own else source.held(own[0])
    for place in own[1:]:
        spans = both(spans, source.held(place))
    spans = clipped(spans, 0, stop)
    begun = starts[(starts >= 0) & (starts < stop)]
    happened = stop - source.begun(frame)
    kept = sum(map(len, spans)) - int(holding(spans, begun).sum())
    stretches = []
    if source.begun(frame) == 1 and len(begun):
        init = int(begun[0])
        for start, end, step in runs_of(spans):
            low = start + (step if start == init else 0)
            if low < end:
                stretches.append((low - init - 1, end - init - 2, step if low < end - 1 else 1))
    return Coverage(kept, happened, tuple(stretches))
