"""Sentences for the rows of two runs that could not be compared."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.analysis.diff.external_record import RecordSide
from workbench.analysis.diff.side import Key, Side
from workbench.analysis.diff.trace_side import TraceSide
from workbench.ir.node import Ref

#: maximum number of named values of which not all firings are kept
_NAMED = 6


def notes(a: Side, b: Side, pairs: Mapping[Key, Key]) -> tuple[str, ...]:
    """A sentence for each kind of missing values on one of the sides; ``pairs`` are the compared values."""
    found: list[str] = []
    for side, word, keys in ((a, "a", list(pairs)), (b, "b", list(pairs.values()))):
        if isinstance(side, RecordSide):
            found += side.record.notes
        elif isinstance(side, TraceSide):
            found += _of_trace(side, word, [k for k in keys if isinstance(k, Ref)])
    return tuple(found)


def _of_trace(side: TraceSide, word: str, keys: list[Ref]) -> list[str]:
    found = []
    if side.unfinished(()):
        found.append(f"{word} has not reached its end: the rest of the other run was not compared.")
    partial = set[tuple[str, ...]]()
    for path, kept in side.trace.coverages().items():
        if not kept.whole:
            partial.add(path)
            found.append(
                f"Of the loop {'/'.join(path)}, {word} keeps {kept}; the others were not compared. "
                'trace=wb.Retention(spill="folder") keeps them all on disk.'
            )
    gone, parts = [], []
    for ref in keys:
        if side.is_absent(ref) or side.is_released(ref):
            gone.append(side.graph.name_of(ref))
        elif side.graph.frame_of(ref.node) not in partial:
            kept = side.trace.coverage(ref)
            parts += [] if kept.whole else [f"of {side.graph.name_of(ref)} {kept}"]
    if gone:
        found.append(f"{word} keeps no {_some(gone, ' or ')} to compare.")
    if parts:
        found.append(f"{word} keeps {_some(parts, '; ')}: the others were not compared.")
    return found


def _some(items: list[str], between: str) -> str:
    more = f" and {len(items) - _NAMED:,} more" if len(items) > _NAMED else ""
    return between.join(items[:_NAMED]) + more
