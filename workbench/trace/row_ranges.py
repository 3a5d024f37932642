"""Sets of kept rows: a few stretches of rows, ascending and disjoint.

A stretch is a ``range`` (every row, or every k-th one) or, if records with different steps overlap, an int64 array.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

#: rows of one frame: a range if they are equally spaced, else an int64 array
Rows = range | np.ndarray
Spans = tuple[Rows, ...]

#: larger than any row
FOREVER = 1 << 62


def as_array(rows: Rows) -> np.ndarray:
    return np.arange(rows.start, rows.stop, rows.step, dtype=np.int64) if isinstance(rows, range) else rows


def clip(rows: Rows, start: int, stop: int) -> Rows:
    """The rows r of a stretch with start <= r < stop."""
    if not isinstance(rows, range):
        return rows[np.searchsorted(rows, start) : np.searchsorted(rows, stop)]
    low = rows.start if start <= rows.start else start + (rows.start - start) % rows.step
    return range(low, max(low, min(stop, rows.stop)), rows.step)


def clipped(spans: Spans, start: int, stop: int) -> Spans:
    return tuple(found for rows in spans if len(found := clip(rows, start, stop)))


def joined(spans: Sequence[Rows]) -> Spans:
    """Merge neighbouring stretches that have every row; leave the others unchanged."""
    found: list[Rows] = []
    for rows in spans:
        if len(rows) == 0:
            continue
        last = found[-1] if found else None
        if isinstance(rows, range) and isinstance(last, range) and rows.step == 1 and rows.start == last[-1] + 1:
            if last.step == 1 or len(last) == 1:
                found[-1] = range(last.start, rows.stop)
                continue
        found.append(rows)
    return tuple(found)


def holding(spans: Spans, rows: np.ndarray) -> np.ndarray:
    """Mask of the rows, given in any order, that are in one of the stretches."""
    held = np.zeros(len(rows), bool)
    for span in spans:
        if isinstance(span, range):
            held |= (rows >= span.start) & (rows < span.stop) & ((rows - span.start) % span.step == 0)
        else:
            at = np.minimum(np.searchsorted(span, rows), len(span) - 1)
            held |= span[at] == rows
    return held


def among(some: np.ndarray, rows: Rows) -> np.ndarray:
    """The rows of ``some``, given in any order, that are also in ``rows``: ascending, without duplicates."""
    some = np.unique(some)
    return some[holding((rows,), some)] if len(rows) else some[:0]


def without(rows: Rows, gone: np.ndarray) -> Rows:
    """The rows except ``gone``, ascending."""
    if len(gone) == 0:
        return rows
    if isinstance(rows, range) and len(gone) == 1 and gone[0] == rows[-1]:
        return rows[:-1]
    left: np.ndarray = np.delete(as_array(rows), np.searchsorted(as_array(rows), gone))
    return left


def only(rows: Rows, spans: Spans) -> Rows:
    """The rows that are in one of the stretches."""
    if not isinstance(rows, range) or rows.step != 1:
        rows = as_array(rows)
        if len(spans) == 1 and isinstance(spans[0], range) and spans[0].step == 1:
            return rows if _within(rows, spans[0]) else rows[(rows >= spans[0].start) & (rows < spans[0].stop)]
        held: np.ndarray = rows[holding(spans, rows)]
        return held
    parts = clipped(spans, rows.start, rows.stop)
    if len(parts) <= 1:
        return parts[0] if parts else range(rows.start, rows.start)
    return np.concatenate([as_array(p) for p in parts])


def _within(rows: np.ndarray, span: range) -> bool:
    return len(rows) == 0 or bool(rows.min() >= span.start and rows.max() < span.stop)


def union(one: Spans, other: Spans) -> Spans:
    """Rows that are in at least one of them."""
    if not one or not other:
        return one or other
    for a, b in ((one, other), (other, one)):  # the common case: one of them has every row of a single stretch
        if len(a) == 1 and isinstance(a[0], range) and a[0].step == 1:
            low, high = a[0].start, a[0].stop
            return joined([*clipped(b, -1, low), a[0], *clipped(b, high, FOREVER)])
    return (np.union1d(np.concatenate([as_array(r) for r in one]), np.concatenate([as_array(r) for r in other])),)


def both(one: Spans, other: Spans) -> Spans:
    """Rows that are in both."""
    found: list[Rows] = []
    for rows in one:
        for more in other:
            low, high = max(rows[0], more[0]), min(rows[-1], more[-1]) + 1
            a, b = clip(rows, low, high), clip(more, low, high)
            if isinstance(a, range) and isinstance(b, range) and a.step % b.step == 0:
                found.append(a if len(a) and len(b) and (a.start - b.start) % b.step == 0 else range(0))
            elif isinstance(a, range) and isinstance(b, range) and b.step % a.step == 0:
                found.append(b if len(a) and len(b) and (b.start - a.start) % a.step == 0 else range(0))
            else:
                found.append(np.intersect1d(as_array(a), as_array(b)))
    return tuple(r for r in sorted((f for f in found if len(f)), key=lambda f: int(f[0])))


def runs_of(spans: Spans) -> list[tuple[int, int, int]]:
    """Stretches as [start, stop, step]."""
    found: list[tuple[int, int, int]] = []
    for span in spans:
        if isinstance(span, range):
            found.append((span.start, span[-1] + 1, span.step))
            continue
        edges = np.flatnonzero(np.diff(np.diff(span))) + 1
        start = 0
        for end in [*edges.tolist(), len(span) - 1]:
            if end >= start:
                step = int(span[start + 1] - span[start]) if end > start else 1
                found.append((int(span[start]), int(span[end]) + 1, step))
                start = end + 1
    return found
